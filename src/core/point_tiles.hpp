// Points in tiles of 32 near neighbours, each tile with its box: a search measures boxes, then only tiles that are
// near.
//
// Both are measured in float32, at half the traffic, which decides nothing: what may be nearer than the best so far is
// measured again in float64. |x32 - y32| differs from |x - y| by at most e = 2^-22 sqrt(d) R, where no coordinate
// exceeds R, so
//
//   |x - y|^2 < b   implies   |x32 - y32|^2 < (sqrt(b) + e)^2 <= 1.001 b + 1001 e^2        (`loosened`)
//
// A place that is emptied is put at infinity, where no search finds it.
#pragma once
#include <cstdint>

#include "memory.hpp"
#include "merges.hpp"

constexpr int TILE = 32;          // measured: smaller tiles prune better, larger ones fill vectors better
constexpr int COLUMNS = 4;        // taken together; coordinates are filled up with zeros to a multiple
constexpr int BOXES = 16;         // boxes of a vector at most; filled up with boxes that nothing is near to
constexpr double LOOSE = 1.0011;  // derived: 1.001, and the rounding of float32 sums

struct Tiles {
  long count;      // tiles, a power of two
  long stride;     // the same, filled up to a multiple of BOXES
  long d, width;   // columns; the same, filled up to a multiple of COLUMNS
  double* points;  // (count * TILE, d) the points, place by place
  int64_t* owner;  // (count * TILE,) the number of the point at each place, -1 where there is none
  float* places;   // (count, width, TILE) the same coordinates, infinite where there is no point
  float* boxes;    // (2, d, stride) least and largest coordinate of each tile
  int64_t* near;   // (count * TILE,) the nearest other place of each, or itself while that is not known
  double* known;   // (count * TILE,) its squared distance, or 0; infinite where there is no point
  double slack;    // 1001 e^2
};

#ifdef ISA
#include "simd.hpp"

namespace ISA { namespace {

constexpr double INFINITE = __builtin_inf();

// What a float32 square must stay below for the true one to be below `square`
INLINE float loosened(double square, double slack) { return square > 0 ? float(square * LOOSE + slack) : 0.f; }

// |a - b|^2 from the differences, four sums side by side; the same bits from b to a
INLINE double squared_distance(const double* a, const double* b, long d) {
  using Four = vector<double, 4>;
  Four sums = {};
  long j = 0;
  for (; j + 4 <= d; j += 4) {
    const Four gap = load_as<Four>(a + j) - load_as<Four>(b + j);
    sums += gap * gap;
  }
  double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; j < d; j++) sum = fused(a[j] - b[j], a[j] - b[j], sum);
  return sum;
}
INLINE double between_places(const Tiles& tiles, long a, long b) {
  return squared_distance(tiles.points + a * tiles.d, tiles.points + b * tiles.d, tiles.d);
}

// The numbers in [0, count) for which `test(first)` holds, a vector of them at a time. `use` may make the test
// stricter, so it is asked again after each.
template <class Test, class Use> INLINE void for_each_near(long count, Test test, Use use) {
  for (long first = 0; first < count; first += LANES<float>)
    for (unsigned lanes = lane_bits(test(first)); lanes != 0;) {
      const int l = __builtin_ctz(lanes);
      if (first + l >= count) break;
      use(first + l);
      lanes &= (~1u << l) & lane_bits(test(first));
    }
}

// A point that others are measured from
struct Query {
  Scratch<float> x;      // (width,) its coordinates
  Scratch<float> bound;  // (stride,) its squared distance to each box, 0 inside
  alignas(64) float distance[TILE];

  explicit Query(const Tiles& tiles) : x(tiles.width, 0.f), bound(tiles.stride) {}

  void start_from(const Tiles& tiles, const double* point) {
    for (long j = 0; j < tiles.d; j++) x[j] = float(point[j]);
    const float *low = tiles.boxes, *high = tiles.boxes + tiles.d * tiles.stride;
    for (long t = 0; t < tiles.stride; t += LANES<float>) {
      Vec<float> sum = {};
      for (long j = 0; j < tiles.d; j++) {
        const Vec<float> below = load(low + j * tiles.stride + t) - x[j],
                         above = x[j] - load(high + j * tiles.stride + t);
        const Vec<float> gap = maximum(maximum(below, above), Vec<float>{});
        sum = fused(gap, gap, sum);
      }
      store(bound + t, sum);
    }
  }

  // The squared distance to each place of a tile
  INLINE void measure(const Tiles& tiles, long t) {
    constexpr int L = LANES<float>, N = TILE / L;
    const float* cells = tiles.places + t * tiles.width * TILE;
    Vec<float> sum[N] = {};
    for (long j = 0; j < tiles.width; j += COLUMNS) UNROLL
      for (int v = 0; v < N; v++) {
        Vec<float> y[COLUMNS];
        UNROLL for (int c = 0; c < COLUMNS; c++)
          y[c] = x[j + c] - load(cells + (j + c) * TILE + v * L);
        sum[v] += fused(y[0], y[0], y[1] * y[1]) + fused(y[2], y[2], y[3] * y[3]);
      }
    UNROLL for (int v = 0; v < N; v++)
      store(distance + v * L, sum[v]);
  }
};

// Places that may be nearer than the best so far: tile `home` first (what is near there spares many others), then those
// whose box passes `near_tile(squares, tile)`; of these, places that pass `near_place(squares, place)`.
template <class NearTile, class NearPlace, class Visit>
INLINE void search(const Tiles& tiles, long home, Query& query, NearTile near_tile, NearPlace near_place, Visit visit) {
  auto visit_tile = [&](long t) {
    query.measure(tiles, t);
    for_each_near(
        TILE, [&](long p) { return near_place(load(query.distance + p), t * TILE + p); },
        [&](long p) { visit(t * TILE + p); });
  };
  visit_tile(home);
  for_each_near(
      tiles.count, [&](long t) { return near_tile(load(query.bound + t), t); },
      [&](long t) {
        if (t != home) visit_tile(t);
      });
}

struct Neighbour {
  long place;       // -1: none
  double distance;  // by whatever rule; the limit where there is none
};

// The place nearest to q that is nearer than the limit, where outside(place) and tile_outside(tiles), a mask, hold
template <class Outside, class TileOutside>
Neighbour nearest_outside(const Tiles& tiles, long q, double limit, Query& query, Outside outside,
                          TileOutside tile_outside) {
  Neighbour best = {-1, limit};
  float wide = loosened(limit, tiles.slack);
  query.start_from(tiles, tiles.points + q * tiles.d);
  search(
      tiles, q / TILE, query, [&](Vec<float> square, long t) { return (square < wide) & tile_outside(t); },
      [&](Vec<float> square, long) { return square < wide; },
      [&](long other) {
        if (!outside(other)) return;
        const double exact = between_places(tiles, q, other);
        if (exact < best.distance) best = {other, exact}, wide = loosened(exact, tiles.slack);
      });
  return best;
}
INLINE Neighbour nearest_other(const Tiles& tiles, long q, Query& query) {
  auto any_tile = [](long) { return ~IntVec<float>{}; };
  return nearest_outside(tiles, q, INFINITE, query, [&](long other) { return other != q; }, any_tile);
}

// Tile and box learn where the point at place q is now
INLINE void place_point(Tiles& tiles, long q) {
  const long t = q / TILE;
  for (long j = 0; j < tiles.d; j++) {
    const float x = float(tiles.points[q * tiles.d + j]);
    float &low = tiles.boxes[j * tiles.stride + t], &high = tiles.boxes[(tiles.d + j) * tiles.stride + t];
    tiles.places[(t * tiles.width + j) * TILE + q % TILE] = x;
    low = x < low ? x : low, high = x > high ? x : high;
  }
}

// The centroid at `kept` moves by its share of the way to that at `gone`, which leaves an empty place
INLINE void merge_places(Tiles& tiles, long kept, long gone, double share) {
  double *to = tiles.points + kept * tiles.d, *from = tiles.points + gone * tiles.d;
  for (long j = 0; j < tiles.d; j++) to[j] += (from[j] - to[j]) * share;
  tiles.owner[gone] = -1;
  tiles.places[gone / TILE * tiles.width * TILE + gone % TILE] = float(INFINITE);
  place_point(tiles, kept);
}

// Merge i is that of the clusters at two places
INLINE void note_merge(const Merges& merges, long i, const Tiles& tiles, long a, long b, double height) {
  merges.pairs[2 * i] = tiles.owner[a], merges.pairs[2 * i + 1] = tiles.owner[b];
  merges.heights[i] = height;
}

// Chains of nearest neighbours (chain.cpp) until `stop` clusters are left, or nothing of `allowed`; how many merges.
// nearest(q, before) must not leave the one before for an equal: chains would run in circles.
template <class Nearest, class Join>
long merge_along_chains(Tiles& tiles, long stop, const long& allowed, Merges merges, Nearest nearest, Join join) {
  Scratch<long> chain(merges.count + 2);
  long length = 0, cursor = 0, done = 0;
  while (merges.count + 1 - done > stop && allowed > 0) {
    if (length == 0) {  // the next cluster in a circle: so all grow at the same pace
      do cursor = cursor + 1 < tiles.count * TILE ? cursor + 1 : 0;
      while (tiles.owner[cursor] < 0);
      chain[length++] = cursor;
    }
    const long q = chain[length - 1], before = length > 1 ? chain[length - 2] : -1;
    const Neighbour found = nearest(q, before);
    if (before < 0 || found.place != before) {
      chain[length++] = found.place;
      continue;
    }
    note_merge(merges, done++, tiles, q, before, found.distance);
    length -= 2;
    join(q, before);
  }
  return done;
}

}}  // namespace ISA

#else
#include <vector>

// What Python holds: tiles and their memory
class PointTiles {
 public:
  explicit PointTiles(In<double, 2> points);
  void repack();  // the points that are left into tiles anew: tiles stay full and small

  Tiles view;
  long n;  // points there were at first: numbers are below this
  long places() const { return view.count * TILE; }
  long left() const {
    long found = 0;
    for (const int64_t number : owner_) found += number >= 0;
    return found;
  }

 private:
  std::vector<double> points_, known_;
  std::vector<int64_t> owner_, near_;
  std::vector<float> places_, boxes_;
  void fill(const double* points, const int64_t* numbers, long n, long d);
};
#endif
