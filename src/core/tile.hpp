// Rows of a table, a slab of SLAB<T> at a time, transposed: column after column, so that vector lanes are rows.
#pragma once
#include "memory.hpp"
#include "simd.hpp"

namespace ISA { namespace {

// Vectors of rows that a product keeps in registers beside its sums; measured: 4 of 32 registers, 2 of 16
constexpr int SLAB_VECTORS = REGISTERS >= 32 ? 4 : 2;
template <class T> constexpr long SLAB = SLAB_VECTORS * LANES<T>;

inline long smaller(long a, long b) { return a < b ? a : b; }

// What is subtracted from rows, in the wider of two types: differences of large numbers are taken before rounding
template <class Row, class T> struct wider_of {
  using type = T;
};
template <> struct wider_of<double, float> {
  using type = double;
};
template <class Row, class T> using Wider = typename wider_of<Row, T>::type;

// A point that is subtracted in two steps: from a row of the table to it, and from there on. The first difference is
// exact for rows near it, so that a table far from 0 gives the same numbers.
struct Point {
  const double *reference, *step;  // (d)
};

// N x N cells: out[j, i] = (x[i, j] - reference[j]) - step[j]; rows past the last repeat it
template <int N, class Row, class T>
INLINE void transpose_cells(const Row* x, long rows, long d, long i, long j, Point centre, T* out) {
  using W = Wider<Row, T>;
  vector<Row, N> cells[N];
  UNROLL for (int a = 0; a < N; a++)
    cells[a] = load_as<vector<Row, N>>(x + smaller(i + a, rows - 1) * d + j);
  transpose<N>(cells);
  UNROLL for (int a = 0; a < N; a++) {
    const vector<W, N> near = __builtin_convertvector(cells[a], vector<W, N>) - W(centre.reference[j + a]);
    const vector<W, N> y = near - W(centre.step[j + a]);
    store(out + (j + a) * SLAB<T> + i, __builtin_convertvector(y, vector<T, N>));
  }
}

// The same of the first `rows` of a slab
template <class Row, class T, int N = (LANES<Row> < 8 ? LANES<Row> : 8)>
void transpose_slab(const Row* x, long rows, long d, Point centre, T* out) {
  using W = Wider<Row, T>;
  if constexpr (N == 1) {
    for (long i = 0; i < SLAB<T>; i++)
      for (long j = 0; j < d; j++)
        out[j * SLAB<T> + i] = T((W(x[smaller(i, rows - 1) * d + j]) - W(centre.reference[j])) - W(centre.step[j]));
  } else if (d < N) {
    transpose_slab<Row, T, N / 2>(x, rows, d, centre, out);
  } else {
    for (long i = 0; i < SLAB<T>; i += N) {
      for (long j = 0; j + N < d; j += N) transpose_cells<N>(x, rows, d, i, j, centre, out);
      transpose_cells<N>(x, rows, d, i, d - N, centre, out);  // the last columns, some of them once more
    }
  }
}

// Rows of either type as a slab of T about the centre
template <class T> struct Rows {
  const char* data;
  long row_bytes, n, d;
  Point centre;
  void (*transpose_rows)(const void*, long, long, Point, T*);
  void (*copy_rows)(const void*, long, long, Point, T*, long);

  long count(long i) const { return smaller(n - i, SLAB<T>); }
  void transposed(long i, T* out) const { transpose_rows(data + i * row_bytes, count(i), d, centre, out); }
  // (rows, width) cells, then a 1, then zeros
  void copied(long i, T* out, long width) const { copy_rows(data + i * row_bytes, count(i), d, centre, out, width); }
};

template <class Row, class T> void transpose_rows(const void* x, long rows, long d, Point centre, T* out) {
  transpose_slab<Row, T>(static_cast<const Row*>(x), rows, d, centre, out);
}
template <class Row, class T> void copy_rows(const void* x, long rows, long d, Point centre, T* out, long width) {
  using W = Wider<Row, T>;
  const Row* row = static_cast<const Row*>(x);
  for (long i = 0; i < rows; i++, row += d, out += width) {
    for (long j = 0; j < d; j++) out[j] = T((W(row[j]) - W(centre.reference[j])) - W(centre.step[j]));
    for (long j = d; j < width; j++) out[j] = T(j == d);
  }
}

}}  // namespace ISA
