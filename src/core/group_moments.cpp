// Weight, mean and scatter of every column in every group, over the cells that are there: first the means, then the
// squares around them.
#include <cstdint>

#include "variants.hpp"

struct Labelled {
  const double* weights;    // (n,)
  const int64_t* codes;     // (n,) groups; anything where the weight is 0
  const double* reference;  // (d,) what cells are measured from
  long n, d;
};
struct GroupTable {
  double* mass;                     // (k,) weight of the rows
  double *weight, *mean, *scatter;  // (k, d)
  long k;
};
struct GroupKernels {
  void (*of_floats)(const float* rows, const Labelled& labelled, const GroupTable& table);
  void (*of_doubles)(const double* rows, const Labelled& labelled, const GroupTable& table);
};
DECLARE_VARIANTS(GroupKernels, group_kernels)

#ifdef ISA
#include "simd.hpp"

namespace ISA {
namespace {

template <class T> void group_moments(const T* rows, const Labelled& labelled, const GroupTable& table) {
  const long d = labelled.d;
  const double* __restrict reference = labelled.reference;
  for (long i = 0; i < labelled.n; i++) {
    const double w = labelled.weights[i];
    if (w == 0) continue;
    const T* __restrict row = rows + i * d;
    double* __restrict weight = table.weight + labelled.codes[i] * d, * __restrict mean =
                                                                          table.mean + labelled.codes[i] * d;
    table.mass[labelled.codes[i]] += w;
    for (long j = 0; j < d; j++) {
      const double y = double(row[j]) - reference[j];
      weight[j] += y == y ? w : 0.0;
      mean[j] += y == y ? w * y : 0.0;
    }
  }
  for (long i = 0; i < table.k * d; i++)
    if (table.weight[i] > 0) table.mean[i] /= table.weight[i];
  for (long i = 0; i < labelled.n; i++) {
    const double w = labelled.weights[i];
    if (w == 0) continue;
    const T* __restrict row = rows + i * d;
    const double* __restrict mean = table.mean + labelled.codes[i] * d;
    double* __restrict scatter = table.scatter + labelled.codes[i] * d;
    for (long j = 0; j < d; j++) {
      const double y = (double(row[j]) - reference[j]) - mean[j];
      scatter[j] += y == y ? w * y * y : 0.0;
    }
  }
}

}  // namespace
const GroupKernels group_kernels = {group_moments<float>, group_moments<double>};
}  // namespace ISA

#else
#include "border.hpp"

template <class T> static void bind(nb::module_& m, void (*kernel)(const T*, const Labelled&, const GroupTable&)) {
  m.def(
      "group_moments",
      [kernel](In<T, 2> rows, In<double, 1> weights, In<int64_t, 1> codes, In<double, 1> reference,
               Out<double, 3> table, Out<double, 1> mass) {
        const long n = long(rows.shape(0)), d = long(rows.shape(1)), k = long(mass.size());
        require(long(weights.size()) == n && long(codes.size()) == n, "weights and codes must have a value a row");
        require(long(reference.size()) == d, "reference must have a value a column");
        require(table.shape(0) == 3 && long(table.shape(1)) == k && long(table.shape(2)) == d,
                "table must be (3, k, d)");
        for (long i = 0; i < n; i++)
          require(weights.data()[i] == 0 || (codes.data()[i] >= 0 && codes.data()[i] < k), "codes must be groups");
        double* cells = table.data();
        kernel(rows.data(), {weights.data(), codes.data(), reference.data(), n, d},
               {mass.data(), cells, cells + k * d, cells + 2 * k * d, k});
      },
      "rows"_a, "weights"_a, "codes"_a, "reference"_a, "table"_a, "mass"_a,
      "table = weight, mean from the reference and scatter of every column in every group; mass = weight of the rows. "
      "Both must be 0 before.",
      Released());
}

void bind_group_moments(nb::module_& m) {
  const GroupKernels& kernels = CHOSEN(GroupKernels, group_kernels);
  bind<float>(m, kernels.of_floats);
  bind<double>(m, kernels.of_doubles);
}
#endif
