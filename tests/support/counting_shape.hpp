#pragma once
// A shape that counts how often it is asked.

#include "weft/geometry/mesh.hpp"
#include "weft/geometry/shape.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace weft::test {

class CountingShape final : public Shape {
 public:
  /// knows_balls: it may know that it misses a ball.
  explicit CountingShape(std::unique_ptr<Shape> shape, bool knows_balls = true)
      : shape_(std::move(shape)), knows_balls_(knows_balls) {}
  Surface surface(const Vec3& x) const override { return ++asked, shape_->surface(x); }
  bool contains(const Vec3& x) const override { return ++asked, shape_->contains(x); }
  bool misses_ball(const Vec3& x, Real radius) const override {
    return ++asked, knows_balls_ && shape_->misses_ball(x, radius);
  }
  std::optional<Box> bounds() const override { return shape_->bounds(); }
  std::optional<Real> volume() const override { return shape_->volume(); }
  SurfaceMesh tessellate(const Box& view) const override { return shape_->tessellate(view); }

  mutable std::int64_t asked = 0;

 private:
  std::unique_ptr<Shape> shape_;
  bool knows_balls_;
};

}  // namespace weft::test
