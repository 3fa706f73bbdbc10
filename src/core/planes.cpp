// Axes that several matrices share, found plane by plane (families/covariance_common_axes.py says what for).
//
// In the plane of two axes, with half the sum m and half the difference h of the lengths of a group and e what is off
// its diagonal, a turn by t makes the lengths
//
//   m + x,  m - x,      x = h cos 2t + e sin 2t,      dx/dt = 2 y,  y = e cos 2t - h sin 2t
//
// and what is to be lowered is sum_c p_c log((m_c + x_c)(m_c - x_c)).
#include "variants.hpp"

struct Matrices {
  double *turned, *axes;  // (k, d, d) D' W_c D;  (d, d) D', an axis a line: both changed
  const double* weights;  // (k,) p; nullptr: the mean length (v_1 ... v_d)^(1/d) of each group, as it is
  long k, d;
};
struct PlanesKernels {
  double (*turn_planes)(Matrices matrices, int how);
};
DECLARE_VARIANTS(PlanesKernels, planes_kernels)

enum Angle { NEWTON, SEARCH, TANGENT };  // how an angle is found

#ifdef ISA
#include "memory.hpp"
#include "simd.hpp"

namespace ISA {
namespace {

constexpr int STEPS = 2, STEPS_AFTER_SEARCH = 3;  // of Newton's method: convention
constexpr double LONGEST = 0.2;                   // of them: convention
constexpr int TRIED = 12;                         // angles of a search: these and no others, up to naming the axes
constexpr double EPS = 0x1p-52, TINY = 0x1p-1022, QUARTER_TURN = 1.57079632679489661923;

struct Group {  // in a plane
  double p, m, half, e, a, b;
};
struct Plane {
  const Group* groups;
  long k;
};
struct Height {
  double value = 0, slope = 0, curvature = 0;
};

Height at_angle(const Plane& plane, double t) {
  const double cosine = __builtin_cos(2 * t), sine = __builtin_sin(2 * t);
  Height height;
  for (long c = 0; c < plane.k; c++) {
    const Group& g = plane.groups[c];
    const double x = g.half * cosine + g.e * sine, y = g.e * cosine - g.half * sine;
    const double product = maximum((g.m - x) * (g.m + x), maximum(EPS * g.m * g.m, TINY));
    const double rise = -4 * x * y / product;
    height.value += g.p * __builtin_log(product);
    height.slope += g.p * rise;
    height.curvature += g.p * (8 * (x * x - y * y) / product - rise * rise);
  }
  return height;
}

// Steps that lower the value; others are not made
double newton(const Plane& plane, double t, int steps) {
  Height here = at_angle(plane, t);
  for (int i = 0; i < steps && here.curvature > 0; i++) {
    const double tried = t + minimum(maximum(-here.slope / here.curvature, -LONGEST), LONGEST);
    const Height there = at_angle(plane, tried);
    if (!(there.value <= here.value)) break;
    t = tried, here = there;
  }
  return t;
}

// Where the tangent is least: the smallest eigenvector of sum_c p_c (1/a_c - 1/b_c) W_c in the plane
double tangent_angle(const Plane& plane) {
  double gap = 0, off = 0;
  for (long c = 0; c < plane.k; c++) {
    const Group& g = plane.groups[c];
    const double tilt = g.p * (1 / g.a - 1 / g.b);
    gap += tilt * (g.b - g.a);  // never negative: no angle is above 45 degrees
    off += tilt * g.e;
  }
  return 0.5 * __builtin_atan2(-2 * off, maximum(gap, 0.0));
}

double best_angle(const Plane& plane, int how) {
  if (how == TANGENT) return tangent_angle(plane);
  if (how == NEWTON) return newton(plane, tangent_angle(plane), STEPS);
  double best = __builtin_inf(), found = 0;
  for (int n = 1; n <= TRIED; n++) {
    const double t = QUARTER_TURN * n / TRIED - QUARTER_TURN / 2, value = at_angle(plane, t).value;
    if (value < best) best = value, found = t;
  }
  return newton(plane, found, STEPS_AFTER_SEARCH);
}

void turn_lines(double* first, double* second, long d, double cosine, double sine) {
  for (long n = 0; n < d; n++) {
    const double a = first[n], b = second[n];
    first[n] = cosine * a + sine * b;
    second[n] = cosine * b - sine * a;
  }
}

// Lines i and j of a symmetric matrix, then its columns, which are lines again
void turn_matrix(double* w, long d, long i, long j, double cosine, double sine) {
  turn_lines(w + i * d, w + j * d, d, cosine, sine);
  const double upper = w[i * d + i], lower = w[j * d + j], across = w[i * d + j], back = w[j * d + i];
  for (long n = 0; n < d; n++) w[n * d + i] = w[i * d + n], w[n * d + j] = w[j * d + n];
  w[i * d + i] = cosine * upper + sine * across;
  w[j * d + j] = cosine * lower - sine * back;
  w[i * d + j] = w[j * d + i] = cosine * across - sine * upper;
}

double turn_planes(Matrices all, int how) {
  const long k = all.k, d = all.d;
  Scratch<double> least(k), logs(k, 0);
  Scratch<Group> groups(k);
  const Plane plane = {groups, k};
  auto length = [&](long c, long j) { return maximum(all.turned[(c * d + j) * d + j], least[c]); };
  for (long c = 0; c < k; c++) {
    least[c] = 0;
    for (long j = 0; j < d; j++) least[c] = length(c, j);
    least[c] = maximum(double(d) * EPS * least[c], TINY);
    for (long j = 0; j < d; j++) logs[c] += __builtin_log(length(c, j)) / double(d);
  }
  double largest = 0;
  for (long i = 0; i < d; i++)
    for (long j = i + 1; j < d; j++) {
      double most = logs[0];  // a factor that all weights have does not matter
      for (long c = 1; c < k; c++) most = maximum(most, logs[c]);
      for (long c = 0; c < k; c++) {
        const double a = length(c, i), b = length(c, j), e = all.turned[(c * d + i) * d + j];
        const double p = all.weights != nullptr ? all.weights[c] : __builtin_exp(logs[c] - most);
        groups[c] = {p, 0.5 * (a + b), 0.5 * (a - b), e, a, b};
      }
      const double angle = best_angle(plane, how), cosine = __builtin_cos(angle), sine = __builtin_sin(angle);
      largest = maximum(largest, __builtin_fabs(angle));
      turn_lines(all.axes + i * d, all.axes + j * d, d, cosine, sine);
      for (long c = 0; c < k; c++) {
        turn_matrix(all.turned + c * d * d, d, i, j, cosine, sine);
        const Group& g = groups[c];
        logs[c] += __builtin_log((length(c, i) / g.a) * (length(c, j) / g.b)) / double(d);
      }
    }
  return largest;
}

}  // namespace
const PlanesKernels planes_kernels = {turn_planes};
}  // namespace ISA

#else
#include "border.hpp"

void bind_planes(nb::module_& m) {
  const PlanesKernels& kernels = CHOSEN(PlanesKernels, planes_kernels);
  nb::enum_<Angle>(m, "Angle", "How the angle of a plane is found.")
      .value("NEWTON", NEWTON, "the tangent's, then Newton's steps")
      .value("SEARCH", SEARCH, "the best of many, then Newton's steps")
      .value("TANGENT", TANGENT, "where the tangent is least: never raises the objective");
  m.def(
      "turn_planes",
      [&kernels](Out<double, 3> turned, Out<double, 2> axes, In<double, 1> weights, Angle how) {
        const size_t k = turned.shape(0), d = turned.shape(1);
        require(k > 0 && turned.shape(2) == d, "turned must be (k, d, d), k at least 1");
        require(axes.shape(0) == d && axes.shape(1) == d, "axes must be (d, d)");
        require(weights.size() == k || weights.size() == 0, "weights must be (k,) or none");
        const double* p = weights.size() > 0 ? weights.data() : nullptr;
        return kernels.turn_planes({turned.data(), axes.data(), p, long(k), long(d)}, int(how));
      },
      "turned"_a, "axes"_a, "weights"_a, "how"_a, Released(),
      "Turns every plane of two axes once, each to its best angle; returns the largest.\n"
      "turned (k, d, d) is D' W_c D, axes (d, d) is D', an axis a line: both change.");
}
#endif
