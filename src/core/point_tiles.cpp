// Points in tiles of near neighbours (point_tiles.hpp): made by halving, searched for the nearest.
#include "point_tiles.hpp"

#include "variants.hpp"

struct Points {
  const double* cells;     // (n, d)
  const int64_t* numbers;  // (n,)
  long n, d;
};
struct TileKernels {
  void (*fill)(const Points& points, Tiles& tiles);
  void (*find_nearest)(Tiles& tiles, long first, long last);
  void (*nearest_points)(const Tiles& tiles, const double* rows, long n, int64_t* out);
};
DECLARE_VARIANTS(TileKernels, tile_kernels)

#ifdef ISA

namespace ISA {
namespace {

// Hoare's selection: what stands before `middle` is at most what stands there or after, by one column
void select(const double* column, long stride, int64_t* order, long low, long high, long middle) {
  auto value = [&](long i) { return column[order[i] * stride]; };
  while (low < high) {
    const double pivot = value((low + high) / 2);
    long i = low, j = high;
    while (i <= j) {
      while (value(i) < pivot) i++;
      while (pivot < value(j)) j--;
      if (i <= j) {
        const int64_t kept = order[i];
        order[i++] = order[j], order[j--] = kept;
      }
    }
    if (middle <= j)
      high = j;
    else if (middle >= i)
      low = i;
    else
      return;
  }
}

// Halve the points at the median of their widest column, and halve the halves: parts of equal size, each near together
void order_by_halves(const Points& points, long parts_wanted, int64_t* order) {
  const long n = points.n, d = points.d;
  Scratch<double> low(d), high(d);
  for (long i = 0; i < n; i++) order[i] = i;
  for (long parts = 1; parts < parts_wanted; parts *= 2)
    for (long part = 0; part < parts; part++) {
      const long a = part * n / parts, b = (part + 1) * n / parts, middle = (2 * part + 1) * n / (2 * parts);
      if (b - a < 2) continue;
      for (long j = 0; j < d; j++) low[j] = high[j] = points.cells[order[a] * d + j];
      for (long i = a + 1; i < b; i++)
        for (long j = 0; j < d; j++) {
          const double x = points.cells[order[i] * d + j];
          low[j] = x < low[j] ? x : low[j], high[j] = x > high[j] ? x : high[j];
        }
      long widest = 0;
      for (long j = 1; j < d; j++)
        if (high[j] - low[j] > high[widest] - low[widest]) widest = j;
      select(points.cells + widest, d, order, a, b - 1, middle);
    }
}

void fill(const Points& points, Tiles& tiles) {
  const long d = points.d, n = points.n;
  Scratch<int64_t> order(n);
  order_by_halves(points, tiles.count, order);
  for (long i = 0; i < d * tiles.stride; i++) tiles.boxes[d * tiles.stride + i] = -float(INFINITE);
  for (long t = 0; t < tiles.count; t++) {
    for (int p = 0; p < TILE; p++) tiles.places[t * tiles.width * TILE + p] = float(INFINITE);
    const long a = t * n / tiles.count, b = (t + 1) * n / tiles.count;
    for (long i = a; i < b; i++) {
      const long q = t * TILE + i - a;
      tiles.owner[q] = points.numbers[order[i]], tiles.near[q] = q, tiles.known[q] = 0;
      std::memcpy(tiles.points + q * d, points.cells + order[i] * d, size_t(d) * sizeof(double));
      place_point(tiles, q);
    }
  }
}

void find_nearest(Tiles& tiles, long first, long last) {
  Query query(tiles);
  for (long q = first; q < last; q++)
    if (tiles.owner[q] >= 0) {
      const Neighbour found = nearest_other(tiles, q, query);
      if (found.place >= 0) tiles.near[q] = found.place, tiles.known[q] = found.distance;
    }
}

void nearest_points(const Tiles& tiles, const double* rows, long n, int64_t* out) {
  const long d = tiles.d;
  Query query(tiles);
  for (long i = 0; i < n; i++) {
    const double* row = rows + i * d;
    double reach = 0;
    for (long j = 0; j < d; j++) reach = __builtin_fabs(row[j]) > reach ? __builtin_fabs(row[j]) : reach;
    const double slack =
        tiles.slack + 1001.0 * double(d) * (0x1p-22 * reach) * (0x1p-22 * reach);  // it may lie far off
    query.start_from(tiles, row);
    long home = 0;
    for (long t = 1; t < tiles.count; t++) home = query.bound[t] < query.bound[home] ? t : home;
    Neighbour best = {-1, INFINITE};
    float wide = float(INFINITE);
    auto near = [&](Vec<float> square, long) { return square <= wide; };
    search(tiles, home, query, near, near, [&](long place) {
      const int64_t number = tiles.owner[place];
      if (number < 0) return;
      const double exact = squared_distance(row, tiles.points + place * d, d);
      if (exact < best.distance || best.place < 0 || (exact == best.distance && number < best.place))
        best = {number, exact}, wide = float(exact * LOOSE + slack);  // of equals, the lowest number
    });
    out[i] = best.place;
  }
}

}  // namespace
const TileKernels tile_kernels = {fill, find_nearest, nearest_points};
}  // namespace ISA

#else

void PointTiles::fill(const double* points, const int64_t* numbers, long n, long d) {
  double reach = 0;
  for (long i = 0; i < n * d; i++) {
    const double size = __builtin_fabs(points[i]);
    require(size < 0x1p60, "points must be finite, and so small that float32 holds their squares");
    reach = size > reach ? size : reach;
  }
  long count = 1;
  while (count * TILE < n) count *= 2;  // a power of two: halving makes parts of equal size
  const long stride = round_up(count, BOXES), width = round_up(d, COLUMNS);
  points_.resize(count * TILE * d), owner_.assign(count * TILE, -1);
  near_.assign(count * TILE, 0), known_.assign(count * TILE, __builtin_inf());
  places_.assign(count * width * TILE, 0.f), boxes_.assign(2 * d * stride, __builtin_inff());
  const double slack = 1001.0 * double(d) * (0x1p-22 * reach) * (0x1p-22 * reach);
  view = {count,        stride,        d,    width, points_.data(), owner_.data(), places_.data(), boxes_.data(),
          near_.data(), known_.data(), slack};
  CHOSEN(TileKernels, tile_kernels).fill({points, numbers, n, d}, view);
}

PointTiles::PointTiles(In<double, 2> points) : n(long(points.shape(0))) {
  require(points.shape(1) > 0, "points must have columns");
  std::vector<int64_t> numbers(n);
  for (long i = 0; i < n; i++) numbers[i] = i;
  fill(points.data(), numbers.data(), n, long(points.shape(1)));
}

void PointTiles::repack() {
  std::vector<double> points;
  std::vector<int64_t> numbers;
  for (long q = 0; q < places(); q++)
    if (owner_[q] >= 0) {
      points.insert(points.end(), view.points + q * view.d, view.points + (q + 1) * view.d);
      numbers.push_back(owner_[q]);
    }
  fill(points.data(), numbers.data(), long(numbers.size()), view.d);
}

void bind_point_tiles(nb::module_& m) {
  const TileKernels& kernels = CHOSEN(TileKernels, tile_kernels);
  nb::class_<PointTiles>(m, "PointTiles", "Points (n, d) in tiles of near neighbours, numbered 0 to n - 1.")
      .def(nb::init<In<double, 2> >(), "points"_a, Released())
      .def("repack", &PointTiles::repack, "Sort the points that are left into tiles anew.", Released())
      .def_prop_ro("places", &PointTiles::places, "Places for points: at least as many as there are points.")
      .def(
          "find_nearest",
          [&kernels](PointTiles& tiles, long first, long last) {
            require(0 <= first && first <= last && last <= tiles.places(), "first and last must be places");
            kernels.find_nearest(tiles.view, first, last);
          },
          "first"_a, "last"_a, "Find the nearest neighbours of these places, which may be done on threads.", Released())
      .def(
          "nearest_points",
          [&kernels](const PointTiles& tiles, In<double, 2> rows, Out<int64_t, 1> out) {
            require(long(rows.shape(1)) == tiles.view.d, "rows must have the columns of the points");
            require(out.size() == rows.shape(0), "out must have a value a row");
            kernels.nearest_points(tiles.view, rows.data(), long(rows.shape(0)), out.data());
          },
          "rows"_a, "out"_a, "out = number of the point nearest to each row; of equals, the lowest.", Released());
}
#endif
