// The nearest centre of every row, certified.
//
// With y = (x - origin) scale, missing cells 0, and centres c in the same units,
//
//   ||x - c||^2 scale^2 = score + ||y||^2      score = sum_j c_j^2 - 2 c_j y_j      over the cells that a row has
//
// so the nearest centre has the least score: a product of rows with slopes -2 c, which begins with the constant
// ||c||^2; where cells may be missing, it runs over masks and c_j^2 too. Vector lanes are rows, from anywhere,
// transposed a tile at a time; the sums, and the best two of them, stay in registers.
//
// Scores are taken in float32, whatever the rows are. A label is accepted where the best score leads the second by more
// than rounding can have done to both; the other rows, few, compare distances in float64. So labels are exact, and
// those of float32 and float64 tables are found in the same time. What float32 cannot hold becomes infinite or NaN,
// which leads nobody: float64 decides.
//
// A row keeps its label while its lead, by which the second nearest centre was farther away than the nearest, exceeds
// what its own centre and the fastest other have moved since (Hamerly's bound in one number): it need not be read.
#include <cstdint>

#include "variants.hpp"

constexpr int STRIP = 4;  // centres whose scores are taken together

struct CenterTable {
  long k, d, lines;                   // lines of a tile: d columns; with masks, 2 d
  bool missing;                       // whether rows may miss cells
  const double *reference, *offsets;  // (d,) a point among the rows, (k, d) centres from there
  const double* origin;               // (d,) what float32 measures from
  double scale;                       // a power of two that brings rows near 1
  const float* strips;                // (k / STRIP, 1 + lines, STRIP) constants, then slopes
  float margin;                       // squared lead that certifies a label, for ||(y, seen)||^2 = 1
};

// What is known of rows from the last pass; leads == nullptr: nothing
struct Kept {
  const int32_t* labels;  // (n,) -1: none
  float* leads;           // (n,) in and out: the drift up to which a row keeps its label; NaN: none
  const double* drift;    // (k,) what a centre and the fastest other have moved since the first pass, scaled
};

template <class T> struct NearestOf {
  void (*nearest)(const CenterTable&, const T* rows, long n, const Kept&, int32_t* labels);
  double (*scatter)(const CenterTable&, const T* rows, const double* weights, const int32_t* labels, long n,
                    double* mass);
  void (*squares)(const T* rows, long n, const double* reference, const double* centers, long k, long d, double* out);
};
struct NearestKernels {
  NearestOf<float> of_float;
  NearestOf<double> of_double;
};
DECLARE_VARIANTS(NearestKernels, nearest_kernels)

constexpr double FLOAT_ROUNDING = 0x1p-24;  // derived: half a unit in the last place of 1

#ifdef ISA
#include "distance.hpp"
#include "memory.hpp"

namespace ISA {
namespace {

constexpr int V = REGISTERS / 8;            // derived: vectors of rows; STRIP V sums are half of the registers
constexpr long SLAB = V * LANES<float>;     // rows scored together
constexpr long TILE_BYTES = 8 << 10;        // measured: of transposed cells, which stay in the first cache
constexpr long FAR_APART = 64;              // measured: columns from which on rows are asked for ahead
constexpr float ROUND_DOWN = 1 - 0x1p-22f;  // derived: so that a lead is never overstated

using Scores = Vec<float>[STRIP * V];  // centre i / V, vector of rows i % V

// N x N cells at a time, (x - origin) scale, one column under the other; the last columns overlap those before
template <int N, class T> struct Columns {
  using W = vector<T, N>;
  using F = vector<float, N>;
  static INLINE void transpose_rows(const T* const* rows, const T* origin, T scale, long from, long to, float* tile,
                                    long pitch, [[maybe_unused]] long ahead) {
    if (to - from < N) return Columns<N / 2, T>::transpose_rows(rows, origin, scale, from, to, tile, pitch, ahead);
    for (long j = from; j < to; j += N) {
      const long at = j + N <= to ? j : to - N;
      const W shift = load_as<W>(origin + at);
      for (long i = 0; i < SLAB; i += N) {
        F cells[N];
        UNROLL for (int r = 0; r < N; r++)
          cells[r] = __builtin_convertvector((load_as<W>(rows[i + r] + at) - shift) * scale, F);
        if (ahead) {
          UNROLL for (int r = 0; r < N; r++)
            __builtin_prefetch(rows[i + r] + ahead + at, 0, 2);
        }
        transpose<N>(cells);
        UNROLL for (int c = 0; c < N; c++)
          store(tile + (at - from + c) * pitch + i, cells[c]);
      }
    }
  }
};
template <class T> struct Columns<1, T> {
  static INLINE void transpose_rows(const T* const* rows, const T* origin, T scale, long from, long to, float* tile,
                                    long pitch, [[maybe_unused]] long ahead) {
    for (long j = from; j < to; j++)
      for (long i = 0; i < SLAB; i++) tile[(j - from) * pitch + i] = float((rows[i][j] - origin[j]) * scale);
  }
};

// sums += slopes[line, centre] tile[line, row], over lines
INLINE void add_products(const float* slopes, const float* tile, long lines, Scores& sums) {
  for (long line = 0; line < lines; line++) {
    Vec<float> y[V];
    UNROLL for (int v = 0; v < V; v++)
      y[v] = load(tile + line * SLAB + v * LANES<float>);
    UNROLL for (int i = 0; i < STRIP * V; i++)
      sums[i] += slopes[line * STRIP + i / V] * y[i % V];
  }
}

template <class T> class Search {
 public:
  explicit Search(const CenterTable& centers)
      : t_(centers),
        step_(centers.missing ? 2 : 1),
        chunk_(TILE_BYTES / long(sizeof(float)) / SLAB / step_),
        origin_(centers.d),
        tile_(step_ * SLAB * (centers.d < chunk_ ? centers.d : chunk_)),
        sums_(centers.d > chunk_ ? round_up(centers.k, STRIP) * SLAB : 0) {
    for (long j = 0; j < centers.d; j++) origin_[j] = T(centers.origin[j]);
  }

  // The best two scores of SLAB rows, and the label of the best
  void score(const T* const* rows, long ahead) {
    for (long i = 0; i < SLAB; i++) square[i] = 0, seen[i] = t_.missing ? 0.f : 1.f;
    constexpr int N = LANES<float> < 8 ? LANES<float> : 8;  // measured: 16 is no faster
    const long d = t_.d;
    long from = 0, to;
    do {  // once even without columns: the first centre of equals is the nearest then
      to = from + chunk_ < d ? from + chunk_ : d;
      Columns<N, T>::transpose_rows(rows, origin_, T(t_.scale), from, to, tile_, step_ * SLAB, ahead);
      measure(to - from);
      multiply(from, to);
    } while ((from = to) < d);
  }

  // The nearest centre by distances in float64; the first of equals
  int32_t decide(const T* row) const {
    double least = __builtin_inf();
    int32_t nearest = 0;
    for (long c = 0; c < t_.k; c++)
      if (const double square = squared_distance(row, t_.reference, t_.offsets + c * t_.d, t_.d); square < least)
        least = square, nearest = int32_t(c);
    return nearest;
  }

  // Rows whose lead is within rounding
  void decide_close_calls(const T* const* rows, long m) {
    int close = 0;
    for (long i = 0; i < SLAB; i++) close += !is_certain(i);
    if (close)
      for (long i = 0; i < m; i++)
        if (!is_certain(i)) label[i] = decide(rows[i]);
  }

  // best becomes the lead: by how much the second nearest centre is farther away, at the least
  void measure_leads() {
    const float share = float(2 * double(t_.lines + 9) * FLOAT_ROUNDING);
    for (long i = 0; i < SLAB; i++) {
      const float whole = square[i] + seen[i], slip = __builtin_sqrtf(t_.margin * whole) + share * whole;
      const float near = best[i] + square[i] + slip, next = second[i] + square[i] - slip;
      best[i] = __builtin_sqrtf(next > 0 ? next : 0) - __builtin_sqrtf(near > 0 ? near : 0);
    }
  }

  float best[SLAB], second[SLAB], square[SLAB], seen[SLAB];  // seen: what masks add to ||y||^2
  int32_t label[SLAB];

 private:
  bool is_certain(long i) const {
    const float lead = second[i] - best[i];
    return lead * lead > t_.margin * (square[i] + seen[i]);
  }

  // Squares of the rows; where cells may be missing, NaN becomes 0 and the mask follows the cells of a column
  void measure(long columns) {
    constexpr int L = LANES<float>;
    for (int v = 0; v < V; v++) {
      float* y = tile_ + v * L;
      Vec<float> sum = load(square + v * L), count = load(seen + v * L);
      if (!t_.missing) {
        for (long j = 0; j < columns; j++, y += SLAB) sum += load(y) * load(y);
      } else {
        for (long j = 0; j < columns; j++, y += 2 * SLAB) {
          Vec<float> cell = load(y);
          const Vec<float> mask = cell == cell ? splat(1.f) : Vec<float>{};
          cell = cell == cell ? cell : Vec<float>{};
          store(y, cell);
          store(y + SLAB, mask);
          sum += cell * cell;
          count += mask;
        }
      }
      store(square + v * L, sum);
      store(seen + v * L, count);
    }
  }

  // Columns from:to against all centres: sums begin with the constants, and end in the best two
  void multiply(long from, long to) {
    constexpr int L = LANES<float>;
    const bool last = to == t_.d;
    Vec<float> low[V], next[V];
    IntVec<float> who[V] = {};
    UNROLL for (int v = 0; v < V; v++)
      low[v] = next[v] = splat(__builtin_inff());
    const float* strip = t_.strips;
    for (long c = 0; c < t_.k; c += STRIP, strip += (1 + t_.lines) * STRIP) {
      Scores sums;
      float* const kept = sums_ + c * SLAB;
      UNROLL for (int i = 0; i < STRIP * V; i++)
        sums[i] = from == 0 ? splat(strip[i / V]) : load(kept + i * L);
      add_products(strip + (1 + from * step_) * STRIP, tile_, (to - from) * step_, sums);
      UNROLL for (int i = 0; i < STRIP * V; i++) {
        const int v = i % V;
        if (!last) {
          store(kept + i * L, sums[i]);
          continue;
        }
        who[v] = sums[i] < low[v] ? IntVec<float>{} + int32_t(c + i / V) : who[v];
        next[v] = minimum(maximum(sums[i], low[v]), next[v]);  // of a NaN, the other: no lead
        low[v] = minimum(sums[i], low[v]);
      }
    }
    for (int v = 0; v < V; v++) {
      store(best + v * L, low[v]);
      store(second + v * L, next[v]);
      store(label + v * L, who[v]);
    }
  }

  const CenterTable& t_;
  const long step_, chunk_;  // lines of a column, columns of a tile
  Scratch<T> origin_;
  Scratch<float> tile_, sums_;
};

// The next rows that need a search: all, or those whose lead is used up. Which these are cannot be predicted, so there
// is no branch: every row is listed, over the one before if that needs none.
long list_rows(const Kept& kept, long n, long& first, int32_t* list) {
  long m = 0;
  if (kept.leads == nullptr) {
    for (; m < SLAB && first < n; first++) list[m++] = int32_t(first);
    return m;
  }
  for (; m < SLAB && first < n; first++) {
    const int32_t label = kept.labels[first];
    list[m] = int32_t(first);
    m += !(double(kept.leads[first]) > kept.drift[label < 0 ? 0 : label]) | (label < 0);
  }
  return m;
}

template <class T> void nearest(const CenterTable& centers, const T* rows, long n, const Kept& kept, int32_t* labels) {
  Search<T> search(centers);
  int32_t list[SLAB];
  const T* at[SLAB];
  if (kept.leads) std::memcpy(labels, kept.labels, size_t(n) * sizeof(int32_t));
  for (long first = 0, m; (m = list_rows(kept, n, first, list)) > 0;) {
    for (long i = 0; i < SLAB; i++) at[i] = rows + list[i < m ? i : m - 1] * centers.d;
    search.score(at, centers.d > FAR_APART && first + SLAB <= n ? SLAB * centers.d : 0);
    search.decide_close_calls(at, m);
    for (long i = 0; i < m; i++) labels[list[i]] = search.label[i];
    if (kept.leads == nullptr) continue;
    search.measure_leads();
    for (long i = 0; i < m; i++)
      kept.leads[list[i]] = float((search.best[i] + kept.drift[search.label[i]]) * ROUND_DOWN);
  }
}

// sum w ||x - c||^2, each row about its own centre; and the weights of the groups
template <class T>
double scatter(const CenterTable& t, const T* rows, const double* weights, const int32_t* labels, long n,
               double* mass) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    if (weights[i] != 0) {  // an absent row may hold anything
      sum += weights[i] * squared_distance(rows + i * t.d, t.reference, t.offsets + labels[i] * t.d, t.d);
      mass[labels[i]] += weights[i];
    }
  return sum;
}

template <class T>
void squares(const T* rows, long n, const double* reference, const double* centers, long k, long d, double* out) {
  for (long i = 0; i < n; i++)
    for (long c = 0; c < k; c++) out[i * k + c] = squared_distance(rows + i * d, reference, centers + c * d, d);
}

}  // namespace

const NearestKernels nearest_kernels = {{nearest<float>, scatter<float>, squares<float>},
                                        {nearest<double>, scatter<double>, squares<double>}};

}  // namespace ISA

#else
#include "centers.hpp"

// Constants and slopes of the scores, STRIP centres side by side; those beyond the last are infinitely far away
static std::vector<float> strips_of(const Centers& c, double& longest) {
  const long lines = c.missing ? 2 * c.d : c.d, step = c.missing ? 2 : 1, height = (c.k + STRIP - 1) / STRIP;
  std::vector<float> strips(size_t(height * (1 + lines) * STRIP), 0.0f);
  longest = 0;
  for (long i = 0; i < height * STRIP; i++) {
    float* strip = strips.data() + i / STRIP * (1 + lines) * STRIP + i % STRIP;
    if (i >= c.k) {
      *strip = HUGE_VALF;
      continue;
    }
    double constant = 0, length = 0;
    for (long j = 0; j < c.d; j++) {
      const double y = (c.offsets[size_t(i * c.d + j)] + (c.reference[size_t(j)] - c.origin[size_t(j)])) * c.scale;
      const float slope = float(-2.0 * y), square = float(y * y);
      strip[(1 + j * step) * STRIP] = slope;
      length += double(slope) * slope;
      if (c.missing) strip[(2 + j * step) * STRIP] = square, length += double(square) * square;
      constant += y * y;
    }
    if (!c.missing) *strip = float(constant), length += double(*strip) * *strip;
    if (!(length <= longest)) longest = length;  // NaN too
  }
  return strips;
}

// Rounding y and slopes to float32, and a sum of p products in any order, change a score by at most
// (p + 2) u ||slopes|| ||y|| to first order; two scores differ by twice that. The rest is for the margin itself.
static float margin_of(long lines, double longest) {
  const double share = 2.0 * double(lines + 9) * FLOAT_ROUNDING;
  return float(share * share * longest);
}

Centers::Centers(In<double, 1> reference, In<double, 2> offsets, In<double, 1> origin, double scale, bool missing)
    : k(long(offsets.shape(0))),
      d(long(offsets.shape(1))),
      missing(missing),
      scale(scale),
      reference(reference.data(), reference.data() + reference.size()),
      offsets(offsets.data(), offsets.data() + offsets.size()),
      origin(origin.data(), origin.data() + origin.size()) {
  require(long(reference.shape(0)) == d && long(origin.shape(0)) == d,
          "reference, origin and centres have as many columns");
  require(k > 0 && k < INT32_MAX, "there is at least one centre");
  double longest;
  strips = strips_of(*this, longest);
  margin = margin_of(missing ? 2 * d : d, longest);
}

template <class T> static const NearestOf<T>& kernels_of() {
  const NearestKernels& kernels = CHOSEN(NearestKernels, nearest_kernels);
  if constexpr (sizeof(T) == sizeof(float))
    return kernels.of_float;
  else
    return kernels.of_double;
}

static CenterTable table_of(const Centers& c) {
  return {c.k,
          c.d,
          c.missing ? 2 * c.d : c.d,
          c.missing,
          c.reference.data(),
          c.offsets.data(),
          c.origin.data(),
          c.scale,
          c.strips.data(),
          c.margin};
}

using Labels = nb::ndarray<nb::numpy, int32_t, nb::ndim<1> >;

template <class T> static Labels search(In<T, 2> rows, const Centers& centers, const Kept& kept) {
  const long n = long(rows.shape(0));
  require(long(rows.shape(1)) == centers.d, "rows and centres have as many columns");
  require(n <= INT32_MAX, "rows of a block are counted in 32 bits");
  auto labels = new_array<int32_t, 1>({size_t(n)});
  {
    nb::gil_scoped_release released;
    kernels_of<T>().nearest(table_of(centers), rows.data(), n, kept, labels.data());
  }
  return labels;
}
template <class T> static Labels bind_nearest_of(In<T, 2> rows, const Centers& centers) {
  return search<T>(rows, centers, Kept{});
}
template <class T>
static Labels bind_relabel(In<T, 2> rows, const Centers& centers, In<int32_t, 1> labels, Out<float, 1> leads,
                           In<double, 1> drift) {
  const long n = long(rows.shape(0));
  require(long(labels.shape(0)) == n && long(leads.shape(0)) == n, "every row has a label and a lead");
  require(long(drift.shape(0)) == centers.k, "every centre has a drift");
  require(all_inside(labels.data(), n, -1, centers.k), "labels are numbers of centres, or -1");
  return search<T>(rows, centers, {labels.data(), leads.data(), drift.data()});
}

template <class T>
static auto bind_scatter(In<T, 2> rows, In<double, 1> weights, const Centers& centers, In<int32_t, 1> labels) {
  const long n = long(rows.shape(0));
  require(long(rows.shape(1)) == centers.d, "rows and centres have as many columns");
  require(long(labels.shape(0)) == n && long(weights.shape(0)) == n, "every row has a label and a weight");
  require(all_inside(labels.data(), n, 0, centers.k), "labels are numbers of centres");
  auto mass = new_array<double, 1>({size_t(centers.k)});
  double sum;
  {
    nb::gil_scoped_release released;
    sum = kernels_of<T>().scatter(table_of(centers), rows.data(), weights.data(), labels.data(), n, mass.data());
  }
  return std::make_tuple(sum, mass);
}

template <class T>
static nb::ndarray<nb::numpy, double, nb::ndim<2> > bind_squares(In<T, 2> rows, In<double, 1> reference,
                                                                 In<double, 2> centers) {
  const size_t n = rows.shape(0), k = centers.shape(0), d = rows.shape(1);
  require(centers.shape(1) == d && reference.shape(0) == d, "rows, reference and centres have as many columns");
  auto out = new_array<double, 2>({n, k});
  {
    nb::gil_scoped_release released;
    kernels_of<T>().squares(rows.data(), long(n), reference.data(), centers.data(), long(k), long(d), out.data());
  }
  return out;
}

template <class T> static void bind_for(nb::module_& m) {
  m.def("nearest", bind_nearest_of<T>, "rows"_a, "centers"_a,
        "(n,) the nearest centre of every row, the first of equals.");
  m.def("relabel", bind_relabel<T>, "rows"_a, "centers"_a, "labels"_a, "leads"_a.noconvert(), "drift"_a,
        "The same where labels and leads are known from a pass before; leads are brought up to date.");
  m.def("scatter", bind_scatter<T>, "rows"_a, "weights"_a, "centers"_a, "labels"_a,
        "sum w ||x - c||^2 over observed cells, each row about its own centre; and (k,) the weights of the groups.");
  m.def("squared_distances", bind_squares<T>, "rows"_a, "reference"_a, "centers"_a,
        "(n, k) ||x - reference - c||^2 over observed cells, from the differences themselves.");
}

void bind_nearest(nb::module_& m) {
  nb::class_<Centers>(m, "Centers", "k centres, ready to be searched: never changed.")
      .def(nb::init<In<double, 1>, In<double, 2>, In<double, 1>, double, bool>(), "reference"_a, "offsets"_a,
           "origin"_a, "scale"_a, "missing"_a);
  bind_for<float>(m);
  bind_for<double>(m);
}
#endif
