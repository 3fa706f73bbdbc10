// exp and log of simd.hpp over arrays: so that tests can hold them to their accuracy.
#include "variants.hpp"

template <class T> using Elementwise = void (*)(const T* x, T* out, long n);
struct ExponentialKernels {
  Elementwise<float> exp_float, log_float;
  Elementwise<double> exp_double, log_double;
};
DECLARE_VARIANTS(ExponentialKernels, exponential_kernels)

#ifdef ISA
#include "simd.hpp"

namespace ISA {
namespace {

template <class T, bool LOG> void apply(const T* x, T* out, long n) {
  for (long i = 0; i < n; i += LANES<T>) {
    const Vec<T> cells = load_some(x + i, n - i);
    store_some<T>(out + i, LOG ? logarithm<T>(cells) : exponential_of_any<T>(cells), n - i);
  }
}

}  // namespace
const ExponentialKernels exponential_kernels = {apply<float, false>, apply<float, true>, apply<double, false>,
                                                apply<double, true>};
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
