#pragma once
// The loops over the points of a continuum, compiled once for each law.

#include "weft/base/sums.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/bodies/trial.hpp"
#include "weft/math/pack_rows.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace weft {

/// The columns that hold a law's Memory, as spans fetched once for a loop.
template <Law L, class Fields = typename L::Remembered, class PackedFields = typename L::template RememberedOf<Pack>>
struct MemoryColumns;

template <Law L, class... R, class... Packed>
struct MemoryColumns<L, MemoryFields<R...>, MemoryFields<Packed...>> {
  using Memory = typename L::Memory;
  using MemoryPack = typename L::template MemoryOf<Pack>;

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

  MemoryPack load([[maybe_unused]] const PackRows& rows) const {
    MemoryPack q;
    std::apply([&](const auto&... column) { ((q.*Packed::pointer = weft::load(column, rows)), ...); }, columns);
    return q;
  }
  void store([[maybe_unused]] const PackRows& rows, [[maybe_unused]] const MemoryPack& q) const {
    std::apply([&](const auto&... column) { (weft::store(q.*Packed::pointer, rows, column), ...); }, columns);
  }

  std::tuple<std::span<typename R::Key::Value>...> columns;
};

template <Law L>
class Continuum final : public PointBody, public TrialBody {
  using Memory = typename L::Memory;
  using Columns = MemoryColumns<L>;
  using Kept = typename L::Kept;

 public:
  Continuum(std::string name, const typename L::Constants& constants, Real rest_density, bool follows)
      : PointBody(std::move(name)), constants_(constants), rest_density_(rest_density), follows_(follows) {
    points_ = Table::with<Id, Position, Velocity, Affine, Mass, Kept>();
    if (!follows) points_.add<Home>();
    Columns::add_to(points_);
  }

  Roles roles() override { return {.points = this, .trial = this}; }

  std::span<const Vec3> forces() const override {
    return points_.has<LoadForce>() ? points_.get<LoadForce>() : std::span<const Vec3>();
  }

  void rest(std::size_t first_row, Real volume) override {
    const auto m = points_.get<Mass>();
    const auto elastic = points_.get<Kept>();
    const Columns memory(points_);
    for (std::size_t p = first_row; p < points_.rows(); ++p) {
      m[p] = rest_density_ * volume;
      elastic[p] = L::kept(Mat3(Mat3::Identity()));
      memory.store(p, Memory{});
    }
    if (touches_walls()) {
      const auto extent = points_.get<ContactExtent>();
      std::fill(extent.begin() + static_cast<std::ptrdiff_t>(first_row), extent.end(),
                ball_extent(std::cbrt(volume) / 2));
    }
  }

  void respond(ChunkRows rows, const ChunkForces& forces) const override {
    const auto m = points_.get<Mass>();
    const auto elastic = points_.get<Kept>();
    const Columns memory(const_cast<Table&>(points_));
    const Rates rates = this->rates();
    const Pack volume_per_mass = 1 / rest_density_;
    // At H = 0: dE/dH = V0 (dpsi/dF) F^T = V0 tau.
    for_each_pack(rows, [&](const PackRows& rows, const PackRows& entries) __attribute__((flatten)) {
      const auto now = load(elastic, rows);
      const auto q = memory.load(rows);
      Matrix3<Pack> tau = L::kirchhoff(constants_, q, now);
      if constexpr (L::viscous) tau += L::viscous_stress(constants_, L::volume_ratio(q, now), rates.of(rows));
      store(Matrix3<Pack>(volume_per_mass * load(m, rows) * tau), entries, forces.A);
    });
  }

  bool touches_at_surface() const override { return true; }
  bool extent_deforms() const override { return !is_liquid; }
  bool extent_forgets_flow() const override { return L::yields && !is_liquid; }
  /// Elastic points that keep the whole deformation gradient know how they have turned.
  bool extent_turns() const override { return std::is_same_v<Kept, ElasticF> && !L::yields; }
  /// Points deform with their elastic part. Of liquids it says nothing of directions: they keep their size.
  void contact_extents_along(ChunkRows rows, std::span<const Vec3> n, std::span<Vec3> Bn) const override {
    if constexpr (is_liquid) return PointSet::contact_extents_along(rows, n, Bn);
    const auto at_rest = points_.get<ContactExtent>();
    const auto elastic = points_.get<Kept>();
    for_each_pack(rows, [&](const PackRows& rows, const PackRows& entries) __attribute__((flatten)) {
      const Matrix3<Pack> F = L::deformation(load(elastic, rows));
      const Vector3<Pack> pulled_back = F.transpose() * load(n, entries);
      store(Vector3<Pack>(F * (load(at_rest, rows) * pulled_back)), entries, Bn);
    });
  }

  StepLimit commit(ChunkRows rows, Real dt, const ChunkMotion& motion) override {
    const auto x = points_.get<Position>();
    const auto elastic = points_.get<Kept>();
    const Columns memory(points_);
    const bool deforms = touches_walls() && !is_liquid;
    Largest most;
    for_each_pack(rows, [&](const PackRows& rows, const PackRows& entries) __attribute__((flatten)) {
      Vector3<Pack> velocity = Vector3<Pack>::Zero();
      if (!follows_) {
        velocity = load(motion.v, entries);
        store(Vector3<Pack>(load(x, rows) + Pack(dt) * velocity), rows, x);
      }
      const Matrix3<Pack> growth = Matrix3<Pack>::Identity() + Pack(dt) * load(motion.C, entries);
      const Matrix3<Pack> F_trial = growth * L::deformation(load(elastic, rows));
      const auto settled = L::settle(constants_, memory.load(rows), F_trial, dt);
      store(settled.elastic, rows, elastic);
      memory.store(rows, settled.q);
      most.include(L::stiffness(constants_, settled.q, settled.elastic), velocity);
      if (deforms) most.include_deformation(L::deformation(settled.elastic));
      if constexpr (L::viscous) most.include_volume(L::volume_ratio(settled.q, settled.elastic));
    });
    return limit_of(most);
  }

  bool has_trial_energy(bool in_loop) const override { return !flows(in_loop) || AssociatedFlow<L>; }
  bool flows_in_loop() const override { return L::yields && L::flow_changes_stress; }

  void trial_energy(ChunkRows rows, const TrialStep& step, std::span<const Mat3> H,
                    std::span<Real> energy) const override {
    const auto m = points_.get<Mass>();
    const auto elastic = points_.get<Kept>();
    const Columns memory(const_cast<Table&>(points_));
    const Pack volume_per_mass = 1 / rest_density_;
    const bool flows = this->flows(step.in_loop);
    for_each_pack(rows, [&](const PackRows& rows, const PackRows& entries) __attribute__((flatten)) {
      const auto now = load(elastic, rows);
      const Matrix3<Pack> gradient = load(H, entries);
      const Matrix3<Pack> F_trial = (Matrix3<Pack>::Identity() + gradient) * L::deformation(now);
      const auto q = memory.load(rows);
      Pack density;
      if constexpr (AssociatedFlow<L>)
        density = flows ? L::flow_potential(constants_, q, F_trial, step.dt) : L::energy(constants_, q, F_trial);
      else density = L::energy(constants_, q, F_trial);
      // The dissipation potential of a linear viscosity is half of its stress times the rate.
      if constexpr (L::viscous)
        density +=
            0.5 * L::viscous_stress(constants_, L::volume_ratio(q, now), Matrix3<Pack>(gradient * Pack(1 / step.dt)))
                      .cwiseProduct(gradient)
                      .sum();
      store(volume_per_mass * load(m, rows) * density, entries, energy);
    });
  }

  void trial_response(ChunkRows rows, const TrialStep& step, std::span<const Mat3> H,
                      std::span<Mat3> A) const override {
    const auto m = points_.get<Mass>();
    const auto elastic = points_.get<Kept>();
    const Columns memory(const_cast<Table&>(points_));
    const Pack volume_per_mass = 1 / rest_density_;
    const bool flows = this->flows(step.in_loop);
    for_each_pack(rows, [&](const PackRows& rows, const PackRows& entries) __attribute__((flatten)) {
      const Matrix3<Pack> gradient = load(H, entries), growth = Matrix3<Pack>::Identity() + gradient;
      const auto q = memory.load(rows);
      const auto now = load(elastic, rows);
      const Matrix3<Pack> F_trial = growth * L::deformation(now);
      const Matrix3<Pack> tau = flows ? L::kirchhoff(constants_, q, L::settle(constants_, q, F_trial, step.dt).elastic)
                                      : L::kirchhoff(constants_, q, F_trial);
      const Pack per_volume = 1 / determinant(growth);
      Matrix3<Pack> stress = per_volume * (tau * cofactor(growth));
      if constexpr (L::viscous)
        stress += L::viscous_stress(constants_, L::volume_ratio(q, now), Matrix3<Pack>(gradient * Pack(1 / step.dt)));
      store(Matrix3<Pack>(volume_per_mass * load(m, rows) * stress), entries, A);
    });
  }

  void trial_tangent(ChunkRows rows, const TrialStep& step, std::span<const Mat3> H, bool definite,
                     std::span<Mat9> tangent) const override {
    const auto m = points_.get<Mass>();
    const auto elastic = points_.get<Kept>();
    const Columns memory(const_cast<Table&>(points_));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::size_t p = rows[k];
      const Memory q = memory.load(p);
      const Mat3 growth = Mat3::Identity() + H[k], F = L::deformation(elastic[p]), F_trial = growth * F;
      const auto elastic_tangent = [&](const auto& differential) {
        return tangent_of([&](const Mat3& dH) -> Mat3 { return differential(dH * F) * F.transpose(); });
      };
      bool has_flowed = false;
      if constexpr (L::yields)
        if (flows(step.in_loop)) {
          const Mat3 F_elastic = L::return_map(constants_, q, F_trial, step.dt).F;
          has_flowed = F_elastic != F_trial;
          if (has_flowed) tangent[k] = flowing_tangent(q, growth, F, F_elastic, step.dt);
          if (has_flowed && definite) tangent[k] = positive_part(tangent[k]);
        }
      if (!has_flowed)
        tangent[k] = definite ? elastic_tangent(L::projected_differential(constants_, q, F_trial))
                              : elastic_tangent(L::stress_differential(constants_, q, F_trial));
      if constexpr (L::viscous)
        tangent[k] += tangent_of([&](const Mat3& dH) {
          return L::viscous_stress(constants_, L::volume_ratio(q, elastic[p]), Mat3(dH / step.dt));
        });
      tangent[k] *= m[p] / rest_density_;
    }
  }

  StepLimit limit(ChunkRows rows) const override {
    const auto v = points_.get<Velocity>();
    const auto elastic = points_.get<Kept>();
    const Columns memory(const_cast<Table&>(points_));
    const bool deforms = touches_walls() && !is_liquid;
    Largest most;
    for_each_pack(rows, [&](const PackRows& rows, const PackRows&) __attribute__((flatten)) {
      const auto now = load(elastic, rows);
      const auto q = memory.load(rows);
      most.include(L::stiffness(constants_, q, now), load(v, rows));
      if (deforms) most.include_deformation(L::deformation(now));
      if constexpr (L::viscous) most.include_volume(L::volume_ratio(q, now));
    });
    return limit_of(most);
  }

  Real elastic_energy() const override {
    const auto m = points_.get<Mass>();
    const auto elastic = points_.get<Kept>();
    const Columns memory(const_cast<Table&>(points_));
    const std::size_t points = points_.owned(), packs = (points + Pack::size - 1) / Pack::size;
    const Pack sums = ordered_sum(packs, Pack(0), [&](std::size_t k) __attribute__((flatten)) {
      const PackRows rows = PackRows::range(k * Pack::size, points);
      return without_idle(load(m, rows) * L::energy(constants_, memory.load(rows), load(elastic, rows)), rows);
    });
    return sum_of_lanes(sums) / rest_density_;
  }

  using Body::observe;
  Table observe(std::size_t first, std::size_t count) const override {
    Table shown = Table::with<VolumeRatio, Pressure, VonMisesStress, PlasticMeasure, Density, CauchyStress>();
    shown.resize(count);
    const auto elastic = points_.get<Kept>();
    const Columns memory(const_cast<Table&>(points_));
    const auto plastic = shown.get<PlasticMeasure>();
    const std::size_t packs = (count + Pack::size - 1) / Pack::size;
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < packs; ++k) {
      const PackRows rows = PackRows::range(first + k * Pack::size, first + count),
                     entries = PackRows::range(k * Pack::size, count);
      const auto now = load(elastic, rows);
      const auto q = memory.load(rows);
      const Pack J = L::volume_ratio(q, now);
      const Matrix3<Pack> stress = stress_in(rows, q, now, J);
      const Pack pressure = -stress.trace() / 3;
      const Matrix3<Pack> deviator = stress + pressure * Matrix3<Pack>::Identity();
      store(stress, entries, shown.get<CauchyStress>());
      store(pressure, entries, shown.get<Pressure>());
      store(Pack(std::sqrt(1.5) * sqrt(Pack(deviator.squaredNorm()))), entries, shown.get<VonMisesStress>());
      store(Pack(rest_density_ / J), entries, shown.get<Density>());
      store(J, entries, shown.get<VolumeRatio>());
      for (int lane = 0; lane < rows.count; ++lane)
        plastic[entries.row[lane]] = L::plastic_measure(constants_, memory.load(rows.row[lane]));
    }
    return shown;
  }

 private:
  static constexpr bool is_liquid = L::yields && !L::flow_changes_stress;

  /// What limits a step, largest in each lane.
  struct Largest {
    Pack stiffness = 0, speed2 = 0, volume_ratio = 0, stretch2 = 0;

    void include(const Pack& more_stiffness, const Vector3<Pack>& v) {
      stiffness = max(stiffness, more_stiffness);
      speed2 = max(speed2, Pack(v.squaredNorm()));
    }
    void include_deformation(const Matrix3<Pack>& F) {
      // No eigenvalue of F F^T exceeds the sum of a row.
      const Symmetric3<Pack> b = left_square(F);
      const Pack yz = abs(b.yz), xz = abs(b.xz), xy = abs(b.xy);
      stretch2 = max(max(stretch2, b.xx + (xy + xz)), max(b.yy + (xy + yz), b.zz + (xz + yz)));
    }
    void include_volume(const Pack& more) { volume_ratio = max(volume_ratio, more); }  // of viscous points
  };

  StepLimit limit_of(const Largest& most) const {
    StepLimit limit;
    limit.wave_speed = std::sqrt(largest(most.stiffness) / rest_density_);
    limit.viscosity = L::viscosity(constants_) * largest(most.volume_ratio) / rest_density_;
    limit.speed = std::sqrt(largest(most.speed2));
    limit.stretch = std::sqrt(largest(most.stretch2));
    return limit;
  }

  bool flows(bool in_loop) const { return L::yields && L::flow_changes_stress && in_loop; }

  /// d(tau (I + H)^{-T})/dH, tau being that of the state that the trial (I + H) F flows to.
  Mat9 flowing_tangent(const Memory& q, const Mat3& growth, const Mat3& F, const Mat3& F_elastic, Real dt) const {
    const Mat3 F_trial = growth * F, inverse = growth.inverse(), P = L::stress(constants_, q, F_elastic);
    const Mat3 stress = L::kirchhoff(constants_, q, F_elastic) * inverse.transpose();
    const auto flow = L::return_differential(constants_, q, F_trial, dt);
    const auto elastic = L::stress_differential(constants_, q, F_elastic);
    return tangent_of([&](const Mat3& dH) -> Mat3 {
      const Mat3 dF = flow(dH * F);
      const Mat3 d_tau = elastic(dF) * F_elastic.transpose() + P * dF.transpose();
      return d_tau * inverse.transpose() - stress * dH.transpose() * inverse.transpose();
    });
  }

  /// The velocity gradients that nodes know of.
  struct Rates {
    std::span<const Mat3> C, kept;

    Matrix3<Pack> of(const PackRows& rows) const {
      Matrix3<Pack> rate = load(C, rows);
      if (!kept.empty()) rate -= load(kept, rows);
      return rate;
    }
  };
  Rates rates() const {
    return {points_.get<Affine>(), points_.has<KeptAffine>() ? points_.get<KeptAffine>() : std::span<const Mat3>()};
  }

  /// Cauchy stress [Pa] at volume ratio J. now: what points keep of their deformation.
  [[gnu::flatten]] Matrix3<Pack> stress_in(const PackRows& rows, const auto& q, const auto& now, const Pack& J) const {
    Matrix3<Pack> tau = L::kirchhoff(constants_, q, now);
    if constexpr (L::viscous) tau += L::viscous_stress(constants_, J, rates().of(rows));
    return tau * Pack(1 / J);
  }

  /// Calls f(rows, entries) for packs of a chunk: which rows of the table, and which entries of the chunk's spans.
  template <class F>
  static void for_each_pack(ChunkRows rows, F&& f) {
    for (std::size_t first = 0; first < rows.size(); first += Pack::size)
      f(PackRows::of(rows, first), PackRows::range(first, rows.size()));
  }

  typename L::Constants constants_;
  Real rest_density_;
  bool follows_;  ///< Another body moves its points, and limits their speed.
};

}  // namespace weft
