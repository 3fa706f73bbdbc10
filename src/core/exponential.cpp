// exp and log of simd.hpp over arrays: so that tests can hold them to their accuracy.
#include "variants.hpp"

template <class T>
using Elementwise = void (*)(const T* x, T* out, long n);
struct ExponentialKernels {
  Elementwise<float> exp_float, log_float;
  Elementwise<double> exp_double, log_double;
};
DECLARE_VARIANTS(ExponentialKernels, exponential_kernels)

#ifdef ISA
#include "simd.hpp"

namespace ISA {
namespace {

struct Exp {
  template <class T>
  static INLINE Vec<T> of(Vec<T> x) {
    return exponential_of_any<T>(x);
  }
};
struct Log {
  template <class T>
  static INLINE Vec<T> of(Vec<T> x) {
    return logarithm<T>(x);
  }
};

template <class T, class Function>
void apply(const T* x, T* out, long n) {
  for (long i = 0; i < n; i += LANES<T>)
    store_some<T>(out + i, Function::template of<T>(load_some(x + i, n - i)), n - i);
}

}  // namespace
const ExponentialKernels exponential_kernels = {apply<float, Exp>, apply<float, Log>, apply<double, Exp>,
                                                apply<double, Log>};
}  // namespace ISA

#else
#include "border.hpp"

void bind_exponential(nb::module_& m) {
  const ExponentialKernels& kernels = CHOSEN(ExponentialKernels, exponential_kernels);
  auto define = [&]<class T>(const char* name, Elementwise<T> kernel, const char* doc) {
    m.def(
        name,
        [kernel](In<T, 1> x, Out<T, 1> out) {
          require(x.size() == out.size(), "x and out must be of one length");
          kernel(x.data(), out.data(), long(x.size()));
        },
        "x"_a, "out"_a, Released(), doc);
  };
  define("exponential", kernels.exp_float, "out = exp(x); 0 where that is no normal number.");
  define("exponential", kernels.exp_double, "out = exp(x); 0 where that is no normal number.");
  define("logarithm", kernels.log_float, "out = log(x) of normal positive numbers.");
  define("logarithm", kernels.log_double, "out = log(x) of normal positive numbers.");
}
#endif
