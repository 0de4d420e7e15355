#pragma once
// What equilibrium solves: the balance of all forces on freedoms, with conditions, and the time if the path is
// followed.

#include "solve/factored_solve.hpp"
#include "solve/line_search.hpp"
#include "solve/listed_matrix.hpp"
#include "solve/path_row.hpp"
#include "solve/softened_term.hpp"
#include "solve/unit_solve.hpp"
#include "weft/motion/constraint.hpp"
#include "weft/solve/equilibrium.hpp"

#include <optional>

namespace weft {

/// The unknowns x of a rank: owned freedoms u, the multipliers of its conditions in units of a typical stiffness k0 (so
/// that all of the residual is in N and the matrix is evenly scaled), and on the root, if the path is followed,
/// t / time_scale. Terms, constraints, freedoms and settings are not owned.
class StaticProblem final : public AssembledProblem, public UnitProblem {
 public:
  /// For the conditions that there are at a time [s].
  StaticProblem(const Comm& comm, const Freedoms& freedoms, std::vector<const Term*> terms,
                std::vector<const Constraints*> constraints, const EquilibriumSettings& settings, Real time);
  /// Whether the conditions at a time have the number, the order and the freedoms of those. Collective.
  bool fits(Real time) const;

  // Of a solve, all collective.
  /// Starts from a motion and the multipliers kept last.
  void begin(Motion& motion, Vec x);
  /// Finds what conditions are scaled by, unless it is known. Assembling finds it too.
  void find_scale(Vec x);
  /// Whatever earlier solves have left.
  void forget();
  void set_unknowns(const Motion& motion, Vec x) const;
  /// Takes over displacements, time and conditions from x.
  void look_at(Vec x);
  void keep_multipliers(Vec x);
  /// With which loads stretch by about as much as the bodies are large. [1]
  Real softness_to_begin_with(Vec x);
  /// The right side of the system whose solution goes on along the path, a length of 1 across the plane.
  void set_path_direction(Vec right) const;

  bool residual(Vec x, Vec out) override;
  void linearise(Vec x) override;
  Real reference() const override { return reference_; }
  /// Loads that are smaller than round-off of stiff bodies move them nevertheless, by one step; what is slack has no
  /// stiffness for it.
  Real noise(int iteration) const override {
    return iteration > 0 || settings_.slack ? round_off(k0_, freedom_count_) : 0;
  }
  /// Conditions are met, and each body is balanced by itself, however small its forces are beside those of others.
  bool parts_are_met(Real tolerance, int iteration) const override;
  /// Work of the forces on displacements.
  Real slope(Vec r, Vec dx) const override;
  bool conditions_are_met() const { return largest_gap_ <= largest_share_missed * settings_.size; }
  /// Whether conditions are met in a residual, beside its forces.
  bool conditions_hold(Vec r) const;

  bool symmetric() const override;
  /// Whether K is.
  bool terms_are_symmetric() const;
  Mat matrix() override;
  /// K, and -k0 times the weights of the conditions beside and below it; with the path a column of the derivative by
  /// time and a row of the plane.
  void assemble() override;
  /// The same without a path.
  void assemble(Entries& to) override;
  /// What `assemble` adds to, in sets. Freedoms of this rank alone are in them.
  Cliques cliques();
  /// The same with the time held, whether the path is followed or not. Collective.
  void assemble_at_fixed_time();
  /// A new matrix with these diagonal entries in place of K, for vectors of displacements and multipliers. Collective;
  /// the caller destroys it.
  Mat with_diagonal(std::span<const Real> diagonal) const;

  const Unknowns& unknowns() const { return unknowns_; }
  std::int64_t unknowns_of_all() const { return comm_.sum(static_cast<std::int64_t>(unknowns_.count())); }
  std::size_t conditions_here() const { return conditions_; }
  Vec create_vector() const { return unknowns_.create_vector(); }
  PathRow& path() { return path_; }
  Drag& drag() { return drag_; }
  Real& softness() { return softness_; }
  std::vector<PetscScalar>& multipliers() { return multipliers_; }
  /// The mean of K's diagonal at the beginning [N/m].
  Real typical_stiffness() const { return k0_; }
  /// On all ranks.
  std::int64_t condition_count() const { return comm_.sum(static_cast<std::int64_t>(conditions_)); }
  /// Where the problem was looked at last.
  const ConstraintRows& conditions() const { return rows_; }
  const Motion& motion() const { return *motion_; }
  std::span<const Term* const> terms() const { return terms_; }
  /// Of constraints[c] in the last kept state [N].
  std::vector<Real> forces_of(std::size_t c) const;

 private:
  /// Values of x.
  std::span<const PetscScalar> multipliers_in(const PetscScalar* values) const {
    return {values + unknowns_.owned().size(), conditions_};
  }
  PetscInt condition_index(std::size_t c) const {
    return unknowns_.begin() + static_cast<PetscInt>(unknowns_.owned().size() + c);
  }
  void list_bodies();
  void conditions_at(Real time);
  void find_unbalanced(std::span<const PetscScalar> multipliers, std::span<PetscScalar> out);
  Real product(Vec a, Vec b, bool of_displacements) const;
  Real round_off(Real stiffness, Real freedoms) const;
  template <class Amount>
  std::vector<Real> sums_by_body(const FreedomValues& values, const Amount& amount) const;
  void linearise_terms();
  void add_tangents(Tangent& to);
  void measure_stiffness(Tangent* next);
  void assemble_terms(Entries& to);
  void assemble_pattern(Entries& to);
  void assemble_drag(Entries& to) const;
  void assemble_conditions(Entries& to) const;
  void assemble_all(Entries& to, bool at_fixed_time);
  std::vector<PetscScalar> change_in_time();
  void assemble_path(Entries& to, bool at_fixed_time);

  /// One body where the residual was looked at.
  struct Balance {
    Real freedoms = 0;    ///< On all ranks.
    Real stiffness = 0;   ///< The mean of its part of K's diagonal at the beginning [N/m].
    Real reference = 0;   ///< Largest force that is balanced [N].
    Real unbalanced = 0;  ///< [N]
  };

  /// Of the size of the bodies: what may be missing of a condition.
  static constexpr Real largest_share_missed = 1e-10;

  const Comm comm_;
  const EquilibriumSettings& settings_;
  std::vector<SoftenedTerm> softened_;
  std::vector<const Term*> terms_;
  const std::vector<const Constraints*> constraints_;
  ConstraintRows rows_;                 ///< At the time that was looked at last.
  std::vector<std::size_t> first_row_;  ///< Of each Constraints among the conditions of this rank.
  const ConstraintRows pattern_;        ///< Of a time for which vectors and matrix are.
  const std::size_t conditions_;
  const Unknowns unknowns_;
  PetscInt time_index_ = -1;  ///< Number of the time in x.
  Real freedom_count_ = 0;    ///< On all ranks.
  std::vector<std::size_t> body_of_block_;
  std::vector<Balance> bodies_;
  PathRow path_;
  Drag drag_;
  Real softness_ = 1;                     ///< Factor of the elastic terms.
  Real k0_ = 0;                           ///< Typical stiffness [N/m]; 0: not known yet.
  Real largest_gap_ = 0;                  ///< Of any condition where the residual was looked at [m].
  Real reference_ = 0;                    ///< Largest force that is balanced where the residual was looked at [N].
  Load total_, force_;                    ///< Work.
  std::vector<PetscScalar> multipliers_;  ///< Of the last kept state.
  std::vector<PetscScalar> looked_at_;    ///< Multipliers where the problem was looked at last.
  bool has_looked_ = false;
  std::vector<std::unique_ptr<Linear>> linears_;  ///< Of the terms there, if they are known.
  Motion* motion_ = nullptr;                      ///< Of the solve that is going on.
  std::optional<ListedMatrix> matrix_;            ///< Once it was asked for.
};

}  // namespace weft
