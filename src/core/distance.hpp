// Squared distances in float64, from the differences themselves: nothing cancels, however far rows are from 0.
#pragma once
#include "simd.hpp"

namespace ISA { namespace {

// Cells as float64: vectors of them, or one (W = double)
template <class W, class T> INLINE W wide(const T* cells) {
  if constexpr (sizeof(W) == sizeof(double)) {
    return W(*cells);
  } else {
    return __builtin_convertvector(load_as<vector<T, sizeof(W) / sizeof(double)>>(cells), W);
  }
}

// ||x - reference - center||^2 over the cells that are not NaN
template <class T> INLINE double squared_distance(const T* x, const double* reference, const double* center, long d) {
  constexpr int L = LANES<double>, CHAINS = 2;  // sums that do not wait for each other
  using D = Vec<double>;
  D sums[CHAINS] = {};
  const auto square = [&](auto zero, long j) {
    using W = decltype(zero);
    const W y = (wide<W>(x + j) - load_as<W>(reference + j)) - load_as<W>(center + j);
    return y == y ? y * y : zero;
  };
  long j = 0;
  for (; j + CHAINS * L <= d; j += CHAINS * L) UNROLL
    for (int c = 0; c < CHAINS; c++) sums[c] += square(D{}, j + c * L);
  double sum = total<double>(sums[0] + sums[1]);
  for (; j < d; j++) sum += square(0.0, j);
  return sum;
}

}}  // namespace ISA
