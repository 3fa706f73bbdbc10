// Sums of dissimilarities by group: out[i, g] += sum of w_o d(i, o) over the points o of group g.
//
// Points of one group stand side by side, in runs. Euclidean distances are added up while they are in the nearest
// cache; others come in tiles.
#include <cstdint>

#include "dissimilarities.hpp"
#include "variants.hpp"

struct Runs {
  const double* weights;  // (points,)
  const int64_t* starts;  // (count + 1,) where runs of one group begin; then the number of points
  const int64_t* groups;  // (count,) their groups
  long count;
};
struct SilhouetteKernels {
  void (*of_tile)(const Rows& tile, const Runs& runs, double* out, long k);
  void (*euclidean)(const Rows& rows, const Rows& points, bool root, const Runs& runs, double* out, long k);
};
DECLARE_VARIANTS(SilhouetteKernels, silhouette_kernels)

#ifdef ISA

namespace ISA {
namespace {

double weighted_sum(const double* weights, const double* x, long n) {
  constexpr int L = LANES<double>, V = 4;
  Vec<double> sum[V] = {};
  long i = 0;
  for (; i + V * L <= n; i += V * L)
    UNROLL for (int v = 0; v < V; v++) sum[v] = fused(load(weights + i + v * L), load(x + i + v * L), sum[v]);
  for (; i + L <= n; i += L) sum[0] = fused(load(weights + i), load(x + i), sum[0]);
  double rest = 0;
  for (; i < n; i++) rest += weights[i] * x[i];
  return total<double>((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

INLINE void add_runs(const double* distances, const Runs& runs, double* out) {
  for (long s = 0; s < runs.count; s++) {
    const int64_t a = runs.starts[s], b = runs.starts[s + 1];
    out[runs.groups[s]] += weighted_sum(runs.weights + a, distances + a, b - a);
  }
}

void add_tile(const Rows& tile, const Runs& runs, double* out, long k) {
  for (long i = 0; i < tile.n; i++) add_runs(tile.cells + i * tile.d, runs, out + i * k);
}

void add_euclidean(const Rows& rows, const Rows& points, bool root, const Runs& runs, double* out, long k) {
  alignas(64) double distances[PACK];
  const Norm<Power::two> norm = {rows.d, 2.0, root, __builtin_nan("")};
  Pack pack(points.d);
  pack.fill(points, 0);
  for (long i = 0; i < rows.n; i++) {
    const double* row = rows.cells + i * rows.d;
    measure_row(norm, row, is_complete(row, rows.d), pack, distances);
    add_runs(distances, runs, out + i * k);
  }
}

}  // namespace
const SilhouetteKernels silhouette_kernels = {add_tile, add_euclidean};
}  // namespace ISA

#else
#include "border.hpp"

using Numbers = In<int64_t, 1>;

static Runs runs_of(long points, const In<double, 1>& weights, const Numbers& starts, const Numbers& groups,
                    const Out<double, 2>& out) {
  const long count = long(groups.size());
  require(long(weights.size()) == points, "weights must have a value a point");
  require(long(starts.size()) == count + 1 && starts.data()[0] == 0 && starts.data()[count] == points,
          "starts must begin at 0 and end with the number of points");
  for (long s = 0; s < count; s++) require(starts.data()[s] <= starts.data()[s + 1], "starts must not fall");
  require(all_inside(groups.data(), count, 0, long(out.shape(1))), "groups must be columns of out");
  return {weights.data(), starts.data(), groups.data(), count};
}

void bind_silhouette(nb::module_& m) {
  const SilhouetteKernels& kernels = CHOSEN(SilhouetteKernels, silhouette_kernels);
  m.attr("PACK") = PACK;
  m.def(
      "add_group_sums",
      [&kernels](In<double, 2> tile, In<double, 1> weights, Numbers starts, Numbers groups, Out<double, 2> out) {
        const Rows rows = {tile.data(), long(tile.shape(0)), long(tile.shape(1))};
        require(out.shape(0) == tile.shape(0), "out must have a line a row");
        kernels.of_tile(rows, runs_of(rows.d, weights, starts, groups, out), out.data(), long(out.shape(1)));
      },
      "tile"_a, "weights"_a, "starts"_a, "groups"_a, "out"_a,
      "out[i, g] += sum of weights[o] tile[i, o] over the runs of group g.", Released());
  m.def(
      "add_euclidean_sums",
      [&kernels](In<double, 2> rows, In<double, 2> points, bool root, In<double, 1> weights, Numbers starts,
                 Numbers groups, Out<double, 2> out) {
        require(rows.shape(1) == points.shape(1), "rows and points must have the same columns");
        require(points.shape(0) <= PACK, "there must be PACK points at most");
        require(out.shape(0) == rows.shape(0), "out must have a line a row");
        const Rows a = {rows.data(), long(rows.shape(0)), long(rows.shape(1))};
        const Rows b = {points.data(), long(points.shape(0)), long(points.shape(1))};
        kernels.euclidean(a, b, root, runs_of(b.n, weights, starts, groups, out), out.data(), long(out.shape(1)));
      },
      "rows"_a, "points"_a, "root"_a, "weights"_a, "starts"_a, "groups"_a, "out"_a,
      "The same with Euclidean distances of rows to at most PACK points, or their squares; NaN = missing.", Released());
}
#endif
