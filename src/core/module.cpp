// asterism._core: which kind of processor this is, and the bindings of all kernels.
#include <cstdlib>
#include <cstring>

#include "border.hpp"
#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>
#endif

static const char* const NAMES[] = {"base", "v2", "v3", "v4"};

// x86-64-v2, v3 or v4, if the operating system keeps their registers
static Variant best_of_processor() {
#if defined(__x86_64__) || defined(_M_X64)
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return Variant::base;
  const bool sse42 = c >> 20 & 1, fma = c >> 12 & 1, movbe = c >> 22 & 1, osxsave = c >> 27 & 1, f16c = c >> 29 & 1;
  unsigned kept = 0, high = 0;
  if (osxsave) __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
  unsigned seven = 0, extended = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) seven = b;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) extended = c;
  const unsigned avx2_bmi = 1u << 5 | 1u << 3 | 1u << 8;
  const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;  // F DQ CD BW VL
  const bool v3 =
      sse42 && fma && movbe && f16c && (kept & 6) == 6 && (seven & avx2_bmi) == avx2_bmi && extended >> 5 & 1;
  if (v3 && (kept & 0xe6) == 0xe6 && (seven & avx512) == avx512) return Variant::v4;
  return v3 ? Variant::v3 : sse42 ? Variant::v2 : Variant::base;
#else
  return Variant::base;
#endif
}

static bool is_built(Variant variant) {
  IF_BASE(if (variant == Variant::base) return true;)
  IF_V2(if (variant == Variant::v2) return true;)
  IF_V3(if (variant == Variant::v3) return true;)
  IF_V4(if (variant == Variant::v4) return true;)
  return false;
}

static Variant choose() {
  const Variant best = best_of_processor();
  if (const char* wanted = std::getenv("ASTERISM_VARIANT"); wanted != nullptr && *wanted != '\0') {
    for (int i = 0; i <= int(best); i++)
      if (!std::strcmp(wanted, NAMES[i]) && is_built(Variant(i))) return Variant(i);
    throw nb::import_error("ASTERISM_VARIANT names code that was not built or that this processor cannot run");
  }
  for (int i = int(best); i >= 0; i--)
    if (is_built(Variant(i))) return Variant(i);
  throw nb::import_error("asterism needs a processor with SSE 4.2 (x86-64-v2), as made since 2009");
}

Variant chosen_variant() {
  static const Variant chosen = choose();
  return chosen;
}

// One a file: its binding
// clang-format off
#define EACH_FILE(DO)                                                                                       \
  DO(chain) DO(colours) DO(contingency) DO(contrast) DO(dip) DO(exact_sums) DO(exponential) DO(gaussian)    \
  DO(group_moments) DO(inversions) DO(levels) DO(medoids) DO(members) DO(moments) DO(nearest) DO(pairwise)  \
  DO(planes) DO(point_tiles) DO(spanning_tree) DO(splinter)
// clang-format on
#define DECLARE(file) void bind_##file(nb::module_& m);
#define BIND(file) bind_##file(m);
EACH_FILE(DECLARE)

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // models that caches still hold when Python ends
  m.attr("variant") = NAMES[int(chosen_variant())];
  nb::exception<ShapeError>(m, "ShapeError", PyExc_ValueError);
  EACH_FILE(BIND)
}
