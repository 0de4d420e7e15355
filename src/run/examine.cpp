// How load stepping looks at the stability of its states, and what it does about it.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "run/branch.hpp"
#include "run/load_stepping.hpp"
#include "run/stability_words.hpp"
#include "weft/base/check.hpp"
#include "weft/base/log.hpp"
#include "weft/bodies/mesh_body.hpp"

namespace weft {
namespace {

/// An increment is a jump if it is more than this many times as long as the tangents at both of its ends foresee. On a
/// smooth path up to a limit or beyond a fork the larger of the two is no less than half of it.
constexpr Real jump = 3;
/// Increments below this part of the scene are none: Newton's method leaves as much where something moves freely.
constexpr Real least_jump = 1e-4;
/// Of one state, which may be unstable in several ways.
constexpr int most_nudges = 3;

}  // namespace

/// Looks how stable a state is before the bodies go there, and nudges it if the deck says so. False: a stable one is
/// asked for and was not found.
bool LoadStepping::examine(EquilibriumReport& report) {
  look();
  for (int k = 0; k < most_nudges && stability_->negative > 0 && loading().unstable == OnUnstable::nudge; ++k) {
    if (!nudge(report)) return false;
    look();
    if (stability_->negative > 0) continue;
    log_info(fmt::format("step {} at t = {:.6g} s: nudged from a state that is not stable to one that is.",
                         state_.step + 1, motion_->time));
    was_nudged_ = true;
  }
  return stability_->negative == 0 || loading().unstable != OnUnstable::nudge;
}

void LoadStepping::look() {
  Foresight foresight;
  if (!follows_arc()) foresight = {state_.time, motion_->time + state_.dt};
  stability_ = equilibrium_->examine(*motion_, foresight);
  for (Real& x : stability_->ahead ? stability_->ahead->all() : std::span<Real>()) x /= state_.dt;
}

bool LoadStepping::nudge(EquilibriumReport& report) {
  EquilibriumSettings along_arc = settings();
  along_arc.follow_arc = true;
  along_arc.slack = false;  // a descent would leave the branch
  Equilibrium branch(comm_, system_->freedoms, system_->all_terms(), system_->all_holds(), std::move(along_arc));
  const Real time = motion_->time;
  if (!follow_branch(branch, {*stability_->mode, loading().nudge * scene_.size, end_.time}, *motion_)) return false;
  const EquilibriumReport found = equilibrium_->at_time(*motion_, time);
  report.iterations += found.iterations;
  report.unbalanced_force = found.unbalanced_force;
  return found.converged;
}

/// Says how stable the state is that was found, and ends if the deck asks for a stable one.
void LoadStepping::judge(const Motion& start) {
  if (const std::string free = state_.step == 0 ? mechanisms(*motion_) : ""; !free.empty()) log_warning(free);
  if (!follows_arc() && !was_nudged_) notice_jump(start);
  const std::int64_t negative = stability_->negative;
  const std::string words = negative > 0 ? in_words(comm_, scene_, *stability_) : "";
  require(negative == 0 || loading().unstable != OnUnstable::stop, ExitCode::numerics,
          fmt::format("step {} at t = {:.6g} s: the state is not stable under its loads: {}. The last stable state is "
                      "kept as a checkpoint (loading.unstable: stop).",
                      state_.step + 1, motion_->time, words));
  const bool is_known = stability_->count != Stability::Count::unknown;
  if (!is_known && (state_.step == 0 || state_.negative_modes))
    log_warning(
        fmt::format("step {} at t = {:.6g} s: whether the state is stable is not known, since its tangent "
                    "cannot be factored.",
                    state_.step + 1, motion_->time));
  if (is_known && negative != state_.negative_modes.value_or(0)) say_how_stable(words);
  state_.negative_modes.reset();
  if (is_known) state_.negative_modes = negative;
  if (negative > 0) state_.unstable_states = state_.unstable_states.value_or(0) + 1;
  ahead_ = stability_->ahead;
}

void LoadStepping::say_how_stable(const std::string& words) const {
  const std::string when = fmt::format("step {} at t = {:.6g} s", state_.step + 1, motion_->time);
  if (words.empty()) return log_info(fmt::format("{}: the state is stable again under its loads.", when));
  log_warning(fmt::format("{}: the state is not stable under its loads: {}. {}", when, words,
                          follows_arc() ? "The load path is followed on."
                                        : "Nature leaves it, by buckling or a snap: under loading, \"unstable: nudge\" "
                                          "seeks a stable state nearby, \"path: arc\" follows the load path, and "
                                          "\"unstable: stop\" ends here."));
}

/// A jump is farther than the tangents at both of its ends foresee, or against the one at its beginning.
void LoadStepping::notice_jump(const Motion& start) {
  const Real dt = motion_->time - state_.time;
  if (!ahead_) {
    ahead_ = equilibrium_->examine(start, {{}, motion_->time}).ahead;
    for (Real& x : ahead_ ? ahead_->all() : std::span<Real>()) x /= dt;
  }
  if (!ahead_ || !stability_->behind) return;
  const auto norm = [&](const FreedomValues& u) { return equilibrium_->length_of({u, 0}, {1, 1}); };
  FreedomValues sum = motion_->u;
  for (std::size_t k = 0; k < sum.all().size(); ++k) sum.all()[k] += dt * ahead_->all()[k];
  const Real gone = norm(motion_->u), foreseen = dt * norm(*ahead_);
  const bool is_against = norm(sum) < gone;  // gone . foreseen < 0, but for their squares
  const Real most = is_against ? foreseen : std::max(foreseen, norm(*stability_->behind));
  if (!(gone > std::max(jump * most, least_jump * scene_.size))) return;
  state_.jumps = state_.jumps.value_or(0) + 1;
  log_warning(
      fmt::format("step {} at t = {:.6g} s is a jump: {:.3g} times as far as the tangent foresees{}. The states "
                  "before and after it belong to different branches; \"path: arc\" under loading follows the "
                  "load path, smaller steps may.",
                  state_.step + 1, motion_->time, gone / most, is_against ? ", and the other way" : ""));
}

std::string LoadStepping::mechanisms(const Motion& at) {
  std::vector<std::span<const Vec3>> positions;
  for (const auto& body : scene_.bodies) positions.push_back(std::as_const(*body).points().get<Position>());
  return in_words(scene_, equilibrium_->free_components(at, positions));
}

std::string LoadStepping::remark() const {
  std::string text;
  if (const std::int64_t unstable = state_.unstable_states.value_or(0); unstable > 0)
    text = fmt::format("{} of {} balanced states are not stable under their loads{} (negative_modes in {})", unstable,
                       state_.step, state_.negative_modes.value_or(0) > 0 ? ", the last one too" : "", history_file());
  if (const std::int64_t jumps = state_.jumps.value_or(0); jumps > 0)
    text += fmt::format("{}{} step{} jumped to another branch", text.empty() ? "" : "; ", jumps, jumps == 1 ? "" : "s");
  return text;
}

/// A picture is linear in the vertices: where it is drawn once they moved along the mode, less where it is drawn now.
void LoadStepping::add_mode(std::size_t b, bool is_of_rows, Table& shown) {
  MeshBody& body = *scene_.bodies[b]->roles().mesh;
  const std::span<const Vec3> mode = std::as_const(stability_->mode)->points(b);
  shown.add<Mode>();
  const std::span<Vec3> drawn = shown.get<Mode>();
  if (is_of_rows) {
    std::copy(mode.begin(), mode.end(), drawn.begin());
    return;
  }
  const std::span<Vec3> x = body.points().get<Position>();
  const std::vector<Vec3> present(x.begin(), x.end());
  const std::vector<Vec3> before = body.picture().points;
  for (std::size_t r = 0; r < x.size(); ++r) x[r] += mode[r];
  const std::vector<Vec3> after = body.picture().points;
  std::copy(present.begin(), present.end(), x.begin());
  for (std::size_t p = 0; p < drawn.size(); ++p) drawn[p] = after[p] - before[p];
}

}  // namespace weft
