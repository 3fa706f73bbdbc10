// Merges of clusters, as all ways to make a tree write them down.
#pragma once
#include <cstdint>

// In the order in which they are made: a member of each of the two clusters, and the height
struct Merges {
  int64_t* pairs;   // (count, 2)
  double* heights;  // (count,)
  long count;       // merges until one cluster is left
};

// Linkages that need more of clusters than centroids
enum class Linkage {
  complete,  // the largest distance of members
  average,   // the mean over all pairs of members
  weighted,  // the mean of the distances of the two clusters that were merged
};

#ifndef ISA
#include "border.hpp"

using Pairs = Out<int64_t, 2>;
using Heights = Out<double, 1>;

inline Merges merges_of(long clusters, const Pairs& pairs, const Heights& heights) {
  require(long(pairs.shape(0)) == clusters - 1 && pairs.shape(1) == 2, "pairs must be (clusters - 1, 2)");
  require(long(heights.size()) == clusters - 1, "heights must be (clusters - 1,)");
  return {pairs.data(), heights.data(), clusters - 1};
}
#endif
