// Python's side of a kernel: arrays come in, are checked, and go on as pointers, with the GIL released.
//
// Other types, dimensions and layouts are refused (TypeError). What an array does not say of itself, that two arrays
// are of one length, that an index is inside, is said with `require` (asterism._core.ShapeError, a ValueError).
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "variants.hpp"

namespace nb = nanobind;
using namespace nb::literals;

// Arrays of a kernel, C-contiguous, on the CPU; `In` may be read-only. Dimensions: In<double, 2>
// Left alone, nanobind would copy what is of another type or layout: what a kernel writes would go into the copy.
template <class T, int D> struct Array : nb::ndarray<T, nb::ndim<D>, nb::c_contig, nb::device::cpu> {
  using Base = nb::ndarray<T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
  Array() = default;
  explicit Array(const Base& base) : Base(base) {}
};
template <class T, int D> using In = Array<const T, D>;
template <class T, int D> using Out = Array<T, D>;

namespace nanobind::detail {
template <class T, int D> struct type_caster<Array<T, D>> {
  using Base = typename Array<T, D>::Base;
  using Whole = Array<T, D>;
  NB_TYPE_CASTER(Whole, make_caster<Base>::Name)
  template <class Flags> bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
    make_caster<Base> caster;
    if (!caster.from_python(source, Flags(flags & ~Flags(cast_flags::convert)), cleanup)) return false;
    if (reinterpret_cast<uintptr_t>(caster.value.data()) % alignof(T) != 0) {
      if constexpr (!std::is_const_v<T>) return false;
      return aligned(caster.value);
    }
    value = Whole(caster.value);
    return true;
  }

 private:
  // What is only read may come at any address, as from a worker of a cluster: it is copied
  bool aligned(const Base& given) noexcept {
    using Cell = std::remove_const_t<T>;
    Cell* data = new (std::nothrow) Cell[given.size() > 0 ? given.size() : 1];
    if (data == nullptr) return false;
    std::memcpy(static_cast<void*>(data), static_cast<const void*>(given.data()), given.size() * sizeof(T));
    size_t shape[D];
    for (int i = 0; i < D; i++) shape[i] = given.shape(i);
    capsule owner(data, [](void* p) noexcept { delete[] static_cast<Cell*>(p); });
    value = Whole(Base(data, D, shape, owner));
    return true;
  }
};
}  // namespace nanobind::detail

using Released = nb::call_guard<nb::gil_scoped_release>;  // unused where the binding touches Python objects

struct ShapeError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
inline void require(bool holds, const char* what) {
  if (!holds) throw ShapeError(what);
}

// Whether every index is in [low, high)
template <class T> bool all_inside(const T* index, long count, long low, long high) {
  for (long i = 0; i < count; i++)
    if (index[i] < low || index[i] >= high) return false;
  return true;
}

// A new array for Python, which owns it
template <class T, int D> using New = nb::ndarray<nb::numpy, T, nb::ndim<D>>;
template <class T, int D> New<T, D> new_array(std::initializer_list<size_t> shape) {
  size_t count = 1;
  for (size_t n : shape) count *= n;
  T* data = new T[count > 0 ? count : 1]();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return New<T, D>(data, shape, owner);
}
