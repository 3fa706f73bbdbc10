// Divisive trees by splinter groups (DIANA): the row least like the others leaves, and more follow while that suits them.
//
//   D_i = mean d(i, rows that stay) - mean d(i, rows that left)
//
// The row of largest D leaves while D > 0. Sums to both sides are kept for all rows of the cluster, so one move costs
// O(size). The farthest companion of a row is searched again only if it is on the other side now.
//
// Reference: Macnaughton-Smith, Williams, Dale, Mockett (1964), Dissimilarity analysis. Nature 202:1034-1035.
#include "merges.hpp"
#include "variants.hpp"

struct SplinterKernels {
  void (*split)(const double* distances, const double* weights, Merges merges);
};
DECLARE_VARIANTS(SplinterKernels, splinter_kernels)

#ifdef ISA
#include "memory.hpp"
#include "simd.hpp"

namespace ISA {
namespace {

class Splitter {
 public:
  Splitter(const double* distances, const double* weights, long n)
      : n_(n), distances_(distances), weights_(weights), total_(n), away_(n), far_(n, -1), moved_(n), left_(n, false) {}

  // Sums of distances within a cluster, by row
  void add_up(const long* rows, long count) {
    for (long i = 0; i < count; i++) {
      const double* line = distances_ + rows[i] * n_;
      double sum = 0;
      for (long j = 0; j < count; j++) sum += weights_[rows[j]] * line[rows[j]];
      total_[rows[i]] = sum;
    }
  }

  // The farthest companion of each row, where none was known or it is on the other side
  void find_farthest(const long* rows, long count) {
    for (long i = 0; i < count; i++) {
      const long row = rows[i];
      if (far_[row] >= 0 && left_[far_[row]] == left_[row]) continue;
      const double* line = distances_ + row * n_;
      double most = -1;
      far_[row] = row;
      for (long j = 0; j < count; j++)
        if (line[rows[j]] > most) most = line[rows[j]], far_[row] = rows[j];
    }
  }
  double diameter(const long* rows, long count) const {
    double most = 0;
    for (long i = 0; i < count; i++) {
      const double distance = distances_[rows[i] * n_ + far_[rows[i]]];
      most = distance > most ? distance : most;
    }
    return most;
  }

  // Rows that stay first, then those that leave, both in their old order; how many stay
  long split(long* rows, long count) {
    double here = 0, gone = 0;
    for (long i = 0; i < count; i++) here += weights_[rows[i]], away_[rows[i]] = 0;
    long stay = count;
    while (stay > 1) {
      double best = -__builtin_inf();
      long leaver = -1;
      for (long i = 0; i < count; i++) {
        const long row = rows[i];
        if (left_[row]) continue;
        const double others = here - (weights_[row] < 1 ? weights_[row] : 1);  // copies of a row are company for it
        double gain = others > 0 ? (total_[row] - away_[row]) / others : 0;
        gain -= gone > 0 ? away_[row] / gone : 0;
        if (gain > best || leaver < 0) best = gain, leaver = row;
      }
      if (gone > 0 && !(best > 0)) break;
      const double w = weights_[leaver], *line = distances_ + leaver * n_;
      left_[leaver] = true;
      here -= w, gone += w, stay--;
      for (long i = 0; i < count; i++) away_[rows[i]] += w * line[rows[i]];
    }
    long kept = 0, moved = 0;
    for (long i = 0; i < count; i++) (left_[rows[i]] ? moved_[moved++] : rows[kept++]) = rows[i];
    for (long i = 0; i < moved; i++) rows[kept + i] = moved_[i];
    return stay;
  }

  // Sums within the part that stayed or left, from those of the whole
  void divide(const long* rows, long count, bool left) {
    for (long i = 0; i < count; i++)
      total_[rows[i]] = left ? away_[rows[i]] : total_[rows[i]] - away_[rows[i]];
  }
  void forget(const long* rows, long count) {
    for (long i = 0; i < count; i++) left_[rows[i]] = false;
  }

 private:
  const long n_;
  const double *distances_, *weights_;
  Scratch<double> total_, away_;  // weighted sums of distances, by row: within its cluster; to the rows that left
  Scratch<long> far_, moved_;
  Scratch<bool> left_;
};

struct Part {
  long begin, end;
  long fresh;  // rows that there were when its sums were last added up
};

void split_all(const double* distances, const double* weights, Merges merges) {
  const long n = merges.count + 1;
  Splitter splitter(distances, weights, n);
  Scratch<long> order(n);
  Scratch<Part> waiting(n + 1);
  for (long i = 0; i < n; i++) order[i] = i;
  splitter.add_up(order, n);
  splitter.find_farthest(order, n);
  waiting[0] = {0, n, n};
  long count = 1, done = merges.count;
  while (count > 0) {
    const Part part = waiting[--count];
    if (part.end - part.begin < 2) continue;
    long* rows = order + part.begin;
    const long size = part.end - part.begin;
    merges.heights[--done] = splitter.diameter(rows, size);
    const long stay = splitter.split(rows, size);
    merges.pairs[2 * done] = rows[0], merges.pairs[2 * done + 1] = rows[stay];
    for (int left = 0; left < 2; left++) {
      const long begin = left ? part.begin + stay : part.begin, end = left ? part.end : part.begin + stay;
      // Added up anew from time to time: rounding must not pile up.
      const bool anew = 2 * (end - begin) <= part.fresh;
      if (anew) splitter.add_up(order + begin, end - begin);
      else splitter.divide(order + begin, end - begin, left);
      splitter.find_farthest(order + begin, end - begin);
      waiting[count++] = {begin, end, anew ? end - begin : part.fresh};
    }
    splitter.forget(rows, size);
  }
}

}  // namespace
const SplinterKernels splinter_kernels = {split_all};
}  // namespace ISA

#else
#include "border.hpp"

void bind_splinter(nb::module_& m) {
  const SplinterKernels& kernels = CHOSEN(SplinterKernels, splinter_kernels);
  m.def(
      "split_all",
      [&kernels](In<double, 2> distances, In<double, 1> weights, Out<int64_t, 2> pairs, Out<double, 1> diameters) {
        const long n = long(weights.size());
        require(long(distances.shape(0)) == n && long(distances.shape(1)) == n, "distances must be (n, n)");
        require(long(diameters.size()) == n - 1 && long(pairs.shape(0)) == n - 1 && pairs.shape(1) == 2,
                "there must be a split less than rows");
        kernels.split(distances.data(), weights.data(), {pairs.data(), diameters.data(), n - 1});
      },
      "distances"_a, "weights"_a, "pairs"_a, "diameters"_a,
      "Split clusters until all rows are alone: a row of each side of every split and the diameter of the cluster, small "
      "clusters first.",
      Released());
}
#endif
