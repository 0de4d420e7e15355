#include "run/exact_holds.hpp"

#include "weft/bodies/mesh_body.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

/// Holds are met to this part of the size of the scene; later passes take away what round-off left.
constexpr Real largest_share_missed = 1e-13;
constexpr int most_passes = 3;

std::vector<Real> masses_of(const MeshBody& body) {
  const auto mass = body.points().get<Mass>().first(body.points().owned());
  return {mass.begin(), mass.end()};
}

}  // namespace

ExactHolds::ExactHolds(const Comm& comm, const Freedoms& freedoms, std::vector<Real> mass, Real size)
    : comm_(comm), mass_(std::move(mass)), size_(size), conditions_(comm) {
  FreedomValues number(freedoms);  // whole numbers below 2^53 travel exactly
  const std::int64_t first = comm.offset(static_cast<std::int64_t>(mass_.size()));
  for (std::size_t r = 0; r < mass_.size(); ++r)
    number.points(0)[r][0] = static_cast<Real>(first + static_cast<std::int64_t>(r));
  number.update_ghosts();
  for (const Vec3& n : number.points(0)) numbers_.push_back(static_cast<std::int64_t>(n[0]));
}

void ExactHolds::take(const ConstraintRows& rows) {
  if (!comm_.any(rows.freedom != held_.freedom || rows.weight != held_.weight || rows.begin != held_.begin)) return;
  conditions_.take(rows, {comm_.offset(static_cast<std::int64_t>(mass_.size())), mass_.size(),
                          [this](std::int32_t freedom) { return numbers_[static_cast<std::size_t>(freedom / 3)]; }});
  schur_.factor([this](std::size_t r) { return Mat3(Mat3::Identity() / mass_[r]); });
  held_ = rows;
}

void ExactHolds::add_own(const std::vector<Real>& lambda, std::vector<Real>& sums) const {
  const auto mine = conditions_.own(lambda);
  for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += mine[c];
}

std::vector<Real> ExactHolds::bear(const ConstraintRows& rows, std::span<Vec3> forces) {
  take(rows);
  std::vector<Real> balancing(rows.count(), 0.0);
  if (!conditions_.any()) return balancing;
  std::vector<Real> lambda = schur_.solve(conditions_.sums([&](std::size_t r) { return Vec3(-forces[r] / mass_[r]); }));
  conditions_.spread(lambda, [&](std::size_t r, const Vec3& force) { forces[r] += force; });
  add_own(lambda, balancing);
  return balancing;
}

std::vector<Real> ExactHolds::meet(const ConstraintRows& rows, Real h, std::span<const Vec3> u, std::span<Vec3> v) {
  take(rows);
  std::vector<Real> impulses(rows.count(), 0.0);
  if (!conditions_.any()) return impulses;
  const std::vector<Real> target = conditions_.from_all_ranks(rows.target);
  for (int pass = 0; pass < most_passes; ++pass) {
    std::vector<Real> change = conditions_.sums([&](std::size_t r) { return Vec3(u[r] + h * v[r]); });
    Real most = 0;
    for (std::size_t c = 0; c < change.size(); ++c) {
      change[c] = target[c] - change[c];
      most = std::max(most, std::abs(change[c]));
      change[c] /= h;
    }
    if (most <= largest_share_missed * size_) break;
    const std::vector<Real> lambda = schur_.solve(change);
    conditions_.spread(lambda, [&](std::size_t r, const Vec3& impulse) { v[r] += impulse / mass_[r]; });
    add_own(lambda, impulses);
  }
  return impulses;
}

HeldVertices::Piece::Piece(const Comm& comm, const Scene& scene, const MeshBody& body, std::size_t number)
    : cut(body.cut()),
      freedoms({FreedomBlock{body.name(), 3, &body.forest(), {}}}),
      exact(comm, freedoms, masses_of(body), scene.size),
      motion(freedoms),
      forces(freedoms) {
  FreedomValues marks(freedoms);  // grips are on the ranks of their elements
  for (std::size_t h = 0; h < scene.handles.size(); ++h) {
    if (scene.handles[h].body != number || scene.handles[h].hold() == nullptr) continue;
    holds.push_back(hold_vertices(scene, h, freedoms, 0));
    for (const Grip& grip : body.grips(scene.handles[h].list))
      for (const std::int32_t row : grip.rows) marks.points(0)[static_cast<std::size_t>(row)][0] = 1;
  }
  marks.sum_to_owners();
  marks.update_ghosts();
  for (const Vec3& mark : marks.points(0)) {
    if (mark[0] > 0) rows.push_back(static_cast<std::uint32_t>(is_held.size()));
    is_held.push_back(mark[0] > 0);
  }
}

MeshBody& HeldVertices::mesh() const { return *scene_.bodies[body_]->roles().mesh; }

void HeldVertices::renew() {
  if (!piece_ || piece_->cut != mesh().cut()) piece_ = std::make_unique<Piece>(comm_, scene_, mesh(), body_);
}

ConstraintRows HeldVertices::rows_at(Real time) {
  piece_->motion.time = time;
  ConstraintRows rows;
  for (const VertexHold& hold : piece_->holds) hold.conditions->append(time, rows);
  return rows;
}

std::span<const Vec3> HeldVertices::relieved(std::span<const Vec3> forces, Real time, Real dt) {
  const Table& points = std::as_const(mesh()).points();
  const std::span<Vec3> relieved = piece_->forces.points(0);
  std::ranges::copy(forces, relieved.begin());
  piece_->forces.sum_to_owners();
  of_elements_ = OfElements{rows_at(time + dt), {}, {}};
  of_elements_->forces = piece_->exact.bear(of_elements_->rows, relieved.first(points.owned()));
  of_elements_->speeds = of_elements_->rows.sums(points.get<Velocity>());
  return relieved;
}

void HeldVertices::add(const OfElements& borne, Real dt, std::span<const Real> speeds_after,
                       std::span<Impulse> impulses) const {
  std::vector<Real> along = borne.forces, mean_speeds = borne.speeds;
  for (std::size_t c = 0; c < along.size(); ++c) {
    along[c] *= dt;
    mean_speeds[c] = (mean_speeds[c] + speeds_after[c]) / 2;
  }
  add_reactions(piece_->holds, along, piece_->motion, mean_speeds, impulses);
}

void HeldVertices::correct(Real time, Real dt, std::span<Impulse> impulses) {
  MeshBody& body = mesh();
  const std::optional<OfElements> of_elements = std::exchange(of_elements_, {});
  const ConstraintRows rows = of_elements ? of_elements->rows : rows_at(time + dt);
  const Motion& motion = piece_->motion;
  const auto v = body.points().get<Velocity>();
  std::vector<Real> mean_speeds = rows.sums(v);
  const std::vector<Real> by_all =
      piece_->exact.meet(rows, dt, std::as_const(motion.u).points(0), v.first(body.points().owned()));
  body.forest().update_ghosts(body.points().column(Velocity::label.name));  // ghosts move by themselves
  if (scene_.step.is_implicit && !scene_.step.implicit.inertia) return;     // nothing has momentum
  const std::vector<Real> after = rows.sums(v);
  for (std::size_t c = 0; c < after.size(); ++c) mean_speeds[c] = (mean_speeds[c] + after[c]) / 2;
  add_reactions(piece_->holds, by_all, motion, mean_speeds, impulses);
  if (of_elements) add(*of_elements, dt, after, impulses);
  if (!borne_) return;
  std::vector<Vec3> pushed(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(body.points().owned()));
  for (std::size_t r = 0; r < pushed.size(); ++r) pushed[r] += (*borne_)[r];
  const std::vector<Real> by_others = piece_->exact.meet(rows, dt, std::as_const(motion.u).points(0), pushed);
  add_reactions(piece_->holds, by_others, motion, after, impulses);
}

}  // namespace weft
