// The kinds of processors that kernels are compiled for, and which of them runs.
//
// A kernel file has three parts:
//   a table     struct DipKernels { double (*dip)(...); };     what a variant offers: plain functions over pointers
//   the loops   #ifdef ISA  ... namespace ISA { ... }          compiled once a variant
//   a binding   #else       ... void bind_dip(nb::module_&)    compiled once: checks what Python gives (border.hpp)
#pragma once

// `extern const Table name` in the namespace of every variant
#define DECLARE_VARIANTS(Table, name)                                                                                  \
  namespace base {                                                                                                     \
  extern const Table name;                                                                                             \
  }                                                                                                                    \
  namespace v2 {                                                                                                       \
  extern const Table name;                                                                                             \
  }                                                                                                                    \
  namespace v3 {                                                                                                       \
  extern const Table name;                                                                                             \
  }                                                                                                                    \
  namespace v4 {                                                                                                       \
  extern const Table name;                                                                                             \
  }

enum class Variant { base, v2, v3, v4 };

// The best that this processor has, or what ASTERISM_VARIANT names; chosen once, at import (module.cpp)
Variant chosen_variant();

// The table of the chosen variant. Variants that were not built are never named: the linker would miss them.
#ifdef HAS_BASE
#define ONE_BASE(name)                                                                                                 \
  case Variant::base:                                                                                                  \
    return base::name;
#else
#define ONE_BASE(name)
#endif
#ifdef HAS_V2
#define ONE_V2(name)                                                                                                   \
  case Variant::v2:                                                                                                    \
    return v2::name;
#else
#define ONE_V2(name)
#endif
#ifdef HAS_V3
#define ONE_V3(name)                                                                                                   \
  case Variant::v3:                                                                                                    \
    return v3::name;
#else
#define ONE_V3(name)
#endif
#ifdef HAS_V4
#define ONE_V4(name)                                                                                                   \
  case Variant::v4:                                                                                                    \
    return v4::name;
#else
#define ONE_V4(name)
#endif
#define CHOSEN(Table, name)                                                                                            \
  []() -> const Table& {                                                                                               \
    switch (chosen_variant()) {                                                                                        \
      ONE_BASE(name) ONE_V2(name) ONE_V3(name) ONE_V4(name) default : __builtin_unreachable();                         \
    }                                                                                                                  \
  }()
