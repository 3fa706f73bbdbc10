// Vectors as long as the processor's, in the vector extensions of GCC and Clang: all that kernels know of hardware.
//
//   Vec<T>                 LANES<T> numbers; + - * / < > ?: work lane by lane, a number stands for all lanes
//   load, store            anywhere in memory, aligned or not; load_some, store_some: the first `count` lanes
//   fused, minimum, maximum, absolute, square_root, splat, total, lane_bits
//   exponential, logarithm
//   transpose              N x N cells in registers
//
// a * b + c becomes one instruction where the processor has it (-ffp-contract=fast), but not in files that are `exact`.
//
// Everything stands in an unnamed namespace: inline code compiled for one kind of processor must never serve another.
// For the same reason kernels use no function templates of the standard library on types of the language alone
// (std::sort of double*): give them a lambda of the kernel's own, or write the loop.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

#define INLINE inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

namespace ISA { namespace {

#if defined(__AVX512F__)
constexpr int VECTOR_BYTES = 64, REGISTERS = 32;
#elif defined(__AVX__)
constexpr int VECTOR_BYTES = 32, REGISTERS = 16;
#elif defined(__aarch64__)
constexpr int VECTOR_BYTES = 16, REGISTERS = 32;
#else
constexpr int VECTOR_BYTES = 16, REGISTERS = 16;
#endif

template <class T, int N> struct vector_of {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N> using vector = typename vector_of<T, N>::type;  // N lanes, also more or fewer than a register
template <class T> constexpr int LANES = VECTOR_BYTES / int(sizeof(T));
template <class T> using Vec = vector<T, LANES<T>>;

template <class T> struct integer_of;
template <> struct integer_of<float> {
  using type = int32_t;
};
template <> struct integer_of<double> {
  using type = int64_t;
};
template <class T> using Int = typename integer_of<T>::type;  // as wide as T
template <class T> using IntVec = vector<Int<T>, LANES<T>>;   // also what Vec<T> < Vec<T> gives: -1 or 0

// --- memory ---

template <class W, class T> INLINE W load_as(const T* p) {
  W v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class W, class T> INLINE void store(T* p, W v) { std::memcpy(p, &v, sizeof v); }
template <class T> INLINE Vec<T> load(const T* p) { return load_as<Vec<T>>(p); }
template <class T> INLINE Vec<T> load_some(const T* p, long count) {  // 0 in the other lanes
  Vec<T> v = {};
  for (int l = 0; l < LANES<T> && l < count; l++) v[l] = p[l];
  return v;
}
template <class T> INLINE void store_some(T* p, Vec<T> v, long count) {
  for (int l = 0; l < LANES<T> && l < count; l++) p[l] = v[l];
}
template <class To, class From> INLINE To bits(From x) {
  To y;
  static_assert(sizeof x == sizeof y);
  std::memcpy(&y, &x, sizeof y);
  return y;
}

// --- arithmetic ---

template <class T> INLINE Vec<T> splat(T x) { return x - Vec<T>{}; }

// Of two numbers of which one is NaN, the second
template <class W> INLINE W minimum(W a, W b) { return a < b ? a : b; }
template <class W> INLINE W maximum(W a, W b) { return a > b ? a : b; }
#if defined(__AVX512F__)
template <> INLINE Vec<float> minimum(Vec<float> a, Vec<float> b) { return _mm512_min_ps(a, b); }
template <> INLINE Vec<float> maximum(Vec<float> a, Vec<float> b) { return _mm512_max_ps(a, b); }
template <> INLINE Vec<double> minimum(Vec<double> a, Vec<double> b) { return _mm512_min_pd(a, b); }
template <> INLINE Vec<double> maximum(Vec<double> a, Vec<double> b) { return _mm512_max_pd(a, b); }
#elif defined(__AVX__)
template <> INLINE Vec<float> minimum(Vec<float> a, Vec<float> b) { return _mm256_min_ps(a, b); }
template <> INLINE Vec<float> maximum(Vec<float> a, Vec<float> b) { return _mm256_max_ps(a, b); }
template <> INLINE Vec<double> minimum(Vec<double> a, Vec<double> b) { return _mm256_min_pd(a, b); }
template <> INLINE Vec<double> maximum(Vec<double> a, Vec<double> b) { return _mm256_max_pd(a, b); }
#endif

template <class T> INLINE Vec<T> absolute(Vec<T> x) {
  constexpr Int<T> no_sign = Int<T>(~(uint64_t(1) << (8 * sizeof(T) - 1)));
  return bits<Vec<T>>(bits<IntVec<T>>(x) & no_sign);
}

INLINE Vec<double> square_root(Vec<double> x) {
#if defined(__AVX512F__)
  return _mm512_sqrt_pd(x);
#elif defined(__AVX__)
  return _mm256_sqrt_pd(x);
#elif defined(__SSE2__)
  return _mm_sqrt_pd(x);
#else
  UNROLL for (int l = 0; l < LANES<double>; l++)
    x[l] = __builtin_sqrt(x[l]);
  return x;
#endif
}

// One bit a lane of what Vec<T> < Vec<T> gives, the first lane lowest
template <class M> INLINE unsigned lane_bits(M mask) {
  [[maybe_unused]] constexpr bool single = sizeof(mask[0]) == 4;
#if defined(__AVX512DQ__)
  if constexpr (single)
    return _mm512_movepi32_mask(bits<__m512i>(mask));
  else
    return _mm512_movepi64_mask(bits<__m512i>(mask));
#elif defined(__AVX__)
  if constexpr (single)
    return unsigned(_mm256_movemask_ps(bits<__m256>(mask)));
  else
    return unsigned(_mm256_movemask_pd(bits<__m256d>(mask)));
#elif defined(__SSE2__)
  if constexpr (single)
    return unsigned(_mm_movemask_ps(bits<__m128>(mask)));
  else
    return unsigned(_mm_movemask_pd(bits<__m128d>(mask)));
#else
  unsigned found = 0;
  UNROLL for (int l = 0; l < int(sizeof(mask) / sizeof(mask[0])); l++)
    found |= unsigned(mask[l] & 1) << l;
  return found;
#endif
}

// a b + c of numbers or vectors, rounded once where the processor can: a sum that is meant to be contracted
template <class W> INLINE W fused(W a, W b, W c) { return a * b + c; }

// The lanes in float64, added from first to last
template <class T> INLINE double total(Vec<T> v) {
  double sum = 0;
  UNROLL for (int l = 0; l < LANES<T>; l++)
    sum += double(v[l]);
  return sum;
}

// --- exp and log ---
//
//   exp(x) = 2^n exp(f),  n = round(x / log 2),  f = x - n log 2 in [-0.347, 0.347],  exp(f) = 1 + f + f^2 q(f)
//   log(x) = e log 2 + 2 artanh(s),  x = m 2^e,  m in [0.707, 1.414),  s = (m - 1) / (m + 1)
//
// n is found by adding 1.5 2^52 (2^23 for float): the sum has room for whole numbers only, and its last bits are n.
// log 2 is subtracted in two parts, the first with so many trailing zeros that n times it is exact. q interpolates at
// Chebyshev's points; its coefficients are made with many digits in tests/oracles/exponential.py.

template <class T> struct Series;
template <> struct Series<float> {
  static constexpr int MANTISSA = 23, TERMS = 5, LAST_ODD = 9;
  static constexpr float q[TERMS] = {0x1p-1f, 0x1.5554dcp-3f, 0x1.55551ap-5f, 0x1.120b6ep-7f, 0x1.6d110ap-10f};
  static constexpr float high = 0x1.62e4p-1f, low = 0x1.7f7d1cp-20f, shift = 0x1.8p23f;
  static constexpr float least = -87.f, most = 88.f;  // beyond, the result is no normal number
  static constexpr float cut = -25.f;                 // exp of less is nothing beside 1: 2^-36
};
template <> struct Series<double> {
  static constexpr int MANTISSA = 52, TERMS = 10, LAST_ODD = 21;
  static constexpr double q[TERMS] = {0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,
                                      0x1.11111111109b3p-7,  0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13,
                                      0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19, 0x1.289185613a3d6p-22,
                                      0x1.af38a9b0ec855p-26};
  static constexpr double high = 0x1.62e42fee00000p-1, low = 0x1.a39ef35793c76p-33, shift = 0x1.8p52;
  static constexpr double least = -708., most = 709.;
  static constexpr double cut = -40.;  // 2^-57
};

// exp of least <= x <= most; NaN of NaN
template <class T> INLINE Vec<T> exponential(Vec<T> x) {
  using S = Series<T>;
  const Vec<T> t = x * T(1.44269504088896340736) + S::shift, n = t - S::shift;
  const Vec<T> f = (x - n * S::high) - n * S::low;
  Vec<T> q = splat<T>(S::q[S::TERMS - 1]);
  UNROLL for (int i = S::TERMS - 2; i >= 0; i--)
    q = q * f + S::q[i];
  const Vec<T> e = (q * (f * f) + f) + T(1);
  return bits<Vec<T>>(bits<IntVec<T>>(e) + (bits<IntVec<T>>(t) << S::MANTISSA));
}

// exp of any x: 0 below `least`, exp(most) above `most`
template <class T> INLINE Vec<T> exponential_of_any(Vec<T> x) {
  using S = Series<T>;
  const Vec<T> e = exponential<T>(x < S::least ? splat<T>(S::least) : x > S::most ? splat<T>(S::most) : x);
  return x < S::least ? Vec<T>{} : e;
}

// log of a normal positive number
template <class T> INLINE Vec<T> logarithm(Vec<T> x) {
  using S = Series<T>;
  constexpr Int<T> half_root = __builtin_bit_cast(Int<T>, T(0.70710678118654752440));
  const IntVec<T> e = (bits<IntVec<T>>(x) - half_root) >> S::MANTISSA;
  const Vec<T> m = bits<Vec<T>>(bits<IntVec<T>>(x) - (e << S::MANTISSA)), power = __builtin_convertvector(e, Vec<T>);
  const Vec<T> s = (m - T(1)) / (m + T(1)), z = s * s;
  Vec<T> p = {};
  UNROLL for (int i = S::LAST_ODD; i >= 3; i -= 2)
    p = (p + T(2) / T(i)) * z;
  return power * S::high + ((power * S::low + s * p) + T(2) * s);
}

// --- transposing ---

// In each of log2 N rounds, blocks of `step` lanes change places between two rows
template <int step, class W, size_t... l> INLINE void exchange(W& a, W& b, std::index_sequence<l...>) {
  constexpr int N = sizeof...(l);
  const W low = __builtin_shufflevector(a, b, (int(l) & step ? N + int(l) - step : int(l))...);
  const W high = __builtin_shufflevector(a, b, (int(l) & step ? N + int(l) : int(l) + step)...);
  a = low, b = high;
}
template <int N, int step = N / 2, class W> INLINE void transpose(W* rows) {
  UNROLL for (int i = 0; i < N; i++)
    if (!(i & step)) exchange<step>(rows[i], rows[i + step], std::make_index_sequence<N>{});
  if constexpr (step > 1) transpose<N, step / 2>(rows);
}

}}  // namespace ISA
