// Matrix products of a tile, all sums in registers.
//
//   multiply_strip   out[c, i]  = sum_j lines[c, j] features[j, i]      scores of components, whitened rows
//   add_products     S[c, j]   += sum_i shares[c, i] features[j, i]     what shares of rows add up to
//   add_outer        S[a, b]   += sum_i rows[i, a] rows[i, b]           scatters, lower triangle
#pragma once
#include <type_traits>

#include "tile.hpp"

namespace ISA { namespace {

// A number known to the compiler, for loops over registers: f(integral_constant<int, n>) for 1 <= n <= MOST
template <int MOST, class F> INLINE void with_count(long n, F f) {
  if constexpr (MOST == 1)
    f(std::integral_constant<int, 1>{});
  else if (n >= MOST)
    f(std::integral_constant<int, MOST>{});
  else
    with_count<MOST - 1>(n, f);
}

// Lines are taken in strips of 4, 5 or 6, whichever leaves least over; strip[j * width + c] = lines[c, j]
inline int strip_width(long lines) {
  int best = 6;
  double least = 1e300;
  for (int width : {6, 5, 4}) {
    const double cost =
        double(round_up(lines, width)) * (1 + 0.3 / width);  // convention: a narrow strip loads more a sum
    if (cost < least) least = cost, best = width;
  }
  return best;
}
template <class F> INLINE void with_width(int width, F f) {
  if (width == 4)
    f(std::integral_constant<int, 4>{});
  else if (width == 5)
    f(std::integral_constant<int, 5>{});
  else
    f(std::integral_constant<int, 6>{});
}

// Products of a strip with a slab stay in registers until `finish` has seen them
template <class T, int WIDTH, class Finish>
INLINE void multiply_strip(const T* strip, const T* features, long p, Finish finish) {
  Vec<T> sums[WIDTH][SLAB_VECTORS] = {};
  for (long j = 0; j < p; j++) {
    Vec<T> x[SLAB_VECTORS];
    UNROLL for (int v = 0; v < SLAB_VECTORS; v++)
      x[v] = load(features + j * SLAB<T> + v * LANES<T>);
    UNROLL for (int c = 0; c < WIDTH; c++) UNROLL
      for (int v = 0; v < SLAB_VECTORS; v++) sums[c][v] += strip[j * WIDTH + c] * x[v];
  }
  finish(sums);
}

// WIDTH lines of shares and COUNT features over all slabs of a tile; sums are kept as vectors, whose lanes are added
// later
template <class T, int WIDTH, int COUNT>
INLINE void add_products(const T* shares, long shares_slab, const T* features, long features_slab, long slabs,
                         Vec<T>* S, long p) {
  Vec<T> sums[WIDTH][COUNT];
  UNROLL for (int c = 0; c < WIDTH; c++) UNROLL
    for (int j = 0; j < COUNT; j++) sums[c][j] = S[c * p + j];
  for (long s = 0; s < slabs; s++, shares += shares_slab, features += features_slab)
    for (long i = 0; i < SLAB<T>; i += LANES<T>) {
      Vec<T> x[COUNT];
      UNROLL for (int j = 0; j < COUNT; j++)
        x[j] = load(features + j * SLAB<T> + i);
      UNROLL for (int c = 0; c < WIDTH; c++) {
        const Vec<T> r = load(shares + c * SLAB<T> + i);
        UNROLL for (int j = 0; j < COUNT; j++)
          sums[c][j] += r * x[j];
      }
    }
  UNROLL for (int c = 0; c < WIDTH; c++) UNROLL
    for (int j = 0; j < COUNT; j++) S[c * p + j] = sums[c][j];
}

// Rows lie in panels of PANEL columns, each panel with all its rows: panels[column / PANEL][row][column % PANEL]
template <class T> constexpr long PANEL = SLAB<T>;
constexpr int OUTER_WIDTH = 4;  // columns a (numbers) against vectors of columns b; it divides every PANEL

template <class T, int COUNT>
INLINE void add_outer_block(const T* left, const T* right, long rows, double* S, long pitch) {
  using Wide = vector<double, LANES<T>>;
  Vec<T> sums[OUTER_WIDTH][COUNT] = {};
  for (long i = 0; i < rows; i++, left += PANEL<T>, right += PANEL<T>) {
    Vec<T> x[COUNT];
    UNROLL for (int v = 0; v < COUNT; v++)
      x[v] = load(right + v * LANES<T>);
    UNROLL for (int a = 0; a < OUTER_WIDTH; a++) UNROLL
      for (int v = 0; v < COUNT; v++) sums[a][v] += left[a] * x[v];
  }
  UNROLL for (int a = 0; a < OUTER_WIDTH; a++) UNROLL
    for (int v = 0; v < COUNT; v++) {
      double* s = S + a * pitch + v * LANES<T>;
      store(s, load_as<Wide>(s) + __builtin_convertvector(sums[a][v], Wide));
    }
}

// S[a, b] += sum_i rows[i, a] rows[i, b] for b <= a < columns, and for some more; `capacity` rows fit into a panel
template <class T> void add_outer(const T* panels, long capacity, long rows, long columns, double* S, long pitch) {
  for (long a = 0; a < columns; a += OUTER_WIDTH) {
    const T* left = panels + a / PANEL<T> * PANEL<T> * capacity + a % PANEL<T>;
    for (long b = 0; b < a + OUTER_WIDTH; b += PANEL<T>)
      with_count<SLAB_VECTORS>((a + OUTER_WIDTH - b + LANES<T> - 1) / LANES<T>, [&](auto count) {
        add_outer_block<T, count>(left, panels + b * capacity, rows, S + a * pitch + b, pitch);
      });
  }
}

}}  // namespace ISA
