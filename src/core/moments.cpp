// Moments of the columns of a block: weighted and centred; missing cells (NaN) and infinite ones left out.
//
//   y       = x - origin                      origin: a number near the mean
//   left    = sum w y / sum w
//   mean    = origin + left                   as a number, and the rest that did not fit into it
//   scatter = sum w y^2 - left^2 sum w
//
// The origin is the first value of a column; then, from a pass over a sixteenth of the rows, about their mean. Where
// these rows were not typical, and the last term cancels digits, there is one more pass around the mean of all.
//
// A step is `group` whole rows side by side, so that vectors are full however few columns there are. Sums over a run
// of RUN steps stay in registers. They are added up with what rounding takes from each addition (Neumaier), so that the
// error does not grow with the number of rows. Most runs have all their cells and equal weights: a run is first taken
// as if it had; where that gives no number, once more with masks.
#include "variants.hpp"

// table (7, d) out: weight, mean, rest of the mean, scatter, low, high, number of cells; returns the rows that count
template <class T> using ColumnMoments = long (*)(const T* rows, const double* weights, long n, long d, double* table);
struct MomentsKernels {
  ColumnMoments<float> of_floats;
  ColumnMoments<double> of_doubles;
};
DECLARE_VARIANTS(MomentsKernels, moments_kernels)

#ifdef ISA
#include "memory.hpp"
#include "simd.hpp"

namespace ISA {
namespace {

constexpr int L = LANES<double>, PARTS = 4, SPAN = PARTS * L;  // lanes that are added up together
constexpr long RUN = 64;                                       // measured: longer runs are no faster
constexpr long HEAD = 128;                                     // rows that give the first mean, at least: convention
constexpr int MOST_PASSES = 4;  // derived: the second is about a mean; more would be about sums that overflow
constexpr double INF = __builtin_inf();
enum Sum { WEIGHT, FIRST, SECOND, SUMS };  // of w, w y, w y^2

template <class T> struct Columns {
  const T* rows;
  const double* weights;
  long n, d;
  bool even;  // whether all weights are the same, and above 0
};

// Where the cells of a step lie: lanes in spans of SPAN, of which the last may overlap the one before
struct Layout {
  long group, lanes, spans;
  explicit Layout(long d) : group(1), lanes(d) {
    if (d < 4 * SPAN) {
      while (group * d % SPAN != 0 || group * d < 2 * SPAN) group++;
      lanes = group * d;
    }
    spans = (lanes + SPAN - 1) / SPAN;
  }
  long start(long span) const { return minimum(span * SPAN, lanes - SPAN); }
};

// Totals of every lane: sums, what rounding took from them, extremes and number of the cells
struct Totals {
  const long lanes;
  Scratch<double> memory, low, high, count;
  explicit Totals(long n) : lanes(n), memory(2 * SUMS * n, 0), low(n, INF), high(n, -INF), count(n, 0) {}
  double* sum(int s) { return memory + s * lanes; }
  double* lost(int s) { return memory + (SUMS + s) * lanes; }
};

// a becomes the rounded sum; returned is exactly what rounding took from it (Knuth)
template <class V> INLINE V add(V& a, V b) {
  const V sum = a + b, c = sum - a, lost = (a - (sum - c)) + (b - c);
  a = sum;
  return lost;
}
INLINE Vec<double> load_cells(const double* p) { return load(p); }
INLINE Vec<double> load_cells(const float* p) {
  return __builtin_convertvector((load_as<vector<float, L>>(p)), Vec<double>);
}

// The cells of one span over some steps
template <class T> struct Cells {
  const T* first;
  long stride, steps;
  const double* origin;  // (SPAN,)
};

INLINE void add_run(Totals& totals, long lane, const Vec<double>* run, Vec<double> low, Vec<double> high) {
  for (int s = 0; s < SUMS; s++) {
    Vec<double> sum = load(totals.sum(s) + lane);
    const Vec<double> lost = add(sum, run[s]);
    store(totals.sum(s) + lane, sum);
    store(totals.lost(s) + lane, load(totals.lost(s) + lane) + lost);
  }
  const Vec<double> old_low = load(totals.low + lane), old_high = load(totals.high + lane);
  store(totals.low + lane, low < old_low ? low : old_low);
  store(totals.high + lane, high > old_high ? high : old_high);
}

// A run without masks, all of one weight; false, and nothing added, where a sum is no number
template <class T> bool add_plain(const Cells<T>& cells, double weight, Totals& totals, long lane) {
  Vec<double> first[PARTS] = {}, second[PARTS] = {}, low[PARTS], high[PARTS], origin[PARTS];
  UNROLL for (int p = 0; p < PARTS; p++) {
    origin[p] = load(cells.origin + p * L);
    low[p] = splat(INF), high[p] = splat(-INF);
  }
  for (long i = 0; i < cells.steps; i++) UNROLL
    for (int p = 0; p < PARTS; p++) {
      const T* here = cells.first + i * cells.stride + p * L;
      __builtin_prefetch(here + RUN * cells.stride);  // the next run: no processor expects such steps
      const Vec<double> x = load_cells(here), y = x - origin[p];
      first[p] += y;
      second[p] += y * y;
      low[p] = minimum(x, low[p]);
      high[p] = maximum(x, high[p]);
    }
  const Vec<double> all = second[0] + second[1] + second[2] + second[3];
  if (const double sum = total<double>(all); sum - sum != 0) return false;
  for (int p = 0; p < PARTS; p++) {
    const Vec<double> run[SUMS] = {splat(weight * double(cells.steps)), weight * first[p], weight * second[p]};
    add_run(totals, lane + p * L, run, low[p], high[p]);
    store(totals.count + lane + p * L, load(totals.count + lane + p * L) + double(cells.steps));
  }
  return true;
}

// A run with masks; weights (steps, SPAN), 0 where a row is absent
template <class T> void add_masked(const Cells<T>& cells, const double* weights, Totals& totals, long lane) {
  for (int p = 0; p < PARTS; p++) {
    const Vec<double> origin = load(cells.origin + p * L);
    Vec<double> run[SUMS] = {}, low = splat(INF), high = splat(-INF), count = {};
    for (long i = 0; i < cells.steps; i++) {
      const Vec<double> x = load_cells(cells.first + i * cells.stride + p * L);
      const Vec<double> w = load(weights + i * SPAN + p * L);
      const auto seen = (x - x == 0.0) & (w > 0.0);  // x - x is NaN of a missing or infinite cell
      const Vec<double> y = seen ? x - origin : splat(0.0), mass = seen ? w : splat(0.0);
      run[WEIGHT] += mass;
      run[FIRST] += mass * y;
      run[SECOND] += mass * y * y;
      low = minimum(seen ? x : splat(INF), low);
      high = maximum(seen ? x : splat(-INF), high);
      count += seen ? splat(1.0) : splat(0.0);
    }
    add_run(totals, lane + p * L, run, low, high);
    store(totals.count + lane + p * L, load(totals.count + lane + p * L) + count);
  }
}

// Sums of the first `part` rows about an origin (d,)
template <class T>
void add_rows(const Columns<T>& x, long part, const double* origin, const Layout& at, Totals& totals) {
  Scratch<double> origins(at.spans * SPAN), weights(RUN * SPAN, x.n > 0 ? x.weights[0] : 0);
  Scratch<long> row(at.spans * SPAN);  // of its step that a lane belongs to
  for (long span = 0; span < at.spans; span++)
    for (long l = 0; l < SPAN; l++) {
      origins[span * SPAN + l] = origin[(at.start(span) + l) % x.d];
      row[span * SPAN + l] = (at.start(span) + l) / x.d;
    }
  auto weigh = [&](long span, long first, long steps) {
    for (long i = 0; i < steps; i++)
      for (long l = 0; l < SPAN; l++) {
        const long r = (first + i) * at.group + row[span * SPAN + l];
        weights[i * SPAN + l] = r < part ? x.weights[r] : 0;
      }
  };
  const long steps = part / at.group;
  for (long first = 0; first < steps; first += RUN)
    for (long span = 0; span < at.spans; span++) {
      const T* cells = x.rows + first * at.lanes + at.start(span);
      const Cells<T> run = {cells, at.lanes, minimum(RUN, steps - first), origins + span * SPAN};
      if (x.even && add_plain(run, x.weights[0], totals, span * SPAN)) continue;
      if (!x.even) weigh(span, first, run.steps);
      add_masked(run, weights, totals, span * SPAN);
    }
  if (steps * at.group == part) return;
  Scratch<T> rest(at.lanes, 0);  // a last step with fewer rows
  for (long i = steps * at.lanes; i < part * x.d; i++) rest[i - steps * at.lanes] = x.rows[i];
  for (long span = 0; span < at.spans; span++) {
    weigh(span, steps, 1);
    add_masked(Cells<T>{rest + at.start(span), at.lanes, 1, origins + span * SPAN}, weights, totals, span * SPAN);
  }
}

// The moments of every column, and its mean as the next origin; whether the origin was near enough to the means
bool write_columns(Totals& totals, const Layout& at, long d, double* origin, double* table) {
  Scratch<double> sum(SUMS * d, 0), lost(SUMS * d, 0);
  double *low = table + 4 * d, *high = table + 5 * d, *count = table + 6 * d;
  for (long j = 0; j < d; j++) low[j] = INF, high[j] = -INF, count[j] = 0;
  for (long lane = 0; lane < at.spans * SPAN; lane++) {
    const long place = at.start(lane / SPAN) + lane % SPAN, j = place % d;
    if (place < lane / SPAN * SPAN) continue;  // seen in the span before
    for (int s = 0; s < SUMS; s++) lost[s * d + j] += add(sum[s * d + j], totals.sum(s)[lane]) + totals.lost(s)[lane];
    low[j] = minimum(low[j], totals.low[lane]);
    high[j] = maximum(high[j], totals.high[lane]);
    count[j] += totals.count[lane];
  }
  bool near = true;
  for (long j = 0; j < d; j++) {
    const double weight = sum[j] + lost[j], second = sum[2 * d + j] + lost[2 * d + j];
    const double left = weight > 0 ? (sum[d + j] + lost[d + j]) / weight : 0, shift = left * left * weight;
    double mean = weight > 0 ? origin[j] : 0;
    const double rest = add(mean, left), square = second - shift;
    const double scatter = square == square ? maximum(square, 0.0) : INF;  // squares beyond all numbers
    table[j] = weight, table[d + j] = mean, table[2 * d + j] = rest, table[3 * d + j] = scatter;
    if (shift > scatter && origin[j] != mean) near = false;
    if (weight > 0) origin[j] = mean;
  }
  return near;
}

template <class T> long column_moments(const T* rows, const double* weights, long n, long d, double* table) {
  long counted = 0, equal = 0;
  for (long i = 0; i < n; i++) {
    counted += weights[i] > 0;
    equal += weights[i] == weights[0];
  }
  const Columns<T> x = {rows, weights, n, d, counted == n && equal == n};
  if (d == 0) return counted;
  Scratch<double> origin(d, 0);
  for (long j = 0; j < d; j++)
    for (long i = 0; i < n; i++)
      if (weights[i] > 0 && rows[i * d + j] - rows[i * d + j] == 0) {
        origin[j] = rows[i * d + j];
        break;
      }
  const Layout at(d);
  auto pass = [&](long part) {
    Totals totals(at.spans * SPAN);
    add_rows(x, part, origin, at, totals);
    return write_columns(totals, at, d, origin, table);
  };
  pass(maximum(n / 16, minimum(n, HEAD)));
  for (int i = 0; i < MOST_PASSES && !pass(n); i++) {
  }
  return counted;
}

}  // namespace
const MomentsKernels moments_kernels = {column_moments<float>, column_moments<double>};
}  // namespace ISA

#else
#include "border.hpp"

void bind_moments(nb::module_& m) {
  const MomentsKernels& kernels = CHOSEN(MomentsKernels, moments_kernels);
  auto define = [&]<class T>(ColumnMoments<T> kernel) {
    m.def(
        "column_moments",
        [kernel](In<T, 2> rows, In<double, 1> weights, Out<double, 2> table) {
          const size_t n = rows.shape(0), d = rows.shape(1);
          require(weights.size() == n, "rows and weights must be of one length");
          require(table.shape(0) == 7 && table.shape(1) == d, "table must be (7, d)");
          return kernel(rows.data(), weights.data(), long(n), long(d), table.data());
        },
        "rows"_a, "weights"_a, "table"_a, Released(),
        "table (7, d) becomes weight, mean, rest of the mean, scatter, low, high and number of the observed cells.\n"
        "Returns how many rows have a weight above 0.");
  };
  define(kernels.of_floats);
  define(kernels.of_doubles);
}
#endif
