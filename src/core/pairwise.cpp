// Tiles of dissimilarities of rows to points: p-norms, and means over columns of every kind (Gower).
#include "dissimilarities.hpp"
#include "variants.hpp"

#include <cstdint>

// scale * sum_j w_j d_j(x_j, y_j) / sum_j w_j, over the columns that can be compared
enum ColumnKind : int64_t {
  DIFFER,      // 1 where the codes differ
  RANGE,       // |x - y|, in units of the column's range
  ASYMMETRIC,  // 1 where 0 and 1 differ; two zeros cannot be compared: to lack the same does not make rows alike
};
struct Columns {
  const int64_t* kinds;   // (d,)
  const double* weights;  // (d,) 0 or more
  double scale;           // 1, or the sum of the weights
  double unknown;         // of rows without a column that can be compared
};
struct PairwiseKernels {
  void (*norm)(const Rows& rows, const Rows& points, double p, bool root, double unknown, double* out);
  void (*mixed)(const Rows& rows, const Rows& points, const Columns& columns, double* out);
};
DECLARE_VARIANTS(PairwiseKernels, pairwise_kernels)

#ifdef ISA

namespace ISA {
namespace {

template <class Rule> void fill_tile(const Rows& rows, const Rows& points, const Rule& rule, double* out) {
  Pack pack(points.d);
  Scratch<bool> complete(rows.n);
  for (long i = 0; i < rows.n; i++) complete[i] = is_complete(rows.cells + i * rows.d, rows.d);
  for (long first = 0; first < points.n; first += PACK) {
    pack.fill(points, first);
    for (long i = 0; i < rows.n; i++)
      measure_row(rule, rows.cells + i * rows.d, complete[i], pack, out + i * points.n + first);
  }
}

void norm_tile(const Rows& rows, const Rows& points, double p, bool root, double unknown, double* out) {
  if (p == 2) fill_tile(rows, points, Norm<Power::two>{rows.d, p, root, unknown}, out);
  else if (p == 1) fill_tile(rows, points, Norm<Power::one>{rows.d, p, false, unknown}, out);
  else if (p == __builtin_inf()) fill_tile(rows, points, Norm<Power::infinite>{rows.d, p, false, unknown}, out);
  else fill_tile(rows, points, Norm<Power::other>{rows.d, p, root, unknown}, out);
}

struct Mixed {
  long d;
  Columns columns;

  template <bool complete, int V>
  INLINE void add(long j, double x, const double* y, Vec<double>* total, Vec<double>* whole) const {
    const Vec<double> zero = {}, weight = splat(columns.weights[j]);
    const int64_t kind = columns.kinds[j];
    UNROLL for (int v = 0; v < V; v++) {
      const Vec<double> other = load(y + v * LANES<double>);
      if (kind == RANGE) {
        const Vec<double> gap = absolute<double>(x - other);
        total[v] = fused(weight, complete ? gap : gap == gap ? gap : zero, total[v]);
        whole[v] += complete ? weight : gap == gap ? weight : zero;
      } else if (kind == DIFFER || x != 0) {
        const Vec<double> known = complete ? weight : other == other ? weight : zero;
        total[v] += other == x ? zero : known;
        whole[v] += known;
      } else {
        const Vec<double> known = other > 0 ? weight : zero;
        total[v] += known;
        whole[v] += known;
      }
    }
  }
  template <bool complete> INLINE Vec<double> finish(Vec<double> total, Vec<double> whole) const {
    return whole > 0 ? columns.scale * total / whole : splat(columns.unknown);
  }
};

void mixed_tile(const Rows& rows, const Rows& points, const Columns& columns, double* out) {
  fill_tile(rows, points, Mixed{rows.d, columns}, out);
}

}  // namespace
const PairwiseKernels pairwise_kernels = {norm_tile, mixed_tile};
}  // namespace ISA

#else
#include "border.hpp"

static void require_tile(const In<double, 2>& rows, const In<double, 2>& points, const Out<double, 2>& out) {
  require(rows.shape(1) == points.shape(1), "rows and points must have the same columns");
  require(out.shape(0) == rows.shape(0) && out.shape(1) == points.shape(0), "out must have a cell for every pair");
}
static Rows rows_of(const In<double, 2>& rows) { return {rows.data(), long(rows.shape(0)), long(rows.shape(1))}; }

void bind_pairwise(nb::module_& m) {
  const PairwiseKernels& kernels = CHOSEN(PairwiseKernels, pairwise_kernels);
  m.def(
      "norm_tile",
      [&kernels](In<double, 2> rows, In<double, 2> points, double p, bool root, double unknown, Out<double, 2> out) {
        require_tile(rows, points, out);
        kernels.norm(rows_of(rows), rows_of(points), p, root, unknown, out.data());
      },
      "rows"_a, "points"_a, "p"_a, "root"_a, "unknown"_a, "out"_a,
      "out[i, o] = p-norm of row i minus point o over the columns both have, before the root if it is not wanted; "
      "`unknown` for rows without a column in common.",
      Released());
  m.def(
      "mixed_tile",
      [&kernels](In<double, 2> rows, In<double, 2> points, In<int64_t, 1> kinds, In<double, 1> weights, double scale,
                 double unknown, Out<double, 2> out) {
        require_tile(rows, points, out);
        require(kinds.size() == rows.shape(1) && weights.size() == rows.shape(1), "kinds and weights: one a column");
        kernels.mixed(rows_of(rows), rows_of(points), {kinds.data(), weights.data(), scale, unknown}, out.data());
      },
      "rows"_a, "points"_a, "kinds"_a, "weights"_a, "scale"_a, "unknown"_a, "out"_a,
      "out[i, o] = scale times the weighted mean over columns of what row i and point o differ by; kinds: 0 codes "
      "that differ, 1 numbers, 2 zeros and ones of which two zeros say nothing.",
      Released());
}
#endif
