#include "weft/bodies/mesh_stiffness.hpp"

#include "weft/base/check.hpp"

#include <algorithm>

namespace weft {

void MeshStiffness::clear() {
  parts_.clear();
  rows_.clear();
  turns_.clear();
  numbers_.clear();
  incidence_.reset();
}

void MeshStiffness::add(int vectors, std::span<const std::int32_t> rows, std::int64_t sample,
                        std::span<const std::int32_t> turns) {
  WEFT_ENSURE(vectors <= most_vectors && turns.size() <= most_turns);
  parts_.push_back({rows_.size(), turns_.size(), numbers_.size(), sample, vectors});
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  turns_.insert(turns_.end(), turns.begin(), turns.end());
  const auto m = static_cast<std::size_t>(vectors);
  const std::size_t side = 3 * m + turns.size();
  const std::size_t first = numbers_.size(), zeros = m * rows.size() + 3 * m;
  numbers_.resize(first + zeros + side * side);
  std::fill_n(numbers_.begin() + static_cast<std::ptrdiff_t>(first), zeros, Real(0));
}

MeshStiffness::Part MeshStiffness::part(std::size_t k) {
  const Head& head = parts_[k];
  const std::size_t count = rows_end(k) - head.first_row;
  const auto m = static_cast<std::size_t>(head.vectors);
  Real* numbers = numbers_.data() + head.first_number;
  const auto rows = static_cast<Eigen::Index>(count);
  const std::size_t turns = turns_end(k) - head.first_turn;
  const Eigen::Index side = 3 * head.vectors + static_cast<Eigen::Index>(turns);
  return {{rows_.data() + head.first_row, count},
          {turns_.data() + head.first_turn, turns},
          head.sample,
          {numbers, head.vectors, rows},
          {numbers + m * count, 3, head.vectors},
          {numbers + m * count + 3 * m, side, side}};
}

void MeshStiffness::multiply(std::span<const Vec3> u, std::span<const Mat3> H, std::span<Vec3> f, std::span<Mat3> A,
                             std::span<const Real> turns, std::span<Real> turning) const {
  using Flat = Eigen::Matrix<Real, Eigen::Dynamic, 1, 0, 3 * most_vectors + static_cast<int>(most_turns), 1>;
  if (!incidence_) {
    incidence_.emplace(rows_, f.size());
    incidence_of_turns_ = Incidence(turns_, turning.size());
    pushes_.resize(rows_.size());
    turn_pushes_.resize(turns_.size());
  }
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part part = this->part(k);
    const Eigen::Index vectors = part.w.rows();
    Flat seen = Flat::Zero(part.K.rows()), answer(part.K.rows());
    Directions c(seen.data(), 3, vectors), y(answer.data(), 3, vectors);
    for (std::size_t r = 0; r < part.rows.size(); ++r)
      for (Eigen::Index v = 0; v < vectors; ++v)
        c.col(v) += part.w(v, static_cast<Eigen::Index>(r)) * u[static_cast<std::size_t>(part.rows[r])];
    if (part.sample >= 0) c.noalias() += H[static_cast<std::size_t>(part.sample)] * part.d;
    for (std::size_t t = 0; t < part.turns.size(); ++t)
      seen[3 * vectors + static_cast<Eigen::Index>(t)] = turns[static_cast<std::size_t>(part.turns[t])];
    answer.noalias() = part.K * seen;
    for (std::size_t r = 0; r < part.rows.size(); ++r) {
      Vec3 push = Vec3::Zero();
      for (Eigen::Index v = 0; v < vectors; ++v) push -= part.w(v, static_cast<Eigen::Index>(r)) * y.col(v);
      pushes_[parts_[k].first_row + r] = push;
    }
    for (std::size_t t = 0; t < part.turns.size(); ++t)
      turn_pushes_[parts_[k].first_turn + t] = -answer[3 * vectors + static_cast<Eigen::Index>(t)];
    if (part.sample >= 0) A[static_cast<std::size_t>(part.sample)] = y * part.d.transpose();
  }
  incidence_->add(f, [&](std::int32_t entry) -> const Vec3& { return pushes_[static_cast<std::size_t>(entry)]; });
  incidence_of_turns_.add(turning, [&](std::int32_t entry) { return turn_pushes_[static_cast<std::size_t>(entry)]; });
}

}  // namespace weft
