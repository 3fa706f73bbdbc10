// What shares of rows add up to: sums of shares times features, scatters of components, the scatter of all rows.
#pragma once
#include "gaussian.hpp"
#include "products.hpp"

namespace ISA { namespace {

constexpr long LANE_ROWS = 64;  // derived: sums of so many rows in float32 lose less than half a digit more than one

// sum r (1, z, z z') of every component: rows (z, 1) sqrt(r) wait until they fill a tile of its own
template <class T> class Scatters {
 public:
  Scatters(long k, long d)
      : k_(k),
        d_(d),
        pitch_(round_up(d + 1, PANEL<T>)),
        sums_(k * round_up(d + 1, OUTER_WIDTH) * pitch_, 0.0),
        waiting_(k * ROWS * pitch_, T(0)),
        counts_(k, 0) {}

  // Cells of a row: (y, 1, 0 ...), and of a mean: (mean, 0 ...)
  static long width(long d) { return round_up(d + 1, LANES<T>); }

  void add(long c, T share, const T* row, const T* mean) {
    T* to = waiting_ + c * ROWS * pitch_ + counts_[c] * PANEL<T>;
    const T root = sizeof(T) == 4 ? T(__builtin_sqrtf(float(share))) : T(__builtin_sqrt(double(share)));
    for (long j = 0; j <= d_; j += LANES<T>)
      store(to + j / PANEL<T> * PANEL<T> * ROWS + j % PANEL<T>, (load(row + j) - load(mean + j)) * root);
    if (++counts_[c] == ROWS) multiply(c);
  }

  // Added to (k, 1 + d + d (d + 1) / 2): mass, sums, lower triangles
  void finish(double* out) {
    for (long c = 0; c < k_; c++) {
      multiply(c);
      const double* S = sums_of(c);
      *out++ += S[d_ * pitch_ + d_];
      for (long j = 0; j < d_; j++) *out++ += S[d_ * pitch_ + j];
      for (long a = 0; a < d_; a++)
        for (long b = 0; b <= a; b++) *out++ += S[a * pitch_ + b];
    }
  }

 private:
  static constexpr long ROWS = LANE_ROWS;
  long k_, d_, pitch_;
  Scratch<double> sums_;  // (k, d + 1 or a little more, pitch), line and column d for the 1
  Scratch<T> waiting_;    // (k, panels, ROWS, PANEL)
  Scratch<long> counts_;  // (k) rows that wait

  double* sums_of(long c) { return sums_ + c * round_up(d_ + 1, OUTER_WIDTH) * pitch_; }
  __attribute__((noinline)) void multiply(long c) {
    add_outer<T>(waiting_ + c * ROWS * pitch_, ROWS, counts_[c], d_ + 1, sums_of(c), pitch_);
    counts_[c] = 0;
  }
};

// sum_i shares[c, i] features[j, i] over the slabs of a block, in lanes until enough rows have been added
template <class T> class Sums {
 public:
  Sums(long k, long p, int width)
      : k_(k), p_(p), width_(width), lanes_(round_up(k, width) * p, Vec<T>{}), sums_(k * p, 0.0) {}

  void add(const T* shares, long shares_slab, const T* features, long slabs) {
    with_width(width_, [&](auto width) {
      for (long c = 0; c < k_; c += width)
        for (long j = 0; j < p_;)
          with_count<SLAB_VECTORS>(p_ - j, [&](auto count) {
            add_products<T, width, count>(shares + c * SLAB<T>, shares_slab, features + j * SLAB<T>, p_ * SLAB<T>,
                                          slabs, lanes_ + c * p_ + j, p_);
            j += count;
          });
    });
    pending_ += slabs * SLAB_VECTORS;
    if (sizeof(T) == 4 && pending_ >= LANE_ROWS) add_lanes();
  }
  void finish(double* out) {
    add_lanes();
    for (long i = 0; i < k_ * p_; i++) out[i] += sums_[i];
  }

 private:
  long k_, p_;
  int width_;
  long pending_ = 0;  // rows that were added to a lane
  Scratch<Vec<T>> lanes_;
  Scratch<double> sums_;

  void add_lanes() {
    for (long i = 0; i < k_ * p_; i++) sums_[i] += total<T>(lanes_[i]), lanes_[i] = Vec<T>{};
    pending_ = 0;
  }
};

// sum w y y' of all rows, for tied forms: in lanes where columns are few, as the scatter of one component where many
template <class T> class CommonScatter {
 public:
  explicit CommonScatter(long d)
      : d_(d),
        narrow_(d <= MOST_NARROW),
        lanes_(narrow_ ? triangle(d) : 0, Vec<T>{}),
        sums_(narrow_ ? triangle(d) : 0, 0.0),
        wide_(1, narrow_ ? 0 : d),
        row_(narrow_ ? 0 : SLAB<T> * Scatters<T>::width(d)),
        zero_(Scatters<T>::width(d), T(0)) {}

  // A slab y (d, SLAB) of rows that begin at i, with weights (SLAB)
  void add(const Rows<T>& rows, long i, const T* y, const T* weights) {
    constexpr long R = SLAB<T>, L = LANES<T>;
    if (!narrow_) {
      const long width = Scatters<T>::width(d_);
      rows.copied(i, row_, width);
      for (long t = 0; t < rows.count(i); t++) wide_.add(0, weights[t], row_ + t * width, zero_);
      return;
    }
    for (long a = 0, at = 0; a < d_; a++)
      for (long b = 0; b <= a; b++, at++)
        for (long t = 0; t < R; t += L) lanes_[at] += (load(weights + t) * load(y + a * R + t)) * load(y + b * R + t);
    pending_ += SLAB_VECTORS;
    if (sizeof(T) == 4 && pending_ >= LANE_ROWS) add_lanes();
  }

  // Added to (d (d + 1) / 2)
  void finish(double* out) {
    if (narrow_) {
      add_lanes();
      for (long i = 0; i < triangle(d_); i++) out[i] += sums_[i];
    } else {
      Scratch<double> moments(1 + d_ + triangle(d_), 0.0);
      wide_.finish(moments);
      for (long i = 0; i < triangle(d_); i++) out[i] += moments[1 + d_ + i];
    }
  }

 private:
  static constexpr long MOST_NARROW = 16;  // measured: from there on, products of panels are faster
  long d_;
  bool narrow_;
  long pending_ = 0;
  Scratch<Vec<T>> lanes_;
  Scratch<double> sums_;
  Scatters<T> wide_;
  Scratch<T> row_, zero_;

  void add_lanes() {
    for (long i = 0; i < triangle(d_); i++) sums_[i] += total<T>(lanes_[i]), lanes_[i] = Vec<T>{};
    pending_ = 0;
  }
};

}}  // namespace ISA
