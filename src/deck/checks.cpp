// Conditions between the values of one entry of a deck.

#include "deck/checks.hpp"

#include "weft/base/overloaded.hpp"
#include "weft/deck/layers.hpp"
#include "weft/deck/petsc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace weft::deck {
namespace {

void check_corners(const Vec3& lower, const Vec3& upper, const Spot& at) {
  for (int i = 0; i < 3; ++i)
    if (!(lower[i] < upper[i]))
      at["upper"].error(fmt::format("must be above lower in {}: {} is not above {}.", "xyz"[i], upper[i], lower[i]));
}

void check_range(Real low, Real high, const char* low_key, const char* high_key, const Spot& at) {
  if (!(low < high)) at[high_key].error(fmt::format("must be above {}.", low_key));
}

/// Angles, not more than a full turn apart: what goes on lies on itself.
void check_turn(Real low, Real high, const char* low_key, const char* high_key, const Spot& at) {
  constexpr Real round_off = 1e-12, turn = 2 * std::numbers::pi;
  check_range(low, high, low_key, high_key, at);
  if (high - low > (1 + round_off) * turn) at[high_key].error(fmt::format("must be within a turn of {}.", low_key));
}

void check_ends(const Vec3& from, const Vec3& to, const Spot& at) {
  if (from == to) at["to"].error("must differ from \"from\", else the shape has no axis.");
}

void refuse_plane(const ShapeDeck& shape, const Spot& at) {
  if (std::holds_alternative<PlaneDeck>(shape.form))
    at["shape"]["plane"].error_at_key("a plane has no end and cannot be filled. Planes are for colliders.");
}

}  // namespace

void check(const BoundsDeck& bounds, const Spot& at) { check_corners(bounds.lower, bounds.upper, at); }

void check(const TimeDeck& time, const Spot& at) {
  if (time.frame_interval > time.end)
    at["frame_interval"].error(fmt::format("must not exceed time.end, {} s.", time.end));
}

void check(const LameDeck& lame, const Spot& at) {
  if (!(3 * lame.lame_lambda + 2 * lame.lame_mu > 0))
    at["lame_lambda"].error(
        fmt::format("must be above -2/3 of lame_mu, {} Pa, for a stable material.", -2 * lame.lame_mu / 3));
}

void check(const BoxDeck& box, const Spot& at) { check_corners(box.lower, box.upper, at); }
void check(const CylinderDeck& cylinder, const Spot& at) { check_ends(cylinder.from, cylinder.to, at); }
void check(const CapsuleDeck& capsule, const Spot& at) { check_ends(capsule.from, capsule.to, at); }

void check(const TorusDeck& torus, const Spot& at) {
  if (!(torus.minor_radius < torus.major_radius)) at["minor_radius"].error("must be below major_radius.");
}

void check(const UnionDeck& shape, const Spot& at) {
  if (shape.parts.empty()) at["parts"].error("must have one part at least.");
}

void check(const ContinuumDeck& body, const Spot& at) {
  if (body.shape) refuse_plane(*body.shape, at);
}

void check(const CylinderPatchDeck& cylinder, const Spot& at) {
  check_turn(cylinder.from, cylinder.to, "from", "to", at);
}

void check(const SpherePatchDeck& sphere, const Spot& at) {
  check_turn(sphere.west, sphere.east, "west", "east", at);
  check_range(sphere.south, sphere.north, "south", "north", at);
}

void check(const AnnulusDeck& annulus, const Spot& at) {
  check_range(annulus.inner, annulus.outer, "inner", "outer", at);
  check_turn(annulus.from, annulus.to, "from", "to", at);
}

void check(const WovenSheetLawDeck& law, const Spot& at) {
  if (!(law.poisson_ratio * law.poisson_ratio * law.weft_modulus < law.warp_modulus))
    at["poisson_ratio"].error("must be smaller: its square below warp_modulus / weft_modulus, for a stable sheet.");
}

void check(const HairTubeDeck& tube, const Spot& at) {
  check_range(tube.inner_radius, tube.outer_radius, "inner_radius", "outer_radius", at);
}

void check(const BraidDeck& braid, const Spot& at) {
  if (braid.strands % 2 == 0) at["strands"].error("must be odd.");
}

void check(const KnitDeck& knit, const Spot& at) {
  if (knit.pattern.empty() || knit.pattern.find_first_not_of("kp") != std::string::npos)
    at["pattern"].error("must be made of the letters k and p.");
}

void check(const KnitSweaterDeck& sweater, const Spot& at) {
  if (sweater.body_stitches % 2 != 0) at["body_stitches"].error("must be even.");
  if (2 * sweater.underarm >= sweater.body_stitches || sweater.underarm >= sweater.sleeve_stitches)
    at["underarm"].error("must be less than half of body_stitches and less than sleeve_stitches.");
}

void check(const ControlMeshDeck& mesh, const Spot& at) {
  const bool is_file = std::holds_alternative<MeshFileDeck>(mesh.form);
  if (mesh.through_points && !is_file)
    at["through_points"].error_at_key("is for meshes of files; generated ones are made this way.");
  if (mesh.divide > 0 && !is_file)
    at["divide"].error_at_key("is for meshes of files; generated ones have across and along.");
  if (!mesh.irregular) return;
  if (is_file) at["irregular"].error_at_key("is for generated meshes; a file is taken as it is.");
  for (const auto& [key, faces] : {std::pair{"across", mesh.across}, {"along", mesh.along}})
    if (faces < 12 || faces % 2 != 0) at[key].error("must be even and at least 12 for an irregular mesh.");
}

void check(const GroomDeck& groom, const Spot& at) {
  if (groom.droop && !groom.toward) at["droop"].error_at_key("needs the key \"toward\": where strands hang to.");
  if (groom.clearance > 0 && std::holds_alternative<GroomFileDeck>(groom.surface))
    at["clearance"].error_at_key("is for strands on a collider. Leave it out.");
}

void check(const CurvesDeck& curves, const Spot& at) {
  const auto* groom = std::get_if<GroomDeck>(&curves.form);
  if (groom == nullptr || !std::holds_alternative<GroomColliderDeck>(groom->surface)) return;
  for (const auto& [key, is_given] : {std::pair{"scale", curves.scale != 1},
                                      {"rotate", curves.rotate.has_value()},
                                      {"translate", !curves.translate.isZero(0)}})
    if (is_given) at[key].error_at_key("would take strands away from the collider that they grow on. Leave it out.");
}

void check(const EllipticSectionDeck& section, const Spot& at) {
  if (section.half_axes.size() != 2) at["half_axes"].error("must be two lengths.");
}

void check(const StrandDeck& strand, const Spot& at) {
  if (strand.carrier == Carrier::grid)
    at["carrier"].error("the grid does not carry strands, which move by themselves. Expected: own.");
  if (!std::holds_alternative<FileSectionDeck>(strand.section)) return;
  if (!std::holds_alternative<CurveFileDeck>(strand.curves.form) || strand.curves.plies)
    at["thickness"].error("patterns and plies have none of their own. Give a radius, and a taper.");
  if (strand.taper) at["taper"].error_at_key("is for a radius or half axes. The file says how thickness changes.");
}

void check(const BlockDeck& block, const Spot& at) { check_corners(block.lower, block.upper, at); }

void check(const TetMeshDeck& mesh, const Spot& at) {
  const bool is_file = std::holds_alternative<TetFileDeck>(mesh.form);
  if (is_file && mesh.size) at["size"].error("is for what is made here. The mesh of a file has its own. Leave it out.");
  if (!is_file && !mesh.size) at.error("the key \"size\" is missing: how long edges are at most.");
  if (mesh.inner_size && !std::holds_alternative<ShapeDeck>(mesh.form))
    at["inner_size"].error_at_key("is for shapes, whose cubes grow inwards. Leave it out.");
  if (mesh.inner_size && mesh.size && *mesh.inner_size < *mesh.size)
    at["inner_size"].error(fmt::format("must not be less than size, {} m.", *mesh.size));
  if (const auto* shape = std::get_if<ShapeDeck>(&mesh.form)) refuse_plane(*shape, at);
}

namespace {

/// A joint that is led takes what it needs.
void refuse_with_speed(const std::optional<Real>& speed, Real value, const char* key, const Spot& at) {
  if (speed && value != 0) at[key].error_at_key("has no effect on a joint that \"speed\" leads. Keep one of them.");
}

}  // namespace

void check(const HingeDeck& hinge, const Spot& at) {
  refuse_with_speed(hinge.speed, hinge.damping, "damping", at);
  refuse_with_speed(hinge.speed, hinge.torque, "torque", at);
}

void check(const SliderDeck& slider, const Spot& at) {
  refuse_with_speed(slider.speed, slider.damping, "damping", at);
  refuse_with_speed(slider.speed, slider.force, "force", at);
}

void check(const RigidDeck& body, const Spot& at) {
  const bool is_led = body.joint && std::visit(Overloaded{[](const BallJointDeck&) { return false; },
                                                          [](const MotionDeck&) { return true; },
                                                          [](const auto& led) { return led.speed.has_value(); }},
                                               body.joint->form);
  for (const auto& [key, value] : {std::pair{"velocity", body.velocity}, {"spin", body.spin}})
    if (is_led && !value.isZero(0)) at[key].error_at_key("\"joint\" says how the body moves. Leave it out.");
  if (body.meets_grid.value_or(true)) return;
  constexpr auto text = "nothing touches this body, since it does not meet the grid. Leave it out.";
  if (body.layer) at["layer"].error_at_key(text);
  if (body.contact) at["contact"].error_at_key(text);
}

void check(const HoldDeck& hold, const Spot& at) {
  if (hold.keep == Hold::symmetry && !hold.normal)
    at.error("a symmetry needs the key \"normal\": the normal of its plane.");
  if (hold.keep != Hold::symmetry && hold.normal) at["normal"].error_at_key("is for \"keep: symmetry\" alone.");
  if (hold.keep == Hold::symmetry && hold.motion) at["motion"].error_at_key("a plane of symmetry cannot move.");
  for (std::size_t k = 1; k < hold.axes.size(); ++k)
    if (std::find(hold.axes.begin(), hold.axes.begin() + static_cast<std::ptrdiff_t>(k), hold.axes[k]) !=
        hold.axes.begin() + static_cast<std::ptrdiff_t>(k))
      at["axes"].entry(k).error("stands in the list before. Name each axis once.");
}

/// Two keys of the same time make a jump.
void check_order(const std::vector<AmplitudeKeyDeck>& amplitude, const Spot& at) {
  for (std::size_t k = 1; k < amplitude.size(); ++k)
    if (amplitude[k].time < amplitude[k - 1].time)
      at.entry(k)["time"].error(fmt::format("must not be earlier than the key before, {} s.", amplitude[k - 1].time));
}

void check(const SourceDeck& source, const Spot& at) {
  refuse_plane(source.shape, at);
  if (!(source.from < source.until)) at["until"].error(fmt::format("must be later than from, {} s.", source.from));
}

void check(const MotionDeck& motion, const Spot& at) {
  const auto refuse_with_keyframes = [&](const char* key, const Vec3& value) {
    if (!motion.keyframes.empty() && !value.isZero(0))
      at[key].error_at_key("cannot stand together with keyframes. Keep one of them.");
  };
  refuse_with_keyframes("velocity", motion.velocity);
  refuse_with_keyframes("spin", motion.spin);
  for (std::size_t k = 1; k < motion.keyframes.size(); ++k)
    if (!(motion.keyframes[k - 1].time < motion.keyframes[k].time))
      at["keyframes"].entry(k)["time"].error(
          fmt::format("must be later than the keyframe before, {} s.", motion.keyframes[k - 1].time));
}

void check(const ColliderDeck& collider, const Spot& at) {
  if (collider.condition == WallCondition::sticky && collider.friction != 0)
    at["friction"].error_at_key("a sticky collider has no friction: material moves with it. Use slip or separate.");
  if (collider.contact == WallContactKind::nodes && collider.edges == WallEdges::sharp)
    at["edges"].error_at_key("has no meaning with \"contact: nodes\", where nodes inside the collider tell its edges.");
}

void check(const OutputDeck& output, const Spot& at) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < output.fields.size(); ++i)
    if (!seen.insert(output.fields[i]).second)
      at["fields"].entry(i).error(fmt::format("{} stands here twice.", shown(output.fields[i])));
}

void check(const LoadingDeck& loading, const Spot& at) {
  if (loading.path == LoadPath::arc && loading.unstable == OnUnstable::nudge)
    at["unstable"].error(
        "a nudge finds a stable state at the same load, which path: arc does not keep. Use path: time.");
}

void check(const SolveDeck& solve, const Spot& at) {
  if (const std::string complaint = complaint_about_petsc(solve.petsc); !complaint.empty())
    at["petsc"].error(complaint);
}

}  // namespace weft::deck
