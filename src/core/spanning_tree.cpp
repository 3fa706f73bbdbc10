// The minimum spanning tree of points, or of a list of all pairs: single linkage.
//
//   points   Boruvka's rounds, O(n) memory: every component but the largest takes the shortest edge that leaves it
//   pairs    Prim: the tree takes in the nearest row outside it, n - 1 times
//
// Boruvka starts from the nearest neighbour of every point (found on threads, by the caller). Later a point is searched
// from again only if its neighbour has come into its own component, and only if the distance known of it could beat
// the best edge its component has by then. The largest component needs no search: edges of the others reach it.
#include <algorithm>

#include "point_tiles.hpp"
#include "variants.hpp"

struct SpanningKernels {
  void (*of_points)(const Tiles& tiles, int64_t* near, double* known, Merges edges);
  void (*of_pairs)(const double* distances, long n, Merges edges);
};
DECLARE_VARIANTS(SpanningKernels, spanning_kernels)

#ifdef ISA

namespace ISA {
namespace {

struct Components {
  explicit Components(const Tiles& tiles)
      : places(tiles.count * TILE), parent(places), group(places), size(places), tile(tiles.count) {
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
        if (tiles.owner[q] >= 0) tile[t] = tile[t] == EMPTY || tile[t] == group[q] ? group[q] : SEVERAL;
    }
  }

  static constexpr long EMPTY = -2, SEVERAL = -1;
  const long places;
  Scratch<long> parent, group, size;  // by place; `size` at roots
  Scratch<long> tile;                 // the component of all points of a tile, or EMPTY, or SEVERAL
  long largest = -1;                  // a root; -1 while every point is alone
};

struct Edge {
  double square;
  long from, to;
};

void tree_of_points(const Tiles& tiles, int64_t* near, double* known, Merges edges) {
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
          tiles, q, best[mine].square, query, [&](long other) { return group[other] == mine; },
          [&](long t) { return components.tile[t] == mine; });
      known[q] = found.square;  // no point of another component is nearer than this
      if (found.place >= 0) near[q] = found.place, best[mine] = {found.square, q, found.place};
    }
    for (long g = 0; g < places; g++) {
      if (tiles.owner[g] < 0 || group[g] != g || best[g].square == INFINITE) continue;
      if (!components.join(best[g].from, best[g].to)) continue;  // the other side chose the same edge, or one as short
      note_merge(edges, done++, tiles, best[g].from, best[g].to, best[g].square);
    }
  }
}

void tree_of_pairs(const double* distances, long n, Merges edges) {
  Scratch<double> best(n, INFINITE);
  Scratch<long> near(n, 0), outside(n);
  for (long i = 0; i < n; i++) outside[i] = i;
  long row = 0, left = n - 1;
  outside[0] = left;
  for (long step = 0; step < n - 1; step++) {
    double least = INFINITE;
    long which = 0;
    for (long q = 0; q < left; q++) {
      const long other = outside[q], a = row < other ? row : other, b = row < other ? other : row;
      const double distance = distances[a * n - a * (a + 1) / 2 + b - a - 1];
      if (distance < best[other]) best[other] = distance, near[other] = row;
      // Of equal distances the lowest row number, wherever it stands in the list
      if (best[other] < least || (best[other] == least && other < outside[which])) least = best[other], which = q;
    }
    row = outside[which];
    edges.pairs[2 * step] = near[row], edges.pairs[2 * step + 1] = row;
    edges.heights[step] = least;
    outside[which] = outside[--left];
  }
}

}  // namespace
const SpanningKernels spanning_kernels = {tree_of_points, tree_of_pairs};
}  // namespace ISA

#else

void bind_spanning_tree(nb::module_& m) {
  const SpanningKernels& kernels = CHOSEN(SpanningKernels, spanning_kernels);
  m.def(
      "spanning_tree",
      [&kernels](const PointTiles& tiles, Out<int64_t, 1> near, Out<double, 1> known, Out<int64_t, 2> pairs,
                 Out<double, 1> squares) {
        const Merges edges = tiles.merges(pairs, squares);
        const long places = tiles.places();
        require(long(near.size()) == places && long(known.size()) == places, "near and known must have a value a place");
        if (edges.count == 0) return;
        require(all_inside(near.data(), places, 0, places), "near must hold places");
        kernels.of_points(tiles.view, near.data(), known.data(), edges);
      },
      "tiles"_a, "near"_a, "known"_a, "pairs"_a, "squares"_a,
      "Edges of the shortest tree over the points, from their nearest neighbours (overwritten).", Released());
  m.def(
      "spanning_tree_of_pairs",
      [&kernels](In<double, 1> distances, Out<int64_t, 2> pairs, Out<double, 1> lengths) {
        const long n = long(lengths.size()) + 1;
        require(long(pairs.shape(0)) == n - 1 && pairs.shape(1) == 2, "pairs and lengths must be of one length");
        require(long(distances.size()) == n * (n - 1) / 2, "distances must hold every pair once");
        kernels.of_pairs(distances.data(), n, {pairs.data(), lengths.data(), n - 1});
      },
      "distances"_a, "pairs"_a, "lengths"_a, "Edges of the shortest tree, given all distances, every pair once.",
      Released());
}
#endif
