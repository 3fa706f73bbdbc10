// Dissimilarities of rows to points, in tiles or added up by group, from the differences themselves: no matrix product,
// no cancellation. Equal rows are at exactly 0, and d(x, y) and d(y, x) are the same bits.
//
//   norm    (sum_j |x_j - y_j|^p)^(1/p)                        over the columns both rows have, times d over their
//   number mixed   scale * sum_j w_j d_j(x_j, y_j) / sum_j w_j        over the columns that can be compared (Gower)
//   sums    out[i, g] += sum of w_o |x_i - y_o| over the points o of group g, which stand side by side, in runs
//   (silhouettes)
//
// Points are packed side by side in vector lanes, 256 at a time; each row runs over a pack while it is in the nearest
// cache. Sums run from the first column to the last, whether cells are missing or not: so a pair of complete rows has
// the same bits in whatever company.
#include <cstdint>

#include "variants.hpp"

constexpr int PACK = 256;  // points; measured: 8 columns of them fill half of the nearest cache

struct Rows {
  const double* cells;  // (n, d), NaN = missing
  long n, d;
};
struct NormRule {
  double p;
  bool root;       // whether to end with the p-th root
  double unknown;  // of rows without a column in common
};
enum ColumnKind : int64_t {
  DIFFER,      // 1 where the codes differ
  RANGE,       // |x - y|, in units of the column's range
  ASYMMETRIC,  // 1 where 0 and 1 differ; two zeros are not compared: to lack the same does not make rows alike
};
struct MixedRule {
  const int64_t* kinds;   // (d,)
  const double* weights;  // (d,) 0 or more
  double scale;           // 1, or the sum of the weights
  double unknown;         // of rows without a column that can be compared
};
struct Runs {
  const double* weights;  // (points,)
  const int64_t* starts;  // (count + 1,) where runs of one group begin; then the number of points
  const int64_t* groups;  // (count,)
  long count;
};
struct PairwiseKernels {
  void (*norm_tile)(const Rows& rows, const Rows& points, const NormRule& rule, double* out);
  void (*mixed_tile)(const Rows& rows, const Rows& points, const MixedRule& rule, double* out);
  void (*add_euclidean)(const Rows& rows, const Rows& points, bool root, const Runs& runs, double* out, long k);
};
DECLARE_VARIANTS(PairwiseKernels, pairwise_kernels)

#ifdef ISA
#include "memory.hpp"
#include "simd.hpp"

namespace ISA {
namespace {

constexpr int L = LANES<double>;

// --- a row and a pack ---

INLINE bool is_complete(const double* row, long d) {
  bool complete = true;
  for (long j = 0; j < d; j++) complete &= row[j] == row[j];
  return complete;
}

struct Pack {
  Pack(const Rows& points) : cells(points.d * PACK, 0.0) {}
  void fill(const Rows& points, long first) {
    count = points.n - first < PACK ? points.n - first : PACK;
    complete = true;
    for (long i = 0; i < count; i++) {
      const double* point = points.cells + (first + i) * points.d;
      complete &= is_complete(point, points.d);
      for (long j = 0; j < points.d; j++) cells[j * PACK + i] = point[j];
    }
  }
  Scratch<double> cells;  // (d, PACK)
  long count = 0;
  bool complete = true;
};

// One row against V vectors of points. A rule adds up columns, `total` and what it is divided by, and ends the sum.
template <bool complete, int V, class Rule>
INLINE void measure(const Rule& rule, const double* row, const double* cells, double* to, long count) {
  Vec<double> total[V] = {}, whole[V] = {};
  for (long j = 0; j < rule.d; j++)
    if (complete || row[j] == row[j]) rule.template add<complete, V>(j, row[j], cells + j * PACK, total, whole);
  UNROLL for (int v = 0; v < V; v++) {
    const Vec<double> found = rule.template finish<complete>(total[v], whole[v]);
    if ((v + 1) * L <= count)
      store(to + v * L, found);
    else
      store_some(to + v * L, found, count - v * L);
  }
}
template <bool complete, class Rule>
void measure_pack(const Rule& rule, const double* row, const Pack& pack, double* to) {
  constexpr int V = REGISTERS / 4;
  long o = 0;
  for (; pack.count - o > (V - 1) * L; o += V * L)
    measure<complete, V>(rule, row, pack.cells + o, to + o, pack.count - o);
  for (; o < pack.count; o += L) measure<complete, 1>(rule, row, pack.cells + o, to + o, pack.count - o);
}
template <class Rule> INLINE void measure_row(const Rule& rule, const double* row, const Pack& pack, double* to) {
  if (pack.complete && is_complete(row, rule.d))
    measure_pack<true>(rule, row, pack, to);
  else
    measure_pack<false>(rule, row, pack, to);
}

template <class Rule> void fill_tile(const Rows& rows, const Rows& points, const Rule& rule, double* out) {
  Pack pack(points);
  for (long first = 0; first < points.n; first += PACK) {
    pack.fill(points, first);
    for (long i = 0; i < rows.n; i++) measure_row(rule, rows.cells + i * rows.d, pack, out + i * points.n + first);
  }
}

// --- rules ---

enum class Power { one, two, infinite, other };
template <Power P> struct Norm : NormRule {
  long d;
  Norm(const NormRule& rule, long columns) : NormRule(rule), d(columns) {}

  template <bool complete, int V>
  INLINE void add(long, double x, const double* y, Vec<double>* total, Vec<double>* seen) const {
    UNROLL for (int v = 0; v < V; v++) {
      Vec<double> gap = absolute<double>(x - load(y + v * L));
      if constexpr (!complete) {
        seen[v] += gap == gap ? splat(1.0) : Vec<double>{};
        gap = gap == gap ? gap : Vec<double>{};
      }
      if constexpr (P == Power::one)
        total[v] += gap;
      else if constexpr (P == Power::two)
        total[v] = fused(gap, gap, total[v]);
      else if constexpr (P == Power::infinite)
        total[v] = maximum(total[v], gap);
      else
        total[v] += power(gap, p);
    }
  }
  template <bool complete> INLINE Vec<double> finish(Vec<double> total, Vec<double> seen) const {
    if constexpr (!complete && P != Power::infinite)  // times exactly 1 where nothing is missing
      total *= double(d) / maximum(seen, splat(1.0));
    if (P == Power::two && root) total = square_root(total);
    if (P == Power::other && root) total = power(total, 1 / p);
    if constexpr (complete)
      return total;
    else
      return seen > 0 ? total : splat(unknown);
  }
  static INLINE Vec<double> power(Vec<double> x, double exponent) {
    for (int l = 0; l < L; l++) x[l] = __builtin_pow(x[l], exponent);
    return x;
  }
};

void norm_tile(const Rows& rows, const Rows& points, const NormRule& rule, double* out) {
  if (rule.p == 1)
    fill_tile(rows, points, Norm<Power::one>(rule, rows.d), out);
  else if (rule.p == 2)
    fill_tile(rows, points, Norm<Power::two>(rule, rows.d), out);
  else if (rule.p == __builtin_inf())
    fill_tile(rows, points, Norm<Power::infinite>(rule, rows.d), out);
  else
    fill_tile(rows, points, Norm<Power::other>(rule, rows.d), out);
}

struct Mixed : MixedRule {
  long d;

  template <bool complete, int V>
  INLINE void add(long j, double x, const double* y, Vec<double>* total, Vec<double>* whole) const {
    const Vec<double> zero = {}, weight = splat(weights[j]);
    const int64_t kind = kinds[j];
    UNROLL for (int v = 0; v < V; v++) {
      const Vec<double> other = load(y + v * L), gap = absolute<double>(x - other);
      Vec<double> known = complete ? weight : other == other ? weight : zero;
      if (kind == ASYMMETRIC && x == 0) known = other > 0 ? weight : zero;
      if (kind == RANGE)
        total[v] = fused(weight, complete ? gap : gap == gap ? gap : zero, total[v]);
      else
        total[v] += other == x ? zero : known;
      whole[v] += known;
    }
  }
  template <bool complete> INLINE Vec<double> finish(Vec<double> total, Vec<double> whole) const {
    return whole > 0 ? scale * total / whole : splat(unknown);
  }
};

void mixed_tile(const Rows& rows, const Rows& points, const MixedRule& rule, double* out) {
  fill_tile(rows, points, Mixed{rule, rows.d}, out);
}

// --- sums by group ---

double weighted_sum(const double* weights, const double* x, long n) {
  constexpr int V = 4;
  Vec<double> sum[V] = {};
  long i = 0;
  for (; i + V * L <= n; i += V * L) UNROLL
    for (int v = 0; v < V; v++) sum[v] = fused(load(weights + i + v * L), load(x + i + v * L), sum[v]);
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

// Distances are added up while they are in the nearest cache
void add_euclidean(const Rows& rows, const Rows& points, bool root, const Runs& runs, double* out, long k) {
  alignas(64) double distances[PACK];
  const Norm<Power::two> norm({2.0, root, __builtin_nan("")}, rows.d);
  Pack pack(points);
  pack.fill(points, 0);
  for (long i = 0; i < rows.n; i++) {
    measure_row(norm, rows.cells + i * rows.d, pack, distances);
    add_runs(distances, runs, out + i * k);
  }
}

}  // namespace
const PairwiseKernels pairwise_kernels = {norm_tile, mixed_tile, add_euclidean};
}  // namespace ISA

#else
#include "border.hpp"

using Cells = In<double, 2>;
using Values = In<double, 1>;
using Numbers = In<int64_t, 1>;

static Rows rows_of(const Cells& rows) { return {rows.data(), long(rows.shape(0)), long(rows.shape(1))}; }

static void require_tile(const Cells& rows, const Cells& points, const Out<double, 2>& out) {
  require(rows.shape(1) == points.shape(1), "rows and points must have the same columns");
  require(out.shape(0) == rows.shape(0) && out.shape(1) == points.shape(0), "out must have a cell for every pair");
}

void bind_pairwise(nb::module_& m) {
  const PairwiseKernels& kernels = CHOSEN(PairwiseKernels, pairwise_kernels);
  m.attr("PACK") = PACK;
  m.def(
      "norm_tile",
      [&kernels](Cells rows, Cells points, double p, bool root, double unknown, Out<double, 2> out) {
        require_tile(rows, points, out);
        kernels.norm_tile(rows_of(rows), rows_of(points), {p, root, unknown}, out.data());
      },
      "rows"_a, "points"_a, "p"_a, "root"_a, "unknown"_a, "out"_a,
      "out[i, o] = p-norm of row i minus point o, or its p-th power; `unknown` without a column in common.",
      Released());
  m.def(
      "mixed_tile",
      [&kernels](Cells rows, Cells points, Numbers kinds, Values weights, double scale, double unknown,
                 Out<double, 2> out) {
        require_tile(rows, points, out);
        require(kinds.size() == rows.shape(1) && weights.size() == rows.shape(1), "kinds and weights: one a column");
        kernels.mixed_tile(rows_of(rows), rows_of(points), {kinds.data(), weights.data(), scale, unknown}, out.data());
      },
      "rows"_a, "points"_a, "kinds"_a, "weights"_a, "scale"_a, "unknown"_a, "out"_a,
      "out[i, o] = scale times the weighted mean over columns of what row i and point o differ by; kinds: 0 codes, "
      "1 numbers, 2 zeros and ones of which two zeros say nothing.",
      Released());
  m.def(
      "add_euclidean_sums",
      [&kernels](Cells rows, Cells points, bool root, Values weights, Numbers starts, Numbers groups,
                 Out<double, 2> out) {
        require(rows.shape(1) == points.shape(1), "rows and points must have the same columns");
        require(points.shape(0) <= PACK && out.shape(0) == rows.shape(0), "PACK points at most; out: a line a row");
        require(weights.size() == points.shape(0), "weights must have a value a point");
        require(starts.size() == groups.size() + 1, "starts must have one more than groups");
        require(all_inside(starts.data(), long(starts.size()), 0, long(points.shape(0)) + 1), "starts must be points");
        require(all_inside(groups.data(), long(groups.size()), 0, long(out.shape(1))), "groups must be columns of out");
        const Runs runs = {weights.data(), starts.data(), groups.data(), long(groups.size())};
        kernels.add_euclidean(rows_of(rows), rows_of(points), root, runs, out.data(), long(out.shape(1)));
      },
      "rows"_a, "points"_a, "root"_a, "weights"_a, "starts"_a, "groups"_a, "out"_a,
      "out[i, g] += sum of weights[o] |row i - point o|, or its square, over the runs of group g; PACK points at most.",
      Released());
}
#endif
