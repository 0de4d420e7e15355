#pragma once
// The second derivative of what a meshed body opposes to a motion, as a sum of small matrices.

#include "weft/base/memory.hpp"
#include "weft/bodies/incidence.hpp"
#include "weft/math/pack_rows.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// Memory whose numbers begin without a value.
template <class T>
struct Unset : LinesAllocator<T> {
  template <class U>
  void construct(U*) {}
};

/// Where the numbers of each lane go; none for lanes that are left out.
using LanePlaces = std::array<Real*, Pack::size>;

/// The numbers K(c) of a matrix, column by column, to each lane's offset.
template <int count, class Numbers>
void store_lanes(const Numbers& K, const LanePlaces& to) {
  constexpr int half = Register::size, squares = count / half * half;
  const auto register_of = [&](int c, int first) { return first == 0 ? K(c).v.first : K(c).v.second; };
  for (int first = 0; first < Pack::size; first += half)
    for (int c = 0; c < squares; c += half) {
      Register::Reals block[half];
      for (int i = 0; i < half; ++i) block[i] = register_of(c + i, first);
      detail::transpose(block);
      for (int lane = 0; lane < half; ++lane)
        if (Real* place = to[static_cast<std::size_t>(first) + static_cast<std::size_t>(lane)])
          Register::store(block[lane], place + c);
    }
  for (std::size_t lane = 0; lane < to.size(); ++lane)
    for (int c = squares; c < count && to[lane] != nullptr; ++c) to[lane][c] = K(c)[static_cast<int>(lane)];
}

template <int n>
void store_lanes(const Eigen::Matrix<Pack, n, n>& K, const LanePlaces& to) {
  store_lanes<n * n>(K, to);
}

/// A sum of parts. Each looks at a few vectors that are linear in the displacements u of vertices and in the
/// displacement gradient H at one quadrature point, and at the turns of some elements, and answers with their
/// conjugates:
///   c_k = sum_r w_kr u_r + H d_k, turns,   y = K c,   f_r -= sum_k w_kr y_k,   A += sum_k y_k d_k^T,   turning -= y
/// No result depends on the number of threads.
class MeshStiffness {
 public:
  static constexpr int most_vectors = 12;
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
  /// Appends a part whose weights and directions are zero; its K is still to be written. A quadrature point is in one
  /// part at most.
  void add(int vectors, std::span<const std::int32_t> rows, std::int64_t sample,
           std::span<const std::int32_t> turns = {});
  std::size_t size() const { return parts_.size(); }
  Part part(std::size_t k);
  Part part(std::size_t k) const { return const_cast<MeshStiffness*>(this)->part(k); }

  /// Adds the changes of forces on vertices and turns and writes that of A at the quadrature points that parts have. No
  /// part is added from the first product on, until `clear`.
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
  std::vector<Real, Unset<Real>> numbers_;      ///< w, d and K of each part.
  mutable std::optional<Incidence> incidence_;  ///< Of entries of rows_; absent before the first product.
  mutable Incidence incidence_of_turns_;
  mutable std::vector<Vec3> pushes_;       ///< Work: of each entry of rows_,
  mutable std::vector<Real> turn_pushes_;  ///< and of turns_.
};

}  // namespace weft
