#pragma once
// Small meshes of sheets and fibers for tests of their elements.

#include "weft/bodies/codimensional.hpp"

#include "support/random_matrices.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace weft::test {

using Triangle = std::array<std::int32_t, 3>;
using Segment = std::array<std::int32_t, 2>;

/// across x along squares of edge h in the plane z = 0, each cut in two along the same diagonal.
struct SheetMesh {
  std::vector<Vec3> points;
  std::vector<Triangle> triangles;

  SheetMesh(int across, int along, Real h) : width_(across + 1) {
    for (int j = 0; j <= along; ++j)
      for (int i = 0; i <= across; ++i) points.emplace_back(i * h, j * h, 0);
    for (int j = 0; j < along; ++j)
      for (int i = 0; i < across; ++i) {
        triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
        triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
      }
  }
  std::int32_t at(int i, int j) const { return j * width_ + i; }

 private:
  int width_;
};

/// Segments between successive points of `count` strands of n segments.
struct FiberMesh {
  std::vector<Vec3> points;
  std::vector<Segment> segments;
  FiberMesh(int count, int n, Real h) {
    for (int s = 0; s < count; ++s)
      for (int i = 0; i <= n; ++i) {
        points.emplace_back(i * h, 2 * h * s, 0);
        const auto row = static_cast<std::int32_t>(points.size()) - 1;
        if (i > 0) segments.push_back({row - 1, row});
      }
  }
};

inline std::vector<Vec3> random_vectors(std::size_t count, Real size, MatrixSource& source) {
  std::vector<Vec3> list(count);
  for (Vec3& v : list) v = size * source.vector();
  return list;
}
inline std::vector<Mat3> random_matrices(std::size_t count, Real size, MatrixSource& source) {
  std::vector<Mat3> list(count);
  for (Mat3& M : list) M = size * source.matrix();
  return list;
}
template <class Value>
std::vector<Value> moved(std::vector<Value> at, const std::vector<Value>& by, Real h) {
  for (std::size_t i = 0; i < at.size(); ++i) at[i] += h * by[i];
  return at;
}
template <class Value>
Real product(const std::vector<Value>& a, const std::vector<Value>& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i].cwiseProduct(b[i]).sum();
  return sum;
}
inline std::vector<Vec3> zero_vectors(std::size_t count) { return std::vector<Vec3>(count, Vec3::Zero()); }
inline std::vector<Mat3> zero_matrices(std::size_t count) { return std::vector<Mat3>(count, Mat3::Zero()); }

}  // namespace weft::test
