// Hair, carpets, braids, woven and knitted yarns, plies, cloth.

#include "weft/geometry/fiber_patterns.hpp"

#include "weft/base/budget.hpp"
#include "weft/base/check.hpp"
#include "weft/base/random.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <numbers>

namespace weft {

namespace {

constexpr Real pi = std::numbers::pi;
const Real golden_angle = pi * (3 - std::sqrt(5.0));

void require_positive(std::initializer_list<Real> sizes, const char* what) {
  for (const Real size : sizes)
    require(size > 0 && std::isfinite(size), ExitCode::geometry,
            std::string(what) + ": counts and lengths must be positive");
}

int steps_for(Real length, Real spacing) {
  constexpr Real most = 1e8;  // of one curve
  require(
      length / spacing < most, ExitCode::geometry,
      fmt::format("a curve of {:.3g} m with a spacing of {:.3g} m would have {:.2g} segments. Make the spacing larger.",
                  length, spacing, length / spacing));
  return std::max(1, static_cast<int>(std::lround(length / spacing)));
}

/// Points with which a smooth curve is traced for each of its pieces (a crossing, a stitch, a pitch) before it is
/// divided.
constexpr int trace_of_piece = 64;

/// Throws unless what a pattern makes can be numbered, and the tracing of so many pieces ends in some minutes.
void require_feasible(const char* what, Real points, Real pieces) {
  constexpr Real most_traced = 2e9;  // and counted with 32 bits
  require_countable(what, points, "points");
  require(trace_of_piece * pieces < most_traced, ExitCode::geometry,
          fmt::format("{} would have {:.3g} crossings, stitches or pitches; more than {:.2g} are not made.", what,
                      pieces, most_traced / trace_of_piece));
}

/// Points of a curve of this length after its division.
Real points_along(Real length, Real spacing) { return std::max(1.0, length / spacing) + 1; }

/// n + 1 points of f over [0, 1].
std::vector<Vec3> traced(int n, const std::function<Vec3(Real)>& f) {
  std::vector<Vec3> curve;
  for (int i = 0; i <= n; ++i) curve.push_back(f(static_cast<Real>(i) / n));
  return curve;
}

/// A smooth curve divided into equal steps; it is traced finely first.
void add_smooth(Curves& curves, int pieces, Real spacing, const std::function<Vec3(Real)>& f) {
  Curves fine;
  fine.add(traced(trace_of_piece * pieces, f));
  curves.append(resampled(fine, spacing));
}

void add_closed(Curves& curves, const std::vector<Vec3>& ring, Real spacing) {
  Curves fine;
  fine.add(ring, true);
  curves.append(resampled(fine, spacing));
}

}  // namespace

Real points_of(const HairTube& tube) { return tube.strands * points_along(tube.length, tube.spacing); }

Curves hair_tube(const HairTube& tube, const CurvePart& part) {
  require_positive({tube.outer_radius, tube.length, Real(tube.strands), tube.spacing}, "hair_tube");
  require(tube.inner_radius >= 0 && tube.inner_radius < tube.outer_radius, ExitCode::geometry,
          "hair_tube: the inner radius must lie between 0 and the outer radius");
  require_feasible("hair_tube", points_of(tube), 0);
  Curves curves;
  const Real inner = tube.inner_radius * tube.inner_radius, outer = tube.outer_radius * tube.outer_radius;
  for (std::int64_t k = part.begin(tube.strands); k < part.end(tube.strands); ++k) {
    // Equal areas of the ring, and angles of a sunflower.
    const Real r = std::sqrt(inner + (outer - inner) * (static_cast<Real>(k) + 0.5) / tube.strands),
               angle = static_cast<Real>(k) * golden_angle;
    curves.add(traced(steps_for(tube.length, tube.spacing),
                      [&](Real s) { return Vec3(r * std::cos(angle), r * std::sin(angle), s * tube.length); }));
  }
  return curves;
}

Real points_of(const HairBall& ball) { return ball.strands * points_along(ball.length, ball.spacing); }

Curves hair_ball(const HairBall& ball, const CurvePart& part) {
  require_positive({ball.radius, ball.length, Real(ball.strands), ball.spacing}, "hair_ball");
  require_feasible("hair_ball", points_of(ball), 0);
  Curves curves;
  for (std::int64_t strand = part.begin(ball.strands); strand < part.end(ball.strands); ++strand) {
    const auto k = static_cast<Real>(strand);
    const Real z = 1 - (2 * k + 1) / ball.strands, r = std::sqrt(1 - z * z), angle = k * golden_angle;
    const Vec3 out(r * std::cos(angle), r * std::sin(angle), z);
    curves.add(traced(steps_for(ball.length, ball.spacing),
                      [&](Real s) { return Vec3((ball.radius + s * ball.length) * out); }));
  }
  return curves;
}

Real points_of(const Braid& braid) { return braid.strands * points_along(braid.length, braid.spacing); }

Curves braid(const Braid& braid, const CurvePart& part) {
  require_positive({braid.width, braid.depth, braid.pitch, braid.length, braid.spacing}, "braid");
  require(braid.strands >= 3 && braid.strands % 2 == 1, ExitCode::geometry,
          "braid: expected an odd number of strands, three or more");
  Curves curves;
  require_feasible("braid", points_of(braid), braid.strands * std::ceil(braid.length / braid.pitch));
  const int pieces = static_cast<int>(std::ceil(braid.length / braid.pitch));
  for (std::int64_t k = part.begin(braid.strands); k < part.end(braid.strands); ++k)
    add_smooth(curves, pieces, braid.spacing, [&](Real s) {
      // A figure of eight across, run through along z: all strands on one path, each a part of the pitch behind.
      const Real z = s * braid.length, t = 2 * pi * (z / braid.pitch + static_cast<Real>(k) / braid.strands);
      return Vec3(0.5 * braid.width * std::sin(t), 0.5 * braid.depth * std::sin(2 * t), z);
    });
  return curves;
}

Real points_of(const ShagCarpet& carpet) {
  const Real strands = std::max(1.0, carpet.width / carpet.gap) * std::max(1.0, carpet.depth / carpet.gap);
  return strands * points_along(carpet.height, carpet.spacing);
}

Curves shag_carpet(const ShagCarpet& carpet, const CurvePart& part) {
  require_positive({carpet.width, carpet.depth, carpet.height, carpet.gap, carpet.spacing}, "shag_carpet");
  require(carpet.lean >= 0, ExitCode::geometry, "shag_carpet: the lean must not be negative");
  require_feasible("shag_carpet", points_of(carpet), 0);
  Curves curves;
  const int across = steps_for(carpet.width, carpet.gap), along = steps_for(carpet.depth, carpet.gap);
  const std::int64_t strands = std::int64_t{across} * along;
  for (std::int64_t k = part.begin(strands); k < part.end(strands); ++k) {
    const auto i = static_cast<Real>(k % across), j = static_cast<Real>(k / across);
    Random random(carpet.seed, 0, static_cast<std::uint64_t>(k));
    const Vec3 u = random.uniform3();
    const Vec3 root((i + 0.25 + 0.5 * u[0]) * carpet.width / across, (j + 0.25 + 0.5 * u[1]) * carpet.depth / along, 0);
    const Real angle = 2 * pi * u[2], lean = carpet.lean * std::sqrt(random.uniform());
    const Vec3 tip(lean * std::cos(angle), lean * std::sin(angle), 1);
    curves.add(traced(steps_for(carpet.height * tip.norm(), carpet.spacing),
                      [&](Real s) { return Vec3(root + s * carpet.height * tip); }));
  }
  return curves;
}

Real points_of(const Weave& weave) {
  const Real warp = weave.warp, weft = weave.weft;
  return warp * points_along(weft * weave.gap, weave.spacing) + weft * points_along(warp * weave.gap, weave.spacing);
}

Curves weave(const Weave& weave, const CurvePart& part) {
  require_positive({Real(weave.warp), Real(weave.weft), weave.gap, weave.spacing}, "weave");
  require_feasible("weave", points_of(weave), 2.0 * weave.warp * weave.weft);
  Curves curves;
  const Real h = weave.gap;
  const auto wave = [&](Real s, int number) { return weave.amplitude * (number % 2 ? -1 : 1) * std::cos(pi * s / h); };
  const std::int64_t yarns = std::int64_t{weave.warp} + weave.weft;
  const auto begin = static_cast<int>(part.begin(yarns)), end = static_cast<int>(part.end(yarns));
  for (int i = begin; i < std::min(weave.warp, end); ++i)
    add_smooth(curves, weave.weft, weave.spacing, [&](Real s) {
      const Real y = (s * weave.weft - 0.5) * h;
      return Vec3(i * h, y, wave(y, i));
    });
  for (int j = std::max(0, begin - weave.warp); j < end - weave.warp; ++j)
    add_smooth(curves, weave.warp, weave.spacing, [&](Real s) {
      const Real x = (s * weave.warp - 0.5) * h;
      return Vec3(x, j * h, -wave(x, j));
    });
  return curves;
}

namespace {

/// Rows of a knitted fabric are this many stitch widths apart.
constexpr Real row_rise = 0.9;

/// One stitch from t = 0 to 2 pi: x in stitch widths, y in rows, z in depths. With x - t/2pi = a sin 2t and
/// y = -b cos t it is a loop that is wider at head and foot than between. Rows sqrt(2) b apart cross each other at
/// t = pi/4 +- d and 3 pi/4 +- d with 2 a cos 2d = 1/4; z = cos 2t then has opposite signs at +d and -d: the head of a
/// loop lies on one side of the row above, its legs on the other. Between these crossings the rows run 2 a - 1/4 apart,
/// side by side.
Vec3 stitch(Real t) { return {t / (2 * pi) + 0.21 * std::sin(2 * t), -std::cos(t) / std::sqrt(2.0), std::cos(2 * t)}; }

/// A thread that binds a row off, u stitches along it: it passes over one leg and under the other of each loop, whose
/// head can then not slip out. Coordinates as those of a stitch.
Vec3 binding(Real u) { return {u, 0.28, -0.7 + 0.7 * std::sin(2 * pi * (u - 0.5))}; }

}  // namespace

Real points_of(const Knit& knit) { return knit.rows * points_along(knit.stitches * knit.width, knit.spacing); }

Curves knit(const Knit& knit, const CurvePart& part) {
  require_positive({Real(knit.stitches), Real(knit.rows), knit.width, knit.depth, knit.spacing}, "knit");
  require(!knit.pattern.empty() && knit.pattern.find_first_not_of("kp") == std::string::npos, ExitCode::geometry,
          "knit: the pattern must be a sequence of k (knit) and p (purl), e.g. \"k\" or \"kkpp\"");
  require_feasible("knit", points_of(knit), Real(knit.rows) * knit.stitches);
  const auto side = [&](int column) {
    const int n = static_cast<int>(knit.pattern.size());
    return knit.pattern[static_cast<std::size_t>(((column % n) + n) % n)] == 'k' ? 1 : -1;
  };
  Curves curves;
  for (auto row = static_cast<int>(part.begin(knit.rows)); row < static_cast<int>(part.end(knit.rows)); ++row)
    add_smooth(curves, knit.stitches, knit.spacing, [&](Real s) {
      const Real u = s * knit.stitches;
      const int column = std::min(static_cast<int>(u), knit.stitches - 1);
      const Real t = 2 * pi * (u - column);
      Vec3 x = stitch(t);
      x.x() += column;
      x.z() *= side(column);
      // Between knit and purl the foot of the loop passes from one side to the other.
      const bool first = t < 0.25 * pi && side(column - 1) != side(column) && column > 0;
      const bool last = t > 1.75 * pi && side(column + 1) != side(column) && column + 1 < knit.stitches;
      if (first || last) x.z() *= std::abs(std::sin(2 * t));
      return Vec3(knit.width * x.x(), knit.width * row_rise * (row + x.y()), knit.depth * x.z());
    });
  return curves;
}

namespace {

/// A wale of a garment: a line that bends where two parts meet, at row 0.
struct Wale {
  Vec3 foot, below, above;  ///< Its position at row 0, and the way from row to row on either side [m].
  Vec3 at(Real row) const { return foot + row * (row < 0 ? below : above); }
};

/// The row of the given number, a ring through wales in turn; form: of the yarn, u stitches along it.
void add_ring(Curves& curves, const std::vector<Wale>& wales, int row, Real depth, Real spacing,
              const std::function<Vec3(Real)>& form) {
  const auto n = static_cast<int>(wales.size());
  const auto fabric = [&](Real column, Real height) {  // linear between the middles of stitches
    const Real from_middle = column - 0.5, left = std::floor(from_middle), part = from_middle - left;
    const auto wale = [&](Real k) { return wales[static_cast<std::size_t>(((static_cast<int>(k) % n) + n) % n)]; };
    return Vec3((1 - part) * wale(left).at(height) + part * wale(left + 1).at(height));
  };
  std::vector<Vec3> ring;
  for (int i = 0; i < trace_of_piece * n; ++i) {
    const Vec3 x = form(static_cast<Real>(i) / trace_of_piece);
    const Real c = x.x(), r = row + 0.5 + x.y(), h = 0.25;
    const Vec3 out = (fabric(c + h, r) - fabric(c - h, r)).cross(fabric(c, r + h) - fabric(c, r - h)).normalized();
    ring.push_back(fabric(c, r) + depth * x.z() * out);
  }
  add_closed(curves, ring, spacing);
}

}  // namespace

namespace {

/// Of body, sleeves and yoke.
Real stitches_of(const KnitSweater& s) {
  const Real around = Real(s.body_stitches) + 2.0 * s.sleeve_stitches;
  return Real(s.body_rows) * s.body_stitches + 2.0 * s.sleeve_rows * s.sleeve_stitches + (s.yoke_rows + 1.0) * around;
}

}  // namespace

Real points_of(const KnitSweater& s) { return std::max(3.0, stitches_of(s) * s.width / s.spacing); }

Curves knit_sweater(const KnitSweater& s, const CurvePart& part) {
  require_feasible("knit_sweater", points_of(s), stitches_of(s));
  require_positive({s.width, s.depth, s.neck, s.spacing, Real(s.yoke_rows)}, "knit_sweater");
  const int front = s.body_stitches / 2 - s.underarm, outer = s.sleeve_stitches - s.underarm;
  require(s.body_stitches % 2 == 0 && s.underarm >= 0 && front > 0 && outer > 0, ExitCode::geometry,
          "knit_sweater: expected an even number of body_stitches, more than twice underarm, and more sleeve_stitches "
          "than underarm");
  const int around = 2 * (front + outer);
  const Real rise = row_rise * s.width, body = s.body_stitches * s.width / (2 * pi),
             sleeve = s.sleeve_stitches * s.width / (2 * pi), neck = s.neck * around * s.width / (2 * pi);
  // The yoke is as long as its rows in the middle of front and back.
  const Real inward = std::abs(body - neck), length = s.yoke_rows * rise;
  require(inward < length, ExitCode::geometry,
          "knit_sweater: the yoke has too few rows to reach from the body to the neck");
  const Vec3 top(0, 0, s.body_rows * rise), up(0, 0, rise);
  const Real height = std::sqrt(length * length - inward * inward);
  const auto on_ring = [](Real radius, Real angle) {
    return Vec3(radius * std::cos(angle), radius * std::sin(angle), 0);
  };
  const auto middle = [](int k, int n) { return 2 * pi * (k + 0.5) / n; };

  // Wales of each tube in turn about z, from the middle of an underarm on; those above are the yoke's, in its order:
  // back, left sleeve, front, right sleeve.
  std::vector<Wale> trunk, left, right, yoke;
  for (int k = 0; k < s.body_stitches; ++k) trunk.push_back({top + on_ring(body, middle(k, s.body_stitches)), up, up});
  for (int k = 0; k < s.sleeve_stitches; ++k) {
    const Real beside = body + sleeve + 0.5 * s.width, out = std::sin(s.spread), down = std::cos(s.spread);
    const Vec3 place = on_ring(sleeve, middle(k, s.sleeve_stitches));
    left.push_back({top + Vec3(-beside, 0, 0) + place, rise * Vec3(out, 0, down), up});
    right.push_back({top + Vec3(beside, 0, 0) - place, rise * Vec3(-out, 0, down), up});
  }
  const auto join = [&](std::vector<Wale>& tube, int first, int count) {
    for (int k = first; k < first + count; ++k) {
      const Real angle = 0.5 * pi + 2 * pi * (static_cast<Real>(yoke.size()) + 0.5 - 0.5 * front) / around;
      const Vec3 end = top + Vec3(0, 0, height) + on_ring(neck, angle);
      tube[static_cast<std::size_t>(k)].above = (end - tube[static_cast<std::size_t>(k)].foot) / s.yoke_rows;
      yoke.push_back(tube[static_cast<std::size_t>(k)]);
    }
  };
  const int side = s.underarm / 2, rest = s.underarm - side;  // of an underarm before and after its middle
  join(trunk, rest, front);
  join(left, rest, outer);
  join(trunk, s.body_stitches / 2 + rest, front);
  join(right, rest, outer);

  const auto loops = [](Real u) { return Vec3(stitch(2 * pi * (u - std::floor(u))) + Vec3(std::floor(u), 0, 0)); };
  Curves curves;
  const std::int64_t rings = std::int64_t{s.body_rows} + 2 * std::int64_t{s.sleeve_rows} + s.yoke_rows + 1;
  std::int64_t ring = 0;
  const auto add = [&](const std::vector<Wale>& wales, int row, const std::function<Vec3(Real)>& form) {
    if (ring >= part.begin(rings) && ring < part.end(rings)) add_ring(curves, wales, row, s.depth, s.spacing, form);
    ++ring;
  };
  for (int row = -s.body_rows; row < 0; ++row) add(trunk, row, loops);
  for (const auto* tube : {&left, &right})
    for (int row = -s.sleeve_rows; row < 0; ++row) add(*tube, row, loops);
  for (int row = 0; row < s.yoke_rows; ++row) add(yoke, row, loops);
  add(yoke, s.yoke_rows - 1, binding);
  return curves;
}

Curves plied(const Curves& curves, const Plies& plies) {
  require_positive({Real(plies.plies), plies.twist}, "plied");
  require(plies.radius >= 0, ExitCode::geometry, "plied: the radius must not be negative");
  require_countable("plied", Real(plies.plies) * static_cast<Real>(curves.points.size()), "points");
  Curves out;
  for (std::int64_t c = 0; c < curves.count(); ++c) {
    const std::span<const Vec3> x = curves.curve(c);
    const bool ring = curves.closed[c];
    const auto n = static_cast<int>(x.size());
    const auto at = [&](int i) { return ring ? x[(i + n) % n] : x[std::clamp(i, 0, n - 1)]; };
    std::vector<Vec3> tangent(n + 1), side(n + 1);
    std::vector<Real> along(n + 1, 0);
    for (int i = 0; i <= n; ++i) {
      tangent[i] = (at(i + 1) - at(i - 1)).normalized();
      // The frame goes along without turning about the curve.
      side[i] = i == 0 ? tangent[0].unitOrthogonal()
                       : Vec3(Eigen::Quaterniond::FromTwoVectors(tangent[i - 1], tangent[i]) * side[i - 1]);
      if (i > 0) along[i] = along[i - 1] + (at(i) - at(i - 1)).norm();
    }
    // A ring needs whole turns, counted from the frame that comes back turned.
    const Real length = along[ring ? n : n - 1];
    const Real back = std::atan2(tangent[0].dot(side[0].cross(side[n])), side[0].dot(side[n]));
    const Real turns = ring ? std::round(length / plies.twist) - back / (2 * pi) : length / plies.twist;
    for (int ply = 0; ply < plies.plies; ++ply) {
      std::vector<Vec3> curve;
      for (int i = 0; i < n; ++i) {
        const Real angle = 2 * pi * (turns * along[i] / length + static_cast<Real>(ply) / plies.plies);
        curve.push_back(x[i] +
                        plies.radius * (std::cos(angle) * side[i] + std::sin(angle) * tangent[i].cross(side[i])));
      }
      out.add(curve, ring);
    }
  }
  return out;
}

SurfaceMesh cloth_sheet(Real width, Real height, int across, int along) {
  require_positive({width, height, Real(across), Real(along)}, "cloth_sheet");
  SurfaceMesh mesh;
  for (int j = 0; j <= along; ++j)
    for (int i = 0; i <= across; ++i) mesh.points.emplace_back(width * i / across, height * j / along, 0);
  for (int j = 0; j < along; ++j)
    for (int i = 0; i < across; ++i) {
      const int a = j * (across + 1) + i, b = a + 1, d = a + across + 1, c = d + 1;
      if ((i + j) % 2 == 0) {
        mesh.add_face({a, b, c});
        mesh.add_face({a, c, d});
      } else {
        mesh.add_face({a, b, d});
        mesh.add_face({b, c, d});
      }
    }
  return mesh;
}

}  // namespace weft
