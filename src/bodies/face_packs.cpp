#include "weft/bodies/face_packs.hpp"

#include <numeric>
#include <utility>

namespace weft {

FacePacks::FacePacks(LimitBasis basis, std::size_t rows) : basis_(std::move(basis)) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(basis_.faces()));
  std::iota(order.begin(), order.end(), std::int64_t(0));
  std::ranges::stable_sort(order, {},
                           [&](std::int64_t e) { return std::pair(basis_.points_in(e), basis_.first_weight[e]); });

  std::vector<std::int32_t> rows_of_parts;
  for (auto rest = std::span<const std::int64_t>(order); !rest.empty();) {
    const std::int64_t n = basis_.points_in(rest.front());
    std::size_t count = 0;
    while (count < Pack::size && count < rest.size() && basis_.points_in(rest[count]) == n) ++count;
    const auto face = [&](int lane) { return rest[std::min(static_cast<std::size_t>(lane), count - 1)]; };
    const auto lanes_of = [&](auto&& row_of) {
      std::array<std::uint32_t, Pack::size> of_lanes;
      for (int lane = 0; lane < Pack::size; ++lane) of_lanes[lane] = static_cast<std::uint32_t>(row_of(face(lane)));
      return PackRows::of(of_lanes, static_cast<int>(count));
    };

    FacePack pack;
    pack.faces = lanes_of([](std::int64_t e) { return e; });
    pack.first_part = rows_of_parts.size();
    for (std::int64_t a = 0; a < n; ++a) {
      pack.points.push_back(lanes_of([&](std::int64_t e) { return basis_.points_of(e)[a]; }));
      for (int lane = 0; lane < Pack::size; ++lane)
        rows_of_parts.push_back(static_cast<std::size_t>(lane) < count ? basis_.points_of(face(lane))[a] : -1);
    }
    pack.alike = basis_.first_weight[rest[0]] == basis_.first_weight[rest[count - 1]];
    pack.first_weight = pack.alike ? static_cast<std::size_t>(basis_.first_weight[rest[0]]) : weights_by_lanes_.size();
    if (!pack.alike)
      for (int s = 0; s < basis_.samples; ++s)
        for (std::int64_t a = 0; a < n; ++a) {
          BasisWeightsOf<Pack>& weights = weights_by_lanes_.emplace_back();
          for (int lane = 0; lane < Pack::size; ++lane) {
            const BasisWeights& its = basis_.row(face(lane), s)[a];
            weights.value.set(lane, its.value);
            weights.d1.set(lane, its.d1);
            weights.d2.set(lane, its.d2);
            weights.d11.set(lane, its.d11);
            weights.d12.set(lane, its.d12);
            weights.d22.set(lane, its.d22);
          }
        }
    most_points_ = std::max(most_points_, static_cast<std::size_t>(n));
    packs_.push_back(std::move(pack));
    rest = rest.subspan(count);
  }
  incidence_ = Incidence(rows_of_parts, rows);
  parts_.resize(rows_of_parts.size());
}

std::size_t FacePacks::bytes() const {
  std::size_t bytes = basis_.bytes() + packs_.capacity() * sizeof(FacePack) +
                      weights_by_lanes_.capacity() * sizeof(BasisWeightsOf<Pack>) + incidence_.bytes() +
                      parts_.capacity() * sizeof(Vec3);
  for (const FacePack& pack : packs_) bytes += pack.points.capacity() * sizeof(PackRows);
  return bytes;
}

}  // namespace weft
