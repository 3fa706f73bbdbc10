// The minimum spanning tree of points, O(n) memory: single linkage.
//
// Boruvka's rounds: every component but the largest takes the shortest edge that leaves it, until one is left. They
// start from the nearest neighbour of every point (PointTiles.find_nearest, on threads). Later a point is searched
// from again only if its neighbour has come into its own component, and only if the distance known of it could beat
// the best edge its component has by then. The largest component needs no search: edges of the others reach it.
#include <algorithm>

#include "point_tiles.hpp"
#include "variants.hpp"

struct SpanningKernels {
  void (*tree)(const Tiles& tiles, Merges edges);
};
DECLARE_VARIANTS(SpanningKernels, spanning_kernels)

#ifdef ISA

namespace ISA {
namespace {

struct Components {
  explicit Components(const Tiles& tiles)
      : places(tiles.count * TILE), parent(places), group(places), size(places), tile(tiles.stride) {
    for (long q = 0; q < places; q++) parent[q] = q;
  }

  long root(long q) {  // paths are halved on the way
    while (parent[q] != q) q = parent[q] = parent[parent[q]];
    return q;
  }
  bool join(long a, long b) {
    a = root(a), b = root(b);
    if (a != b) (a < b ? parent[b] = a : parent[a] = b);
    return a != b;
  }
  void number(const Tiles& tiles) {
    for (long q = 0; q < places; q++) size[q] = 0;
    long most = 0;
    for (long q = 0; q < places; q++) {
      group[q] = root(q);
      if (tiles.owner[q] >= 0 && ++size[group[q]] > size[most]) most = group[q];
    }
    largest = size[most] > 1 ? most : -1;
    for (long t = 0; t < tiles.count; t++) {
      tile[t] = EMPTY;
      for (long q = t * TILE; q < (t + 1) * TILE; q++)
        if (tiles.owner[q] >= 0) tile[t] = int32_t(tile[t] == EMPTY || tile[t] == group[q] ? group[q] : SEVERAL);
    }
  }

  static constexpr int32_t EMPTY = -2, SEVERAL = -1;
  const long places;
  Scratch<long> parent, group, size;  // by place; `size` at roots
  Scratch<int32_t> tile;              // the component of all points of a tile, or EMPTY, or SEVERAL
  long largest = -1;                  // a root; -1 while every point is alone
};

struct Edge {
  double square;
  long from, to;
};

void spanning_tree(const Tiles& tiles, Merges edges) {
  int64_t* const near = tiles.near;
  double* const known = tiles.known;
  Components components(tiles);
  const long places = components.places;
  const Scratch<long>& group = components.group;
  Scratch<Edge> best(places);  // at roots: the shortest edge that leaves the component
  Scratch<long> stale(places);
  Query query(tiles);
  for (long done = 0; done < edges.count;) {
    components.number(tiles);
    for (long q = 0; q < places; q++) best[q].square = INFINITE;
    // The largest takes no edge: not all of its neighbours are known, so it could take a wrong one.
    auto counts = [&](long q) { return tiles.owner[q] >= 0 && group[q] != components.largest; };
    for (long q = 0; q < places; q++)
      if (counts(q) && group[near[q]] != group[q] && known[q] < best[group[q]].square)
        best[group[q]] = {known[q], q, near[q]};
    long count = 0;
    for (long q = 0; q < places; q++)
      if (counts(q) && group[near[q]] == group[q] && known[q] < best[group[q]].square) stale[count++] = q;
    // The most promising first: what they find spares the others.
    std::sort(stale.begin(), stale.begin() + count,
              [&](long a, long b) { return known[a] < known[b] || (known[a] == known[b] && a < b); });
    for (long i = 0; i < count; i++) {
      const long q = stale[i], mine = group[q];
      if (!(known[q] < best[mine].square)) continue;
      const Neighbour found = nearest_outside(
          tiles, q, best[mine].square, query, [&](long other) { return group[other] != mine; },
          [&](long t) { return load_as<IntVec<float>>(components.tile + t) != int32_t(mine); });
      known[q] = found.distance;  // no point of another component is nearer than this
      if (found.place >= 0) near[q] = found.place, best[mine] = {found.distance, q, found.place};
    }
    for (long g = 0; g < places; g++) {
      if (tiles.owner[g] < 0 || group[g] != g || best[g].square == INFINITE) continue;
      if (!components.join(best[g].from, best[g].to)) continue;  // the other side chose the same edge, or one as short
      note_merge(edges, done++, tiles, best[g].from, best[g].to, best[g].square);
    }
  }
}

}  // namespace
const SpanningKernels spanning_kernels = {spanning_tree};
}  // namespace ISA

#else

void bind_spanning_tree(nb::module_& m) {
  const SpanningKernels& kernels = CHOSEN(SpanningKernels, spanning_kernels);
  m.def(
      "spanning_tree",
      [&kernels](const PointTiles& tiles, Pairs pairs, Heights squares) {
        kernels.tree(tiles.view, merges_of(tiles.left(), pairs, squares));
      },
      "tiles"_a, "pairs"_a, "squares"_a, "Edges of the shortest tree over the points.", Released());
}
#endif
