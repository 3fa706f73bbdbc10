// Complete, average and weighted linkage of points from their members, without a matrix.
//
//   d(A, B) = max |x - y|             complete
//   d(A, B) = sum p_x p_y |x - y|     average (p = weight / weight of its cluster), weighted (p halves at every merge)
//
// While clusters are small this costs a few distances, and most pairs need none: the distance of centroids is never
// larger than the mean distance of members (the norm is convex), and
//
//   max |x - y|^2 >= mean |x - y|^2 = |a - b|^2 + spread(A) + spread(B).
//
// So chains (chain.cpp) run over the centroids, in tiles, until clusters have a few rows each; then all pairs of
// clusters are measured, once.
#include "point_tiles.hpp"
#include "variants.hpp"

// A row, and the cluster of its name: clusters are named by one of their rows
struct Member {
  double part;       // p, adding up to 1 in each cluster
  long next;         // the next row of the same cluster, -1 after the last
  long last, count;  // of the cluster: its last row, how many they are
  double size;       // its weight
  double spread;     // mean squared distance of its rows from their centroid; 0 unless complete
};
struct Clusters {
  Linkage linkage;
  long d;
  const double* rows;  // (n, d)
  Member* members;     // (n,)
};
struct Names {
  const int64_t* of;  // (count,) of clusters
  long count;
};
struct MemberKernels {
  long (*merge)(Tiles& tiles, const Clusters& clusters, long stop, long& allowed, Merges merges);
  void (*measure)(const Clusters& clusters, const Names& names, long first, long last, double* out);
};
DECLARE_VARIANTS(MemberKernels, member_kernels)

#ifdef ISA

namespace ISA {
namespace {

// d(A, B), squared for complete linkage; the same bits for (b, a)
double between_clusters(const Clusters& clusters, long a, long b) {
  const Member* members = clusters.members;
  const long d = clusters.d;
  double sum = 0;
  for (long i = a < b ? a : b; i >= 0; i = members[i].next)
    for (long j = a < b ? b : a; j >= 0; j = members[j].next) {
      const double square = squared_distance(clusters.rows + i * d, clusters.rows + j * d, d);
      if (clusters.linkage == Linkage::complete)
        sum = square > sum ? square : sum;
      else
        sum += members[i].part * members[j].part * __builtin_sqrt(square);
    }
  return sum;
}

// One cluster at the place of the heavier, under its name
void join(Tiles& tiles, const Clusters& clusters, long q, long r) {
  Member* members = clusters.members;
  if (members[tiles.owner[q]].size < members[tiles.owner[r]].size) {
    const long lighter = q;
    q = r, r = lighter;
  }
  Member &a = members[tiles.owner[q]], &b = members[tiles.owner[r]];
  const double share = clusters.linkage == Linkage::weighted ? 0.5 : b.size / (a.size + b.size);
  if (clusters.linkage == Linkage::complete) {
    const double between = share * (1 - share) * between_places(tiles, q, r);
    a.spread = ((1 - share) * a.spread + share * b.spread + between) * (1 - 1e-12);  // less than it is, never more
  }
  for (long i = tiles.owner[q]; i >= 0; i = members[i].next) members[i].part *= 1 - share;
  for (long i = tiles.owner[r]; i >= 0; i = members[i].next) members[i].part *= share;
  members[a.last].next = tiles.owner[r];
  a.last = b.last, a.count += b.count, a.size += b.size;
  merge_places(tiles, q, r, share);
}

long merge_members(Tiles& tiles, const Clusters& clusters, long stop, long& allowed, Merges merges) {
  const Member* members = clusters.members;
  Query query(tiles);
  // How far centroids may be apart, squared, for d(A, B) to be below the limit
  auto reach = [&](double limit, double spread) {
    if (clusters.linkage != Linkage::complete) return loosened(limit * limit, tiles.slack);
    return loosened(limit > spread ? limit - spread : 0.0, tiles.slack);
  };
  auto nearest = [&](long q, long before) {
    const long a = tiles.owner[q];
    Neighbour best = {before, before >= 0 ? between_clusters(clusters, a, tiles.owner[before]) : INFINITE};
    float wide = reach(best.distance, members[a].spread);
    auto near = [&](Vec<float> square, long) { return square < wide; };
    query.start_from(tiles, tiles.points + q * tiles.d);
    search(tiles, q / TILE, query, near, near, [&](long other) {
      const long b = tiles.owner[other];
      if (other == q || b < 0 || best.distance == 0) return;
      if (query.distance[other % TILE] >= reach(best.distance, members[a].spread + members[b].spread)) return;
      const double exact = between_clusters(clusters, a, b);
      allowed -= members[a].count * members[b].count;
      if (exact < best.distance) best = {other, exact}, wide = reach(exact, members[a].spread);
    });
    return best;
  };
  return merge_along_chains(tiles, stop, allowed, merges, nearest,
                            [&](long q, long r) { join(tiles, clusters, q, r); });
}

// Clusters first .. last - 1 to all that follow them
void measure_clusters(const Clusters& clusters, const Names& names, long first, long last, double* out) {
  const long k = names.count;
  for (long a = first; a < last; a++) {
    double* line = out + a * k - a * (a + 1) / 2 - a - 1;
    for (long b = a + 1; b < k; b++) line[b] = between_clusters(clusters, names.of[a], names.of[b]);
  }
}

}  // namespace
const MemberKernels member_kernels = {merge_members, measure_clusters};
}  // namespace ISA

#else
#include <nanobind/stl/pair.h>

// What Python holds: rows, and the clusters they are in
class Members {
 public:
  Members(In<double, 2> points, In<double, 1> weights, Linkage linkage)
      : rows_(points.data(), points.data() + points.size()) {
    require(weights.size() == points.shape(0), "weights must have a value a row");
    for (long i = 0; i < long(weights.size()); i++) members_.push_back({1.0, -1, i, 1, weights.data()[i], 0.0});
    clusters_ = {linkage, long(points.shape(1)), rows_.data(), members_.data()};
  }

  std::pair<long, long> merge(PointTiles& tiles, long stop, long allowed, Pairs pairs, Heights heights) {
    const Merges merges = merges_of(tiles.left(), pairs, heights);
    require(tiles.n == long(members_.size()) && tiles.view.d == clusters_.d, "tiles must be of the rows");
    nb::gil_scoped_release released;
    const MemberKernels& kernels = CHOSEN(MemberKernels, member_kernels);
    const long done = kernels.merge(tiles.view, clusters_, stop > 1 ? stop : 1, allowed, merges);
    return {done, allowed};
  }

  auto left(const PointTiles& tiles) const {
    require(tiles.n == long(members_.size()), "tiles must be of the rows");
    auto names = new_array<int64_t, 1>({size_t(tiles.left())});
    auto sizes = new_array<double, 1>({size_t(tiles.left())});
    for (long q = 0, c = 0; q < tiles.places(); q++)
      if (const int64_t name = tiles.view.owner[q]; name >= 0)
        names.data()[c] = name, sizes.data()[c++] = members_[size_t(name)].size;
    return std::pair(names, sizes);
  }

  void measure(In<int64_t, 1> names, long first, long last, Out<double, 1> out) const {
    const long k = long(names.size());
    require(all_inside(names.data(), k, 0, long(members_.size())), "names must be rows");
    require(long(out.size()) == k * (k - 1) / 2, "out must hold every pair of clusters");
    require(0 <= first && first <= last && last <= k, "first and last must be clusters");
    CHOSEN(MemberKernels, member_kernels).measure(clusters_, {names.data(), k}, first, last, out.data());
  }

 private:
  std::vector<double> rows_;
  std::vector<Member> members_;
  Clusters clusters_;
};

void bind_members(nb::module_& m) {
  nb::class_<Members>(m, "Members", "Rows (n, d) and the clusters they are in; at first each is alone.")
      .def(nb::init<In<double, 2>, In<double, 1>, Linkage>(), "points"_a, "weights"_a, "linkage"_a)
      .def("merge", &Members::merge, "tiles"_a, "stop"_a, "allowed"_a, "pairs"_a, "heights"_a,
           "Merge until `stop` clusters are left, or `allowed` pairs of rows were measured: how many merges that were, "
           "and what is left of `allowed`. Heights are squared for complete linkage.")
      .def("left", &Members::left, "tiles"_a, "Names and weights of the clusters that are left.")
      .def("measure", &Members::measure, "names"_a, "first"_a, "last"_a, "out"_a,
           "out = heights of these clusters from first to last with all that follow them, every pair once.",
           Released());
}
#endif
