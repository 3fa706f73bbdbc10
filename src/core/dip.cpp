// Hartigan's dip of a weighted sample: how far its distribution F is from the nearest one with a single hump.
//
//   dip = min over G with one hump of max |F - G|
//
// With the hump at value number m, G is convex before it and concave after it, so the least possible distance is half
// of what F rises above the greatest convex minorant of its lower corners on the left, or falls below the least concave
// majorant of its upper corners on the right:
//
//   dip = min_m max(left(m), right(m))      left(m) = max_{i <= m} (F(x_i) - minorant_m(x_i)) / 2
//
// A longer stretch has a lower minorant, so left(m) grows with m and right(m) falls: m is found by halving.
#include "variants.hpp"

struct DipKernels {
  double (*dip)(const double* x, const double* shares, long n);
};
DECLARE_VARIANTS(DipKernels, dip_kernels)

#ifdef ISA
#include "memory.hpp"
#include "simd.hpp"

namespace ISA {
namespace {

struct Distribution {  // of distinct ascending x: F just before (below) and at (above) each
  Scratch<double> x, below, above;
  explicit Distribution(long n) : x(n), below(n), above(n) {}
};

double left(const Distribution& f, long m, long* hull) {
  const double *x = f.x, *below = f.below, *above = f.above;
  long size = 0;
  for (long i = 0; i <= m; i++) {  // lower hull of (x, below)
    for (; size > 1; size--) {
      const long a = hull[size - 2], b = hull[size - 1];
      if ((below[b] - below[a]) * (x[i] - x[b]) < (below[i] - below[b]) * (x[b] - x[a])) break;
    }
    hull[size++] = i;
  }
  double worst = 0;
  for (long s = 0; s < size; s++) {
    const long a = hull[s], b = s + 1 < size ? hull[s + 1] : a + 1;
    worst = maximum(worst, above[a] - below[a]);
    const double slope = b <= m ? (below[b] - below[a]) / (x[b] - x[a]) : 0;
    for (long i = a + 1; i < b; i++) worst = maximum(worst, above[i] - (below[a] + slope * (x[i] - x[a])));
  }
  return 0.5 * worst;
}

double dip(const double* x, const double* shares, long n) {
  Distribution f(n), back(n);
  double total = 0;
  for (long i = 0; i < n; i++) {
    f.x[i] = x[i], f.below[i] = total;
    f.above[i] = total += shares[i];
  }
  for (long i = 0; i < n; i++) {  // from the other end, the right side is a left side: x -> -x, F -> 1 - F
    const long j = n - 1 - i;
    back.x[i] = -x[j], back.below[i] = total - f.above[j], back.above[i] = total - f.below[j];
  }
  Scratch<long> hull(n);
  double best = 1;
  for (long low = 0, high = n - 1; low <= high;) {
    const long m = (low + high) / 2;
    const double before = left(f, m, hull), after = left(back, n - 1 - m, hull);
    best = minimum(best, maximum(before, after));
    if (before < after)
      low = m + 1;
    else
      high = m - 1;
  }
  return best;
}

}  // namespace
const DipKernels dip_kernels = {dip};
}  // namespace ISA

#else
#include "border.hpp"

void bind_dip(nb::module_& m) {
  const DipKernels& kernels = CHOSEN(DipKernels, dip_kernels);
  m.def(
      "dip",
      [&kernels](In<double, 1> x, In<double, 1> shares) {
        require(x.size() == shares.size(), "x and shares must be of one length");
        return kernels.dip(x.data(), shares.data(), long(x.size()));
      },
      "x"_a, "shares"_a, Released(),
      "Hartigan's dip of distinct ascending x, whose shares add up to 1:\n"
      "1/(2n) at least for n equal shares, 1/4 at most (two far heaps of one half each).");
}
#endif
