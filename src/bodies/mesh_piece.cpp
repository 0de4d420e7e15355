// Pieces of a mesh.

#include "weft/bodies/mesh_piece.hpp"

#include "weft/base/check.hpp"
#include "weft/parallel/curve.hpp"
#include "weft/parallel/ship.hpp"

#include <algorithm>
#include <cstring>

namespace weft {

std::int32_t row_in(const MeshPiece& piece, std::int32_t point) {
  const auto begin = piece.points.begin(), ghosts = begin + static_cast<std::ptrdiff_t>(piece.owned);
  for (const auto& [from, to] : {std::pair(begin, ghosts), std::pair(ghosts, piece.points.end())})
    if (const auto at = std::lower_bound(from, to, point); at != to && *at == point)
      return static_cast<std::int32_t>(at - begin);
  return -1;
}

std::vector<std::int32_t> rows_of(const MeshPiece& piece, std::size_t points) {
  std::vector<std::int32_t> row(points, -1);
  for (std::size_t r = 0; r < piece.points.size(); ++r) row[piece.points[r]] = static_cast<std::int32_t>(r);
  return row;
}

std::vector<MeshPiece> divide_mesh(std::span<const int> rank_of_element, const PointsOfElement& points_of,
                                   std::size_t points, int ranks) {
  std::vector<MeshPiece> pieces(static_cast<std::size_t>(ranks));
  for (std::size_t e = 0; e < rank_of_element.size(); ++e)
    pieces[static_cast<std::size_t>(rank_of_element[e])].elements.push_back(static_cast<std::int64_t>(e));
  std::vector<RemoteRow> home(points, RemoteRow{-1, -1});
  for (int r = 0; r < ranks; ++r) {
    MeshPiece& piece = pieces[static_cast<std::size_t>(r)];
    std::vector<std::int32_t> needed;
    for (const std::int64_t e : piece.elements) {
      const auto of_element = points_of(e);
      needed.insert(needed.end(), of_element.begin(), of_element.end());
    }
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    for (const std::int32_t p : needed)
      if (home[p].rank < 0) {
        home[p] = {r, static_cast<std::int32_t>(piece.points.size())};
        piece.points.push_back(p);
      }
    piece.owned = piece.points.size();
    for (const std::int32_t p : needed)
      if (home[p].rank != r) {
        piece.points.push_back(p);
        piece.originals.push_back(home[p]);
      }
  }
  return pieces;
}

std::vector<int> equal_runs(std::span<const Vec3> middles, int ranks) {
  Box box;
  for (const Vec3& x : middles) box.include(x);
  const Real cell = (box.upper - box.lower).maxCoeff() / 4096;
  std::vector<std::pair<BlockKey, std::size_t>> order;
  for (std::size_t e = 0; e < middles.size(); ++e) {
    const Vec3 scaled = cell > 0 ? Vec3((middles[e] - box.lower) / cell) : Vec3::Zero();
    order.emplace_back(key_of(scaled.cast<std::int32_t>()), e);
  }
  std::sort(order.begin(), order.end());
  std::vector<int> rank_of(middles.size());
  for (int r = 0; r < ranks; ++r)
    for (std::size_t k = middles.size() * r / ranks; k < middles.size() * (r + 1) / ranks; ++k)
      rank_of[order[k].second] = r;
  return rank_of;
}

bool take_rows(const Comm& comm, Table from, std::span<const int> home, PointId each, Table& to) {
  ship_home(comm, from, [&](PointId id) { return id / each < home.size() ? home[id / each] : -1; });
  const auto here = std::as_const(to).get<Id>(), there = std::as_const(from).get<Id>();
  const bool same =
      to.owned() == from.owned() && std::equal(there.begin(), there.begin() + from.owned(), here.begin());
  if (comm.any(!same)) return false;
  for (const ColumnView& column : to.columns(Keep::state)) {
    const ColumnView source = from.column(column.label.name);
    WEFT_ENSURE(source.row_bytes == column.row_bytes);
    if (source.rows > 0) std::memcpy(column.data, source.data, source.rows * source.row_bytes);
  }
  return true;
}

}  // namespace weft
