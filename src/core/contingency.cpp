// Contingency tables: what two labelings tell of each other, what chance alone tells, and greedy matching.
//
// With cells n of weight above 0, sums a of rows and b of columns, N their total and mu = a b / N,
//
//   N MI    = sum n log(n / mu) = sum n log(n / mu) - n + mu         no term of the second sum is negative
//   N E[MI] = sum over all cells of E[n log(n / mu) - n + mu]        n hypergeometric, given a and b
//
// Probabilities come from the most likely n by the ratio of neighbours
//
//   p(n + 1) / p(n) = (a - n) (b - n) / ((n + 1) (N - a - b + n + 1))
//
// and are divided by their sum: no factorial is taken, and no digit is lost.
#include <cstdint>

#include "variants.hpp"

struct GroupSizes {  // different sizes of groups, and how many groups have each
  const double *size, *times;
  long count;
};
struct TableCells {
  const int64_t *row, *column;
  const double* weight;
  long count;
};
struct ContingencyKernels {
  double (*information)(TableCells cells, const double* rows, const double* columns, double total);
  double (*chance_information)(GroupSizes a, GroupSizes b, double total);
  void (*greedy_match)(TableCells cells, int64_t* of_row, int64_t* of_column);
};
DECLARE_VARIANTS(ContingencyKernels, contingency_kernels)

#ifdef ISA
#include "simd.hpp"

namespace ISA {
namespace {

constexpr double NEGLIGIBLE = 1e-22;  // derived: of the most likely term; the rest is less than some 1e-17 of the sum
constexpr double SERIES = 0.05;       // derived: below, 12 terms of the series are exact
constexpr int TERMS = 12;

// n log(n / mu) - n + mu, to the last digit even where n is nearly mu: with t = (n - mu) / mu it is
// mu ((1 + t) log(1 + t) - t) = mu (t^2/2 - t^3/6 + t^4/12 - ... +- t^m / (m (m - 1)))
double divergence(double n, double mu) {
  if (n == 0) return mu;
  const double t = (n - mu) / mu;
  if (__builtin_fabs(t) >= SERIES) return n * __builtin_log(n / mu) - (n - mu);
  double total = 0, power = t * t;
  UNROLL for (int m = 2; m < 2 + TERMS; m++) {
    total += power * (1.0 / (m * (m - 1)));
    power *= -t;
  }
  return mu * total;
}

double expected_divergence(double a, double b, double total) {
  const double mu = a * b / total, rest = total - a - b;
  const double low = maximum(0.0, -rest), high = minimum(a, b);
  const double mode = minimum(maximum(__builtin_floor((a + 1) * (b + 1) / (total + 2)), low), high);
  double mass = 1, found = divergence(mode, mu), p = 1;
  for (double n = mode; n < high && p > NEGLIGIBLE;) {
    p *= (a - n) * (b - n) / ((n + 1) * (rest + n + 1));
    n += 1;
    mass += p;
    found += p * divergence(n, mu);
  }
  p = 1;
  for (double n = mode; n > low && p > NEGLIGIBLE;) {
    p *= n * (rest + n) / ((a - n + 1) * (b - n + 1));
    n -= 1;
    mass += p;
    found += p * divergence(n, mu);
  }
  return found / mass;
}

double chance_information(GroupSizes a, GroupSizes b, double total) {
  double information = 0;
  for (long i = 0; i < a.count; i++) {
    double part = 0;
    for (long j = 0; j < b.count; j++) part += b.times[j] * expected_divergence(a.size[i], b.size[j], total);
    information += a.times[i] * part;
  }
  return information;
}

// Empty cells give mu, together N minus the mu of the others
double information(TableCells cells, const double* rows, const double* columns, double total) {
  double found = 0, met = 0;
  for (long i = 0; i < cells.count; i++) {
    const double mu = rows[cells.row[i]] * (columns[cells.column[i]] / total);
    found += divergence(cells.weight[i], mu);
    met += mu;
  }
  return found + maximum(total - met, 0.0);
}

void greedy_match(TableCells cells, int64_t* of_row, int64_t* of_column) {
  for (long i = 0; i < cells.count; i++) {
    const int64_t row = cells.row[i], column = cells.column[i];
    if (of_row[row] < 0 && of_column[column] < 0) of_row[row] = column, of_column[column] = row;
  }
}

}  // namespace
const ContingencyKernels contingency_kernels = {information, chance_information, greedy_match};
}  // namespace ISA

#else
#include "border.hpp"

using Index = In<int64_t, 1>;
using Weights = In<double, 1>;

static TableCells cells_of(Index row, Index column, const double* weight, size_t rows, size_t columns) {
  require(row.size() == column.size(), "row and column must be of one length");
  require(all_inside(row.data(), long(row.size()), 0, long(rows)), "a row is outside the table");
  require(all_inside(column.data(), long(column.size()), 0, long(columns)), "a column is outside the table");
  return {row.data(), column.data(), weight, long(row.size())};
}

void bind_contingency(nb::module_& m) {
  const ContingencyKernels& kernels = CHOSEN(ContingencyKernels, contingency_kernels);
  m.def(
      "table_information",
      [&kernels](Index row, Index column, Weights weight, Weights rows, Weights columns, double total) {
        require(row.size() == weight.size(), "row and weight must be of one length");
        const TableCells cells = cells_of(row, column, weight.data(), rows.size(), columns.size());
        return kernels.information(cells, rows.data(), columns.data(), total);
      },
      "row"_a, "column"_a, "weight"_a, "rows"_a, "columns"_a, "total"_a, Released(),
      "N MI of a table: its cells of weight above 0, the sums of its rows and of its columns, and their total.");
  m.def(
      "chance_information",
      [&kernels](Weights a, Weights times_a, Weights b, Weights times_b, double total) {
        require(a.size() == times_a.size() && b.size() == times_b.size(), "sizes and times must be of one length");
        return kernels.chance_information({a.data(), times_a.data(), long(a.size())},
                                          {b.data(), times_b.data(), long(b.size())}, total);
      },
      "a"_a, "times_a"_a, "b"_a, "times_b"_a, "total"_a, Released(),
      "N E[MI] of two labelings by chance: different sizes of groups, and how many groups have each.");
  m.def(
      "greedy_match",
      [&kernels](Index row, Index column, Out<int64_t, 1> of_row, Out<int64_t, 1> of_column) {
        const TableCells cells = cells_of(row, column, nullptr, of_row.size(), of_column.size());
        kernels.greedy_match(cells, of_row.data(), of_column.data());
      },
      "row"_a, "column"_a, "of_row"_a, "of_column"_a, Released(),
      "Takes cells in their order, heaviest first, where row and column are both free (below 0).");
}
#endif
