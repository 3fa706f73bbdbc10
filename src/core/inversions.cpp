// Centroid and median linkage, O(n) memory: the two nearest clusters merge, and may be nearer to a third than they
// were.
//
// Heights can fall, so chains do not serve. For every cluster a bound is kept that no other is nearer than, and the
// cluster that was that near; the least bound comes first. If that neighbour has changed since, the bound is renewed,
// else the two merge. Where the new cluster is nearer to others than their bounds, it becomes their neighbour.
//
// Reference: Muellner (2011), Modern hierarchical, agglomerative clustering algorithms. arXiv:1109.2378.
#include "point_tiles.hpp"
#include "variants.hpp"

struct InversionKernels {
  long (*merge)(Tiles& tiles, Nearest nearest, double* size, bool median, long stop, Merges merges);
};
DECLARE_VARIANTS(InversionKernels, inversion_kernels)

#ifdef ISA

namespace ISA {
namespace {

// The first place of the least bound
long first_least(const double* known, long places) {
  constexpr int L = LANES<double>;
  Vec<double> least[4];
  UNROLL for (int v = 0; v < 4; v++)
    least[v] = splat(INFINITE);
  for (long q = 0; q < places; q += 4 * L)  // places are whole tiles
      UNROLL
    for (int v = 0; v < 4; v++) least[v] = minimum(least[v], load(known + q + v * L));
  const Vec<double> all = minimum(minimum(least[0], least[1]), minimum(least[2], least[3]));
  double value = all[0];
  for (int l = 1; l < L; l++) value = all[l] < value ? all[l] : value;
  long q = 0;
  while (q < places - L && lane_bits(load(known + q) == value) == 0) q += L;
  while (q < places - 1 && known[q] != value) q++;
  return q;
}

struct Bounds {
  Bounds(const Tiles& tiles, Nearest nearest)
      : places(tiles.count * TILE),
        near(nearest.near),
        known(nearest.known),
        merges(places, 0),
        seen(places, 0),
        limit(places) {
    for (long q = 0; q < places; q++) limit[q] = loosened(known[q], tiles.slack);
  }
  void set(const Tiles& tiles, long q, long place, double square) {
    near[q] = place, known[q] = square, limit[q] = loosened(square, tiles.slack);
    if (place >= 0) seen[q] = merges[place];
  }
  const long places;
  int64_t* near;
  double* known;
  Scratch<long> merges, seen;  // of each place; of its neighbour when the bound was set
  Scratch<float> limit;        // `known`, loosened
};

// The new cluster at place q finds its nearest, and becomes the nearest of those it is nearer to than their bound
void announce(const Tiles& tiles, long q, Bounds& bounds, Query& query) {
  for (long j = 0; j < tiles.d; j++) query.x[j] = float(tiles.points[q * tiles.d + j]);
  Neighbour mine = {-1, INFINITE};
  float wide = loosened(INFINITE, tiles.slack);
  for (long t = 0; t < tiles.count; t++) {
    query.measure(tiles, t);
    for_each_near(
        TILE,
        [&](long p) { return load(query.distance + p) < maximum(load(bounds.limit + t * TILE + p), splat(wide)); },
        [&](long p) {
          const long other = t * TILE + p;
          if (other == q || tiles.owner[other] < 0) return;
          const double exact = between_places(tiles, q, other);
          if (exact < mine.distance) mine = {other, exact}, wide = loosened(exact, tiles.slack);
          if (exact < bounds.known[other]) bounds.set(tiles, other, q, exact);
        });
  }
  bounds.set(tiles, q, mine.place, mine.distance);
}

long merge_nearest(Tiles& tiles, Nearest nearest, double* size, bool median, long stop, Merges merges) {
  Query query(tiles);
  Bounds bounds(tiles, nearest);
  long done = 0;
  while (merges.count + 1 - done > stop) {
    const long q = first_least(bounds.known, bounds.places), r = bounds.near[q];
    if (tiles.owner[r] < 0 || bounds.merges[r] != bounds.seen[q]) {
      const Neighbour found = nearest_other(tiles, q, query);
      bounds.set(tiles, q, found.place, found.distance);
      continue;
    }
    note_merge(merges, done++, tiles, q, r, bounds.known[q]);
    double &mine = size[tiles.owner[q]], theirs = size[tiles.owner[r]];
    merge_places(tiles, q, r, median ? 0.5 : theirs / (mine + theirs));
    mine += theirs;
    bounds.known[r] = INFINITE;
    bounds.merges[q]++;
    announce(tiles, q, bounds, query);
  }
  return done;
}

}  // namespace
const InversionKernels inversion_kernels = {merge_nearest};
}  // namespace ISA

#else

void bind_inversions(nb::module_& m) {
  const InversionKernels& kernels = CHOSEN(InversionKernels, inversion_kernels);
  m.def(
      "merge_nearest",
      [&kernels](PointTiles& tiles, Out<int64_t, 1> near, Out<double, 1> known, Out<double, 1> size, bool median,
                 long stop, Pairs pairs, Heights squares) {
        const Merges merges = merges_of(tiles.left(), pairs, squares);
        require(long(size.size()) == tiles.n, "size must have a value a point");
        const Nearest nearest = tiles.nearest(near, known);
        nb::gil_scoped_release released;
        return kernels.merge(tiles.view, nearest, size.data(), median, stop > 1 ? stop : 1, merges);
      },
      "tiles"_a, "near"_a, "known"_a, "size"_a, "median"_a, "stop"_a, "pairs"_a, "squares"_a,
      "Merge the nearest centroids (or medians) until `stop` clusters are left; how many merges that were.");
}
#endif
