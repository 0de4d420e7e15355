#pragma once
// The loops over the points of a continuum, compiled once for each law.

#include "weft/base/sums.hpp"
#include "weft/bodies/continuum.hpp"

#include <cmath>
#include <tuple>

namespace weft {

/// The columns that hold a law's Memory, as spans fetched once for a loop.
template <class Fields, class Memory>
struct MemoryColumns;

template <class... R, class Memory>
struct MemoryColumns<MemoryFields<R...>, Memory> {
  static void add_to(Table& table) { (table.add<typename R::Key>(), ...); }

  explicit MemoryColumns(Table& table) : columns(table.get<typename R::Key>()...) {}

  Memory load([[maybe_unused]] std::size_t p) const {
    Memory q;
    std::apply([&](const auto&... column) { ((q.*R::pointer = column[p]), ...); }, columns);
    return q;
  }
  void store([[maybe_unused]] std::size_t p, [[maybe_unused]] const Memory& q) const {
    std::apply([&](const auto&... column) { ((column[p] = q.*R::pointer), ...); }, columns);
  }

  std::tuple<std::span<typename R::Key::Value>...> columns;
};

template <Law L>
class Continuum final : public Body {
  using Memory = typename L::Memory;
  using Columns = MemoryColumns<typename L::Remembered, Memory>;

 public:
  Continuum(std::string name, const typename L::Constants& constants, Real rest_density)
      : Body(std::move(name)), constants_(constants), rest_density_(rest_density) {
    points_ = Table::with<Id, Position, Velocity, Affine, Mass, RestVolume, VolumeRatio, ElasticF, EnergyGradient,
                          GatheredVelocity, GatheredAffine>();
    Columns::add_to(points_);
  }

  void rest(std::size_t first_row) override {
    const auto V0 = points_.get<RestVolume>();
    const auto m = points_.get<Mass>(), J = points_.get<VolumeRatio>();
    const auto F = points_.get<ElasticF>();
    const Columns memory(points_);
    for (std::size_t p = first_row; p < points_.rows(); ++p) {
      m[p] = rest_density_ * V0[p];
      J[p] = 1;
      F[p].setIdentity();
      memory.store(p, Memory{});
    }
  }

  void respond(Real) override {
    const auto V0 = points_.get<RestVolume>(), J = points_.get<VolumeRatio>();
    const auto F = points_.get<ElasticF>(), C = points_.get<Affine>(), A = points_.get<EnergyGradient>();
    const Columns memory(points_);
    // At H = 0: dE/dH = V0 (dpsi/dF) F^T = V0 tau.
    for_each_point([&](std::size_t p) {
      Mat3 tau = L::kirchhoff(constants_, memory.load(p), F[p]);
      if constexpr (L::viscous) tau += L::viscous_stress(constants_, J[p], C[p]);
      A[p] = V0[p] * tau;
    });
  }

  void commit(Real dt) override {
    const auto x = points_.get<Position>(), v = points_.get<Velocity>(), gathered_v = points_.get<GatheredVelocity>();
    const auto C = points_.get<Affine>(), gathered_C = points_.get<GatheredAffine>(), F = points_.get<ElasticF>();
    const auto J = points_.get<VolumeRatio>();
    const Columns memory(points_);
    for_each_point([&](std::size_t p) {
      v[p] = gathered_v[p];
      C[p] = gathered_C[p];
      x[p] += dt * v[p];
      const Mat3 growth = Mat3::Identity() + dt * C[p];
      J[p] *= determinant(growth);
      Mat3 F_trial = growth * F[p];
      if constexpr (L::yields) {
        const auto [F_elastic, q] = L::return_map(constants_, memory.load(p), F_trial, dt);
        F[p] = F_elastic;
        memory.store(p, q);
      } else {
        F[p] = F_trial;
      }
    });
  }

  StepLimit limit() const override {
    const auto v = points_.get<Velocity>();
    const auto F = points_.get<ElasticF>();
    const auto J = points_.get<VolumeRatio>();
    const Columns memory(const_cast<Table&>(points_));
    Real stiffness = 0, speed2 = 0, volume_ratio = 0;
#pragma omp parallel for schedule(static) reduction(max : stiffness, speed2, volume_ratio)
    for (std::size_t p = 0; p < points_.owned(); ++p) {
      stiffness = std::max(stiffness, L::stiffness(constants_, memory.load(p), F[p]));
      speed2 = std::max(speed2, v[p].squaredNorm());
      volume_ratio = std::max(volume_ratio, J[p]);
    }
    StepLimit limit;
    limit.wave_speed = std::sqrt(stiffness / rest_density_);
    limit.viscosity = L::viscosity(constants_) * volume_ratio / rest_density_;
    limit.speed = std::sqrt(speed2);
    return limit;
  }

  Real elastic_energy() const override {
    const auto V0 = points_.get<RestVolume>();
    const auto F = points_.get<ElasticF>();
    const Columns memory(const_cast<Table&>(points_));
    return ordered_sum(points_.owned(), Real(0),
                       [&](std::size_t p) { return V0[p] * L::energy(constants_, memory.load(p), F[p]); });
  }

  Table observe() const override {
    Table shown = Table::with<Pressure, VonMisesStress, PlasticMeasure, Density, CauchyStress>();
    shown.resize(points_.rows(), points_.owned());
    const auto F = points_.get<ElasticF>(), C = points_.get<Affine>();
    const auto J = points_.get<VolumeRatio>();
    const Columns memory(const_cast<Table&>(points_));
    const auto pressure = shown.get<Pressure>(), von_mises = shown.get<VonMisesStress>(),
               plastic = shown.get<PlasticMeasure>(), density = shown.get<Density>();
    const auto stress = shown.get<CauchyStress>();
    for_each_point([&](std::size_t p) {
      const Memory q = memory.load(p);
      Mat3 tau = L::kirchhoff(constants_, q, F[p]);
      if constexpr (L::viscous) tau += L::viscous_stress(constants_, J[p], C[p]);
      stress[p] = tau / J[p];
      pressure[p] = -stress[p].trace() / 3;
      von_mises[p] = std::sqrt(1.5) * (stress[p] + pressure[p] * Mat3::Identity()).norm();
      plastic[p] = L::plastic_measure(constants_, q, F[p]);
      density[p] = rest_density_ / J[p];
    });
    return shown;
  }

 private:
  /// Points are independent of one another, so threads share the rows.
  template <class F>
  void for_each_point(F&& f) const {
    const auto count = static_cast<std::ptrdiff_t>(points_.owned());
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t p = 0; p < count; ++p) f(static_cast<std::size_t>(p));
  }

  static Real determinant(const Mat3& M) { return M.col(0).dot(M.col(1).cross(M.col(2))); }

  typename L::Constants constants_;
  Real rest_density_;
};

}  // namespace weft
