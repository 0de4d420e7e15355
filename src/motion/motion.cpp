#include "weft/motion/motion.hpp"

#include "weft/base/check.hpp"

#include <algorithm>
#include <limits>

namespace weft {

Freedoms::Freedoms(std::vector<FreedomBlock> blocks) : blocks_(std::move(blocks)) {
  std::size_t count = 0;
  first_.push_back(0);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    WEFT_ENSURE(blocks_[b].width > 0 && blocks_[b].width % stride(b) == 0 && used(b) <= stride(b));
    count += rows(b) * static_cast<std::size_t>(blocks_[b].width);
    WEFT_ENSURE(count <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
    first_.push_back(static_cast<std::int32_t>(count));
  }
}

Freedoms Freedoms::diagonal() const {
  std::vector<FreedomBlock> blocks;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const int width = static_cast<int>(points_per_row(b)) * used(b) * used(b);
    blocks.push_back({blocks_[b].name, width, blocks_[b].forest, {used(b) * used(b), used(b) * used(b)}});
  }
  return Freedoms(std::move(blocks));
}

std::span<const Real> FreedomValues::block(std::size_t b) const {
  const auto begin = static_cast<std::size_t>(freedoms_->at(b, 0));
  return std::span(values_).subspan(begin, freedoms_->rows(b) * static_cast<std::size_t>(freedoms_->block(b).width));
}

std::span<Real> FreedomValues::block(std::size_t b) {
  const std::span<const Real> values = std::as_const(*this).block(b);
  return {const_cast<Real*>(values.data()), values.size()};
}

std::span<const Vec3> FreedomValues::points(std::size_t b) const {
  WEFT_ENSURE(freedoms_->block(b).width == 3);
  return {reinterpret_cast<const Vec3*>(block(b).data()), freedoms_->rows(b)};
}

std::span<Vec3> FreedomValues::points(std::size_t b) {
  const std::span<const Vec3> points = std::as_const(*this).points(b);
  return {const_cast<Vec3*>(points.data()), points.size()};
}

void FreedomValues::set_zero() { std::fill(values_.begin(), values_.end(), 0.0); }

namespace {

ColumnView column_of(FreedomValues& values, std::size_t b) {
  const int width = values.freedoms().block(b).width;
  return {{"freedoms", "1", Keep::work},
          {ScalarKind::real, width, 1},
          static_cast<std::size_t>(width) * sizeof(Real),
          values.freedoms().rows(b),
          reinterpret_cast<std::byte*>(values.block(b).data())};
}

}  // namespace

void FreedomValues::update_ghosts() {
  for (std::size_t b = 0; b < freedoms_->block_count(); ++b)
    freedoms_->block(b).forest->update_ghosts(column_of(*this, b));
}

void FreedomValues::sum_to_owners() {
  for (std::size_t b = 0; b < freedoms_->block_count(); ++b)
    freedoms_->block(b).forest->sum_to_owners(column_of(*this, b));
}

}  // namespace weft
