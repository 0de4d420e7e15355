#include "weft/scene/handle_extent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace weft {
namespace {

/// Components that are round-off of others of this size read as 0.
std::string vector_text(const Vec3& v, Real size) {
  const auto shown = [&](int a) { return std::abs(v[a]) < 1e-9 * size ? 0.0 : v[a]; };
  return fmt::format("[{:.4g}, {:.4g}, {:.4g}]", shown(0), shown(1), shown(2));
}

}  // namespace

std::string in_words(const HandleExtent& extent) {
  std::string text;
  if (extent.slopes > 0) text += fmt::format(", {} with their slope", extent.slopes);
  if (extent.dimension > 0 && extent.part > 0) {
    const char* unit = std::array{"m", "m^2", "m^3"}[static_cast<std::size_t>(extent.dimension - 1)];
    const char* whole = std::array{"boundary", "surface", "volume"}[static_cast<std::size_t>(extent.dimension - 1)];
    text += fmt::format(", {:.6g} {} of {:.6g} {} of the {}", extent.part, unit, extent.whole, unit, whole);
  }
  const Real force = extent.force.norm(), moment = extent.moment.norm();
  const Real size = extent.middle.norm() + std::pow(extent.whole, 1.0 / std::max(extent.dimension, 1));
  if (force > 0 || moment > 0)
    text += fmt::format(", force {} N and moment {} N m about {} m", vector_text(extent.force, force),
                        vector_text(extent.moment, std::max(moment, force * size)), vector_text(extent.middle, size));
  return text;
}

void ExtentSum::add(const Site& site, const Vec3& force) {
  weight_ += 1;
  sum_.middle += site.where;
  sum_.force += force;
  sum_.moment += site.where.cross(force);
}

void ExtentSum::add(const Sample& sample, const Vec3& force, const Vec3& moment) {
  // Fibers have mass alone.
  const Real weight = sample.measure > 0 ? sample.measure : sample.mass;
  weight_ += weight;
  sum_.middle += weight * sample.where;
  sum_.force += force;
  sum_.moment += sample.where.cross(force) + moment;
}

void ExtentSum::add(const Vec3& x, Real m, const Vec3& force) {
  weight_ += m;
  sum_.middle += m * x;
  sum_.force += force;
  sum_.moment += x.cross(force);
}

void ExtentSum::measure(int dimension, Real part, Real whole) {
  sum_.dimension = dimension;
  sum_.part += part;
  sum_.whole += whole;
}

void ExtentSum::measure(int dimension, std::span<const Sample> part, std::span<const Sample> whole) {
  const auto measure_of = [](std::span<const Sample> samples) {
    return std::accumulate(samples.begin(), samples.end(), Real(0),
                           [](Real s, const Sample& x) { return s + x.measure; });
  };
  measure(dimension, measure_of(part), measure_of(whole));
}

HandleExtent ExtentSum::total(const Comm& comm) const {
  std::array<Real, 13> sums{weight_, sum_.part, sum_.whole, sum_.slopes};
  Eigen::Map<Vec3> force(&sums[4]), moment(&sums[7]), middle(&sums[10]);
  force = sum_.force;
  moment = sum_.moment;
  middle = sum_.middle;
  comm.sum(std::span(sums));
  HandleExtent total{sum_.dimension, sums[1], sums[2], sums[3], force, moment, middle};
  if (sums[0] > 0) total.middle /= sums[0];
  total.moment -= total.middle.cross(total.force);
  return total;
}

}  // namespace weft
