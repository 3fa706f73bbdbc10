// Contrast functions of independent components.
//
//   logcosh   g = tanh(a u),            g' = a (1 - g^2)        tanh(x) = 1 - 2 / (exp(2x) + 1)
//   bell      g = u exp(-u^2 / 2),      g' = (1 - u^2) exp(-u^2 / 2)
//   cube      g = u^3,                  g' = 3 u^2
//
// u becomes w g(u) in place, and the sum of w g'(u) is returned. 1 - 2/(e + 1) loses digits of tanh near 0 relative to
// its size, but none relative to 1, and sums of u tanh(u) ask for no more.
#include "variants.hpp"

using Contrast = double (*)(double* u, const double* weights, long n, double a);
struct ContrastKernels {
  Contrast logcosh, bell, cube;
};
DECLARE_VARIANTS(ContrastKernels, contrast_kernels)

#ifdef ISA
#include "simd.hpp"

namespace ISA {
namespace {

constexpr double FAR = 350.0;  // tanh of more is 1, and exp(2x) still a number

struct Logcosh {
  double a;
  INLINE void operator()(Vec<double> u, Vec<double>& g, Vec<double>& slope) const {
    const Vec<double> x = maximum(splat(-FAR), minimum(splat(FAR), a * u));
    g = 1.0 - 2.0 / (exponential<double>(2.0 * x) + 1.0);
    slope = a * (1.0 - g * g);
  }
};
struct Bell {
  double a;
  INLINE void operator()(Vec<double> u, Vec<double>& g, Vec<double>& slope) const {
    const Vec<double> e = exponential_of_any<double>(-0.5 * u * u);
    g = u * e;
    slope = (1.0 - u * u) * e;
  }
};
struct Cube {
  double a;
  INLINE void operator()(Vec<double> u, Vec<double>& g, Vec<double>& slope) const {
    g = u * u * u;
    slope = 3.0 * (u * u);
  }
};

template <class Function> double apply(double* u, const double* weights, long n, double a) {
  constexpr int L = LANES<double>;
  const Function function{a};
  Vec<double> sum = {}, g, slope;
  long i = 0;
  for (; i + L <= n; i += L) {
    const Vec<double> w = load(weights + i);
    function(load(u + i), g, slope);
    store(u + i, w * g);
    sum += w * slope;
  }
  if (i < n) {  // lanes past the end have weight 0
    const Vec<double> w = load_some(weights + i, n - i);
    function(load_some(u + i, n - i), g, slope);
    store_some(u + i, w * g, n - i);
    sum += w * slope;
  }
  return total<double>(sum);
}

}  // namespace
const ContrastKernels contrast_kernels = {apply<Logcosh>, apply<Bell>, apply<Cube>};
}  // namespace ISA

#else
#include "border.hpp"

void bind_contrast(nb::module_& m) {
  const ContrastKernels& kernels = CHOSEN(ContrastKernels, contrast_kernels);
  auto define = [&](const char* name, Contrast contrast, const char* doc) {
    m.def(
        name,
        [contrast](Out<double, 1> u, In<double, 1> weights, double a) {
          require(u.size() == weights.size(), "u and weights must be of one length");
          nb::gil_scoped_release released;
          return contrast(u.data(), weights.data(), long(u.size()), a);
        },
        "u"_a, "weights"_a, "a"_a, doc);
  };
  define("contrast_logcosh", kernels.logcosh, "u becomes w tanh(a u); returns the sum of w a (1 - tanh(a u)^2).");
  define("contrast_bell", kernels.bell, "u becomes w u exp(-u^2/2); returns the sum of w (1 - u^2) exp(-u^2/2).");
  define("contrast_cube", kernels.cube, "u becomes w u^3; returns the sum of w 3 u^2.");
}
#endif
