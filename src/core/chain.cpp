// Chains of nearest neighbours: from a cluster to its nearest, on to that one's nearest, until two are each other's.
//
// Those two may merge at once, because for these linkages a merged cluster is never nearer to a third than the nearer
// of its parts was. Distances fall strictly along a chain, so it ends.
//
//   ward     |a - b|^2 2 s t / (s + t)  between centroids of s and t rows; O(n) memory
//   pairs    complete, average, weighted on a list of all pairs, which is overwritten
//
// References: Murtagh (1983), A survey of recent advances in hierarchical clustering algorithms. Comput. J. 26:354-359.
// Muellner (2011), Modern hierarchical, agglomerative clustering algorithms. arXiv:1109.2378.
#include "point_tiles.hpp"
#include "variants.hpp"

struct ChainKernels {
  long (*ward)(Tiles& tiles, double* size, long stop, Merges merges);
  void (*pairs)(double* distances, double* size, Linkage linkage, Merges merges);
};
DECLARE_VARIANTS(ChainKernels, chain_kernels)

#ifdef ISA

namespace ISA {
namespace {

long ward_chain(Tiles& tiles, double* size, long stop, Merges merges) {
  const long places = tiles.count * TILE;
  Query query(tiles);
  Scratch<float> inverse(places, 1.f), most(tiles.stride, 0.f);  // 1 / size, and the largest of a tile
  for (long q = 0; q < places; q++)
    if (tiles.owner[q] >= 0) {
      inverse[q] = float(1.0 / size[tiles.owner[q]]);
      if (inverse[q] > most[q / TILE]) most[q / TILE] = inverse[q];
    }
  const float slack = float(tiles.slack);
  auto height = [&](long a, long b) {  // at which the two would merge, squared
    const double s = size[tiles.owner[a]], t = size[tiles.owner[b]];
    return 2.0 * (s * t) / (s + t) * between_places(tiles, a, b);
  };
  auto nearest = [&](long q, long before) {
    Neighbour best = {before, before >= 0 ? height(q, before) : INFINITE};
    // 2 |x - y|^2 < limit (1 / s + 1 / t), loosened for float32
    const float part = inverse[q];
    auto loose = [](double limit) { return float(limit > 0 ? limit * LOOSE : -INFINITE); };  // nothing is below 0
    float wide = loose(best.distance);
    auto near = [&](Vec<float> square, Vec<float> other) { return 2 * (square - slack) < wide * (part + other); };
    query.start_from(tiles, tiles.points + q * tiles.d);
    search(
        tiles, q / TILE, query, [&](Vec<float> square, long t) { return near(square, load(most + t)); },
        [&](Vec<float> square, long place) { return near(square, load(inverse + place)); },
        [&](long other) {
          if (other == q || tiles.owner[other] < 0) return;
          const double exact = height(q, other);
          if (exact < best.distance) best = {other, exact}, wide = loose(exact);
        });
    return best;
  };
  auto join = [&](long q, long other) {  // the larger keeps its place
    const bool larger = size[tiles.owner[q]] > size[tiles.owner[other]];
    const long kept = larger ? q : other, gone = larger ? other : q;
    double& mine = size[tiles.owner[kept]];
    const double sum = mine + size[tiles.owner[gone]];
    merge_places(tiles, kept, gone, size[tiles.owner[gone]] / sum);
    mine = sum, inverse[kept] = float(1.0 / sum);
  };
  return merge_along_chains(tiles, stop, 1, merges, nearest, join);
}

// Where a pair stands in a list of all pairs
INLINE long place_of(long n, long a, long b) {
  return a < b ? a * n - a * (a + 1) / 2 + b - a - 1 : b * n - b * (b + 1) / 2 + a - b - 1;
}

void chain_of_pairs(double* distances, double* size, Linkage linkage, Merges merges) {
  const long n = merges.count + 1;
  Scratch<long> alive(n), chain(n + 1);
  for (long i = 0; i < n; i++) alive[i] = i;
  long left = n, length = 0;
  for (long done = 0; done < n - 1; done++) {
    if (length == 0) chain[length++] = alive[0];
    long a, b;
    double limit;
    for (;;) {
      const long before = length > 1 ? chain[length - 2] : -1;
      a = chain[length - 1], b = before;
      limit = before >= 0 ? distances[place_of(n, a, before)] : INFINITE;
      for (long q = 0; q < left; q++) {
        const long other = alive[q];
        if (other == a) continue;
        const double distance = distances[place_of(n, a, other)];
        if (distance < limit || b < 0) limit = distance, b = other;
      }
      if (before >= 0 && b == before) break;
      chain[length++] = b;
    }
    length -= 2;
    if (a > b) {
      const long lower = b;
      b = a, a = lower;
    }
    merges.pairs[2 * done] = a, merges.pairs[2 * done + 1] = b;
    merges.heights[done] = limit;
    const double s = size[a], t = size[b];
    size[b] = s + t;
    long kept = 0;
    for (long q = 0; q < left; q++) {
      const long c = alive[q];
      if (c == a) continue;
      alive[kept++] = c;
      if (c == b) continue;
      const double g = distances[place_of(n, a, c)];
      double& h = distances[place_of(n, b, c)];
      if (linkage == Linkage::complete)
        h = g > h ? g : h;
      else if (linkage == Linkage::average)
        h = (s * g + t * h) / (s + t);
      else
        h = 0.5 * (g + h);
    }
    left = kept;
  }
}

}  // namespace
const ChainKernels chain_kernels = {ward_chain, chain_of_pairs};
}  // namespace ISA

#else

static void label_merges(In<int64_t, 2> pairs, In<double, 1> heights, In<double, 1> weights, Out<double, 2> tree) {
  const long n = long(weights.size()), count = n - 1;
  require(long(heights.size()) == count && long(pairs.shape(0)) == count && pairs.shape(1) == 2, "n - 1 merges");
  require(long(tree.shape(0)) == count && tree.shape(1) == 4, "tree must be (n - 1, 4)");
  require(all_inside(pairs.data(), 2 * count, 0, n), "pairs must hold row numbers");
  std::vector<long> parent(2 * n - 1);
  std::vector<double> total(weights.data(), weights.data() + n);
  for (long i = 0; i < 2 * n - 1; i++) parent[i] = i;
  auto root = [&](long i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (long i = 0; i < count; i++) {
    const long a = root(pairs.data()[2 * i]), b = root(pairs.data()[2 * i + 1]);
    double* line = tree.data() + 4 * i;
    parent[a] = parent[b] = n + i;
    total.push_back(total[a] + total[b]);
    line[0] = double(a < b ? a : b), line[1] = double(a < b ? b : a), line[2] = heights.data()[i],
    line[3] = total.back();
  }
}

void bind_chain(nb::module_& m) {
  const ChainKernels& kernels = CHOSEN(ChainKernels, chain_kernels);
  nb::enum_<Linkage>(m, "Linkage", "How the distance of two clusters follows from those of their members.")
      .value("complete", Linkage::complete)
      .value("average", Linkage::average)
      .value("weighted", Linkage::weighted);
  m.def(
      "ward_chain",
      [&kernels](PointTiles& tiles, Out<double, 1> size, long stop, Pairs pairs, Heights squares) {
        const Merges merges = merges_of(tiles.left(), pairs, squares);
        require(long(size.size()) == tiles.n, "size must have a value a point");
        nb::gil_scoped_release released;
        return kernels.ward(tiles.view, size.data(), stop > 1 ? stop : 1, merges);
      },
      "tiles"_a, "size"_a, "stop"_a, "pairs"_a, "squares"_a,
      "Merge centroids by Ward's linkage until `stop` clusters are left; how many merges that were.");
  m.def(
      "chain_of_pairs",
      [&kernels](Out<double, 1> distances, Out<double, 1> size, Linkage linkage, Pairs pairs, Heights heights) {
        const long n = long(size.size());
        require(long(distances.size()) == n * (n - 1) / 2, "distances must hold every pair once");
        kernels.pairs(distances.data(), size.data(), linkage, merges_of(n, pairs, heights));
      },
      "distances"_a, "size"_a, "linkage"_a, "pairs"_a, "heights"_a,
      "All merges of clusters whose distances are given, every pair once (overwritten).", Released());
  m.def("label_merges", label_merges, "pairs"_a, "heights"_a, "weights"_a, "tree"_a,
        "tree = the merges in SciPy's format: clusters are numbered n, n + 1, ... as they are made.", Released());
}
#endif
