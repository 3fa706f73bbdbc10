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

// Rows, their centres, and the labels they had and have now
template <class T> struct Transfer {
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

// What groups gain is added to sums, (k, 2, width), by how much sum w ||x - c||^2 falls to gain; false: a wrong label
template <class T> using Move = bool (*)(const Transfer<T>&, double* sums, double& gain, const Farthest&);
struct ExactSums {
  Move<float> move_single;
  Move<double> move_double;
};
DECLARE_VARIANTS(ExactSums, exact_sums)

#ifdef ISA
#include "distance.hpp"

namespace ISA {
namespace {

constexpr long BATCH = 1024;  // convention: rows that are compared before those that moved are taken

// A row comes into the group `now` and, if it had one, leaves the group `old`: both sums and both squared distances in
// one reading, while the row that follows is on its way from memory.
template <bool leaving, class T> class Passage {
 public:
  INLINE Passage(const Transfer<T>& t, double* sums, long now, long old)
      : t_(t),
        sums_{sums + now * 2 * t.width, sums + old * 2 * t.width},
        centers_{t.offsets + now * t.d, t.offsets + old * t.d} {}

  INLINE void move(const T* x, const T* next, double w) {
    Vec<double> lanes[2] = {};
    long j = 0;
    for (; j + LANES<double> <= t_.d; j += LANES<double>) {
      __builtin_prefetch(next + j);
      move_columns(x, j, w, lanes);
    }
    UNROLL for (int g = 0; g < 2; g++)
      distance[g] = total<double>(lanes[g]);
    for (; j < t_.d; j++) move_columns(x, j, w, distance);
    if (!t_.missing) add(t_.d, w);
  }

  double distance[2];  // squared, from the centres of now and old

 private:
  static constexpr int GROUPS = leaving ? 2 : 1;

  // W: a vector of columns, or one of them (double)
  template <class W> INLINE void move_columns(const T* x, long j, double w, W* distances) const {
    const W zero = {}, y = wide<W>(x + j) - load_as<W>(t_.reference + j);
    UNROLL for (int g = 0; g < GROUPS; g++) {
      const W z = y - load_as<W>(centers_[g] + j);
      distances[g] += z == z ? z * z : zero;
    }
    add<W>(j, y == y ? w * y : zero);
    if (t_.missing) add<W>(t_.d + j, y == y ? w + zero : zero);
  }
  template <class W> INLINE void add(long j, W v) const {
    const W B = load_as<W>(t_.grid + j), b = load_as<W>(t_.grid + t_.width + j);
    const W high = (v + B) - B, low = ((v - high) + b) - b;
    UNROLL for (int g = 0; g < GROUPS; g++) {
      double *highs = sums_[g] + j, *lows = highs + t_.width;
      store(highs, g == 0 ? load_as<W>(highs) + high : load_as<W>(highs) - high);
      store(lows, g == 0 ? load_as<W>(lows) + low : load_as<W>(lows) - low);
    }
  }

  const Transfer<T>& t_;
  double* const sums_[2];
  const double* const centers_[2];
};

void note_if_far(const Farthest& far, double distance, double row) {
  long p = far.count;
  for (; p > 0; p--) {
    const double* ahead = far.list + 2 * (p - 1);
    if (!(ahead[0] < distance || (ahead[0] == distance && ahead[1] > row))) break;
    if (p < far.count) far.list[2 * p] = ahead[0], far.list[2 * p + 1] = ahead[1];
  }
  if (p < far.count) far.list[2 * p] = distance, far.list[2 * p + 1] = row;
}

template <class T> bool move(const Transfer<T>& t, double* sums, double& gain, const Farthest& far) {
  int32_t list[BATCH + 1];
  for (long first = 0; first < t.n; first += BATCH) {
    const long end = t.n - first < BATCH ? t.n : first + BATCH;
    long m = 0;
    for (long i = first; i < end; i++) {  // without a branch: which rows moved cannot be predicted
      list[m] = int32_t(i);
      m += (t.before[i] != t.after[i]) & (t.weights[i] != 0);  // an absent row may hold anything
    }
    list[m] = int32_t(first);
    for (long p = 0; p < m; p++) {
      const long i = list[p], old = t.before[i], now = t.after[i];
      if (old < -1 || old >= t.k || now < 0 || now >= t.k) return false;
      const T *x = t.rows + i * t.d, *next = t.rows + list[p + 1] * t.d;
      const double w = t.weights[i];
      if (old >= 0) {
        Passage<true, T> passage(t, sums, now, old);
        passage.move(x, next, w);
        gain += w * (passage.distance[1] - passage.distance[0]);
      } else {
        Passage<false, T> passage(t, sums, now, now);
        passage.move(x, next, w);
        gain -= w * passage.distance[0];
        if (far.count > 0 && passage.distance[0] >= far.list[2 * far.count - 2])
          note_if_far(far, passage.distance[0], double(far.start + i));
      }
    }
  }
  return true;
}

}  // namespace

const ExactSums exact_sums = {move<float>, move<double>};

}  // namespace ISA

#else
#include "centers.hpp"

template <class T> static auto bind_move(Move<T> kernel) {
  return [kernel](In<T, 2> rows, In<double, 1> weights, const Centers& centers, In<int32_t, 1> before,
                  In<int32_t, 1> after, In<double, 2> grid, long start, long wanted) {
    const long n = long(rows.shape(0)), d = long(rows.shape(1)), width = centers.missing ? 2 * d : d + 1;
    require(d == centers.d, "rows and centres have as many columns");
    require(grid.shape(0) == 2 && long(grid.shape(1)) == width, "the grid has B and b of all columns and weights");
    require(long(weights.shape(0)) == n && long(before.shape(0)) == n && long(after.shape(0)) == n,
            "every row has a weight and two labels");
    require(n <= INT32_MAX && wanted >= 0, "rows of a block are counted in 32 bits");
    auto sums = new_array<double, 3>({size_t(centers.k), 2, size_t(width)});
    auto far = new_array<double, 2>({size_t(wanted), 2});
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
    double gain = 0;
    bool inside;
    {
      nb::gil_scoped_release released;
      inside = kernel(transfer, sums.data(), gain, {start, wanted, far.data()});
    }
    // Those of rows that moved: others are not used, and to check them all takes as long as to compare them
    require(inside, "labels are numbers of centres, and before that perhaps -1");
    return std::make_tuple(sums, gain, far);
  };
}

void bind_exact_sums(nb::module_& m) {
  const ExactSums& kernels = CHOSEN(ExactSums, exact_sums);
  const char* doc =
      "Rows leave their groups before for those after. Returns (k, 2, d + c) exact sums of w (x - reference) and of\n"
      "weights that groups gained, in high and low parts; by how much sum w ||x - c||^2 fell; and (wanted, 2) squared\n"
      "distance and number of the farthest rows that had no group.";
  const auto define = [&](auto kernel) {
    m.def("move_rows", kernel, "rows"_a, "weights"_a, "centers"_a, "before"_a, "after"_a, "grid"_a, "start"_a,
          "wanted"_a, doc);
  };
  define(bind_move<float>(kernels.move_single));
  define(bind_move<double>(kernels.move_double));
}
#endif
