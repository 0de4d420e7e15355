#include "weft/coupling/mesh_term.hpp"

namespace weft {

struct MeshTerm::Stiffness : Linear {
  explicit Stiffness(MeshStiffness& from) : spare(from), of_mesh(std::move(from)) { of_mesh.clear(); }
  ~Stiffness() override { spare = std::move(of_mesh); }

  MeshStiffness& spare;
  MeshStiffness of_mesh;
};

void MeshTerm::move(const Motion& motion) const {
  carrier_->gather(motion.u, felt_);
  const auto x = body_.points().get<Position>();
  x_.resize(x.size());
  for (std::size_t r = 0; r < x.size(); ++r) x_[r] = x[r] + felt_.u[r];
}

bool MeshTerm::has_loads() const { return !body_.forces().empty() || !gravity_.isZero(0); }

void MeshTerm::load() const {
  const auto loads = body_.forces();
  if (loads.empty()) forces_.f.assign(felt_.u.size(), Vec3::Zero());
  else forces_.f.assign(loads.begin(), loads.end());
  forces_.f_samples.clear();
  if (gravity_.isZero(0)) return;
  forces_.f_samples.resize(felt_.H.size());
  body_.weigh_samples(gravity_, forces_.f, forces_.f_samples);
  for (Vec3& f : forces_.f_samples) f = -f;
}

Real MeshTerm::energy(const Motion& motion) const {
  move(motion);
  Real of_loads = 0;
  if (has_loads()) {
    load();
    for (std::size_t r = 0; r < felt_.u.size(); ++r) of_loads += forces_.f[r].dot(felt_.u[r]);
    for (std::size_t q = 0; q < forces_.f_samples.size(); ++q) of_loads += forces_.f_samples[q].dot(felt_.u_samples[q]);
  }
  return body_.trial_energy(parts_, {x_, felt_.H, felt_.turns}) - of_loads;
}

void MeshTerm::add_force(const Motion& motion, Load& force) const {
  move(motion);
  if (const auto place = has_loads() ? std::nullopt : carrier_->place_of_forces(force)) {
    body_.trial_response(parts_, {x_, {}, felt_.turns}, *place);
    return;
  }
  load();
  forces_.A.assign(felt_.H.size(), Mat3::Zero());
  forces_.turning.assign(felt_.turns.size(), 0);
  body_.trial_response(parts_, {x_, felt_.H, felt_.turns}, {forces_.f, forces_.A, forces_.turning});
  carrier_->scatter(forces_, force);
}

std::unique_ptr<Linear> MeshTerm::stiffness_at(const Motion& motion, bool definite) const {
  move(motion);
  auto linear = std::make_unique<Stiffness>(spare_);
  body_.add_stiffness(parts_, {x_, felt_.H, felt_.turns}, definite, linear->of_mesh);
  return linear;
}

void MeshTerm::add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const {
  carrier_->gather(du, felt_);
  forces_.f.assign(felt_.u.size(), Vec3::Zero());
  forces_.f_samples.clear();
  forces_.A.assign(felt_.H.size(), Mat3::Zero());
  forces_.turning.assign(felt_.turns.size(), 0);
  static_cast<const Stiffness&>(linear).of_mesh.multiply(felt_.u, felt_.H, forces_.f, forces_.A, felt_.turns,
                                                         forces_.turning);
  // A grows with dE/dH, forces are minus the derivative: both as `multiply` and `scatter` have them.
  carrier_->scatter(forces_, change);
}

void MeshTerm::add_tangent(const Linear& linear, Tangent& tangent) const {
  carrier_->add_tangent(static_cast<const Stiffness&>(linear).of_mesh, tangent);
}

void MeshTerm::add_diagonal_blocks(const Linear& linear, std::size_t block, std::span<Real> matrices) const {
  carrier_->add_diagonal_blocks(static_cast<const Stiffness&>(linear).of_mesh, block, matrices);
}

}  // namespace weft
