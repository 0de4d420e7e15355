// Pieces of a mesh.

#include "weft/bodies/mesh_piece.hpp"

#include "weft/base/check.hpp"
#include "weft/parallel/curve.hpp"

#include <algorithm>

namespace weft {

std::int32_t row_in(const MeshPiece& piece, std::int32_t point) {
  const auto begin = piece.points.begin(), ghosts = begin + static_cast<std::ptrdiff_t>(piece.owned);
  for (const auto& [from, to] : {std::pair(begin, ghosts), std::pair(ghosts, piece.points.end())})
    if (const auto at = std::lower_bound(from, to, point); at != to && *at == point)
      return static_cast<std::int32_t>(at - begin);
  return -1;
}

Directory owners_of_points(const Comm& comm, std::span<const std::int32_t> needed, std::size_t points) {
  Directory owners(comm, static_cast<std::int64_t>(points));
  owners.tell(std::vector<std::int64_t>(needed.begin(), needed.end()), comm.rank());
  return owners;
}

MeshPiece piece_of(const Comm& comm, std::span<const std::int32_t> needed, const Directory& owners) {
  const std::vector<std::int32_t> owner = owners.ask(std::vector<std::int64_t>(needed.begin(), needed.end()));
  MeshPiece piece;
  piece.points.reserve(needed.size());
  for (const bool own : {true, false}) {
    for (std::size_t k = 0; k < needed.size(); ++k)
      if ((owner[k] == comm.rank()) == own) piece.points.push_back(needed[k]);
    if (own) piece.owned = piece.points.size();
  }
  std::vector<int> others;
  for (const std::int32_t rank : owner)
    if (rank != comm.rank()) others.push_back(rank);
  const auto ghosts = std::span(piece.points).subspan(piece.owned);
  const std::vector<std::uint64_t> keys(ghosts.begin(), ghosts.end());
  const std::vector<std::int32_t> rows = ask_rows(
      comm, others, keys, [&](std::uint64_t point) { return row_in(piece, static_cast<std::int32_t>(point)); });
  for (std::size_t g = 0; g < rows.size(); ++g) piece.originals.push_back({others[g], rows[g]});
  return piece;
}

std::vector<std::int64_t> equal_run(std::span<const Vec3> middles, const Comm& comm) {
  Box box;
  for (const Vec3& x : middles) box.include(x);
  const Real cell = (box.upper - box.lower).maxCoeff() / 4096;
  std::vector<std::pair<BlockKey, std::int64_t>> order;
  for (std::size_t e = 0; e < middles.size(); ++e) {
    const Vec3 scaled = cell > 0 ? Vec3((middles[e] - box.lower) / cell) : Vec3::Zero();
    order.emplace_back(key_of(scaled.cast<std::int32_t>()), static_cast<std::int64_t>(e));
  }
  std::sort(order.begin(), order.end());
  const Runs runs{static_cast<std::int64_t>(middles.size()), comm.size()};
  std::vector<std::int64_t> own;
  for (std::int64_t k = runs.begin(comm.rank()); k < runs.end(comm.rank()); ++k)
    own.push_back(order[static_cast<std::size_t>(k)].second);
  std::sort(own.begin(), own.end());
  return own;
}

}  // namespace weft
