#pragma once
// A Term that is made softer for a while.

#include "weft/motion/term.hpp"

#include <algorithm>

namespace weft {

/// A factor times the energy of another Term. Neither is owned.
class SoftenedTerm final : public Term {
 public:
  SoftenedTerm(const Term& term, const Real& factor) : term_(&term), factor_(&factor) {}

  bool has_energy() const override { return term_->has_energy(); }
  bool symmetric() const override { return term_->symmetric(); }
  Real energy(const Motion& motion) const override { return *factor_ * term_->energy(motion); }
  void add_force(const Motion& motion, Load& force) const override {
    add_scaled(force, [&](Load& own) { term_->add_force(motion, own); });
  }
  std::unique_ptr<Linear> linearise(const Motion& motion) const override { return term_->linearise(motion); }
  std::unique_ptr<Linear> linearise_definite(const Motion& motion) const override {
    return term_->linearise_definite(motion);
  }
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override {
    add_scaled(change, [&](Load& own) { term_->add_force_change(linear, du, own); });
  }
  void add_tangent(const Linear& linear, Tangent& tangent) const override {
    struct Scaled final : Tangent {
      Tangent& to;
      Real factor;
      std::vector<Real> values;
      Scaled(Tangent& t, Real f) : to(t), factor(f) {}
      void add(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
               std::span<const Real> k) override {
        values.resize(k.size());
        std::transform(k.begin(), k.end(), values.begin(), [&](Real value) { return factor * value; });
        to.add(rows, columns, values);
      }
    } scaled(tangent, *factor_);
    term_->add_tangent(linear, scaled);
  }

 private:
  template <class AddOwn>
  void add_scaled(Load& to, AddOwn&& add_own) const {
    Load own(to.freedoms());
    add_own(own);
    for (std::size_t k = 0; k < own.all().size(); ++k) to.all()[k] += *factor_ * own.all()[k];
  }

  const Term* term_;
  const Real* factor_;
};

}  // namespace weft
