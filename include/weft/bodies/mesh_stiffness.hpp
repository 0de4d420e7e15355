#pragma once
// The second derivative of what a meshed body opposes to a motion, as a sum of small matrices.

#include "weft/bodies/incidence.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// A sum of parts. Each looks at a few vectors that are linear in the displacements u of vertices and in the
/// displacement gradient H at one quadrature point, and at the turns of some elements, and answers with their
/// conjugates:
///   c_k = sum_r w_kr u_r + H d_k, turns,   y = K c,   f_r -= sum_k w_kr y_k,   A += sum_k y_k d_k^T,   turning -= y
/// No result depends on the number of threads.
class MeshStiffness {
 public:
  static constexpr int most_vectors = 6;
  static constexpr std::size_t most_turns = 2;
  using Weights = Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>>;
  using Directions = Eigen::Map<Eigen::Matrix<Real, 3, Eigen::Dynamic>>;

  struct Part {
    std::span<const std::int32_t> rows;   ///< Of vertices.
    std::span<const std::int32_t> turns;  ///< Rows of elements that turn.
    std::int64_t sample;                  ///< Row of the quadrature point; -1: none.
    Weights w;                            ///< [vectors x rows].
    Directions d;                         ///< [3 x vectors]; without a quadrature point of no meaning.
    Weights K;                            ///< [3 vectors + turns, squared], vector by vector, then turn by turn.
  };

  /// Forgets all parts; keeps the memory.
  void clear();
  /// Appends a part whose numbers are zero. A quadrature point is in one part at most.
  void add(int vectors, std::span<const std::int32_t> rows, std::int64_t sample,
           std::span<const std::int32_t> turns = {});
  /// No part is added from here on; `vertices` rows, and so many elements that turn.
  void close(std::size_t vertices, std::size_t turns = 0);

  std::size_t size() const { return parts_.size(); }
  Part part(std::size_t k);
  Part part(std::size_t k) const { return const_cast<MeshStiffness*>(this)->part(k); }

  /// Adds the changes of forces on vertices and turns and writes that of A at the quadrature points that parts have.
  void multiply(std::span<const Vec3> u, std::span<const Mat3> H, std::span<Vec3> f, std::span<Mat3> A,
                std::span<const Real> turns = {}, std::span<Real> turning = {}) const;

 private:
  struct Head {
    std::size_t first_row, first_turn;  ///< In rows_ and turns_; the part after this one starts where this one ends.
    std::size_t first_number;
    std::int64_t sample;
    int vectors;
  };
  std::size_t rows_end(std::size_t k) const { return k + 1 < parts_.size() ? parts_[k + 1].first_row : rows_.size(); }
  std::size_t turns_end(std::size_t k) const {
    return k + 1 < parts_.size() ? parts_[k + 1].first_turn : turns_.size();
  }

  std::vector<Head> parts_;
  std::vector<std::int32_t> rows_, turns_;
  std::vector<Real> numbers_;  ///< w, d and K of each part.
  Incidence incidence_, incidence_of_turns_;
  mutable std::vector<Vec3> pushes_;       ///< Work: of each entry of rows_,
  mutable std::vector<Real> turn_pushes_;  ///< and of turns_.
};

}  // namespace weft
