// From scores to shares, a slab of rows at a time: soft, hard or drawn.
#pragma once
#include "gaussian.hpp"
#include "tile.hpp"

namespace ISA { namespace {

// log sum_c exp(s_c) = best + log sum_c exp(s_c - best); shares below 2^-57 (float32: 2^-36) are none.
// Scores (k, SLAB) of one mixture become w r in place. A row that no component can have made is shared evenly.
template <class T>
void apply_rule(T* s, long k, const T* weights, const T* draws, Assignment assignment, int32_t* labels,
                double* totals) {
  constexpr int L = LANES<T>;
  constexpr long R = SLAB<T>;
  using Wide = vector<double, L>;
  const Vec<T> cut = splat<T>(Series<T>::cut), nowhere = splat<T>(-__builtin_inf());
  Wide sum = {}, best_sum = {};
  for (long i = 0; i < R; i += L) {
    Vec<T> best = load(s + i), sum_exp = {};
    for (long c = 1; c < k; c++) best = maximum(best, load(s + c * R + i));
    IntVec<T> label = {};
    if (labels != nullptr || assignment == Assignment::hard) {
      for (long c = k - 1; c >= 0; c--) label = load(s + c * R + i) == best ? IntVec<T>{} + Int<T>(c) : label;
      if (labels != nullptr)
        for (int l = 0; l < L; l++) labels[i + l] = int32_t(label[l]);
    }
    for (long c = 0; c < k; c++) {
      const Vec<T> x = load(s + c * R + i) - best;
      Vec<T> e = exponential<T>(maximum(x, cut));
      e = x > cut ? e : Vec<T>{};
      sum_exp += e;
      store(s + c * R + i, e);
    }
    const IntVec<T> lost = best == nowhere;
    const Vec<T> height = lost ? best : best + logarithm<T>(sum_exp);
    const Vec<T> w = load(weights + i), scale = w / sum_exp;
    const IntVec<T> absent = w == T(0);
    sum += __builtin_convertvector(absent ? Vec<T>{} : w * height, Wide);
    best_sum += __builtin_convertvector(absent ? Vec<T>{} : w * best, Wide);
    if (assignment == Assignment::hard) {
      for (long c = 0; c < k; c++) store(s + c * R + i, label == IntVec<T>{} + Int<T>(c) ? w : Vec<T>{});
    } else if (assignment == Assignment::drawn) {
      const Vec<T> u = load(draws + i) * sum_exp;
      Vec<T> reached = {};
      IntVec<T> free = IntVec<T>{} - Int<T>(1);  // rows without a component yet: the last one takes them
      for (long c = 0; c < k; c++) {
        reached += load(s + c * R + i);
        const IntVec<T> taken = c + 1 == k ? free : free & (u < reached);
        store(s + c * R + i, taken ? w : Vec<T>{});
        free &= ~taken;
      }
    } else {
      for (long c = 0; c < k; c++) store(s + c * R + i, lost ? w * T(1.0 / double(k)) : load(s + c * R + i) * scale);
    }
  }
  for (int l = 0; l < L; l++) totals[0] += sum[l], totals[1] += best_sum[l];
}

// The rule for a slab of all mixtures, and what is asked for of its scores
template <class T> class RowRule {
 public:
  RowRule(const Mixtures& model, long n, const Rule& rule, const Outputs& out)
      : model_(model), rule_(rule), out_(out), n_(n), weights_(SLAB<T>), draws_(SLAB<T>), labels_(SLAB<T>) {}

  // Whether shares are wanted
  bool apply(long first, T* scores) {
    constexpr long R = SLAB<T>;
    const long rows = smaller(n_ - first, R);
    if (out_.scores != nullptr)
      for (long i = 0; i < rows; i++)
        for (long c = 0; c < model_.k; c++) out_.scores[(first + i) * model_.k + c] = double(scores[c * R + i]);
    if (rule_.shares != nullptr) {
      for (long c = 0; c < model_.k; c++)
        for (long i = 0; i < R; i++) scores[c * R + i] = i < rows ? T(rule_.shares[(first + i) * model_.k + c]) : T(0);
      return true;
    }
    if (out_.totals == nullptr) return false;
    for (long i = 0; i < R; i++) {
      weights_[i] = i < rows ? T(rule_.weights[first + i]) : T(0);
      draws_[i] = i < rows && rule_.draws != nullptr ? T(rule_.draws[first + i]) : T(0);
    }
    int32_t* labels = out_.labels == nullptr ? nullptr : static_cast<int32_t*>(labels_);
    for (long m = 0; m < model_.count; m++) {
      const long a = model_.starts[m], b = model_.starts[m + 1];
      apply_rule<T>(scores + a * R, b - a, weights_, draws_, rule_.assignment, labels, out_.totals + 2 * m);
    }
    for (long i = 0; labels != nullptr && i < rows; i++) out_.labels[first + i] = labels[i];
    return out_.sums != nullptr;
  }
  const T* weights() const { return weights_; }

 private:
  const Mixtures& model_;
  const Rule& rule_;
  const Outputs& out_;
  long n_;
  Scratch<T> weights_, draws_;
  Scratch<int32_t> labels_;
};

}}  // namespace ISA
