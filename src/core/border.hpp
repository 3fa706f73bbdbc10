// Python's side of a kernel: arrays come in, are checked, and go on as pointers, with the GIL released.
//
// nanobind refuses other types, dimensions and layouts by itself (TypeError). What it cannot know, that two arrays are
// of one length, that an index is inside, is said with `require` (asterism._core.ShapeError, a ValueError).
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "variants.hpp"

namespace nb = nanobind;
using namespace nb::literals;

// Arrays of a kernel, C-contiguous, on the CPU; `In` may be read-only. Dimensions: In<double, 2>
template <class T, int D> using In = nb::ndarray<const T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
template <class T, int D> using Out = nb::ndarray<T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;

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
template <class T, int D> nb::ndarray<nb::numpy, T, nb::ndim<D>> new_array(std::initializer_list<size_t> shape) {
  size_t count = 1;
  for (size_t n : shape) count *= n;
  T* data = new T[count > 0 ? count : 1]();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<D>>(data, shape, owner);
}
