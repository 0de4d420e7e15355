#pragma once
// Term: a potential energy of a motion. Solvers see nothing else of bodies and loads.

#include "weft/motion/motion.hpp"

#include <memory>
#include <span>

namespace weft {

/// What a Term keeps of a motion to differentiate its force there; the solve holds it, only the Term looks inside.
struct Linear {
  virtual ~Linear() = default;
};

/// Receives the matrix -d(force)/d(u), element by element.
class Tangent {
 public:
  virtual ~Tangent() = default;
  /// Adds the matrix k (row-major) at the freedoms with these local numbers (Freedoms::at), owned or ghost. The order
  /// and number of calls, and the freedoms in them, are the same for every motion; zeros are added too. The freedoms of
  /// a point (PointLayout) stand one after another.
  virtual void add(std::span<const std::int32_t> rows, std::span<const std::int32_t> columns,
                   std::span<const Real> k) = 0;
  /// A square one.
  void add(std::span<const std::int32_t> freedoms, std::span<const Real> k) { add(freedoms, freedoms, k); }
};

/// A part of the energy. Every element of it lives on one rank, which has rows, owned or ghost, for all its freedoms.
/// Nothing here communicates or changes what the Term gives. A Term may keep memory for its work, so it serves one call
/// at a time, which may have threads of its own.
class Term {
 public:
  virtual ~Term() = default;

  /// Whether the force is the derivative of an energy. False: plasticity in the loop, pressure that follows an open
  /// surface; then `energy` is 0 and line searches look at the force.
  virtual bool has_energy() const { return true; }
  /// Whether d(force)/d(u) is symmetric.
  virtual bool symmetric() const { return has_energy(); }
  /// Whether the force answers others, as that of walls does. In balance it is as large as they are.
  virtual bool is_reaction() const { return false; }

  /// Energy of the elements on this rank [J]; with rates, plus their dissipation potential times dt. Infinity where
  /// the motion is not admissible (an inverted element of a law that cannot invert).
  virtual Real energy(const Motion& motion) const = 0;
  /// Adds -d(energy)/d(u); not finite where the motion is not admissible.
  virtual void add_force(const Motion& motion, Load& force) const = 0;

  virtual std::unique_ptr<Linear> linearise(const Motion& motion) const = 0;
  /// The same, but changes of the force then belong to a symmetric matrix without negative eigenvalues, as descent to a
  /// minimum of the energy needs it; the exact one where that is such a matrix, or if the Term has no other.
  virtual std::unique_ptr<Linear> linearise_definite(const Motion& motion) const { return linearise(motion); }
  /// Adds the first-order change of the force for a change du (ghosts up to date).
  virtual void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const = 0;
  /// Adds -d(force)/d(u), exact, not made definite: add_force_change with du gives minus this matrix times du.
  virtual void add_tangent(const Linear& linear, Tangent& tangent) const = 0;
  /// Adds for each point of a block of freedoms the matrix of -d(force)/d(u) by its own displacement, row by row, in
  /// rows as Freedoms::diagonal has them, owned and ghost. Preconditioners start from these.
  virtual void add_diagonal_blocks(const Linear& linear, std::size_t block, std::span<Real> matrices) const {
    static_cast<void>(linear), static_cast<void>(block), static_cast<void>(matrices);
  }
};

}  // namespace weft
