// Normal mixtures as a pass over a block takes them, and what it gives; gaussian.cpp has the formulas.
#pragma once
#include <cstdint>

enum class Form { tied, round, diagonal, quadratic, full, differences };
enum class Assignment { soft, hard, drawn };

struct Mixtures {
  Form form;
  bool single;            // whether float32 is precise enough
  long d, k, count;       // columns; components of all mixtures; mixtures
  const int64_t* starts;  // (count + 1)
  const double* centre;   // (2, d) a point near the rows, and the step from it to the centre
  const double* lines;    // (k, p) of linear forms; (k, 1) log pi_c p_c(mean_c) of others
  const double* means;    // (k, d) from the centre, of forms by differences
  const double* factors;  // (k, d, d) W, (count, d, d) of tied forms, or (k, d) 1 / standard deviations
};

struct Outputs {    // each may be left out, but for the totals
  double* totals;   // (count, 2) added to: sum w log sum_c exp(s_c), and sum w max_c s_c
  double* sums;     // (k, moments) added to
  double* common;   // (d (d + 1) / 2) added to: the scatter of tied forms
  int32_t* labels;  // (n) the component of the largest score; one mixture only
  double* scores;   // (n, k)
};

struct Rule {
  Assignment assignment;
  const double* weights;  // (n)
  const double* draws;    // (n) numbers of [0, 1), for drawn
  const double* shares;   // (n, k) w r where they are given: nothing is scored, and totals stay as they are
};

inline long triangle(long d) { return d * (d + 1) / 2; }

// Numbers of `sums` a component: mass, sums, squares
inline long moments_of(Form form, long d) {
  switch (form) {
    case Form::tied: return 1 + d;
    case Form::round: return 2 + d;
    case Form::diagonal:
    case Form::differences: return 1 + 2 * d;
    default: return 1 + d + triangle(d);
  }
}
