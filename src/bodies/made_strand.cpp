#include "bodies/made_strand.hpp"

#include "weft/bodies/rod_joint.hpp"

#include <cmath>
#include <numbers>

namespace weft {
namespace {

/// The axis that is most across a direction, z before y before x, made across it.
Vec3 most_across(const Vec3& t) {
  Vec3 axis = Vec3::UnitZ();
  if (std::abs(t.z()) > std::numbers::sqrt2 / 2)
    axis = std::abs(t.x()) < std::abs(t.y()) ? Vec3::UnitX() : Vec3::UnitY();
  return (axis - axis.dot(t) * t).normalized();
}

}  // namespace

MadeStrand::MadeStrand(std::span<const Vec3> points, bool closed, const StrandNature& nature) : is_closed(closed) {
  for (std::size_t s = 0; s + (closed ? 0 : 1) < points.size(); ++s) {
    const Vec3 edge = points[(s + 1) % points.size()] - points[s];
    length.push_back(edge.norm());
    tangent.emplace_back(edge / length[s]);
  }
  twist.assign(size(), 0);
  natural.assign(size(), Vec3::Zero());
  bend.assign(size(), 0);
  const Real rate = make_directors(nature.twist);
  for (std::size_t f = 0; f < size(); ++f) {
    const std::size_t e = before(f);
    if (e == size()) continue;
    const Real lb = joint_length(f);
    const JointShape<Real> shape({{tangent[e], director[e]}, {tangent[f], director[f]}, rate * lb}, tangent[e],
                                 tangent[f], 0, 0);
    twist[f] = shape.twist;
    bend[f] = shape.kb.norm();
    natural[f] = nature.is_straight ? Vec3(0, 0, nature.twist * lb) : Vec3(shape.k1, shape.k2, shape.twist);
  }
}

/// Returns the rate at which they turn [rad/m]. A ring's last director comes back turned: all have a share of that.
Real MadeStrand::make_directors(Real natural_twist) {
  for (std::size_t s = 0; s < size(); ++s)
    director.push_back(s == 0 ? most_across(tangent[0]) : transported(director[s - 1], tangent[s - 1], tangent[s]));
  Real whole = 0, along = 0, rate = natural_twist;
  for (const Real l : length) whole += l;
  if (is_closed) {
    const Vec3 back = transported(director.back(), tangent.back(), tangent.front());
    rate += std::remainder(angle_between(back, director.front(), tangent.front()) - natural_twist * whole,
                           2 * std::numbers::pi) /
            whole;
  }
  for (std::size_t s = 0; s < size(); ++s) {
    director[s] = turned(director[s], tangent[s], rate * along);
    along += length[s] / 2 + (s + 1 < size() ? length[s + 1] / 2 : 0);
  }
  return rate;
}

}  // namespace weft
