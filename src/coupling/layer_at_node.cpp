#include "coupling/layer_at_node.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <utility>

#include "coupling/faces_seen.hpp"
#include "weft/bodies/contact_points.hpp"
#include "weft/math/svd.hpp"

namespace weft {
namespace {

/// Surfaces come as near as this [dx].
constexpr Real nearest = 0.1;
/// Flat surfaces that are nearer part no faster than when they are so many dx nearer,
constexpr Real most_nearer = 0.05;
/// mass inside a surface as from this many dx at most.
constexpr Real most_inside = 0.5;
/// A mass is inside where its middle is by more than this [dx]: what bulges is not where planes are. Liquids, which
/// seep in, are where they seem to begin.
constexpr Real certain_inside = 0.1;
/// Friction on a mass begins so many dx before it touches: it needs contact that lasts, and the places of points vary.
/// On liquids, which bear none at rest, it would be a cushion.
constexpr Real margin_of_friction = 0.25;
/// The middle of a mass tells which way that is if it is so far from the node, wholly from the second on [dx].
constexpr Real least_telling = 0.08, most_telling = 0.2;
/// Planes cut out of the kernel no less than this [1/dx]: far away its share is not known so well.
constexpr Real least_density = 0.01;
/// Faces are trusted that explain so much of a surface, wholly from the second on.
constexpr Real least_explained = 0.7, most_explained = 0.95;
/// A face meets a mass if it covers so much of its plane, wholly from the second on,
constexpr Real least_cover = 0.1, most_cover = 0.3;
/// and these, where the middle of the mass does not tell.
constexpr Real least_wide = 0.8, widest = 1;
/// It counts by this power of the cosine between its normal and the way to the mass, which is so much at least,
constexpr Real power_of_cosine = 4, least_before = 0.05;
/// or as well if the mass is straight behind it by no more than this, hardly from the second on [dx],
constexpr Real near_behind = 1, far_behind = 1.5;
/// and by 1/e for so much more of the mass behind it than behind another one [dx].
constexpr Real deeper = 0.3;
/// Faces do not meet a mass of which less than this part counts, nor if it is less than the second in all.
constexpr Real least_met = 0.2, least_met_in_all = 0.03;
/// Where a node sees more than this of both sides of a plate it does not know how far that is.
constexpr Real least_one_sided = 0.9;
/// Planes are no farther from a node that sees them [dx].
constexpr Real farthest_plane = 2.6;
/// What two surfaces have alike is as long as this at least, squared.
constexpr Real least_alike = 0.01;
/// What is in the ellipsoid of a thin body leaves it as if it were so far outside [dx], which so many of Newton's steps
/// find.
constexpr Real least_extent = 0.001;
constexpr int steps_out_of_extent = 8;
/// Along an axis of which a thin body fills the kernel but for this part, it has no end.
constexpr Real least_beyond_kernel = 0.01;
/// Surfaces do not face one another along what is more behind either than before it, by this part of both,
constexpr Real most_behind = 0.1;
/// nor where the planes that face along it are far from square to it, as of a side and the floor beside it.
constexpr Real least_square = 1e-3;
/// Of two directions that which both face more, and squarely, counts by this power.
constexpr int sharpness = 20;
/// Nodes that see less of a rigid body than this [dx^2] do not know which way it faces; others are nearer.
constexpr Real least_area = 0.01;
/// Nor, of round ones, how far that is.
constexpr Real least_area_of_round = 0.2;
/// Nor, beside edges, of surfaces that are less square than planes by the second to what they face together.
constexpr Real least_area_of_bent = 0.35, most_bent = 0.2;
/// Axes of eigenvalues that are so far apart are half certain.
constexpr Real distinct = 0.02;
/// Normals shorter than this have no direction.
constexpr Real least_normal = 1e-6;
/// The mean of a surface that faces the other body makes an angle with the normal of at least this cosine.
constexpr Real least_cosine = 0.5;
/// Surfaces this far from a node [dx] are away from it.
constexpr Real away = 0.75;
/// Directions that make less than this cosine are near one another.
constexpr Real least_near = 0.9;
/// Edges of two bodies may pass one another if so much of both are sides that face one another,
constexpr Real least_side = 0.02;
/// and do if they cover less than this of a plane together.
constexpr Real least_covered = 0.95;
/// A surface of which less than this faces a direction has no place along it.
constexpr Real least_facing = 1e-3;
/// Normals that are spread by less, squared, are parallel: roots make much of round-off.
constexpr Real least_spread = 1e-8;
/// Surfaces of less curvature are flat, two together have this one at least, up to the third they are round, and from
/// the last on they have edges [1/dx].
constexpr Real least_round = 1e-6, least_curvature = 0.03, roundest = 1, sharpest = 1.5;
/// Where middles lie behind planes by the first of these parts of what curvatures say, there are edges; by the second,
/// a surface is round.
constexpr Real part_of_edges = 0.6, part_of_round = 0.9;
/// Axes of a surface that are alike differ by this part.
constexpr Real tie = 1e-3;
/// Of what faces either way along an axis, at the least this part faces away where a surface has two sides, and from
/// the second on it has, wholly.
constexpr Real least_two_sided = 0.02, most_one_sided = 0.1;
/// A side meets what is before it: what makes this cosine with its normal; a mass, whose middle is so far beyond [dx].
constexpr Real least_looking = 0.2, least_looking_of_mass = 0.05;
/// A surface is thin where it is so thick in the mean [dx]: to round-off, thinner than what points know at most.
constexpr Real most_of_thin = (1 - 1e-9) * SurfaceThickness::most_of_thin;
/// Liquid is on one side of a thin part so far beyond its middle [dx],
constexpr Real certain_side = 0.05;
/// of parts that are thicker than this, and wholly from the second on [dx]: it comes as deep as half of thinner ones.
constexpr Real least_sided = 1, sided = 1.5;
/// What has strength is on one side of a plate if its middle is so far beyond that of the plate [dx], wholly from the
/// second on: else it is on both.
constexpr Real least_beyond = 0.25, most_beyond = 0.45;
/// Of a surface of which less than this faces along an axis no part is turned.
constexpr Real least_facing_along = 0.05;
/// Sides that are farther behind one another face away [dx].
constexpr Real most_inside_of_sides = 0.5;
/// Round surfaces touch no farther from the node that moves them [dx].
constexpr Real farthest = 0.75;

/// The mean of x >= 0 by the normal distribution about s with the deviation 1.
Real mean_of_half(Real s) {
  const Real density = std::exp(-s * s / 2) / std::sqrt(2 * std::numbers::pi);
  const Real share = std::erfc(-s / std::numbers::sqrt2) / 2;
  return share > 1e-6 ? s + density / share : 0;
}

/// From where on x counts if its mean is this, by the normal distribution about 0 with the deviation 1.
Real begin_of_half(Real mean) {
  constexpr Real farthest_mean = 4;
  constexpr int iterations = 10;
  mean = std::min(mean, farthest_mean);
  Real t = mean;  // from this side Newton's method does not pass the root of a convex function
  for (int k = 0; k < iterations; ++k) {
    const Real beyond = mean_of_half(-t), found = t + beyond;
    t -= (found - mean) / (found * beyond);
  }
  return t;
}

/// 1 where a surface is flat, hardly anything at its edges, by its mean normal.
Real flatness(const Vec3& mean) { return std::pow(mean.squaredNorm(), 10); }

Vec3 unit(const Vec3& direction) {
  const Real length = direction.norm();
  return length > least_normal ? Vec3(direction / length) : Vec3(Vec3::Zero());
}

/// Whether a surface with this mean normal faces along on the whole.
bool faces(const Vec3& mean, const Vec3& along) { return mean.dot(along) >= least_cosine * mean.norm(); }

Vec3 across(const Vec3& along, const Vec3& vector) { return vector - vector.dot(along) * along; }

/// 1 where an eigenvalue is far from the others, 0 where its axis is any of several.
Real distinctness(const Vec3& values, int k) {
  const Real apart = std::min(std::abs(values[k] - values[(k + 1) % 3]), std::abs(values[k] - values[(k + 2) % 3]));
  return apart * apart / (apart * apart + distinct * distinct);
}

/// Of a surface; where they are alike, round-off does not choose between them.
SymmetricEigen axes_of(const Mat3& facing) {
  return symmetric_eigen(Mat3(facing + tie * Vec3(1, 2, 3).asDiagonal().toDenseMatrix()));
}

const Real* row_of(const NodeField& field, int block, int place) {
  return field.block(block) + place * NodeField::width;
}

}  // namespace

Mat3 symmetric_of(const Vec3& squares, const Vec3& products) {
  Mat3 mean;
  mean << squares[0], products[2], products[1], products[2], squares[1], products[0], products[1], products[0],
      squares[2];
  return mean;
}

std::pair<Real, Vec3> two_sides(const Mat3& facing, const Vec3& normal) {
  const SymmetricEigen axes = axes_of(facing);
  Real both = 0, away = 0;
  Vec3 along = Vec3::Zero();
  for (int k = 0; k < 3; ++k) {
    const Vec3 axis = axes.Q.col(k);
    const Real faces = axis.dot(facing * axis), lesser = (faces - std::abs(axis.dot(normal))) / 2;  // of both ways
    if (!((1 + k * tie) * lesser > both)) continue;
    both = (1 + k * tie) * lesser;
    away = smooth_step(least_two_sided, most_one_sided, 2 * lesser / faces);
    along = axis.dot(normal) < 0 ? Vec3(-axis) : axis;
  }
  return {away, along};
}

LayerAtNode::LayerAtNode(const MeetingLayer& layer, int block, int place, Real its_dx)
    : x(its_dx * (layer.map->first_node(block) + node_at_place(place)).cast<Real>()),
      dx(its_dx),
      has_surface(layer.has_contact_points),
      is_rigid(layer.is_rigid()),
      is_thin(layer.is_thin),
      has_strength(layer.has_strength),
      spread(layer.spread) {
  const Layer& nodes = *layer.nodes;
  const Real* const normals = row_of(nodes.get<NodeNormal>(), block, place);
  normal = Eigen::Map<const Vec3>(normals + 1) / normals[0];
  if (!has_surface) {
    if (is_thin) find_extent(nodes, block, place);
    return;
  }
  area = normals[0];
  const auto mean = [&](const NodeField& field) {
    return Vec3(Eigen::Map<const Vec3>(row_of(field, block, place) + 1) / area);
  };
  const Vec3 along = mean(nodes.get<NodeFacing>()), mixed = mean(nodes.get<NodeFacingAcross>());
  facing = symmetric_of(along, mixed);
  if (layer.has_two_sides)
    if (const Real* const places = row_of(nodes.get<NodeAtRest>(), block, place); places[0] > 0)
      at_rest = Eigen::Map<const Vec3>(places + 1) / places[0];
  offset = mean(nodes.get<NodeOffset>()) - facing * x;
  has_thin_parts = nodes.has<NodeThickness>();
  if (has_thin_parts) {
    thickness = symmetric_of(mean(nodes.get<NodeThickness>()), mean(nodes.get<NodeThicknessAcross>()));
    has_thin_parts = thickness.trace() < most_of_thin * dx * facing.trace();
  }
  if (!nodes.has<NodeMiddle>()) return;
  const Real* const mass = row_of(nodes.get<NodeMiddle>(), block, place);
  if (mass[0] > 0) middle = Eigen::Map<const Vec3>(mass + 1) / mass[0] - x;
}

void LayerAtNode::find_extent(const Layer& nodes, int block, int place) {
  const auto sums = [&](const NodeField& field) { return row_of(field, block, place); };
  const Real mass = sums(nodes.get<NodeMiddle>())[0];
  if (!(mass > 0)) {  // of control points alone, which are no part of a surface
    middle = -dx * spread * normal;
    return;
  }
  const auto mean = [&](const NodeField& field) { return Vec3(Eigen::Map<const Vec3>(sums(field) + 1) / mass); };
  const Vec3 of = mean(nodes.get<NodeMiddle>());
  variance = symmetric_of(mean(nodes.get<NodeSquares>()), mean(nodes.get<NodeProducts>())) - of * of.transpose();
  middle = of - x;
}

/// A way y to or from the middle of a thin body, turned as it leaves the ellipsoid of its variance (16.1b).
Vec3 LayerAtNode::out_of_extent(const Vec3& y) const {
  if (!is_thin || variance.isZero(0) || y.isZero(0)) return y;
  const SymmetricEigen axes = symmetric_eigen(variance);
  const Vec3 along = axes.Q.transpose() * y;
  const auto beyond_kernel = (1 - axes.values.array() / (spread * dx * dx)).max(least_beyond_kernel);
  const Vec3 squares = 3 * axes.values.array().max(Real(0)) / beyond_kernel;  // of half axes
  const Vec3 reach = squares.cwiseSqrt().cwiseProduct(along.cwiseAbs());
  Real t = std::max(least_extent * least_extent * dx * dx, (reach - squares).maxCoeff());
  for (int step = 0; step < steps_out_of_extent; ++step) {  // from below, as the sum is convex
    const Vec3 parts = reach.cwiseQuotient((squares.array() + t).matrix());
    const Real slope = -2 * parts.cwiseAbs2().cwiseQuotient((squares.array() + t).matrix()).sum();
    if (const Real beyond = parts.squaredNorm() - 1; beyond > 0) t -= beyond / slope;
  }
  const Vec3 out = axes.Q * along.cwiseQuotient((squares.array() + t).matrix());
  return y.norm() * out.normalized();
}

/// From the middle of one mass to that of the other, as far as that leads out of what is thin.
Vec3 LayerAtNode::way_between(const LayerAtNode& b) const {
  const Vec3 way = normal - b.normal;
  return spread > 0 ? Vec3(b.out_of_extent(out_of_extent(dx * spread * way)) / dx) : way;
}

Vec3 LayerAtNode::normal_to(const LayerAtNode& b) const {
  if (!has_surface && !b.has_surface) return unit(way_between(b));
  if (has_surface && b.has_surface) {
    const Real flatter = std::max({normal.norm(), b.normal.norm(), least_normal});
    // Beside an edge that does not yield, a node sees a side alone, which nothing faces.
    const bool keeps_edges = is_rigid || b.is_rigid;
    const auto share = [&](const Vec3& mean, const LayerAtNode& other) {
      const Real faced = keeps_edges ? other.ahead(-unit(mean)) : 1;
      return faced * std::pow(mean.squaredNorm() / (flatter * flatter), 50);
    };
    return unit(share(normal, b) * normal - share(b.normal, *this) * b.normal);
  }
  const LayerAtNode& mass = has_surface ? b : *this;
  const Vec3 of_surface = has_surface ? normal : Vec3(-b.normal);
  // A node on the far side of a sheet would turn its normal round.
  const Vec3 of_mass = mass.is_thin ? mass.out_of_extent(dx * of_surface) : has_surface ? Vec3(-b.normal) : normal;
  const Real flat = flatness(of_surface);
  return unit(flat * of_surface + (1 - flat) * of_mass.normalized());
}

/// (16.2): of what two rigid bodies may have across, the direction along which they face one another most.
Vec3 LayerAtNode::normal_of_faces(const LayerAtNode& b) const {
  if (std::min(area, b.area) < least_area * dx * dx) return Vec3::Zero();
  const Real part = area / (area + b.area);
  const Vec3 apart = part * normal - (1 - part) * b.normal, alike = part * normal + (1 - part) * b.normal;
  std::array<std::pair<Real, Vec3>, 14> directions;  // with their weights
  std::size_t count = 0;
  const auto include = [&](const Vec3& along, Real weight) {
    if (!(along.norm() > least_normal)) return;
    const Vec3 n = along.dot(apart) < 0 ? Vec3(-along.normalized()) : Vec3(along.normalized());
    const Real faces = ahead(n) * b.ahead(-n), square = squareness(n) * b.squareness(n);
    if (square > least_square) directions[count++] = {weight * std::pow(faces * square, sharpness), n};
  };
  include(facing * (b.facing * apart) + b.facing * (facing * apart), 1);
  include(apart - apart.dot(alike) / std::max(alike.squaredNorm(), least_alike) * alike, alike.squaredNorm());
  for (const Mat3& faces : {facing, b.facing, Mat3(facing + b.facing), Mat3(facing - b.facing)}) {
    const SymmetricEigen axes = symmetric_eigen(faces);
    for (int k = 0; k < 3; ++k) include(axes.Q.col(k), distinctness(axes.values, k));
  }
  const auto of_all = std::span(directions).first(count);
  const auto best = std::ranges::max_element(of_all, {}, &std::pair<Real, Vec3>::first);
  Vec3 found = Vec3::Zero();
  for (const auto& [weight, n] : of_all)
    if (n.dot(best->second) > least_near) found += weight * n;
  return found.stableNormalized();
}

Real LayerAtNode::ahead(const Vec3& n) const {
  const Real faces = n.dot(facing * n), mean = normal.dot(n);
  const Real others = (normal - mean * n).norm();
  return mean < (others / 2 - most_behind) * faces ? 0 : (faces + mean) / 2;
}

Real LayerAtNode::squareness(const Vec3& along) const {
  const Vec3 faces = facing * along;
  const Real across = along.dot(faces);
  return across > 0 ? std::pow(across * across / faces.squaredNorm(), 10) : 0;
}

Real LayerAtNode::opposition(const LayerAtNode& b, const Vec3& to_b) const {
  if (is_rigid && b.is_rigid) return squareness(to_b) * b.squareness(to_b);
  return std::pow(std::max(Real(0), -normal.dot(b.normal)), 20);
}

std::optional<Real> LayerAtNode::distance(const Vec3& along, const Vec3& aside) const {
  const Real faces = along.dot(facing * along);
  if (!(faces > least_facing)) return {};
  return along.dot(facing * aside - offset) / faces;
}

LayerAtNode::Roundness LayerAtNode::roundness(const Vec3& n) const {
  const Vec3 faces = facing * n;
  const Real along = n.dot(faces);
  if (!(along > least_facing)) return {};
  const Mat3 P = Mat3::Identity() - n * n.transpose();
  const Vec3 lean = across(n, faces) / along;
  const SymmetricEigen spread_of_normals = symmetric_eigen(P * facing * P / along - lean * lean.transpose());
  const Real variance = dx * dx * variance_of_kernel();
  const Vec3 values = spread_of_normals.values.cwiseMax(Real(0));
  const Vec3 k = values.cwiseQuotient((variance * (values.array() + least_spread).matrix()).cwiseSqrt());
  const Mat3 K = P * spread_of_normals.Q * k.asDiagonal() * spread_of_normals.Q.transpose() * P;
  const Real sum = K.trace();
  if (!(sum * dx > least_round)) return {lean};
  // The middle of what is round lies behind its planes by the sum of its curvatures, that of an edge by far less.
  const Real by_middle = (offset.dot(n) / along - middle.dot(n) - lean.dot(middle)) / variance;
  const Real part = std::clamp((n.dot(normal) < 0 ? -by_middle : by_middle) / sum, Real(-1), Real(1));
  const Real certainty =
      smooth_step(part_of_edges, part_of_round, std::abs(part)) * smooth_step(-sharpest, -roundest, -k.maxCoeff() * dx);
  return {lean, part < 0 ? Mat3(part * K) : K, certainty * part * variance / 2 * sum, certainty};
}

/// (16.3a)
LayerAtNode::Nearest LayerAtNode::nearest_with(const LayerAtNode& b, const Vec3& n) const {
  const Roundness mine = roundness(n), its = b.roundness(n);
  const Mat3 K = mine.curvature + its.curvature;
  const SymmetricEigen of = symmetric_eigen(K);
  const Vec3 stiff = of.values.cwiseMax(least_curvature / dx);
  Vec3 s = across(n, of.Q * stiff.cwiseInverse().asDiagonal() * of.Q.transpose() * (its.lean - mine.lean));
  if (const Real far = s.norm() / (farthest * dx); far > 1) s /= far;
  const Real certainty = std::max(mine.certainty, its.certainty);
  const Vec3 leans = (mine.lean + mine.curvature * s + its.lean - its.curvature * s) / 2;
  return {(n + certainty * leans).normalized(), certainty * s, certainty * K, mine.depth + its.depth, certainty};
}

Vec3 LayerAtNode::shared_with(const LayerAtNode& b, const Vec3& to_b) const {
  const Vec3 mine = across(to_b, middle), its = across(to_b, b.middle), sum = mine + its;
  const Real alike = mine.dot(its);
  return alike > 0 ? Vec3(sum - alike / (mine.squaredNorm() + its.squaredNorm()) * sum) : sum;
}

/// Marginals of B-splines are normal distributions but for their kurtosis.
Real LayerAtNode::coverage(const Vec3& along, Real share, Real away_by) const {
  const Real variance = variance_of_kernel(), at = away_by / dx / std::sqrt(variance);
  const Real kurtosis = -0.1 / variance * along.cwiseAbs2().squaredNorm();
  const Real density = std::exp(-at * at / 2) / std::sqrt(2 * std::numbers::pi * variance) *
                       (1 + kurtosis / 24 * (std::pow(at, 4) - 6 * at * at + 3));
  return area * share / (dx * dx * std::max(density, least_density));
}

bool LayerAtNode::passes(const LayerAtNode& b, const Vec3& to_b, const Vec3& aside) const {
  const Vec3 mine = across(to_b, normal), its = across(to_b, b.normal), apart = (mine - its).stableNormalized();
  if (!is_rigid || !b.is_rigid || std::min(mine.dot(apart), -its.dot(apart)) < least_side) return false;
  const std::optional<Real> behind = distance(to_b, aside), before = b.distance(-to_b, aside);
  if (!behind || !before) return false;
  return coverage(to_b, ahead(to_b), *behind) + b.coverage(-to_b, b.ahead(-to_b), *before) < least_covered;
}

std::optional<Real> LayerAtNode::gap_to(const LayerAtNode& b, const Vec3& to_b, const Vec3& aside, Real farther) const {
  const std::optional<Real> mine = distance(to_b, aside), its = b.distance(-to_b, aside);
  // A node beside an edge sees sides alone, which do not meet, as long as the other surface is away from the node.
  if (!faces(normal, to_b) && its && *its > away * dx) return its;
  if (!faces(b.normal, -to_b) && mine && *mine > away * dx) return mine;
  if (!mine || !its || passes(b, to_b, aside)) return {};
  const Real gap = *mine + *its + farther - nearest * dx;
  return gap > 0 ? gap : opposition(b, to_b) * std::max(gap, -most_nearer * dx);
}

std::optional<LayerAtNode::Encounter> LayerAtNode::meet_rigid(const LayerAtNode& b) const {
  const Vec3 by_faces = normal_of_faces(b);
  if (by_faces.isZero(0)) return {};
  const Vec3 nearly = nearest_with(b, by_faces).normal;
  const Nearest where = nearest_with(b, nearly);
  const Real bent = smooth_step(0, most_bent, 1 - squareness(by_faces) * b.squareness(by_faces));
  const Real least = std::max(where.certainty * least_area_of_round, (1 - where.certainty) * bent * least_area_of_bent);
  if (std::min(area, b.area) < least * dx * dx) return {};
  const Vec3& n = where.normal;
  const Vec3 aside = across(n, shared_with(b, n) + where.aside);
  const std::optional<Real> gap = gap_to(b, n, aside, where.depth + aside.dot(where.curvature * aside) / 2);
  if (!gap) return {};
  const std::optional<Real> behind = distance(n, aside), before = b.distance(-n, aside);
  return Encounter{n, behind && before ? Vec3(aside + (*before - *behind) / 2 * n) : aside, *gap};
}

bool LayerAtNode::is_elsewhere(const LayerAtNode& b) const {
  return (at_rest - b.at_rest).norm() > least_apart_at_rest * dx;
}

bool LayerAtNode::looks(const Vec3& n) const {
  if (!has_surface) return spread * dx * normal.dot(n) > least_looking_of_mass;
  return normal.dot(n) > least_looking * normal.norm();
}

std::optional<LayerAtNode::Encounter> LayerAtNode::meet(const LayerAtNode& b, Real friction) const {
  const auto found = encounter(b, friction);
  if (!found || (!is_side && !b.is_side)) return found;
  if (!looks(found->normal) || !b.looks(-found->normal)) return {};
  if (!has_surface || !b.has_surface) return found;
  if (normal.dot(b.normal) > 0) return {};
  const std::optional<Real> behind = distance(found->normal, found->at), before = b.distance(-found->normal, found->at);
  return behind && before && *behind + *before < -most_inside_of_sides * dx ? std::nullopt : found;
}

LayerAtNode LayerAtNode::before(const LayerAtNode& liquid) const {
  LayerAtNode front = *this;
  front.has_thin_parts = false;
  if (liquid.spread == 0) return front;
  const SymmetricEigen axes = axes_of(facing);
  for (int k = 0; k < 3; ++k) {
    const Vec3 axis = axes.Q.col(k), along = axis.dot(normal) < 0 ? Vec3(-axis) : axis;
    const Real faces = along.dot(facing * along);
    if (faces < least_facing_along) continue;
    const Real far = std::max(Real(0), (faces - along.dot(normal)) / 2), t = along.dot(thickness * along) / faces;
    const Real near_plane = (along.dot(offset) + far * t) / faces;
    const Real above_middle = -dx * liquid.spread * along.dot(liquid.normal) - near_plane + t / 2;
    const Real up = smooth_step(-certain_side * dx, certain_side * dx, above_middle);
    const Real turned = smooth_step(least_sided * dx, sided * dx, t) * (up * far - (1 - up) * (faces - far));
    front.normal += 2 * turned * along;
    front.offset += turned * t * along;
  }
  return front;
}

std::optional<LayerAtNode::Encounter> LayerAtNode::encounter(const LayerAtNode& b, Real friction) const {
  if (is_rigid && b.is_rigid) return meet_rigid(b);
  if (has_thin_parts && !b.has_strength) return before(b).encounter(b, friction);
  if (b.has_thin_parts && !has_strength) return encounter(b.before(*this), friction);
  if (has_surface && b.fills_space()) return meet_mass(b, friction);
  if (b.has_surface && fills_space()) {
    std::optional<Encounter> found = b.meet_mass(*this, friction);
    if (found) found->normal *= -1;
    return found;
  }
  const Vec3 n = normal_to(b);
  if (n.isZero(0)) return {};
  if (!has_surface && !b.has_surface) return Encounter{n, Vec3::Zero(), 0};
  const Vec3 at = is_rigid ? b.middle : b.is_rigid ? middle : Vec3(Vec3::Zero());
  std::optional<Real> gap = 0;
  if (is_thin && !has_surface) gap = b.gap_to_thin(*this, -n);
  else if (b.is_thin && !b.has_surface) gap = gap_to_thin(b, n);
  else if (has_surface && b.has_surface) gap = gap_to(b, n, across(n, at), 0);
  else gap = has_surface ? gap_to_liquid(b) : b.gap_to_liquid(*this);
  return gap ? std::optional(Encounter{n, at, *gap}) : std::nullopt;
}

bool LayerAtNode::fills_space() const { return !has_surface && !is_thin && has_strength; }

/// (16.4): a mass touches a plane where its mean distance is that of all beyond it.
Real LayerAtNode::gap_to_mass(const LayerAtNode& b, const Vec3& n, Real height, Real friction) const {
  if (b.spread == 0) return 0;
  const Real deviation = dx * std::sqrt(b.spread), ahead_by = n.dot(b.middle_of_mass()), behind = height + ahead_by;
  const Real beyond = behind - deviation * mean_of_half(height / deviation);
  if (beyond <= 0)
    return std::clamp(b.has_strength ? behind + certain_inside * dx : beyond, -most_inside * dx, Real(0));
  const Real margin = friction > 0 && b.has_strength ? margin_of_friction * dx : 0;
  return std::max(Real(0), height + deviation * begin_of_half(ahead_by / deviation) - margin);
}

Real LayerAtNode::gap_to_liquid(const LayerAtNode& b) const {
  const std::optional<Real> height = distance(unit(normal), Vec3::Zero());
  return height ? flatness(normal) * gap_to_mass(b, unit(normal), *height, 0) : 0;
}

/// (16.4f): of the faces that a node sees those count that cover their planes and have the mass before them, and where
/// none is flat the way to the mass.
std::optional<LayerAtNode::Encounter> LayerAtNode::meet_mass(const LayerAtNode& b, Real friction) const {
  const Vec3 middle_of_b = b.middle_of_mass(), to_b = middle_of_b.stableNormalized();
  const Real tells = smooth_step(least_telling, most_telling, middle_of_b.norm() / dx);
  const Real deviation = dx * std::sqrt(b.variance_of_kernel());
  const auto inside = [&](const Face& face) {  // how far behind the middle of what fills the space before it
    return std::max(Real(0),
                    deviation * mean_of_half(face.height / deviation) - face.height - face.normal.dot(middle_of_b));
  };
  const SurfaceMoments moments{normal, facing, offset, has_thin_parts ? thickness : Mat3(Mat3::Zero())};
  const FacesSeen seen = faces_seen(moments, farthest_plane * dx, tells > 0 ? to_b : Vec3(Vec3::Zero()));
  const Real trusted = smooth_step(least_explained, most_explained, seen.explained());
  Real flattest = 0, least_inside = std::numeric_limits<Real>::infinity();
  for (const Face& face : seen.all()) {
    flattest = std::max(flattest, face.flat);
    least_inside = std::min(least_inside, inside(face));
  }
  const auto on_side = [&](const Face& face) {  // of a plate
    if (face.thickness == 0 || face.thickness > most_of_thin * dx) return Real(1);
    const Real above_middle = face.height + face.normal.dot(middle_of_b) + face.thickness / 2;
    return smooth_step(least_beyond * dx, most_beyond * dx, above_middle);
  };
  Vec3 n = Vec3::Zero();
  Real all = 0, met = 0, gap = 0;
  const auto include = [&](const Vec3& along, Real weight, Real cover, Real its_gap) {
    n += weight * cover * along;
    gap += weight * cover * its_gap;
    met += weight * cover;
    all += weight;
  };
  const auto covered = [&](const Vec3& along, Real share, Real height) {
    const Real covers = coverage(along, share, height);
    return tells * smooth_step(least_cover, most_cover, covers) + (1 - tells) * smooth_step(least_wide, widest, covers);
  };
  for (const Face& face : seen.all()) {
    const Real along = to_b.dot(face.normal), near = 1 - smooth_step(near_behind * dx, far_behind * dx, inside(face));
    const Real behind = seen.has_plate() ? 0 : -along * along * along * near;
    const Real cosine = std::max(least_before, along > 0 ? along : behind);
    const Real before = std::pow(cosine, tells * power_of_cosine);
    const Real deepest = std::exp((least_inside - inside(face)) / (deeper * dx));
    const Real weight = trusted * face.flat * on_side(face) * before * deepest;
    include(face.normal, weight, covered(face.normal, face.share, face.height),
            gap_to_mass(b, face.normal, face.height, friction));
  }
  if (const auto height = distance(to_b, Vec3::Zero()); height && std::abs(*height) < farthest_plane * dx) {
    const Real its_gap = gap_to_mass(b, to_b, *height, friction);
    include(to_b, 1 - trusted * flattest, covered(to_b, ahead(to_b), *height),
            its_gap > 0 ? its_gap : squareness(to_b) * its_gap);
  }
  if (met < std::max(least_met * all, least_met_in_all) || n.norm() < least_normal) return {};
  // Of faces at right angles |N|^2 is the sum of the squares of F, of both sides of a plate it is less.
  const Real one_sided = smooth_step(least_one_sided, 1, normal.squaredNorm() / facing.squaredNorm());
  return Encounter{n.normalized(), Vec3::Zero(), std::max(trusted, one_sided) * gap / met};
}

/// Of sheets and fibers, which begin before their middle as a slab of their variance does, and are inside where their
/// middle is (16.4b).
std::optional<Real> LayerAtNode::gap_to_thin(const LayerAtNode& b, const Vec3& n) const {
  const std::optional<Real> mine = distance(n, Vec3::Zero());
  if (!mine || !faces(normal, n)) return {};
  const Real behind = *mine + n.dot(b.middle), half = std::sqrt(3 * std::max(Real(0), n.dot(b.variance * n)));
  return behind < 0 ? std::max(behind, -most_inside * dx) : std::max(Real(0), behind - half);
}

}  // namespace weft
