#include "weft/bodies/mesh_stiffness.hpp"

#include "weft/base/check.hpp"

namespace weft {

void MeshStiffness::clear() {
  parts_.clear();
  rows_.clear();
  numbers_.clear();
}

void MeshStiffness::add(int vectors, std::span<const std::int32_t> rows, std::int64_t sample) {
  WEFT_ENSURE(vectors <= most_vectors);
  parts_.push_back({rows_.size(), numbers_.size(), sample, vectors});
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  const auto m = static_cast<std::size_t>(vectors);
  numbers_.resize(numbers_.size() + m * rows.size() + 3 * m + 9 * m * m, 0.0);
}

void MeshStiffness::close(std::size_t vertices) {
  incidence_ = Incidence(rows_, vertices);
  pushes_.resize(rows_.size());
}

MeshStiffness::Part MeshStiffness::part(std::size_t k) {
  const Head& head = parts_[k];
  const std::size_t count = rows_end(k) - head.first_row;
  const auto m = static_cast<std::size_t>(head.vectors);
  Real* numbers = numbers_.data() + head.first_number;
  const auto rows = static_cast<Eigen::Index>(count);
  return {{rows_.data() + head.first_row, count},
          head.sample,
          {numbers, head.vectors, rows},
          {numbers + m * count, 3, head.vectors},
          {numbers + m * count + 3 * m, 3 * head.vectors, 3 * head.vectors}};
}

void MeshStiffness::multiply(std::span<const Vec3> u, std::span<const Mat3> H, std::span<Vec3> f,
                             std::span<Mat3> A) const {
  using Vectors = Eigen::Matrix<Real, 3, Eigen::Dynamic, 0, 3, most_vectors>;
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part part = this->part(k);
    Vectors c = Vectors::Zero(3, part.w.rows()), y(3, part.w.rows());
    for (std::size_t r = 0; r < part.rows.size(); ++r)
      for (Eigen::Index v = 0; v < c.cols(); ++v)
        c.col(v) += part.w(v, static_cast<Eigen::Index>(r)) * u[static_cast<std::size_t>(part.rows[r])];
    if (part.sample >= 0) c.noalias() += H[static_cast<std::size_t>(part.sample)] * part.d;
    using Flat = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
    Eigen::Map<Flat>(y.data(), y.size()).noalias() = part.K * Eigen::Map<const Flat>(c.data(), c.size());
    for (std::size_t r = 0; r < part.rows.size(); ++r) {
      Vec3 push = Vec3::Zero();
      for (Eigen::Index v = 0; v < c.cols(); ++v) push -= part.w(v, static_cast<Eigen::Index>(r)) * y.col(v);
      pushes_[parts_[k].first_row + r] = push;
    }
    if (part.sample >= 0) A[static_cast<std::size_t>(part.sample)] = y * part.d.transpose();
  }
  incidence_.add(f, [&](std::int32_t entry) -> const Vec3& { return pushes_[static_cast<std::size_t>(entry)]; });
}

}  // namespace weft
