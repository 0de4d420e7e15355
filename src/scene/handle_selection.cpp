#include "scene/handle_selection.hpp"

#include "weft/base/log.hpp"
#include "weft/bodies/mesh_source.hpp"
#include "weft/scene/catalogue.hpp"
#include "weft/scene/shells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

namespace weft {
namespace {

/// Of the size of a boundary: how far it may leave its plane of symmetry.
constexpr Real unevenness = 1e-2;

}  // namespace

HandleSelection::HandleSelection(const Comm& comm, const HandleDeck& deck, const MeshSource& mesh, Real voxel_size)
    : deck_(deck),
      has_slope_(mesh.control_mesh() != nullptr),
      shape_(deck.where ? make_shape(comm, *deck.where, false, voxel_size) : nullptr) {
  selection_.shape = shape_.get();
  selection_.boundary = deck.boundary;
  if (deck.group) choose_group(*deck.group, mesh);
  if (!deck.vertices.empty()) choose_vertices({deck.vertices.begin(), deck.vertices.end()}, mesh);
}

void HandleSelection::require_any(std::int64_t count, const char* what) const {
  require(count > 0, ExitCode::deck,
          fmt::format("{}: no {} of {} is in the part that it chooses by where, group, vertices and boundary. `weft "
                      "check` says where the body is.",
                      deck_.location.text, what, deck_.body));
}

void HandleSelection::choose_group(const std::string& name, const MeshSource& mesh) {
  const GroupMembers& group = group_named(mesh.groups(), name, deck_.location.text);
  selection_.faces = group.faces;
  selection_.vertices = group.points;
}

/// Of those that are chosen already the listed ones, and where faces were divided those between listed ones alone.
void HandleSelection::choose_vertices(std::set<std::int32_t> listed, const MeshSource& mesh) {
  const std::int32_t last = *listed.rbegin();
  const auto& given = mesh.given();
  const std::set<std::int32_t> there = given ? given->given() : std::set<std::int32_t>();
  const std::int64_t count = given ? *there.rbegin() + 1 : mesh.counts().vertices;
  require(last < count, ExitCode::deck,
          fmt::format("{}: there is no vertex {}; {} has {}, counted from 0.", deck_.location.text, last, deck_.body,
                      count));
  const auto is_missing = [&](std::int32_t number) { return given && !there.contains(number); };
  if (const auto missing = std::ranges::find_if(listed, is_missing); missing != listed.end())
    throw Error(ExitCode::deck, fmt::format("{}: no element of {} has the vertex {} of its file, counted from 0.",
                                            deck_.location.text, deck_.body, *missing));
  if (given) listed = given->among(listed);
  if (selection_.vertices) std::erase_if(listed, [&](std::int32_t v) { return !selection_.vertices->contains(v); });
  selection_.vertices = std::move(listed);
}

std::vector<Site> HandleSelection::held(const Comm& comm, const Sites& sites, const HoldDeck& hold) const {
  std::vector<Site> held = sites_in(sites, selection_);
  require_any(comm.sum(static_cast<std::int64_t>(held.size())), "vertex");
  const auto has_no_slope = [](const Site& s) { return s.slope.rows.empty(); };
  const auto is_of_shell = [&](const std::vector<Site>& side) { return !std::ranges::all_of(side, has_no_slope); };
  const bool has_slopes = comm.any(std::ranges::any_of(sites.sides, is_of_shell));
  const auto cannot_be_clamped = [&](const Site& s) { return has_no_slope(s) && !s.end; };
  if (hold.keep == Hold::clamp &&
      comm.any(std::ranges::any_of(sites.vertices, [](const Site& s) { return s.end.has_value(); })))
    require(
        comm.any(!std::ranges::all_of(held, cannot_be_clamped)), ExitCode::deck,
        fmt::format("{}: no end of a strand of {} is in the part that it chooses, so there is no direction to keep.",
                    deck_.location.text, deck_.body));
  else if (hold.keep != Hold::place) {
    require(has_slopes, ExitCode::deck,
            fmt::format("{}: {} is no shell with a boundary, so there is no slope to keep. Expected: keep: place{}.",
                        deck_.location.text, deck_.body,
                        hold.keep == Hold::symmetry ? ", with axes along the normal of the plane" : ""));
    require(comm.any(!std::all_of(held.begin(), held.end(), has_no_slope)), ExitCode::deck,
            fmt::format("{}: no side of the boundary of {} is in the part that it chooses (two vertices beside one "
                        "another at least), so there is no slope to keep.",
                        deck_.location.text, deck_.body));
  }
  if (hold.keep != Hold::place) warn_of_lone_vertices(comm, held);
  if (hold.keep == Hold::symmetry) {  // a plane of symmetry is for the boundary alone
    std::erase_if(held, [&](const Site& s) { return has_no_slope(s) && !s.amid; });
    require_plane(comm, held, hold.normal->normalized());
  }
  return held;
}

void HandleSelection::warn_of_lone_vertices(const Comm& comm, std::span<const Site> sites) const {
  const auto is_lone = [](const Site& s) { return s.boundary >= 0 && !s.amid && s.slope.rows.empty(); };
  const std::int64_t lone = comm.sum(static_cast<std::int64_t>(std::count_if(sites.begin(), sites.end(), is_lone)));
  if (lone > 0)
    log_warning(
        fmt::format("{}: {} of the vertices of the boundary that it chooses have no neighbour along the boundary in "
                    "the part: their slope is not kept. Expected: two vertices beside one another, or keep: place.",
                    deck_.location.text, lone));
}

void HandleSelection::require_plane(const Comm& comm, std::span<const Site> sites, const Vec3& normal) const {
  Box box;
  std::array<Real, 2> along{std::numeric_limits<Real>::infinity(), -std::numeric_limits<Real>::infinity()};
  for (const Site& site : sites) {
    box.include(site.where);
    along = {std::min(along[0], normal.dot(site.where)), std::max(along[1], normal.dot(site.where))};
  }
  comm.min(std::span(box.lower.data(), 3));
  comm.max(std::span(box.upper.data(), 3));
  const Real off = comm.max(along[1]) - comm.min(along[0]);
  require(
      off <= unevenness * (box.upper - box.lower).norm(), ExitCode::deck,
      fmt::format("{}: this is not a plane of symmetry: the boundary that is held extends {:.3g} m along its normal "
                  "({:.3g}, {:.3g}, {:.3g}). It is within [{:.3g}, {:.3g}, {:.3g}] to [{:.3g}, {:.3g}, {:.3g}].",
                  deck_.location.text, off, normal.x(), normal.y(), normal.z(), box.lower.x(), box.lower.y(),
                  box.lower.z(), box.upper.x(), box.upper.y(), box.upper.z()));
}

std::vector<Sample> HandleSelection::inside(const std::vector<Sample>& samples, const char* what) const {
  require(deck_.vertices.empty(), ExitCode::deck,
          fmt::format("{}: \"vertices\" choose vertices, but this load acts on a {}. Use where, group or boundary.",
                      deck_.location.text, what));
  std::vector<Sample> chosen;
  for (const Sample& sample : samples)
    if (selection_.has(sample)) chosen.push_back(sample);
  return chosen;
}

std::vector<Sample> HandleSelection::faces(std::vector<Sample> samples) const {
  std::erase_if(samples, [](const Sample& s) { return s.measure == 0; });  // fibers have no surface
  return inside(samples, "face");
}

void HandleSelection::require_slope() const {
  require(has_slope_, ExitCode::deck,
          fmt::format("{}: {} has no slope at its boundary that a moment could turn; only shells have.",
                      deck_.location.text, deck_.body));
}

HandleSettings hold_settings(const HoldDeck& deck) {
  HandleSettings settings{.hold = deck.keep,
                          .axes = {},
                          .mirror = deck.normal.value_or(Vec3::UnitX()).normalized(),
                          .motion = deck.motion ? make_motion(*deck.motion) : RigidMotion()};
  for (const Axis axis : deck.axes) settings.axes[static_cast<std::size_t>(axis)] = true;
  return settings;
}

}  // namespace weft
