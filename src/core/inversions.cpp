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
  long (*merge)(Tiles& tiles, double* size, bool median, long stop, Merges merges);
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

// tiles.known holds the bounds, tiles.near the clusters that were that near
struct Bounds {
  explicit Bounds(const Tiles& tiles)
      : merges(tiles.count * TILE, 0), seen(tiles.count * TILE, 0), limit(tiles.count * TILE) {
    for (long q = 0; q < tiles.count * TILE; q++) limit[q] = loosened(tiles.known[q], tiles.slack);
  }
  void set(Tiles& tiles, long q, const Neighbour& nearest) {
    tiles.near[q] = nearest.place < 0 ? q : nearest.place, tiles.known[q] = nearest.distance;
    limit[q] = loosened(nearest.distance, tiles.slack), seen[q] = merges[tiles.near[q]];
  }
  Scratch<long> merges, seen;  // of each place; of its neighbour when the bound was set
  Scratch<float> limit;        // the bounds, loosened
};

// The new cluster at place q finds its nearest, and becomes the nearest of those it is nearer to than their bound
void announce(Tiles& tiles, long q, Bounds& bounds, Query& query) {
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
          if (exact < tiles.known[other]) bounds.set(tiles, other, {q, exact});
        });
  }
  bounds.set(tiles, q, mine);
}

long merge_nearest(Tiles& tiles, double* size, bool median, long stop, Merges merges) {
  Query query(tiles);
  Bounds bounds(tiles);
  long done = 0;
  while (merges.count + 1 - done > stop) {
    const long q = first_least(tiles.known, tiles.count * TILE), r = tiles.near[q];
    if (r == q || tiles.owner[r] < 0 || bounds.merges[r] != bounds.seen[q]) {
      bounds.set(tiles, q, nearest_other(tiles, q, query));
      continue;
    }
    note_merge(merges, done++, tiles, q, r, tiles.known[q]);
    double &mine = size[tiles.owner[q]], theirs = size[tiles.owner[r]];
    merge_places(tiles, q, r, median ? 0.5 : theirs / (mine + theirs));
    mine += theirs;
    tiles.known[r] = INFINITE;
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
      [&kernels](PointTiles& tiles, Out<double, 1> size, long stop, bool median, Pairs pairs, Heights squares) {
        const Merges merges = merges_of(tiles.left(), pairs, squares);
        require(long(size.size()) == tiles.n, "size must have a value a point");
        nb::gil_scoped_release released;
        return kernels.merge(tiles.view, size.data(), median, stop > 1 ? stop : 1, merges);
      },
      "tiles"_a, "size"_a, "stop"_a, "median"_a, "pairs"_a, "squares"_a,
      "Merge the nearest centroids (or medians) until `stop` clusters are left; how many merges that were.");
}
#endif
