// Centres as Python hands them over: made once for all blocks of a pass, shared by threads, never changed.
#pragma once
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <vector>

#include "border.hpp"

struct Centers {
  long k, d;
  bool missing;  // whether rows may miss cells
  double scale;
  std::vector<double> reference, offsets, origin;  // (d,) (k, d) (d,)
  std::vector<float> strips;                       // see nearest.cpp
  float margin;

  Centers(In<double, 1> reference, In<double, 2> offsets, In<double, 1> origin, double scale, bool missing);
};
