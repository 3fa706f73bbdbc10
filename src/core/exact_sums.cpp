// Sums over groups that are exact, so that a row can leave a group as it came.
//
// A term v (w (x - reference) of a cell, or w) is split on two grids of its column,
//
//   high = (v + B) - B          a multiple of g = ulp(B)
//   low  = (v - high + b) - b   a multiple of ulp(b), far below g
//
// with B and b so large that no sum over the table leaves their binade (`grid_of` in stats/groups.py): then all sums of
// high parts and of low parts are exact. They do not depend on the order of rows, and taking a row out undoes putting
// it in, to the bit. This file must be compiled without contraction: fused, v + B would not round where it is meant to.
//
// Demmel, Nguyen (2015), Parallel reproducible summation. IEEE Trans. Computers 64:2060-2070.
#include <cstdint>

#include "variants.hpp"

// Rows, their centres, and the labels they have had and have now
template <class T>
struct Transfer {
  long n, d, k;
  const T* rows;                      // (n, d)
  const double* weights;              // (n,)
  const double *reference, *offsets;  // (d,) (k, d) centres from the reference
  const int32_t *before, *after;      // (n,) before -1: none
  const double* grid;                 // (2, width) B and b
  long width;                         // d columns, and one of weights; or d, where cells may be missing
  bool missing;
};

// The farthest rows that had no label, farthest first; the earlier first of equals
struct Farthest {
  long start, count;  // global number of the first row; how many are wanted
  double* list;       // (count, 2) squared distance, 0: none; number of the row
};

template <class T>
using Move = double (*)(const Transfer<T>&, double* sums, const Farthest&);
struct ExactSums {
  Move<float> move_single;
  Move<double> move_double;
};
DECLARE_VARIANTS(ExactSums, exact_sums)

#ifdef ISA
#include "distance.hpp"

namespace ISA {
namespace {

// W: a vector of columns, or one of them (double)
template <class W>
INLINE void add_split(W v, W B, W b, double sign, double* high, double* low) {
  const W coarse = (v + B) - B, fine = ((v - coarse) + b) - b;
  store(high, load_as<W>(high) + sign * coarse);
  store(low, load_as<W>(low) + sign * fine);
}

// Adds a row to the sums of a group, (2, width), or takes it out (sign = -1)
template <class T>
INLINE void add_row(const Transfer<T>& t, const T* x, double w, double sign, double* sums) {
  const double *B = t.grid, *b = B + t.width;
  double *high = sums, *low = sums + t.width;
  const long d = t.d;
  const auto add_columns = [&](auto zero, long j) {
    using W = decltype(zero);
    const W y = wide<W>(x + j) - load_as<W>(t.reference + j);
    add_split<W>(y == y ? w * y : zero, load_as<W>(B + j), load_as<W>(b + j), sign, high + j, low + j);
    if (t.missing)
      add_split<W>(y == y ? zero + w : zero, load_as<W>(B + d + j), load_as<W>(b + d + j), sign, high + d + j,
                   low + d + j);
  };
  long j = 0;
  for (; j + LANES<double> <= d; j += LANES<double>) add_columns(Vec<double>{}, j);
  for (; j < d; j++) add_columns(0.0, j);
  if (!t.missing) add_split<double>(w, B[d], b[d], sign, high + d, low + d);
}

void note_if_far(const Farthest& far, double distance, double row) {
  long p = far.count;
  for (; p > 0; p--) {
    const double* ahead = far.list + 2 * (p - 1);
    if (!(ahead[0] < distance || (ahead[0] == distance && ahead[1] > row))) break;
    if (p < far.count) far.list[2 * p] = ahead[0], far.list[2 * p + 1] = ahead[1];
  }
  if (p < far.count) far.list[2 * p] = distance, far.list[2 * p + 1] = row;
}

// Returns by how much sum w ||x - c||^2 fell
template <class T>
double move(const Transfer<T>& t, double* sums, const Farthest& far) {
  double gain = 0;
  const auto distance = [&](const T* x, long c) { return squared_distance(x, t.reference, t.offsets + c * t.d, t.d); };
  for (long i = 0; i < t.n; i++) {
    const int32_t old = t.before[i], now = t.after[i];
    const double w = t.weights[i];
    if (old == now || w == 0) continue;
    const T* x = t.rows + i * t.d;
    add_row(t, x, w, 1.0, sums + now * 2 * t.width);
    const double to = distance(x, now);
    if (old >= 0) {
      add_row(t, x, w, -1.0, sums + old * 2 * t.width);
      gain += w * (distance(x, old) - to);
    } else {
      gain -= w * to;
      if (far.count > 0 && to >= far.list[2 * far.count - 2]) note_if_far(far, to, double(far.start + i));
    }
  }
  return gain;
}

}  // namespace

const ExactSums exact_sums = {move<float>, move<double>};

}  // namespace ISA

#else
#include "centers.hpp"

template <class T, class Kernel>
static auto bind_move(Kernel kernel) {
  return [kernel](In<T, 2> rows, In<double, 1> weights, const Centers& centers, In<int32_t, 1> before,
                  In<int32_t, 1> after, In<double, 2> grid, long start, long wanted) {
    const long n = long(rows.shape(0)), d = long(rows.shape(1)), width = centers.missing ? 2 * d : d + 1;
    require(d == centers.d, "rows and centres have as many columns");
    require(grid.shape(0) == 2 && long(grid.shape(1)) == width, "the grid has B and b of all columns and weights");
    require(long(weights.shape(0)) == n && long(before.shape(0)) == n && long(after.shape(0)) == n,
            "every row has a weight and two labels");
    require(all_inside(before.data(), n, -1, centers.k), "labels before are numbers of centres, or -1");
    require(all_inside(after.data(), n, 0, centers.k), "labels are numbers of centres");
    require(wanted >= 0, "so many rows are wanted");
    auto sums = new_array<double, 3>({size_t(centers.k), 2, size_t(width)});
    auto far = new_array<double, 2>({size_t(wanted), 2});
    double gain;
    {
      nb::gil_scoped_release released;
      const Transfer<T> transfer{n,
                                 d,
                                 centers.k,
                                 rows.data(),
                                 weights.data(),
                                 centers.reference.data(),
                                 centers.offsets.data(),
                                 before.data(),
                                 after.data(),
                                 grid.data(),
                                 width,
                                 centers.missing};
      gain = kernel(transfer, sums.data(), {start, wanted, far.data()});
    }
    return nb::make_tuple(sums, gain, far);
  };
}

void bind_exact_sums(nb::module_& m) {
  const ExactSums& kernels = CHOSEN(ExactSums, exact_sums);
  const char* doc =
      "Rows leave their groups before for those after. Returns (k, 2, d + c) exact sums of w (x - reference) and of "
      "weights\n"
      "that groups gained, in high and low parts; by how much sum w ||x - c||^2 fell; and (wanted, 2) squared distance "
      "and\n"
      "number of the farthest rows that had no group.";
  const auto define = [&](auto kernel) {
    m.def("move_rows", kernel, "rows"_a, "weights"_a, "centers"_a, "before"_a, "after"_a, "grid"_a, "start"_a,
          "wanted"_a, doc);
  };
  define(bind_move<float>(kernels.move_single));
  define(bind_move<double>(kernels.move_double));
}
#endif
