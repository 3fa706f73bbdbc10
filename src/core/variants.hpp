// The kinds of processors that kernels are compiled for, and which of them runs.
//
// A kernel file has three parts:
//   a table     struct DipKernels { double (*dip)(...); };     what a variant offers: plain functions over pointers
//   the loops   #ifdef ISA  ... namespace ISA { ... }          compiled once a variant
//   a binding   #else       ... void bind_dip(nb::module_&)    compiled once: checks what Python gives (border.hpp)
#pragma once

enum class Variant { base, v2, v3, v4 };

// The best that this processor has, or what ASTERISM_VARIANT names; chosen once, at import (module.cpp)
Variant chosen_variant();

// clang-format off

// `extern const Table name` in the namespace of every variant
#define DECLARE_VARIANTS(Table, name)           \
  namespace base { extern const Table name; }   \
  namespace v2 { extern const Table name; }     \
  namespace v3 { extern const Table name; }     \
  namespace v4 { extern const Table name; }

// The table of the chosen variant. Variants that were not built are never named: the linker would miss them.
#define CHOSEN(Table, name)                                   \
  []() -> const Table& {                                      \
    switch (chosen_variant()) {                               \
      IF_BASE(case Variant::base: return base::name;)         \
      IF_V2(case Variant::v2: return v2::name;)               \
      IF_V3(case Variant::v3: return v3::name;)               \
      IF_V4(case Variant::v4: return v4::name;)               \
      default: __builtin_unreachable();                       \
    }                                                         \
  }()
#ifdef HAS_BASE
#define IF_BASE(code) code
#else
#define IF_BASE(code)
#endif
#ifdef HAS_V2
#define IF_V2(code) code
#else
#define IF_V2(code)
#endif
#ifdef HAS_V3
#define IF_V3(code) code
#else
#define IF_V3(code)
#endif
#ifdef HAS_V4
#define IF_V4(code) code
#else
#define IF_V4(code)
#endif
// clang-format on
