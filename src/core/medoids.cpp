// What the exchange of a medoid for another row would change, for many rows (candidates) at once.
//
//   J = sum_i w_i d(x_i, nearest medoid);  candidate c for medoid m changes it by joins[c] + leaves[m, c], where
//
//   joins[c]     = sum_i w (min(d, near) - near)
//   leaves[m, c] = sum_i w (min(d, second) - min(d, near))      over the rows whose nearest medoid is m
//
// Lanes are candidates: neither rows nor medoids need any order. A dissimilarity that is NaN makes its sums NaN.
//
// Reference: Schubert, Rousseeuw (2021), Fast and eager k-medoids clustering. Information Systems 101:101804.
#include <cstdint>

#include "variants.hpp"

// Rows and their nearest medoids
struct Assigned {
  const int32_t* labels;  // (n,) the nearest, -1 where no dissimilarity is known
  const double* near;     // (n,) its dissimilarity
  const double* second;   // (n,) that of the next, infinite where there is none
  const double* weights;  // (n,)
  long n;
};
struct MedoidKernels {
  void (*nearest_two)(const double* tile, long n, long k, int32_t* labels, double* near, double* second);
  void (*add_changes)(const double* tile, long candidates, const Assigned& rows, double* joins, double* leaves);
};
DECLARE_VARIANTS(MedoidKernels, medoid_kernels)

#ifdef ISA
#include "simd.hpp"

namespace ISA {
namespace {

void nearest_two(const double* tile, long n, long k, int32_t* labels, double* near, double* second) {
  for (long i = 0; i < n; i++, tile += k) {
    double best = __builtin_inf(), next = best;
    int32_t label = -1;
    for (long m = 0; m < k; m++) {
      const double y = tile[m];
      if (y < best || (label < 0 && y == y))
        next = best, best = y, label = int32_t(m);
      else if (y < next)
        next = y;
    }
    labels[i] = label, near[i] = best, second[i] = next;
  }
}

void add_changes(const double* tile, long candidates, const Assigned& rows, double* joins, double* leaves) {
  constexpr int L = LANES<double>;
  for (long i = 0; i < rows.n; i++) {
    const double w = rows.weights[i], *line = tile + i * candidates;
    if (w == 0) continue;
    // A row whose dissimilarities are all unknown makes all sums infinite or NaN, whichever medoid it counts for.
    double* leaving = leaves + (rows.labels[i] < 0 ? 0 : rows.labels[i]) * candidates;
    const Vec<double> near = splat(rows.near[i]), second = splat(rows.second[i]);
    long c = 0;
    for (; c + L <= candidates; c += L) {
      const Vec<double> d = load(line + c), p = minimum(near, d), q = minimum(second, d);
      store(joins + c, load(joins + c) + w * (p - near));
      store(leaving + c, load(leaving + c) + w * (q - p));
    }
    if (c < candidates) {
      const long some = candidates - c;
      const Vec<double> d = load_some(line + c, some), p = minimum(near, d), q = minimum(second, d);
      store_some(joins + c, load_some(joins + c, some) + w * (p - near), some);
      store_some(leaving + c, load_some(leaving + c, some) + w * (q - p), some);
    }
  }
}

}  // namespace
const MedoidKernels medoid_kernels = {nearest_two, add_changes};
}  // namespace ISA

#else
#include "border.hpp"

void bind_medoids(nb::module_& m) {
  const MedoidKernels& kernels = CHOSEN(MedoidKernels, medoid_kernels);
  m.def(
      "nearest_two",
      [&kernels](In<double, 2> tile, Out<int32_t, 1> labels, Out<double, 1> near, Out<double, 1> second) {
        const size_t n = tile.shape(0);
        require(labels.size() == n && near.size() == n && second.size() == n, "all must have a value a row");
        kernels.nearest_two(tile.data(), long(n), long(tile.shape(1)), labels.data(), near.data(), second.data());
      },
      "tile"_a, "labels"_a, "near"_a, "second"_a,
      "Each row's nearest medoid (the first of equals; -1 where all are NaN), how far it is, and how far the next one.",
      Released());
  m.def(
      "add_changes",
      [&kernels](In<double, 2> tile, In<int32_t, 1> labels, In<double, 1> near, In<double, 1> second,
                 In<double, 1> weights, Out<double, 1> joins, Out<double, 2> leaves) {
        const size_t n = tile.shape(0), candidates = tile.shape(1);
        require(labels.size() == n && near.size() == n && second.size() == n && weights.size() == n,
                "labels, near, second and weights must have a value a row");
        require(joins.size() == candidates && leaves.shape(1) == candidates, "joins and leaves: a value a candidate");
        require(n == 0 || leaves.shape(0) > 0, "there must be a medoid");
        require(all_inside(labels.data(), long(n), -1, long(leaves.shape(0))), "labels must be medoids, or -1");
        const Assigned rows = {labels.data(), near.data(), second.data(), weights.data(), long(n)};
        kernels.add_changes(tile.data(), long(candidates), rows, joins.data(), leaves.data());
      },
      "tile"_a, "labels"_a, "near"_a, "second"_a, "weights"_a, "joins"_a, "leaves"_a,
      "Add what every exchange of a medoid for a candidate changes, by rows whose dissimilarities to the candidates "
      "are "
      "the tile.",
      Released());
}
#endif
