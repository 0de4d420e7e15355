#include "scene/curves.hpp"

#include "scene/placement_of.hpp"
#include "weft/base/check.hpp"
#include "weft/base/overloaded.hpp"
#include "weft/base/read_text.hpp"
#include "weft/geometry/fiber_patterns.hpp"
#include "weft/geometry/groom.hpp"
#include "weft/geometry/primitives.hpp"
#include "weft/scene/catalogue.hpp"
#include "weft/scene/shells.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

namespace weft {
namespace {

/// Of a vertex of curves while they are made.
constexpr Real vertex_bytes = 150;

/// Bytes of a file that the root alone reads, for all. Collective, and so is reading.
FileBytes bytes_everywhere(const Comm& comm, const std::string& file) {
  Real size = 0;
  comm.agree([&] {
    if (comm.is_root()) size = static_cast<Real>(size_of_file(file, ExitCode::geometry));
  });
  const auto read = [&comm, file](std::uint64_t begin, std::uint64_t count) {
    std::string bytes;
    comm.agree([&] {
      if (comm.is_root()) bytes = read_bytes(file, begin, count, ExitCode::geometry);
    });
    return comm.broadcast(std::move(bytes));
  };
  return {std::filesystem::path(file).filename().string(), static_cast<std::uint64_t>(comm.max(size)), read};
}

/// The collider of a name, which the deck has.
const Wall& wall_named(std::span<const Wall> walls, const std::string& name) {
  const auto found = std::ranges::find(walls, name, &Wall::name);
  WEFT_ENSURE(found != walls.end());
  return *found;
}

/// Strands grow on colliders as these are drawn. Collective.
Curves make_groom(const Comm& comm, const GroomDeck& deck, const Groom& groom, std::span<const Wall> walls,
                  const CurvePart& part) {
  const auto ripple = [](const auto& of, Real radius) { return Ripple{radius, of.length, of.spread}; };
  Groom made = groom;
  if (deck.wave) made.wave = ripple(*deck.wave, deck.wave->amplitude);
  if (deck.curl) made.curl = ripple(*deck.curl, deck.curl->radius);
  const std::shared_ptr<const Shape> where = deck.where ? make_shape(comm, *deck.where, false, groom.spacing) : nullptr;
  GroomSurface surface;
  surface.where = where.get();
  if (const auto* file = std::get_if<GroomFileDeck>(&deck.surface)) {
    surface.mesh = make_surface(comm, MeshDeck{file->file});
  } else {
    const Wall& wall = wall_named(walls, std::get<GroomColliderDeck>(deck.surface).collider);
    surface.solid = &wall.shape.rest();
    surface.mesh = surface.solid->tessellate(where && where->bounds() ? *where->bounds() : Box());
  }
  Curves curves;
  comm.agree([&] { curves = weft::groom(made, surface, part); });
  return curves;
}

DealtCurves dealt(const Comm& comm, Curves curves) {
  CurveNumbers numbers = CurveNumbers::of(curves);
  numbers.first_curve = comm.offset(numbers.curves);
  numbers.first_point = comm.offset(numbers.points);
  numbers.first_segment = comm.offset(numbers.segments);
  numbers.curves = comm.sum(numbers.curves);
  numbers.points = comm.sum(numbers.points);
  numbers.segments = comm.sum(numbers.segments);
  numbers.longest_segment = comm.max(numbers.longest_segment);
  comm.min(std::span(numbers.bounds.lower.data(), 3));
  comm.max(std::span(numbers.bounds.upper.data(), 3));
  require_countable("a body of curves", static_cast<Real>(numbers.points), "vertices");
  return {std::move(curves), numbers};
}

/// points: of all ranks, before plies.
void require_room(const Comm& comm, const CurvesDeck& deck, const std::string& what, Real points,
                  const std::string& cure) {
  budget_of(comm).require_room(
      {what, points * (deck.plies ? deck.plies->count : 1), "vertices", vertex_bytes / comm.size()}, cure);
}

/// Collective.
Curves read_part(const Comm& comm, const CurvesDeck& deck, const CurveFileDeck& of, Real spacing,
                 const CurvePart& part) {
  const FileBytes file = bytes_everywhere(comm, of.file);
  Curves read = read_curves(file, part);
  const Real points = static_cast<Real>(read.points.size());
  require_room(comm, deck, file.name, comm.sum(deck.spacing ? std::max(points, length_of(read) / spacing) : points),
               unit_hint);
  comm.agree([&] {
    if (deck.spacing) read = resampled(read, spacing);
  });
  return read;
}

}  // namespace

DealtCurves make_curves(const Comm& comm, const CurvesDeck& deck, Real dx, std::span<const Wall> walls) {
  const CurvePart part{comm.rank(), comm.size()};
  const Real spacing = deck.spacing.value_or(dx) / deck.scale;  // before scaling
  require(std::isfinite(spacing) || std::holds_alternative<CurveFileDeck>(deck.form), ExitCode::deck,
          "its curves need the key \"spacing\": there is no domain.dx that vertices could be apart.");
  const auto require_room_for_pattern = [&](const char* what, Real points) {
    require_room(comm, deck, what, points, "Make its counts smaller, or \"spacing\" larger.");
  };
  const auto made = [&]<class Pattern>(const char* what, const Pattern& pattern,
                                       Curves (*make)(const Pattern&, const CurvePart&)) {
    require_room_for_pattern(what, points_of(pattern));
    Curves curves;
    comm.agree([&] { curves = make(pattern, part); });
    return curves;
  };
  Curves curves = std::visit(
      Overloaded{
          [&](const CurveFileDeck& d) { return read_part(comm, deck, d, spacing, part); },
          [&](const HairTubeDeck& d) {
            return made("hair_tube", HairTube{d.inner_radius, d.outer_radius, d.length, d.strands, spacing}, hair_tube);
          },
          [&](const HairBallDeck& d) {
            return made("hair_ball", HairBall{d.radius, d.length, d.strands, spacing}, hair_ball);
          },
          [&](const BraidDeck& d) {
            return made("braid", Braid{d.strands, d.width, d.depth, d.pitch, d.length, spacing}, braid);
          },
          [&](const ShagCarpetDeck& d) {
            return made("shag_carpet", ShagCarpet{d.width, d.depth, d.height, d.gap, d.lean, d.seed, spacing},
                        shag_carpet);
          },
          [&](const WeaveDeck& d) { return made("weave", Weave{d.warp, d.weft, d.gap, d.amplitude, spacing}, weave); },
          [&](const KnitDeck& d) {
            return made("knit", Knit{d.stitches, d.rows, d.width, d.depth, d.pattern, spacing}, knit);
          },
          [&](const KnitSweaterDeck& d) {
            return made("knit_sweater",
                        KnitSweater{d.body_stitches, d.sleeve_stitches, d.underarm, d.body_rows, d.sleeve_rows,
                                    d.yoke_rows, d.width, d.depth, d.neck, d.spread, spacing},
                        knit_sweater);
          },
          [&](const GroomDeck& d) {
            const Groom groom{d.strands,    d.length, d.length_spread, d.lie,
                              d.lie_spread, d.toward, d.droop,         d.clearance,
                              {},           {},       d.seed,          spacing};
            require_room_for_pattern("groom", points_of(groom));
            return make_groom(comm, d, groom, walls, part);
          }},
      deck.form);
  if (deck.plies)
    comm.agree([&] { curves = plied(curves, {deck.plies->count, deck.plies->radius, deck.plies->twist}); });
  return dealt(comm, placed(std::move(curves), placement_of(deck)));
}

}  // namespace weft
