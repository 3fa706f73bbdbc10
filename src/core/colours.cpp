// Colours of pictures: 1 to 4 channels of bytes, looked up in a grid of cells.
//
// The high bits of a colour's channels, one after the other, are the number of its cell. For every cell that occurs
// there is a list of the codes that can be nearest in it; a colour is compared with these alone.
#include <cstdint>

#include "variants.hpp"

struct Pixels {
  const uint8_t* rows;  // (n, d)
  const double* weights;
  long n, d;
};
struct Points {
  const double *rows, *weights;  // (n, d), (n,) above 0
  long n, d;
};
struct ColourLists {
  const double* codes;                    // (k, 4), 0 in channels that are not there
  const int32_t *slots, *starts, *lists;  // the list of each cell, where a list starts, the codes in it
  int bits;                               // of a channel in the number of a cell
};
struct ColoursKernels {
  void (*add_colours)(Pixels pixels, int bits, double* sums);
  long (*list_candidates)(Points codes, const int64_t* cells, long count, int bits, int32_t* starts, int32_t* lists);
  double (*encode[3])(Pixels pixels, ColourLists index, void* labels, double* mass);  // by the size of a label
  long (*split)(Points points, long k, double* centers);
};
DECLARE_VARIANTS(ColoursKernels, colours_kernels)

#ifdef ISA
#include "memory.hpp"
#include "simd.hpp"

namespace ISA {
namespace {

void add_colours(Pixels pixels, int bits, double* sums) {
  const long d = pixels.d;
  for (long i = 0; i < pixels.n; i++) {
    const uint8_t* x = pixels.rows + i * d;
    long cell = 0;
    for (long j = 0; j < d; j++) cell = cell << bits | x[j] >> (8 - bits);
    double* sum = sums + cell * (d + 1);
    const double w = pixels.weights[i];
    sum[0] += w;
    for (long j = 0; j < d; j++) sum[1 + j] += w * double(x[j]);
  }
}

// --- candidates ---

struct Box {
  double middle[4], half[4];  // of its sides
};

// Codes that can be nearest in a box: no farther from its near side than some code is from its far side. Ties are kept,
// so that the first of equally near codes is always among them. Returns how many there are; `found` may be `among`.
long nearest_in_box(Points codes, const Box& box, const int32_t* among, long count, double* near, int32_t* found) {
  double nearest = __builtin_inf();
  for (long i = 0; i < count; i++) {
    double low = 0, high = 0;
    for (long j = 0; j < codes.d; j++) {
      const double away = __builtin_fabs(codes.rows[among[i] * codes.d + j] - box.middle[j]);
      const double beyond = maximum(away - box.half[j], 0.0), across = away + box.half[j];
      low += beyond * beyond;
      high += across * across;
    }
    near[i] = low;
    nearest = minimum(nearest, high);
  }
  const double cutoff = nearest * (1 + 1e-12);  // rounding must not lose a code
  long kept = 0;
  for (long i = 0; i < count; i++) {
    found[kept] = among[i];
    kept += near[i] <= cutoff;
  }
  return kept;
}

// First for all cells that differ in the last channel alone, then for each of them, among those
long list_candidates(Points codes, const int64_t* cells, long count, int bits, int32_t* starts, int32_t* lists) {
  const long d = codes.d, side = 1L << (8 - bits), mask = (1L << bits) - 1;
  Scratch<int32_t> all(codes.n), some(codes.n);
  Scratch<double> near(codes.n);
  for (long c = 0; c < codes.n; c++) all[c] = int32_t(c);
  long found = 0, last = 0, few = 0;
  for (long i = 0; i < count; i++) {
    Box box;
    for (long j = 0; j < d; j++) {
      const long step = cells[i] >> (bits * (d - 1 - j)) & mask;
      box.middle[j] = (double(step) + 0.5) * double(side) - 0.5, box.half[j] = double(side - 1) / 2;
    }
    if (i == last) {
      while (last < count && cells[last] >> bits == cells[i] >> bits) last++;
      Box row = box;
      const double longer = 0.5 * double(side * (cells[last - 1] - cells[i]));
      row.middle[d - 1] += longer, row.half[d - 1] += longer;
      few = nearest_in_box(codes, row, all, codes.n, near, some);
    }
    starts[i] = int32_t(found);
    found += nearest_in_box(codes, box, some, few, near, lists + found);
  }
  starts[count] = int32_t(found);
  return found;
}

// --- nearest codes ---

// argmin_c ||x - c||^2, the first among equals; returns sum w min ||x - c||^2
template <int D, class Label>
double encode_channels(Pixels pixels, const ColourLists& index, Label* labels, double* mass) {
  double squares = 0;
  for (long i = 0; i < pixels.n; i++) {
    double x[4] = {};
    long cell = 0;
    UNROLL for (int j = 0; j < D; j++) {
      x[j] = double(pixels.rows[i * D + j]);
      cell = cell << index.bits | pixels.rows[i * D + j] >> (8 - index.bits);
    }
    const int32_t* list = index.starts + index.slots[cell];
    double best = __builtin_inf();
    int32_t nearest = 0;
    for (long at = list[0]; at < list[1]; at++) {
      const int32_t c = index.lists[at];
      double total = 0;
      UNROLL for (int j = 0; j < D; j++) {
        const double y = x[j] - index.codes[4 * c + j];
        total += y * y;
      }
      nearest = total < best ? c : nearest;
      best = minimum(total, best);
    }
    labels[i] = Label(nearest);
    mass[nearest] += pixels.weights[i];
    squares += pixels.weights[i] * best;
  }
  return squares;
}

template <class Label>
double encode(Pixels pixels, ColourLists index, void* labels, double* mass) {
  Label* out = static_cast<Label*>(labels);
  return pixels.d == 1   ? encode_channels<1>(pixels, index, out, mass)
         : pixels.d == 2 ? encode_channels<2>(pixels, index, out, mass)
         : pixels.d == 3 ? encode_channels<3>(pixels, index, out, mass)
                         : encode_channels<4>(pixels, index, out, mass);
}

// --- parts of equal spread ---

struct Part {
  long first, last;  // of `order`
  double spread;     // the largest sum of squares about the mean along an axis; 0 for a part that cannot be cut
  long axis;
};

void find_widest_axis(Points points, const long* order, Part& part, double* mean) {
  const double* origin = points.rows + order[part.first] * points.d;
  double total = 0;
  for (long j = 0; j < points.d; j++) mean[j] = 0;
  for (long i = part.first; i < part.last; i++) {
    const double *x = points.rows + order[i] * points.d, w = points.weights[order[i]];
    total += w;
    for (long j = 0; j < points.d; j++) mean[j] += w * (x[j] - origin[j]);
  }
  part.spread = 0, part.axis = 0;
  for (long j = 0; j < points.d; j++) {
    mean[j] = origin[j] + mean[j] / total;
    double squares = 0;
    bool low = false, high = false;
    for (long i = part.first; i < part.last; i++) {
      const double y = points.rows[order[i] * points.d + j] - mean[j];
      squares += points.weights[order[i]] * y * y;
      low |= y <= 0, high |= y > 0;
    }
    // A cut at the mean leaves points on both sides
    if (squares > part.spread && low && high) part.spread = squares, part.axis = j;
  }
}

// Halves the part with the largest spread at its mean until there are k; returns how many there are: fewer where all
// that is left are single points. centers (k, d) out
long split(Points points, long k, double* centers) {
  if (k == 0 || points.n == 0) return 0;
  Scratch<long> order(points.n);
  Scratch<Part> parts(k);
  for (long i = 0; i < points.n; i++) order[i] = i;
  parts[0] = {0, points.n, 0, 0};
  find_widest_axis(points, order, parts[0], centers);
  for (long count = 1; count < k; count++) {
    long widest = 0;
    for (long p = 1; p < count; p++)
      if (parts[p].spread > parts[widest].spread) widest = p;
    Part& part = parts[widest];
    if (part.spread <= 0) return count;
    const double cut = centers[widest * points.d + part.axis];
    long left = part.first;
    for (long i = part.first; i < part.last; i++)
      if (points.rows[order[i] * points.d + part.axis] <= cut) {
        const long low = order[i];
        order[i] = order[left], order[left++] = low;
      }
    parts[count] = {left, part.last, 0, 0};
    part.last = left;
    find_widest_axis(points, order, part, centers + widest * points.d);
    find_widest_axis(points, order, parts[count], centers + count * points.d);
  }
  return k;
}

}  // namespace
const ColoursKernels colours_kernels = {
    add_colours, list_candidates, {encode<uint8_t>, encode<uint16_t>, encode<uint32_t>}, split};
}  // namespace ISA

#else
#include "border.hpp"

using Bytes = In<uint8_t, 2>;
using Weights = In<double, 1>;
using Numbers = In<int32_t, 1>;

static Pixels pixels_of(Bytes rows, Weights weights) {
  require(rows.shape(1) >= 1 && rows.shape(1) <= 4, "colours have 1 to 4 channels");
  require(rows.shape(0) == weights.size(), "rows and weights must be of one length");
  return {rows.data(), weights.data(), long(rows.shape(0)), long(rows.shape(1))};
}

// Bits of a channel, where cells of d channels are 2^(bits d)
static int bits_of(size_t cells, long d) {
  for (int bits = 1; bits <= 8; bits++)
    if (cells == size_t(1) << (bits * d)) return bits;
  throw ShapeError("the number of cells must be 2^(bits d)");
}

void bind_colours(nb::module_& m) {
  const ColoursKernels& kernels = CHOSEN(ColoursKernels, colours_kernels);
  m.def(
      "add_colours",
      [&kernels](Bytes rows, Weights weights, Out<double, 2> sums) {
        const Pixels pixels = pixels_of(rows, weights);
        require(sums.shape(1) == size_t(pixels.d) + 1, "sums must be (cells, d + 1)");
        kernels.add_colours(pixels, bits_of(sums.shape(0), pixels.d), sums.data());
      },
      "rows"_a, "weights"_a, "sums"_a, Released(), "sums (cells, 1 + d) += w and w x of every colour x in its cell.");
  m.def(
      "list_candidates",
      [&kernels](In<double, 2> codes, In<int64_t, 1> cells, int bits, Out<int32_t, 1> starts, Out<int32_t, 1> lists) {
        const size_t k = codes.shape(0), d = codes.shape(1), count = cells.size();
        require(k > 0 && d >= 1 && d <= 4 && bits >= 1 && bits <= 8, "codes are (k, 1 to 4), bits 1 to 8");
        require(starts.size() == count + 1, "starts must be one longer than cells");
        require(lists.size() >= count * k, "lists must have room for k codes a cell");
        require(all_inside(cells.data(), long(count), 0, int64_t(1) << (bits * long(d))), "a cell is outside the grid");
        const Points points = {codes.data(), nullptr, long(k), long(d)};
        return kernels.list_candidates(points, cells.data(), long(count), bits, starts.data(), lists.data());
      },
      "codes"_a, "cells"_a, "bits"_a, "starts"_a, "lists"_a, Released(),
      "The codes that can be nearest in each of some cells, lowest first; returns how long the lists are together.");
  auto define_encode = [&]<class L>(L, int size) {
    m.def(
        "encode_colours",
        [&kernels, size](Bytes rows, Weights weights, In<double, 2> codes, Numbers slots, Numbers starts, Numbers lists,
                         Out<L, 1> labels, Out<double, 1> mass) {
          const Pixels pixels = pixels_of(rows, weights);
          const long k = long(codes.shape(0)), end = long(lists.size()), ends = long(starts.size());
          const ColourLists index = {codes.data(), slots.data(), starts.data(), lists.data(),
                                     bits_of(slots.size(), pixels.d)};
          require(k > 0 && codes.shape(1) == 4 && mass.size() == size_t(k), "codes must be (k, 4), mass (k,)");
          require(labels.size() == size_t(pixels.n), "labels and rows must be of one length");
          require(all_inside(slots.data(), long(slots.size()), 0, ends - 1), "a slot has no list");
          require(all_inside(lists.data(), end, 0, k), "a list has a code that is not there");
          require(all_inside(starts.data(), ends, 0, end + 1), "a list is outside the lists");
          return kernels.encode[size](pixels, index, labels.data(), mass.data());
        },
        "rows"_a, "weights"_a, "codes"_a, "slots"_a, "starts"_a, "lists"_a, "labels"_a, "mass"_a, Released(),
        "labels = the nearest code of every colour, mass += their weights; returns sum w ||x - c||^2.");
  };
  define_encode(uint8_t(), 0);
  define_encode(uint16_t(), 1);
  define_encode(uint32_t(), 2);
  m.def(
      "split_points",
      [&kernels](In<double, 2> points, Weights weights, Out<double, 2> centers) {
        require(points.shape(0) == weights.size(), "points and weights must be of one length");
        require(points.shape(1) == centers.shape(1), "centers must have the points' columns");
        const Points all = {points.data(), weights.data(), long(points.shape(0)), long(points.shape(1))};
        return kernels.split(all, long(centers.shape(0)), centers.data());
      },
      "points"_a, "weights"_a, "centers"_a, Released(),
      "Means (k, d) of parts, made by halving the part with the largest sum of squares along an axis at its mean.\n"
      "Returns how many parts there are: fewer than k where there are no more different points.");
}
#endif
