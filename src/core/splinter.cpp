// Divisive trees by splinter groups (DIANA): the row least like the others leaves, and more follow while that suits
// them.
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

struct Row {
  double weight, total, away;  // `total`, `away`: weighted sums of distances within its cluster, and to rows that left
  long farthest;               // the companion of largest distance, -1 before it is known
  bool left;
};

struct Cluster {
  const double* distances;  // (n, n)
  long n;
  Row* all;    // (n,)
  long* rows;  // (size,) numbers
  long size;

  Row& row(long i) const { return all[rows[i]]; }
  const double* line(long i) const { return distances + rows[i] * n; }
  Cluster part(long begin, long end) const { return {distances, n, all, rows + begin, end - begin}; }
};

void add_up(const Cluster& cluster) {
  for (long i = 0; i < cluster.size; i++) {
    const double* line = cluster.line(i);
    double sums[4] = {};  // side by side: one sum would wait for each addition
    for (long j = 0; j < cluster.size; j++) sums[j % 4] += cluster.row(j).weight * line[cluster.rows[j]];
    cluster.row(i).total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

void find_farthest(const Cluster& cluster) {
  for (long i = 0; i < cluster.size; i++) {
    Row& row = cluster.row(i);
    if (row.farthest >= 0 && cluster.all[row.farthest].left == row.left) continue;
    const double* line = cluster.line(i);
    row.farthest = cluster.rows[0];
    double most = line[row.farthest];
    for (long j = 1; j < cluster.size; j++)
      if (line[cluster.rows[j]] > most) most = line[cluster.rows[j]], row.farthest = cluster.rows[j];
  }
}

double diameter(const Cluster& cluster) {
  double most = 0;
  for (long i = 0; i < cluster.size; i++) {
    const double distance = cluster.line(i)[cluster.row(i).farthest];
    most = distance > most ? distance : most;
  }
  return most;
}

// Rows that stay first, then those that leave, both in their old order; how many stay
long split(const Cluster& cluster, long* leavers) {
  double here = 0, gone = 0;
  long stay = cluster.size;
  for (long i = 0; i < cluster.size; i++) here += cluster.row(i).weight, cluster.row(i).away = 0;
  while (stay > 1) {
    double most = 0;
    long leaver = -1;
    for (long i = 0; i < cluster.size; i++) {
      const Row& row = cluster.row(i);
      if (row.left) continue;
      const double others = here - (row.weight < 1 ? row.weight : 1);  // copies of a row are company for it
      double gain = others > 0 ? (row.total - row.away) / others : 0;
      if (gone > 0) gain -= row.away / gone;
      if (gain > most || leaver < 0) most = gain, leaver = i;
    }
    if (gone > 0 && !(most > 0)) break;
    const double w = cluster.row(leaver).weight, *line = cluster.line(leaver);
    cluster.row(leaver).left = true;
    here -= w, gone += w, stay--;
    for (long i = 0; i < cluster.size; i++) cluster.row(i).away += w * line[cluster.rows[i]];
  }
  long kept = 0, moved = 0;
  for (long i = 0; i < cluster.size; i++)
    (cluster.row(i).left ? leavers[moved++] : cluster.rows[kept++]) = cluster.rows[i];
  for (long i = 0; i < moved; i++) cluster.rows[kept + i] = leavers[i];
  return stay;
}

struct Waiting {
  long begin, end;
  long fresh;  // rows that there were when sums were last added up
};

void split_all(const double* distances, const double* weights, Merges merges) {
  const long n = merges.count + 1;
  Scratch<Row> all(n);
  Scratch<long> order(n), leavers(n);
  Scratch<Waiting> waiting(n + 1);
  for (long i = 0; i < n; i++) all[i] = {weights[i], 0, 0, -1, false}, order[i] = i;
  const Cluster root = {distances, n, all, order, n};
  add_up(root);
  find_farthest(root);
  waiting[0] = {0, n, n};
  for (long count = 1, done = merges.count; count > 0;) {
    const Waiting next = waiting[--count];
    const Cluster cluster = root.part(next.begin, next.end);
    if (cluster.size < 2) continue;
    merges.heights[--done] = diameter(cluster);
    const long stay = split(cluster, leavers);
    merges.pairs[2 * done] = cluster.rows[0], merges.pairs[2 * done + 1] = cluster.rows[stay];
    for (int left = 0; left < 2; left++) {
      const long begin = left ? next.begin + stay : next.begin, end = left ? next.end : next.begin + stay;
      const Cluster part = root.part(begin, end);
      const bool anew = 2 * part.size <= next.fresh;  // from time to time: rounding must not pile up
      if (anew)
        add_up(part);
      else
        for (long i = 0; i < part.size; i++)
          part.row(i).total = left ? part.row(i).away : part.row(i).total - part.row(i).away;
      find_farthest(part);
      waiting[count++] = {begin, end, anew ? part.size : next.fresh};
    }
    for (long i = 0; i < cluster.size; i++) cluster.row(i).left = false;
  }
}

}  // namespace
const SplinterKernels splinter_kernels = {split_all};
}  // namespace ISA

#else

void bind_splinter(nb::module_& m) {
  const SplinterKernels& kernels = CHOSEN(SplinterKernels, splinter_kernels);
  m.def(
      "split_all",
      [&kernels](In<double, 2> distances, In<double, 1> weights, Pairs pairs, Heights diameters) {
        const long n = long(weights.size());
        require(long(distances.shape(0)) == n && long(distances.shape(1)) == n, "distances must be (n, n)");
        kernels.split(distances.data(), weights.data(), merges_of(n, pairs, diameters));
      },
      "distances"_a, "weights"_a, "pairs"_a, "diameters"_a,
      "A row of each side of every split and the diameter of the cluster, small clusters first.", Released());
}
#endif
