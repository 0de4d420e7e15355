#pragma once
// Checks that every Term passes: force, change and tangent against differences of energy, force and change.

#include "weft/base/random.hpp"
#include "weft/motion/term.hpp"
#include "weft/parallel/comm.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::test {

/// Random values of size `scale`, the same for an owned row and its ghosts. Collective.
inline FreedomValues random_values(const Freedoms& freedoms, Real scale, std::uint32_t seed) {
  FreedomValues values(freedoms);
  Random random(seed, 7, static_cast<std::uint64_t>(Comm::world().rank()));
  for (Real& x : values.all()) x = scale * (2 * random.uniform() - 1);
  values.update_ghosts();
  return values;
}

/// Sum of products over the owned rows of all ranks; `force` is summed to its owners first. Collective.
inline Real work(Load force, const FreedomValues& du) {
  force.sum_to_owners();
  const Freedoms& freedoms = du.freedoms();
  Real sum = 0;
  for (std::size_t b = 0; b < freedoms.block_count(); ++b) {
    const std::size_t owned = freedoms.block(b).forest->owned() * static_cast<std::size_t>(freedoms.block(b).width);
    for (std::size_t i = 0; i < owned; ++i) sum += force.block(b)[i] * du.block(b)[i];
  }
  return Comm::world().sum(sum);
}

inline Motion moved(Motion motion, const FreedomValues& du, Real h) {
  for (std::size_t i = 0; i < du.all().size(); ++i) motion.u.all()[i] += h * du.all()[i];
  return motion;
}

inline Load force_of(const Term& term, const Motion& motion) {
  Load force(motion.u.freedoms());
  term.add_force(motion, force);
  return force;
}

/// A product with the matrix that a Term hands over.
class TangentProduct : public Tangent {
 public:
  TangentProduct(const FreedomValues& du, Load& product) : du_(du), product_(product) {}
  void add(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
           std::span<const Real> k) override {
    ASSERT_EQ(k.size(), rows.size() * columns.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < columns.size(); ++j)
        product_.all()[rows[i]] += k[i * columns.size() + j] * du_.all()[columns[j]];
  }

 private:
  const FreedomValues& du_;
  Load& product_;
};

/// Differences of order h^4 with steps of h * scale, so that with h = 1e-3 round-off of 1e-13 and truncation of 1e-12
/// are balanced; `scale` is the displacement over which the Term's energy changes its shape. Collective.
inline void check_term(const Term& term, const Motion& at, Real scale, Real tolerance = 1e-8) {
  const Freedoms& freedoms = at.u.freedoms();
  const FreedomValues du = random_values(freedoms, scale, 11), other = random_values(freedoms, scale, 12);
  const Real h = 1e-3;
  const auto difference = [&](const auto& f) { return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h); };

  const Load force = force_of(term, at);
  const auto linear = term.linearise(at);
  Load change(freedoms), other_change(freedoms);
  term.add_force_change(*linear, du, change);
  term.add_force_change(*linear, other, other_change);

  // Sizes to compare with: what the products would be if nothing cancelled.
  const Real force_size = std::sqrt(work(force,
                                         [&] {
                                           Load summed = force;
                                           summed.sum_to_owners();
                                           return summed;
                                         }()) *
                                    work(du, du));
  const Real change_size = std::max(std::abs(work(change, du)), std::abs(work(other_change, other)));

  if (term.has_energy()) {
    const Real by_energy = -difference([&](Real s) { return Comm::world().sum(term.energy(moved(at, du, s))); });
    EXPECT_NEAR(work(force, du), by_energy, tolerance * std::max(force_size, change_size));
  }
  const Real by_force = difference([&](Real s) { return work(force_of(term, moved(at, du, s)), other); });
  EXPECT_NEAR(work(change, other), by_force, tolerance * change_size);
  if (term.symmetric()) {
    EXPECT_NEAR(work(change, other), work(other_change, du), 1e-12 * change_size);
  }

  Load product(freedoms);
  TangentProduct tangent(du, product);
  term.add_tangent(*linear, tangent);
  Real gap = 0, largest = 0;
  product.sum_to_owners();
  change.sum_to_owners();
  for (std::size_t i = 0; i < product.all().size(); ++i) {
    gap = std::max(gap, std::abs(product.all()[i] + change.all()[i]));
    largest = std::max(largest, std::abs(change.all()[i]));
  }
  EXPECT_LE(Comm::world().max(gap), 1e-11 * Comm::world().max(largest));
}

}  // namespace weft::test
