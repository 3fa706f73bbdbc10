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

// Clusters are named by one of their rows
struct Membership {
  Linkage linkage;
  long n, d;
  const double* rows;     // (n, d)
  double* part;           // (n,) p, adding up to 1 in each cluster
  long *next, *last;      // (n,) the next row of the same cluster, -1 after the last; the last row of a cluster
  double* size;           // (n,) weight of a cluster
  long* count;            // (n,) its rows
  double* spread;         // (n,) mean squared distance of its rows from their centroid; 0 unless complete
};
// The clusters that are left, their rows side by side
struct Listing {
  Linkage linkage;
  long n, d, k;
  const double* columns;  // (d, stride), zeros after the last row
  long stride;
  const double* part;     // (n,)
  const int64_t* starts;  // (k + 1,) where each cluster begins
};
struct MemberKernels {
  long (*merge)(Tiles& tiles, const Membership& members, long stop, long& allowed, Merges merges);
  void (*measure)(const Listing& listing, long first, long last, double* out);
};
DECLARE_VARIANTS(MemberKernels, member_kernels)

constexpr int STEP = 64;  // rows that are measured to together, at most; columns end with as many zeros

#ifdef ISA

namespace ISA {
namespace {

// d(A, B), squared for complete linkage; the same bits for (b, a)
double between_clusters(const Membership& members, long a, long b) {
  double sum = 0;
  for (long i = a < b ? a : b; i >= 0; i = members.next[i])
    for (long j = a < b ? b : a; j >= 0; j = members.next[j]) {
      const double square = squared_distance(members.rows + i * members.d, members.rows + j * members.d, members.d);
      if (members.linkage == Linkage::complete) sum = square > sum ? square : sum;
      else sum += members.part[i] * members.part[j] * __builtin_sqrt(square);
    }
  return sum;
}

// How far centroids may be apart, squared, for d(A, B) to be below the limit
INLINE float reach(const Membership& members, double limit, double spread, double slack) {
  if (members.linkage != Linkage::complete) return loosened(limit * limit, slack);
  return loosened(limit > spread ? limit - spread : 0.0, slack);
}

// One cluster at the place of the heavier, under its name
void join(Tiles& tiles, const Membership& members, long q, long r) {
  if (members.size[tiles.owner[q]] < members.size[tiles.owner[r]]) {
    const long lighter = q;
    q = r, r = lighter;
  }
  const long a = tiles.owner[q], b = tiles.owner[r];
  const double whole = members.size[a] + members.size[b];
  const double share = members.linkage == Linkage::weighted ? 0.5 : members.size[b] / whole;
  if (members.linkage == Linkage::complete) {
    const double inner = (1 - share) * members.spread[a] + share * members.spread[b];
    // A little less than it is: it must never be too much.
    members.spread[a] = (inner + share * (1 - share) * between_places(tiles, q, r)) * (1 - 1e-12);
  }
  for (long i = a; i >= 0; i = members.next[i]) members.part[i] *= 1 - share;
  for (long i = b; i >= 0; i = members.next[i]) members.part[i] *= share;
  members.next[members.last[a]] = b;
  members.last[a] = members.last[b];
  members.size[a] = whole;
  members.count[a] += members.count[b];
  merge_places(tiles, q, r, share);
}

long merge_members(Tiles& tiles, const Membership& members, long stop, long& allowed, Merges merges) {
  Query query(tiles);
  Scratch<long> chain(merges.count + 2);
  long length = 0, cursor = 0, done = 0;
  while (merges.count + 1 - done > stop && allowed > 0) {
    if (length == 0) chain[length++] = cursor = next_point(tiles, cursor);
    const long q = chain[length - 1], before = length > 1 ? chain[length - 2] : -1, a = tiles.owner[q];
    long found = before;
    double limit = before >= 0 ? between_clusters(members, a, tiles.owner[before]) : INFINITE;
    query.start_from(tiles, tiles.points + q * tiles.d);
    float wide = reach(members, limit, members.spread[a], tiles.slack);
    auto near = [&](long t) { return load(query.bound + t) < wide; };
    for_each_tile(tiles, q, near, [&](long t) {
      if (limit == 0) return;
      query.measure(tiles, t);
      for_each_near(
          TILE, [&](long p) { return load(query.distance + p) < wide; },
          [&](long p) {
            const long other = t * TILE + p, b = tiles.owner[other];
            if (other == q || b < 0) return;
            const double spread = members.spread[a] + members.spread[b];
            if (query.distance[p] >= reach(members, limit, spread, tiles.slack)) return;
            const double exact = between_clusters(members, a, b);
            allowed -= members.count[a] * members.count[b];
            if (exact < limit)
              limit = exact, found = other, wide = reach(members, limit, members.spread[a], tiles.slack);
          });
    });
    if (before < 0 || found != before) {
      chain[length++] = found;
      continue;
    }
    note_merge(merges, done++, tiles, q, found, limit);
    length -= 2;
    join(tiles, members, q, found);
  }
  return done;
}

// Of all rows of cluster a to the V vectors of rows from y on: the largest square, or the sum of p |x - y|
template <bool complete, int V> INLINE void gather(const Listing& listing, long a, long y, double* out) {
  constexpr int L = LANES<double>;
  Vec<double> sum[V] = {};
  for (long i = listing.starts[a]; i < listing.starts[a + 1]; i++) {
    Vec<double> square[V] = {};
    for (long j = 0; j < listing.d; j++) {
      const double* column = listing.columns + j * listing.stride;
      UNROLL for (int v = 0; v < V; v++) {
        const Vec<double> gap = column[i] - load(column + y + v * L);
        square[v] = fused(gap, gap, square[v]);
      }
    }
    UNROLL for (int v = 0; v < V; v++)
      if constexpr (complete) sum[v] = maximum(sum[v], square[v]);
      else sum[v] += listing.part[i] * square_root(square[v]);
  }
  UNROLL for (int v = 0; v < V; v++) store(out + v * L, sum[v]);
}

// Distances of clusters first .. last - 1 to all that follow them
template <bool complete> void measure_clusters(const Listing& listing, long first, long last, double* out) {
  constexpr int V = REGISTERS / 4, L = LANES<double>;
  static_assert(V * L <= STEP);
  const int64_t* starts = listing.starts;
  Scratch<double> sums(listing.n + STEP);
  for (long a = first; a < last; a++) {
    double* line = out + a * listing.k - a * (a + 1) / 2 - a - 1;
    const long begin = starts[a + 1];
    for (long y = begin; y < listing.n; y += V * L) gather<complete, V>(listing, a, y, sums + y);
    for (long b = a + 1; b < listing.k; b++) {
      double sum = 0;
      for (long y = starts[b]; y < starts[b + 1]; y++)
        if constexpr (complete) sum = sums[y] > sum ? sums[y] : sum;
        else sum += listing.part[y] * sums[y];
      line[b] = complete ? __builtin_sqrt(sum) : sum;
    }
  }
}

void measure_all(const Listing& listing, long first, long last, double* out) {
  (listing.linkage == Linkage::complete ? measure_clusters<true> : measure_clusters<false>)(listing, first, last, out);
}

}  // namespace
const MemberKernels member_kernels = {merge_members, measure_all};
}  // namespace ISA

#else
#include <nanobind/stl/pair.h>

// What Python holds: rows, and the clusters they are in
class Members {
 public:
  Members(In<double, 2> points, In<double, 1> weights, Linkage linkage)
      : linkage_(linkage), n_(long(points.shape(0))), d_(long(points.shape(1))), rows_(n_ * d_), part_(n_, 1.0),
        size_(n_), spread_(n_, 0.0), next_(n_, -1), last_(n_), count_(n_, 1) {
    require(long(weights.size()) == n_, "weights must have a value a row");
    for (long i = 0; i < n_ * d_; i++) rows_[i] = points.data()[i];
    for (long i = 0; i < n_; i++) size_[i] = weights.data()[i], last_[i] = i;
  }

  // Merges made, and what is left of `allowed`
  std::pair<long, long> merge(PointTiles& tiles, long stop, long allowed, Out<int64_t, 2> pairs, Out<double, 1> heights) {
    const Merges merges = tiles.merges(pairs, heights);
    require(tiles.most == n_, "tiles must be of the rows");
    nb::gil_scoped_release released;
    const Membership view = {linkage_, n_, d_, rows_, part_, next_, last_, size_, count_, spread_};
    const long done = CHOSEN(MemberKernels, member_kernels).merge(tiles.view, view, stop > 1 ? stop : 1, allowed, merges);
    return {done, allowed};
  }

  // Put the rows of each cluster side by side; names and weights of the clusters
  auto list(const PointTiles& tiles) {
    require(tiles.most == n_, "tiles must be of the rows");
    k_ = tiles.left(), stride_ = n_ + STEP;
    columns_.reset(new Scratch<double>(d_ * stride_, 0.0));
    listed_part_.reset(new Scratch<double>(n_));
    starts_.reset(new Scratch<int64_t>(k_ + 1));
    auto names = new_array<int64_t, 1>({size_t(k_)});
    auto sizes = new_array<double, 1>({size_t(k_)});
    long c = 0, at = 0;
    for (long q = 0; q < tiles.places(); q++) {
      const long name = tiles.view.owner[q];
      if (name < 0) continue;
      names.data()[c] = name, sizes.data()[c] = size_[name], (*starts_)[c++] = at;
      for (long i = name; i >= 0; i = next_[i], at++) {
        for (long j = 0; j < d_; j++) (*columns_)[j * stride_ + at] = rows_[i * d_ + j];
        (*listed_part_)[at] = part_[i];
      }
    }
    (*starts_)[c] = at;
    return std::pair(names, sizes);
  }

  void measure(long first, long last, Out<double, 1> out) const {
    require(columns_ && long(out.size()) == k_ * (k_ - 1) / 2, "out must hold every pair of the clusters listed");
    require(0 <= first && first <= last && last <= k_, "first and last must be clusters");
    const Listing view = {linkage_, n_, d_, k_, *columns_, stride_, *listed_part_, *starts_};
    CHOSEN(MemberKernels, member_kernels).measure(view, first, last, out.data());
  }

 private:
  Linkage linkage_;
  long n_, d_, k_ = 0, stride_ = 0;
  Scratch<double> rows_, part_, size_, spread_;
  Scratch<long> next_, last_, count_;
  std::unique_ptr<Scratch<double>> columns_, listed_part_;
  std::unique_ptr<Scratch<int64_t>> starts_;
};

void bind_members(nb::module_& m) {
  nb::class_<Members>(m, "Members", "Rows (n, d) and the clusters they are in; at first each is alone.")
      .def(nb::init<In<double, 2>, In<double, 1>, Linkage>(), "points"_a, "weights"_a, "linkage"_a)
      .def("merge", &Members::merge, "tiles"_a, "stop"_a, "allowed"_a, "pairs"_a, "heights"_a,
           "Merge until `stop` clusters are left, or `allowed` pairs of rows were measured; how many merges that were, "
           "and what is left of `allowed`. Heights are squared for complete linkage.")
      .def("list", &Members::list, "tiles"_a, "Names and weights of the clusters that are left.")
      .def("measure", &Members::measure, "first"_a, "last"_a, "out"_a,
           "out = distances of clusters first to last to all that follow them, every pair once.", Released());
}
#endif
