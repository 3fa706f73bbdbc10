// Cells that are codes of levels: looked up in a table of scores, and counted.
//
//   out_i           += sum over known cells j of scores[level x_ij]
//   counts[level]   += sum of mass_i over the cells of that level
//
// Codes of column j are 0 .. L_j - 1, its levels are offsets[j] .. offsets[j + 1] - 1 of all D; NaN is a missing cell.
// Returned is i d + j of the first cell that is no code, or -1. In a row of weight 0 anything may stand: what is no
// code there is missing.
#include <cstdint>

#include "variants.hpp"

template <class T>
struct Codes {
  const T* rows;
  const double* weights;
  const int64_t* offsets;
  long n, d;
};
template <class T>
using LevelsKernel = long (*)(Codes<T> codes, const double* from, double* to, long k);
struct LevelsKernels {
  LevelsKernel<float> scores_of_floats, counts_of_floats;
  LevelsKernel<double> scores_of_doubles, counts_of_doubles;
};
DECLARE_VARIANTS(LevelsKernels, levels_kernels)

#ifdef ISA
#include "simd.hpp"

namespace ISA {
namespace {

// Calls take(row, level) for every known cell
template <class T, class Take>
INLINE long each_level(const Codes<T>& codes, bool absent_too, Take take) {
  for (long i = 0; i < codes.n; i++) {
    const bool absent = !(codes.weights[i] > 0);
    if (absent && !absent_too) continue;
    for (long j = 0; j < codes.d; j++) {
      const double x = double(codes.rows[i * codes.d + j]), levels = double(codes.offsets[j + 1] - codes.offsets[j]);
      if (x != x) continue;
      if (x >= 0 && x < levels && x == __builtin_floor(x))
        take(i, codes.offsets[j] + long(x));
      else if (!absent)
        return i * codes.d + j;
    }
  }
  return -1;
}

INLINE void add(const double* __restrict from, double* __restrict to, long k) {
  for (long c = 0; c < k; c++) to[c] += from[c];
}
template <class T>
long add_scores(Codes<T> codes, const double* scores, double* out, long k) {
  return each_level(codes, true, [=](long i, long level) { add(scores + level * k, out + i * k, k); });
}
template <class T>
long add_counts(Codes<T> codes, const double* mass, double* counts, long k) {
  return each_level(codes, false, [=](long i, long level) { add(mass + i * k, counts + level * k, k); });
}

}  // namespace
const LevelsKernels levels_kernels = {add_scores<float>, add_counts<float>, add_scores<double>, add_counts<double>};
}  // namespace ISA

#else
#include "border.hpp"

void bind_levels(nb::module_& m) {
  const LevelsKernels& kernels = CHOSEN(LevelsKernels, levels_kernels);
  auto define = [&]<class T>(const char* name, LevelsKernel<T> kernel, bool by_level, const char* doc) {
    m.def(
        name,
        [kernel, by_level](In<T, 2> rows, In<double, 1> weights, In<int64_t, 1> offsets, In<double, 2> from,
                           Out<double, 2> to) {
          const size_t n = rows.shape(0), d = rows.shape(1);
          require(weights.size() == n && offsets.size() == d + 1, "rows must be (n, d), offsets (d + 1,)");
          const size_t levels = by_level ? from.shape(0) : to.shape(0), others = by_level ? to.shape(0) : from.shape(0);
          require(others == n && from.shape(1) == to.shape(1), "tables must be (D, k) and (n, k)");
          require(offsets.data()[0] >= 0 && size_t(offsets.data()[d]) <= levels, "an offset is outside the levels");
          for (size_t j = 0; j < d; j++) require(offsets.data()[j] <= offsets.data()[j + 1], "offsets must not fall");
          const Codes<T> codes = {rows.data(), weights.data(), offsets.data(), long(n), long(d)};
          return kernel(codes, from.data(), to.data(), long(to.shape(1)));
        },
        "rows"_a, "weights"_a, "offsets"_a, "added"_a, "out"_a, Released(), doc);
  };
  const char* scores =
      "(n, k) += sum over known cells of the (D, k) scores of their levels; i d + j of no code, or -1.";
  const char* counts =
      "(D, k) += the (n, k) mass of the rows at their levels; i d + j of a cell that is no code, or -1.";
  define("add_level_scores", kernels.scores_of_floats, true, scores);
  define("add_level_scores", kernels.scores_of_doubles, true, scores);
  define("add_level_counts", kernels.counts_of_floats, false, counts);
  define("add_level_counts", kernels.counts_of_doubles, false, counts);
}
#endif
