// One pass of normal mixtures over a block of rows: features -> product -> row rule -> product back.
//
//   s_c = log pi_c p_c(x)              scores: linear in features of y = x - centre, or from differences x - mean_c
//   r_c = exp(s_c) / sum_b exp(s_b)    row rule: soft, or 1 for the largest, or 1 for one that is drawn
//   sum_n w_n r_nc (1, z, z z')        product back: z = y, or x - mean_c where scores are from differences
//
// form          features, scores linear in them                  z z' that is added up
// tied          (1, y)                                           y y', once for all components: it does not depend on r
// round         (1, y, |y|^2 / 2)                                |y|^2 / 2
// diagonal      (1, y, y^2)                                      y^2
// quadratic     (1, y, y_a y_b for b <= a)                       y_a y_b
// full          |W_c (x - mean_c)|^2, W_c lower triangular       (x - mean_c)_a (x - mean_c)_b for b <= a
// differences   |(x - mean_c) s_c|^2                             (x - mean_c)^2
//
// Linear forms lose digits where means are many standard deviations from the centre, or columns nearly dependent: who
// chooses the form, and float32 or float64, is families/gaussian_pass.py. In tied forms the term that all components of
// a row share, -|W y|^2 / 2, is left out of the totals (its sum over rows follows from the scatter), not of the scores.
// Several mixtures may be taken at once: their components stand one below the other, mixture i from starts[i] on.
#include "gaussian.hpp"

#include "variants.hpp"

struct GaussianKernels {
  void (*pass32)(const Mixtures&, const float* rows, long n, const Rule&, const Outputs&);
  void (*pass64)(const Mixtures&, const double* rows, long n, const Rule&, const Outputs&);
};
DECLARE_VARIANTS(GaussianKernels, gaussian_kernels)

#ifdef ISA
#include "row_rule.hpp"
#include "share_sums.hpp"

namespace ISA {
namespace {

constexpr long TILE_BYTES = 192 << 10;  // convention: features and shares of a tile stay in a second cache of 256 KB
constexpr long MOST_SLABS = 8;          // convention: beyond, what products load and store for a tile is nothing

// --- features ---

// phi[0] = 1, phi[1..d] = y, and what the form adds
template <class T> void write_features(Form form, const Rows<T>& rows, long i, T* phi) {
  constexpr long R = SLAB<T>, L = LANES<T>;
  const long d = rows.d;
  T *y = phi + R, *more = y + d * R;
  for (long t = 0; t < R; t++) phi[t] = T(1);
  rows.transposed(i, y);
  if (form == Form::round)
    for (long t = 0; t < R; t += L) {
      Vec<T> square = {};
      for (long j = 0; j < d; j++) square += load(y + j * R + t) * load(y + j * R + t);
      store(more + t, square * T(0.5));
    }
  else if (form == Form::diagonal)
    for (long t = 0; t < d * R; t += L) store(more + t, load(y + t) * load(y + t));
  else if (form == Form::quadratic)
    for (long a = 0; a < d; a++)
      for (long b = 0; b <= a; b++, more += R)
        for (long t = 0; t < R; t += L) store(more + t, load(y + a * R + t) * load(y + b * R + t));
}

// --- the passes ---

// strips[(c / width * p + j) * width + c % width] = lines[c, j]; nothing in lines past the last
template <class T> void pack_strips(const double* lines, long k, long p, int width, T* strips) {
  for (long c = 0; c < round_up(k, width); c++)
    for (long j = 0; j < p; j++) strips[(c / width * p + j) * width + c % width] = c < k ? T(lines[c * p + j]) : T(0);
}

// Lines of W in strips, each as far as any of its lines goes; returns where the next matrix goes
template <class T> T* pack_triangle(const double* factor, long d, int width, T* strips) {
  for (long a = 0; a < d; a += width)
    for (long j = 0; j < smaller(a + width, d); j++)
      for (int l = 0; l < width; l++) *strips++ = a + l < d ? T(factor[(a + l) * d + j]) : T(0);
  return strips;
}
inline long packed_length(long d, int width) { return (d + width) * (d + width); }  // or less

// |W z|^2 of a slab z (d, SLAB); returns where the next matrix is
template <class T> const T* square_norms(const T* strips, const T* z, long d, int width, Vec<T>* norms) {
  UNROLL for (int v = 0; v < SLAB_VECTORS; v++)
    norms[v] = Vec<T>{};
  with_width(width, [&](auto known) {
    constexpr int WIDTH = decltype(known)::value;
    for (long a = 0; a < d; a += WIDTH) {
      const long p = smaller(a + WIDTH, d);
      multiply_strip<T, WIDTH>(strips, z, p, [&](auto& whitened) {
        UNROLL for (int l = 0; l < WIDTH; l++) UNROLL
          for (int v = 0; v < SLAB_VECTORS; v++) norms[v] += whitened[l][v] * whitened[l][v];
      });
      strips += p * WIDTH;
    }
  });
  return strips;
}

// The term that all components of a mixture share, where scores themselves are asked for
template <class T> void add_common_term(const Mixtures& model, const T* y, T* scores) {
  const int width = strip_width(model.d);
  Scratch<T> strips(packed_length(model.d, width));
  for (long m = 0; m < model.count; m++) {
    Vec<T> norms[SLAB_VECTORS];
    pack_triangle(model.factors + m * model.d * model.d, model.d, width, static_cast<T*>(strips));
    square_norms<T>(strips, y, model.d, width, norms);
    for (long c = model.starts[m]; c < model.starts[m + 1]; c++)
      for (int v = 0; v < SLAB_VECTORS; v++) {
        T* s = scores + c * SLAB<T> + v * LANES<T>;
        store(s, load(s) - norms[v] * T(0.5));
      }
  }
}

template <class T> void linear_pass(const Mixtures& model, const Rows<T>& rows, const Rule& rule, const Outputs& out) {
  constexpr long R = SLAB<T>;
  const long d = model.d, k = model.k, p = moments_of(model.form, d), n = rows.n;
  const int width = strip_width(k);
  const long K = round_up(k, width);
  const long fitting = TILE_BYTES / ((p + K) * R * long(sizeof(T)));
  const long slabs = fitting < 1 ? 1 : smaller(fitting, MOST_SLABS);
  Scratch<T> strips(K * p), features(slabs * p * R), scores(slabs * K * R);
  pack_strips(model.lines, k, p, width, static_cast<T*>(strips));
  RowRule<T> row_rule(model, n, rule, out);
  Sums<T> sums(k, p, width);
  CommonScatter<T> common(out.common == nullptr ? 0 : d);
  for (long first = 0; first < n; first += slabs * R) {
    const long here = (smaller(n - first, slabs * R) + R - 1) / R;
    bool shared = false;
    for (long s = 0; s < here; s++) {
      T *phi = features + s * p * R, *score = scores + s * K * R;
      const long i = first + s * R;
      write_features(model.form, rows, i, phi);
      with_width(width, [&](auto known) {
        constexpr int WIDTH = decltype(known)::value;
        for (long c = 0; c < K; c += WIDTH)
          multiply_strip<T, WIDTH>(strips + c * p, phi, p, [&](auto& products) {
            UNROLL for (int a = 0; a < WIDTH; a++) UNROLL
              for (int v = 0; v < SLAB_VECTORS; v++) store(score + (c + a) * R + v * LANES<T>, products[a][v]);
          });
      });
      if (model.form == Form::tied && out.scores != nullptr) add_common_term<T>(model, phi + R, score);
      shared = row_rule.apply(i, score);
      if (out.common != nullptr) common.add(rows, i, phi + R, row_rule.weights());
    }
    if (shared) sums.add(scores, K * R, features, here);
  }
  if (out.sums != nullptr) sums.finish(out.sums);
  if (out.common != nullptr) common.finish(out.common);
}

template <class T> void full_pass(const Mixtures& model, const Rows<T>& rows, const Rule& rule, const Outputs& out) {
  constexpr long R = SLAB<T>, L = LANES<T>;
  const long d = model.d, k = model.k, n = rows.n;
  const int width = strip_width(d);
  const long width_of_row = Scatters<T>::width(d);
  const bool scored = rule.shares == nullptr;
  Scratch<T> strips(scored ? k * packed_length(d, width) : 0), y(d * R), z(d * R), scores(k * R), row(R * width_of_row),
      means(k * width_of_row, T(0));
  for (long c = 0; c < k; c++)
    for (long j = 0; j < d; j++) means[c * width_of_row + j] = T(model.means[c * d + j]);
  T* packed = strips;
  for (long c = 0; c < k && scored; c++) packed = pack_triangle(model.factors + c * d * d, d, width, packed);
  RowRule<T> row_rule(model, n, rule, out);
  Scatters<T> scatters(out.sums == nullptr ? 0 : k, d);
  for (long first = 0; first < n; first += R) {
    if (scored) rows.transposed(first, y);
    const T* strip = strips;
    for (long c = 0; c < k && scored; c++) {
      for (long j = 0; j < d; j++)
        for (long t = 0; t < R; t += L) store(z + j * R + t, load(y + j * R + t) - means[c * width_of_row + j]);
      Vec<T> norms[SLAB_VECTORS];
      strip = square_norms<T>(strip, z, d, width, norms);
      UNROLL for (int v = 0; v < SLAB_VECTORS; v++)
        store(scores + c * R + v * L, T(model.lines[c]) - norms[v] * T(0.5));
    }
    if (!row_rule.apply(first, scores)) continue;
    rows.copied(first, row, width_of_row);
    for (long c = 0; c < k; c++)
      for (long t = 0; t < R; t += L)  // rows that have a share of the component
        for (unsigned some = lane_bits(load(scores + c * R + t) > Vec<T>{}); some != 0; some &= some - 1) {
          const long i = t + __builtin_ctz(some);
          scatters.add(c, scores[c * R + i], row + i * width_of_row, means + c * width_of_row);
        }
  }
  if (out.sums != nullptr) scatters.finish(out.sums);
}

template <class T>
void differences_pass(const Mixtures& model, const Rows<T>& rows, const Rule& rule, const Outputs& out) {
  constexpr long R = SLAB<T>, L = LANES<T>;
  const long d = model.d, k = model.k, q = 1 + 2 * d, n = rows.n;
  Scratch<T> y(d * R), scores(k * R);
  Scratch<Vec<T>> sums(out.sums == nullptr ? 0 : k * q, Vec<T>{});
  RowRule<T> row_rule(model, n, rule, out);
  for (long first = 0; first < n; first += R) {
    rows.transposed(first, y);
    for (long c = 0; c < k && rule.shares == nullptr; c++)
      for (long t = 0; t < R; t += L) {
        Vec<T> norm = {};
        for (long j = 0; j < d; j++) {
          const Vec<T> z = (load(y + j * R + t) - T(model.means[c * d + j])) * T(model.factors[c * d + j]);
          norm += z * z;
        }
        store(scores + c * R + t, T(model.lines[c]) - norm * T(0.5));
      }
    if (!row_rule.apply(first, scores)) continue;
    for (long c = 0; c < k; c++)
      for (long t = 0; t < R; t += L) {
        const Vec<T> r = load(scores + c * R + t);
        Vec<T>* S = sums + c * q;
        S[0] += r;
        for (long j = 0; j < d; j++) {
          const Vec<T> z = load(y + j * R + t) - T(model.means[c * d + j]);
          S[1 + j] += r * z;
          S[1 + d + j] += r * z * z;
        }
      }
  }
  for (long i = 0; out.sums != nullptr && i < k * q; i++) out.sums[i] += total<T>(sums[i]);
}

template <class Row, class T>
void pass_in(const Mixtures& model, const Row* x, long n, const Rule& rule, const Outputs& out) {
  const Rows<T> rows{reinterpret_cast<const char*>(x),
                     model.d * long(sizeof(Row)),
                     n,
                     model.d,
                     Point{model.centre, model.centre + model.d},
                     transpose_rows<Row, T>,
                     copy_rows<Row, T>};
  if (model.form == Form::full)
    full_pass<T>(model, rows, rule, out);
  else if (model.form == Form::differences)
    differences_pass<T>(model, rows, rule, out);
  else
    linear_pass<T>(model, rows, rule, out);
}

template <class Row> void pass(const Mixtures& model, const Row* x, long n, const Rule& rule, const Outputs& out) {
  if (model.single)
    pass_in<Row, float>(model, x, n, rule, out);
  else
    pass_in<Row, double>(model, x, n, rule, out);
}

}  // namespace
const GaussianKernels gaussian_kernels = {pass<float>, pass<double>};
}  // namespace ISA

#else
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "border.hpp"

// Mixtures as Python gives them: checked once, for all blocks of a step
class CheckedMixtures {
 public:
  CheckedMixtures(int form, bool single, In<int64_t, 1> starts, In<double, 2> centre, In<double, 2> lines,
                  std::optional<In<double, 2>> means, std::optional<In<double, 3>> factors)
      : starts_(starts.data(), starts.data() + starts.size()),
        centre_(centre),
        lines_(lines),
        means_(means),
        factors_(factors) {
    require(form >= 0 && form <= int(Form::differences), "form must be one of the six");
    const Form kind = Form(form);
    const long d = long(centre.shape(1)), k = long(lines.shape(0)), count = long(starts.size()) - 1;
    require(centre.shape(0) == 2, "centre must be (2, d)");
    require(d >= 1 && k >= 1 && count >= 1, "at least one column, one component and one mixture are needed");
    require(starts_[0] == 0 && starts_[size_t(count)] == k, "starts must go from 0 to the number of components");
    for (size_t i = 0; i < size_t(count); i++) require(starts_[i] < starts_[i + 1], "starts must rise");
    const bool linear = kind != Form::full && kind != Form::differences;
    require(long(lines.shape(1)) == (linear ? moments_of(kind, d) : 1), "lines must have a number a feature");
    if (kind == Form::tied)
      require(
          factors && long(factors->shape(0)) == count && long(factors->shape(1)) == d && long(factors->shape(2)) == d,
          "factors must be (mixtures, d, d)");
    if (!linear) {
      require(means && long(means->shape(0)) == k && long(means->shape(1)) == d, "means must be (k, d)");
      require(factors && long(factors->shape(0)) == k && long(factors->shape(2)) == d &&
                  long(factors->shape(1)) == (kind == Form::full ? d : 1),
              "factors must be (k, d, d), or (k, 1, d) for differences");
    }
    model_ = {kind,
              single,
              d,
              k,
              count,
              starts_.data(),
              centre.data(),
              lines.data(),
              linear ? nullptr : means->data(),
              factors ? factors->data() : nullptr};
  }
  const Mixtures& model() const { return model_; }

 private:
  std::vector<int64_t> starts_;  // a copy: what was checked stays as it was
  In<double, 2> centre_;         // held as long as the model points into them
  In<double, 2> lines_;
  std::optional<In<double, 2>> means_;
  std::optional<In<double, 3>> factors_;
  Mixtures model_;
};

static New<double, 1> new_common(const Mixtures& model) {
  return new_array<double, 1>({model.form == Form::tied ? size_t(triangle(model.d)) : 0});
}

// The kernels of one type of rows, as Python calls them
template <class Row> struct Bound {
  using Pass = void (*)(const Mixtures&, const Row*, long, const Rule&, const Outputs&);
  Pass pass;

  std::tuple<New<double, 2>, New<double, 2>, New<double, 1>> summarize(const CheckedMixtures& checked, In<Row, 2> rows,
                                                                       In<double, 1> weights, int assignment,
                                                                       std::optional<In<double, 1>> draws) const {
    const Mixtures& model = checked.model();
    const bool drawn = Assignment(assignment) == Assignment::drawn;
    require(assignment >= 0 && assignment <= int(Assignment::drawn), "assignment must be soft, hard or drawn");
    require(!drawn || (draws && draws->size() == rows.shape(0)), "draws must have a number a row");
    auto totals = new_array<double, 2>({size_t(model.count), 2});
    auto sums = new_array<double, 2>({size_t(model.k), size_t(moments_of(model.form, model.d))});
    auto common = new_common(model);
    run(model, rows, &weights, {Assignment(assignment), weights.data(), drawn ? draws->data() : nullptr, nullptr},
        {totals.data(), sums.data(), common.size() > 0 ? common.data() : nullptr, nullptr, nullptr});
    return {totals, sums, common};
  }

  std::tuple<New<double, 2>, New<double, 1>> classify(const CheckedMixtures& checked, In<Row, 2> rows,
                                                      In<double, 1> weights, Out<int32_t, 1> labels) const {
    const Mixtures& model = checked.model();
    require(labels.size() == rows.shape(0) && model.count == 1, "labels must have a number a row, of one mixture");
    auto totals = new_array<double, 2>({1, 2});
    auto common = new_common(model);
    run(model, rows, &weights, {Assignment::soft, weights.data(), nullptr, nullptr},
        {totals.data(), nullptr, common.size() > 0 ? common.data() : nullptr, labels.data(), nullptr});
    return {totals, common};
  }

  void score(const CheckedMixtures& checked, In<Row, 2> rows, Out<double, 2> scores) const {
    const Mixtures& model = checked.model();
    require(scores.shape(0) == rows.shape(0) && long(scores.shape(1)) == model.k, "scores must be (n, k)");
    run(model, rows, nullptr, {Assignment::soft, nullptr, nullptr, nullptr},
        {nullptr, nullptr, nullptr, nullptr, scores.data()});
  }

  New<double, 2> add_up(In<Row, 2> rows, In<double, 1> reference, In<double, 2> means, In<double, 2> shares,
                        bool full) const {
    const long d = long(reference.size()), k = long(means.shape(0));
    require(k >= 1 && long(means.shape(1)) == d, "means must be (k, d)");
    require(shares.shape(0) == rows.shape(0) && long(shares.shape(1)) == k, "shares must be (n, k)");
    const Form form = full ? Form::full : Form::differences;
    auto sums = new_array<double, 2>({size_t(k), size_t(moments_of(form, d))});
    std::vector<double> centre(2 * size_t(d), 0.0);
    std::copy(reference.data(), reference.data() + d, centre.begin());
    run({form, false, d, k, 1, nullptr, centre.data(), nullptr, means.data(), nullptr}, rows, nullptr,
        {Assignment::soft, nullptr, nullptr, shares.data()}, {nullptr, sums.data(), nullptr, nullptr, nullptr});
    return sums;
  }

 private:
  void run(const Mixtures& model, const In<Row, 2>& rows, const In<double, 1>* weights, const Rule& rule,
           const Outputs& out) const {
    require(long(rows.shape(1)) == model.d, "rows must have a cell a column");
    require(weights == nullptr || weights->size() == rows.shape(0), "weights must have a number a row");
    const Row* x = rows.data();
    const long n = long(rows.shape(0));
    nb::gil_scoped_release released;
    pass(model, x, n, rule, out);
  }
};

template <class Row> static void bind_rows(nb::module_& m, Bound<Row> bound) {
  m.def(
      "gaussian_pass",
      [bound](const CheckedMixtures& mixtures, In<Row, 2> rows, In<double, 1> weights, int assignment,
              std::optional<In<double, 1>> draws) {
        return bound.summarize(mixtures, rows, weights, assignment, draws);
      },
      "mixtures"_a, "rows"_a, "weights"_a, "assignment"_a, "draws"_a = nb::none(),
      "Totals (mixtures, 2), sums (k, moments) and the common scatter of tied forms, of the rows of a block.");
  m.def(
      "gaussian_labels",
      [bound](const CheckedMixtures& mixtures, In<Row, 2> rows, In<double, 1> weights, Out<int32_t, 1> labels) {
        return bound.classify(mixtures, rows, weights, labels);
      },
      "mixtures"_a, "rows"_a, "weights"_a, "labels"_a,
      "The likeliest components into labels (n); totals (1, 2), and the common scatter of tied forms.");
  m.def(
      "gaussian_scores",
      [bound](const CheckedMixtures& mixtures, In<Row, 2> rows, Out<double, 2> scores) {
        bound.score(mixtures, rows, scores);
      },
      "mixtures"_a, "rows"_a, "scores"_a, "log pi_c p_c(x) into scores (n, k).");
  m.def(
      "gaussian_sums",
      [bound](In<Row, 2> rows, In<double, 1> reference, In<double, 2> means, In<double, 2> shares, bool full) {
        return bound.add_up(rows, reference, means, shares, full);
      },
      "rows"_a, "reference"_a, "means"_a, "shares"_a, "full"_a,
      "Sums (k, moments) of shares (n, k) that are given, about means (k, d) from the reference (d).");
}

void bind_gaussian(nb::module_& m) {
  const GaussianKernels& kernels = CHOSEN(GaussianKernels, gaussian_kernels);
  nb::class_<CheckedMixtures>(m, "Mixtures", "Normal mixtures as a pass takes them; see src/core/gaussian.cpp.")
      .def(nb::init<int, bool, In<int64_t, 1>, In<double, 2>, In<double, 2>, std::optional<In<double, 2>>,
                    std::optional<In<double, 3>>>(),
           "form"_a, "single"_a, "starts"_a, "centre"_a, "lines"_a, "means"_a = nb::none(), "factors"_a = nb::none());
  bind_rows<float>(m, {kernels.pass32});
  bind_rows<double>(m, {kernels.pass64});
}
#endif
