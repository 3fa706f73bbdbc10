// Dissimilarities of rows to points from the differences themselves: no matrix product, no cancellation. Equal rows are
// at exactly 0, and d(x, y) and d(y, x) are the same bits.
//
// Points are packed side by side in vector lanes, 256 at a time; each row runs over a pack while it is in the nearest
// cache. Sums run from the first column to the last, whether cells are missing or not: so a pair of complete rows has
// the same bits in whatever company.
#pragma once

constexpr int PACK = 256;  // points; measured: 8 columns of them fill half of the nearest cache

struct Rows {
  const double* cells;  // (n, d), NaN = missing
  long n, d;
};

#ifdef ISA
#include "memory.hpp"
#include "simd.hpp"

namespace ISA {
namespace {

INLINE bool is_complete(const double* row, long d) {
  bool complete = true;
  for (long j = 0; j < d; j++) complete &= row[j] == row[j];
  return complete;
}

struct Pack {
  explicit Pack(long d) : cells(d * PACK, 0.0) {}
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
  constexpr int L = LANES<double>;
  Vec<double> total[V] = {}, whole[V] = {};
  for (long j = 0; j < rule.d; j++) {
    if (!complete && row[j] != row[j]) continue;
    rule.template add<complete, V>(j, row[j], cells + j * PACK, total, whole);
  }
  UNROLL for (int v = 0; v < V; v++) {
    const Vec<double> found = rule.template finish<complete>(total[v], whole[v]);
    if ((v + 1) * L <= count) store(to + v * L, found);
    else store_some(to + v * L, found, count - v * L);
  }
}
template <bool complete, class Rule>
void measure_all(const Rule& rule, const double* row, const Pack& pack, double* to) {
  constexpr int L = LANES<double>, V = REGISTERS / 4;
  long o = 0;
  for (; pack.count - o > (V - 1) * L; o += V * L)
    measure<complete, V>(rule, row, pack.cells + o, to + o, pack.count - o);
  for (; o < pack.count; o += L) measure<complete, 1>(rule, row, pack.cells + o, to + o, pack.count - o);
}
// The dissimilarities of one row to a pack
template <class Rule>
INLINE void measure_row(const Rule& rule, const double* row, bool complete, const Pack& pack, double* to) {
  if (complete && pack.complete) measure_all<true>(rule, row, pack, to);
  else measure_all<false>(rule, row, pack, to);
}

// (sum_j |x_j - y_j|^p)^(1/p); over the columns both rows have, times d over their number
enum class Power { one, two, other, infinite };
template <Power P> struct Norm {
  long d;
  double p;
  bool root;       // whether to end with the p-th root
  double unknown;  // of rows without a column in common

  template <bool complete, int V>
  INLINE void add(long, double x, const double* y, Vec<double>* total, Vec<double>* seen) const {
    UNROLL for (int v = 0; v < V; v++) {
      Vec<double> gap = absolute<double>(x - load(y + v * LANES<double>));
      if constexpr (!complete) {
        seen[v] += gap == gap ? splat(1.0) : Vec<double>{};
        gap = gap == gap ? gap : Vec<double>{};
      }
      if constexpr (P == Power::one) total[v] += gap;
      else if constexpr (P == Power::two) total[v] = fused(gap, gap, total[v]);
      else if constexpr (P == Power::infinite) total[v] = maximum(total[v], gap);
      else total[v] += power(gap, p);
    }
  }
  template <bool complete> INLINE Vec<double> finish(Vec<double> total, Vec<double> seen) const {
    if constexpr (!complete && P != Power::infinite)  // times exactly 1 where nothing is missing
      total *= double(d) / maximum(seen, splat(1.0));
    if (root) total = P == Power::two ? square_root(total) : power(total, 1 / p);
    if constexpr (complete) return total;
    else return seen > 0 ? total : splat(unknown);
  }
  static INLINE Vec<double> power(Vec<double> x, double exponent) {
    for (int l = 0; l < LANES<double>; l++) x[l] = __builtin_pow(x[l], exponent);
    return x;
  }
};

}  // namespace
}  // namespace ISA
#endif
