#pragma once
// Points of a continuum over the blocks of a grid, each on the rank that owns its block.

#include "weft/bodies/body.hpp"
#include "weft/bodies/roles.hpp"
#include "weft/coupling/continuum_term.hpp"
#include "weft/parallel/curve.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace weft::test {

struct PointsOnGrid {
  Bins bins;
  BlockMap map;
  std::unique_ptr<Freedoms> freedoms;  ///< Of the nodes.

  /// Point p, of the id p, stands at x[p]; fill(row, p) completes its row. Collective.
  void place(PointBody& body, Real dx, const std::vector<Vec3>& x,
             const std::function<void(std::size_t, std::uint32_t)>& fill) {
    const Comm comm = Comm::world();
    std::vector<PointId> id(x.size());
    for (std::size_t p = 0; p < x.size(); ++p) id[p] = p;
    Bins all;
    all.sort(dx, x, id);
    std::vector<BlockWork> work;
    if (comm.is_root())
      for (const Bin& bin : all.bins()) work.push_back({bin.key, bin.end - bin.begin});
    const Cuts cuts = balanced_cuts(comm, work);
    Table& points = body.points();
    for (const Bin& bin : all.bins()) {
      if (cuts.owner(bin.key) != comm.rank()) continue;
      for (const std::uint32_t p : all.order().subspan(bin.begin, bin.end - bin.begin)) {
        const std::size_t row = points.rows();
        points.resize(row + 1);
        points.get<Position>()[row] = x[p];
        points.get<Id>()[row] = id[p];
        fill(row, p);
      }
    }
    bins.sort(dx, points.get<Position>(), points.get<Id>());
    map = BlockMap(comm, cuts, touched_blocks({&bins, 1}));
    bins.number(map);
    freedoms = std::make_unique<Freedoms>(std::vector<FreedomBlock>{{"grid", NodeField::row, &map.forest()}});
  }

  /// Of a node in a block of the map [m].
  Vec3 position(int block, int place, Real dx) const {
    return dx * (map.first_node(block) + node_at_place(place)).cast<Real>();
  }
};

}  // namespace weft::test
