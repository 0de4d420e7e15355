#include "weft/bodies/body.hpp"

#include "weft/math/pack_rows.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace weft {

void StepLimit::include(const StepLimit& those) {
  wave_speed = std::max(wave_speed, those.wave_speed);
  viscosity = std::max(viscosity, those.viscosity);
  speed = std::max(speed, those.speed);
  mesh_speed = std::max(mesh_speed, those.mesh_speed);
  frequency = std::max(frequency, those.frequency);
  bending = std::max(bending, those.bending);
  stretch = std::max(stretch, those.stretch);
}

void PointSet::contact_extents_along(ChunkRows rows, std::span<const Vec3> n, std::span<Vec3> Bn) const {
  const auto extent = points_.get<ContactExtent>();
  for (std::size_t k = 0; k < rows.size(); k += Pack::size) {
    const PackRows entries = PackRows::range(k, rows.size());
    store(load(extent, PackRows::of(rows, k)) * load(n, entries), entries, Bn);
  }
}

void PointSet::respond(ChunkRows rows, const ChunkForces& forces) const {
  for (std::size_t k = 0; k < rows.size(); ++k) forces.A[k].setZero();
}

StepLimit PointSet::commit(ChunkRows rows, Real dt, const ChunkMotion& motion) {
  const auto x = points_.get<Position>();
  for (std::size_t k = 0; k < rows.size(); ++k) x[rows[k]] += dt * motion.v[k];
  return limit(rows);
}

StepLimit Body::limit_from(std::size_t first_row) {
  StepLimit all;
#pragma omp parallel
  {
    StepLimit mine;
#pragma omp for schedule(static)
    for (std::size_t row = first_row; row < points_.owned(); row += most_rows_in_chunk) {
      std::array<std::uint32_t, most_rows_in_chunk> rows;
      std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(row));
      mine.include(limit(ChunkRows(rows.data(), std::min(most_rows_in_chunk, points_.owned() - row))));
    }
#pragma omp critical
    all.include(mine);
  }
  return all;
}

}  // namespace weft
