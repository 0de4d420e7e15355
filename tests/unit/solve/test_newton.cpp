// Newton's method and its searches on problems with one unknown for each rank, whose steps are known.

#include "solve/newton.hpp"

#include "solve/factored_solve.hpp"
#include "solve/line_search.hpp"
#include "solve/listed_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

namespace weft {
namespace {

/// f(x) = 0 on every rank, f being the derivative of an energy E.
class Toy final : public AssembledProblem {
 public:
  using Function = std::function<Real(Real)>;
  Toy(Function E, Function f, Function df) : E_(std::move(E)), f_(std::move(f)), df_(std::move(df)) {}

  NoisyEnergy energy(Vec x) override { return {comm_.sum(E_(value_of(x))), 0}; }
  bool residual(Vec x, Vec out) override {
    const Real value = f_(value_of(x));
    set(out, value);
    return !comm_.any(!std::isfinite(value));
  }
  void linearise(Vec x) override { at_ = value_of(x); }
  Real reference() const override { return 1; }
  Real noise(int) const override { return 0; }
  bool symmetric() const override { return true; }
  Mat matrix() override {
    if (matrix_) return matrix_->matrix();
    matrix_ = std::make_unique<ListedMatrix>(comm_, comm_.rank(), 1);
    matrix_->add(comm_.rank(), comm_.rank(), 0);
    matrix_->lay_out();
    return matrix_->matrix();
  }
  void assemble() override {
    matrix_->begin();
    matrix_->add(comm_.rank(), comm_.rank(), df_(at_));
    matrix_->finish();
  }

  static Real value_of(Vec x) {
    const PetscScalar* values = nullptr;
    check_petsc(VecGetArrayRead(x, &values));
    const Real value = values[0];
    check_petsc(VecRestoreArrayRead(x, &values));
    return value;
  }
  static void set(Vec x, Real value) {
    PetscScalar* values = nullptr;
    check_petsc(VecGetArray(x, &values));
    values[0] = value;
    check_petsc(VecRestoreArray(x, &values));
  }

 private:
  const Comm comm_ = Comm::world();
  const Function E_, f_, df_;
  Real at_ = 0;
  std::unique_ptr<ListedMatrix> matrix_;
};

Toy square_root_of_two() {
  return {[](Real x) { return x * x * x / 3 - 2 * x; }, [](Real x) { return x * x - 2; }, [](Real x) { return 2 * x; }};
}
Toy arc_tangent() {
  return {[](Real x) { return x * std::atan(x) - 0.5 * std::log1p(x * x); }, [](Real x) { return std::atan(x); },
          [](Real x) { return 1 / (1 + x * x); }};
}
/// E = sqrt(1 + x^2), whose full steps lead from x to -x^3.
Toy hyperbola() {
  return {[](Real x) { return std::sqrt(1 + x * x); }, [](Real x) { return x / std::sqrt(1 + x * x); },
          [](Real x) { return std::pow(1 + x * x, -1.5); }};
}
Toy parabola() {
  return {[](Real x) { return 0.5 * x * x; }, [](Real x) { return x; }, [](Real) { return 1.0; }};
}

/// All that a solve of a toy needs.
struct Solve {
  const Comm comm = Comm::world();
  Toy toy;
  PetscDatabase options{comm, "", mumps_options()};
  FactoredSolve linear{toy};
  Newton newton{comm, options, toy, linear, 0};
  Drag drag;
  FullSteps full{false, drag};
  Vec x = nullptr;

  explicit Solve(Toy t) : toy(std::move(t)) { check_petsc(VecCreateMPI(comm.handle(), 1, PETSC_DETERMINE, &x)); }
  ~Solve() { check_petsc(VecDestroy(&x)); }
  NewtonReport from(Real start, StepSearch& search, int most = 30) {
    Toy::set(x, start);
    return newton.solve(x, search, {1e-12, most});
  }
};

/// The vectors of a search that stands at x and looks along dx.
struct Search {
  SearchVectors at{};

  Search(Toy& toy, Real x, Real dx) {
    for (Vec* v : {&at.x, &at.f, &at.dx, &at.trial, &at.trial_f})
      check_petsc(VecCreateMPI(Comm::world().handle(), 1, PETSC_DETERMINE, v));
    Toy::set(at.x, x);
    Toy::set(at.dx, dx);
    toy.residual(at.x, at.f);
  }
  ~Search() {
    for (Vec* v : {&at.x, &at.f, &at.dx, &at.trial, &at.trial_f}) check_petsc(VecDestroy(v));
  }
};

TEST(NewtonTest, FullStepsAreThoseOfHeron) {
  Solve solve(square_root_of_two());
  const NewtonReport report = solve.from(2, solve.full);
  EXPECT_EQ(report.end, NewtonEnd::converged);
  EXPECT_NEAR(Toy::value_of(solve.x), std::sqrt(2), 1e-12);
  ASSERT_EQ(report.residuals.size(), static_cast<std::size_t>(report.newton) + 1);
  Real x = 2;
  for (const Real residual : report.residuals) {
    EXPECT_NEAR(residual, std::sqrt(solve.comm.size()) * std::abs(x * x - 2), 1e-12);
    x = (x + 2 / x) / 2;
  }
  EXPECT_EQ(report.residual, report.residuals.back());
}

TEST(NewtonTest, EndsAfterAsManyStepsAsItMayTake) {
  Solve solve(arc_tangent());
  const NewtonReport report = solve.from(3, solve.full, 2);
  EXPECT_EQ(report.end, NewtonEnd::too_many_steps);
  EXPECT_EQ(report.newton, 2);
}

TEST(NewtonTest, IsBrokenOffOnAllRanksWhenOneIsAskedToStop) {
  Solve solve(square_root_of_two());
  int asked = 0;
  const auto third_time = [&] { return solve.comm.any(solve.comm.rank() == solve.comm.size() - 1 && ++asked == 3); };
  Toy::set(solve.x, 100);
  EXPECT_THROW(solve.newton.solve(solve.x, solve.full, {1e-12, 30, third_time}), Interrupted);
  EXPECT_EQ(solve.comm.max(Real(asked)), 3);
  // Then it can begin anew.
  EXPECT_EQ(solve.from(2, solve.full).end, NewtonEnd::converged);
}

TEST(NewtonTest, SaysThatAForceIsNotFiniteAndThatAMatrixIsSingular) {
  Solve solve(Toy([](Real) { return 0; }, [](Real x) { return std::log(x); }, [](Real x) { return 1 / x; }));
  EXPECT_EQ(solve.from(-1, solve.full).end, NewtonEnd::not_finite);
  EXPECT_EQ(solve.from(2, solve.full).end, NewtonEnd::converged);

  Solve flat(Toy([](Real) { return 0; }, [](Real) { return 1; }, [](Real) { return 0; }));
  EXPECT_EQ(flat.from(1, flat.full).end, NewtonEnd::no_linear_solution);
}

TEST(NewtonTest, SearchesMayChangeFromSolveToSolve) {
  Solve solve(arc_tangent());
  EXPECT_NE(solve.from(3, solve.full, 4).end, NewtonEnd::converged);
  ResidualSearch by_residual(
      solve.toy,
      [](Vec r) {
        Real norm = 0;
        check_petsc(VecNorm(r, NORM_2, &norm));
        return norm;
      },
      solve.drag);
  EXPECT_EQ(solve.from(3, by_residual).end, NewtonEnd::converged);
  EnergySearch by_energy(solve.toy, solve.linear, solve.drag);
  EXPECT_EQ(solve.from(3, by_energy).end, NewtonEnd::converged);
  EXPECT_NEAR(Toy::value_of(solve.x), 0, 1e-12);
  FullSteps damped(true, solve.drag);
  EXPECT_EQ(solve.from(3, damped).end, NewtonEnd::converged);
}

TEST(ResidualSearchTest, HalvesUntilTheResidualFalls) {
  Toy toy = arc_tangent();
  const Real dx = std::atan(3) * 10;  // the halves lead to -9.5, -3.2 and -0.12
  Search search(toy, 3, dx);
  Drag drag{1};
  ResidualSearch by_residual(toy, [](Vec r) { return std::abs(Toy::value_of(r)); }, drag);
  EXPECT_TRUE(by_residual.take(search.at));
  EXPECT_GT(drag.value, 1);
  EXPECT_EQ(Toy::value_of(search.at.x), 3 - 0.25 * dx);
  EXPECT_EQ(Toy::value_of(search.at.f), std::atan(3 - 0.25 * dx));

  Search uphill(toy, 3, -1);
  EXPECT_FALSE(by_residual.take(uphill.at));
  EXPECT_GT(Toy::value_of(uphill.at.x), 3);
}

TEST(EnergySearchTest, GoesToTheLowestPointOfTheParabola) {
  Solve solve(hyperbola());
  Search search(solve.toy, 2, 10);
  EnergySearch by_energy(solve.toy, solve.linear, solve.drag);
  EXPECT_TRUE(by_energy.take(search.at));
  const Real fall = 10 * 2 / std::sqrt(5), rise = std::sqrt(65) - std::sqrt(5);
  const Real x = 2 - 10 * fall / (2 * (rise + fall));
  EXPECT_NEAR(Toy::value_of(search.at.x), x, 1e-14);
  EXPECT_NEAR(Toy::value_of(search.at.f), x / std::sqrt(1 + x * x), 1e-14);
  EXPECT_FALSE(solve.toy.is_definite());

  Search whole(solve.toy, 0.5, 0.625);
  solve.drag.value = 1;
  EXPECT_TRUE(by_energy.take(whole.at));
  EXPECT_EQ(Toy::value_of(whole.at.x), -0.125);
  EXPECT_LT(solve.drag.value, 1);
}

TEST(EnergySearchTest, TriesExactMatricesAgainAfterTwoStepsThenAfterFour) {
  Solve solve(parabola());
  EnergySearch by_energy(solve.toy, solve.linear, solve.drag);
  by_energy.note(std::array{1.0});
  for (const int steps : {2, 4}) {
    Search uphill(solve.toy, 1, -1);
    EXPECT_TRUE(by_energy.take(uphill.at));
    for (int step = 0; step < steps; ++step) {
      EXPECT_TRUE(solve.toy.is_definite());
      Search downhill(solve.toy, 1, 0.5);
      EXPECT_TRUE(by_energy.take(downhill.at));
    }
    EXPECT_FALSE(solve.toy.is_definite());
  }
}

TEST(EnergySearchTest, StaysWhereNothingLeadsDownAndAsksForDefiniteMatricesFirst) {
  Solve solve(parabola());
  EnergySearch by_energy(solve.toy, solve.linear, solve.drag);
  Search uphill(solve.toy, 1, -1);
  EXPECT_TRUE(by_energy.take(uphill.at));
  EXPECT_TRUE(solve.toy.is_definite());
  EXPECT_FALSE(by_energy.take(uphill.at));
  EXPECT_EQ(Toy::value_of(uphill.at.x), 1);
  EXPECT_EQ(Toy::value_of(uphill.at.f), 1);
}

TEST(FullStepsTest, DragFadesAsForcesBalance) {
  Drag drag{1};
  FullSteps full(false, drag);
  const auto note = [&](std::vector<Real> residuals) {
    full.note(residuals);
    return drag.value;
  };
  EXPECT_EQ(note({4}), 1);
  EXPECT_EQ(note({4, 2}), 0.5);
  EXPECT_EQ(note({4, 2, 40}), 1);
  EXPECT_EQ(note({4, 2, 40, 1e-3}), 0.1);
}

TEST(WorkDescentTest, GoesNoFartherThanForcesWorkAlongTheWay) {
  Toy toy = parabola();
  Drag drag{1};
  bool conditions_hold = true;
  WorkDescent descent(toy, [&](Vec) { return conditions_hold; }, drag);
  toy.be_definite(true);

  Search whole(toy, 1, 1.25);
  EXPECT_TRUE(descent.take(whole.at));
  EXPECT_EQ(Toy::value_of(whole.at.x), -0.25);
  EXPECT_EQ(drag.value, 0.2);
  EXPECT_FALSE(toy.is_definite());

  Search too_far(toy, 1, 4);  // where the slope vanishes, by its values at both ends
  EXPECT_TRUE(descent.take(too_far.at));
  EXPECT_EQ(Toy::value_of(too_far.at.x), 0);
  EXPECT_EQ(Toy::value_of(too_far.at.f), 0);
  EXPECT_EQ(drag.value, 1);
  EXPECT_TRUE(toy.is_definite());

  conditions_hold = false;
  Search to_conditions(toy, 1, 4);
  EXPECT_TRUE(descent.take(to_conditions.at));
  EXPECT_EQ(Toy::value_of(to_conditions.at.x), -3);

  conditions_hold = true;  // an exact matrix that leads uphill is given up
  Search uphill(toy, 1, -1);
  EXPECT_TRUE(descent.take(uphill.at));
  EXPECT_EQ(Toy::value_of(uphill.at.x), 1);
  EXPECT_TRUE(toy.is_definite());
}

}  // namespace
}  // namespace weft
