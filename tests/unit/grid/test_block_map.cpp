// Block numbering, ownership on any number of ranks, and the exchange of node rows.

#include "weft/grid/node_field.hpp"

#include "weft/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace weft {
namespace {

TEST(BlockTest, NodesLieInTheBlockBelowThem) {
  EXPECT_EQ(block_of_node({0, 0, 0}), Vec3i(0, 0, 0));
  EXPECT_EQ(place_in_block({0, 0, 0}), 0);
  EXPECT_EQ(block_of_node({1, 2, 3}), Vec3i(0, 0, 0));
  EXPECT_EQ(place_in_block({1, 2, 3}), 16 + 8 + 3);
  EXPECT_EQ(block_of_node({3, 4, 11}), Vec3i(0, 1, 2));
  EXPECT_EQ(place_in_block({3, 4, 11}), 48 + 0 + 3);
  EXPECT_EQ(block_of_node({-1, -4, -5}), Vec3i(-1, -1, -2));
  EXPECT_EQ(place_in_block({-1, -4, -5}), 48 + 0 + 3);
}

TEST(BlockTest, BlockAndPlaceNameTheNodeAlsoAtNegativeCoordinates) {
  for (int x = -9; x <= 9; ++x)
    for (int y = -9; y <= 9; ++y)
      for (int z = -9; z <= 9; ++z) {
        const Vec3i node(x, y, z);
        EXPECT_EQ(block_of_node(node) * block_width + node_at_place(place_in_block(node)), node);
      }
}

TEST(BlockTest, OctantsCountZFastest) {
  EXPECT_EQ(octant_offset(0), Vec3i(0, 0, 0));
  EXPECT_EQ(octant_offset(1), Vec3i(0, 0, 1));
  EXPECT_EQ(octant_offset(2), Vec3i(0, 1, 0));
  EXPECT_EQ(octant_offset(4), Vec3i(1, 0, 0));
  EXPECT_EQ(octant_offset(7), Vec3i(1, 1, 1));
}

/// Which blocks every rank touches and who owns what: a pure function of the seed, so that each rank knows all of it.
struct Scenario {
  Cuts cuts;
  std::vector<std::vector<BlockKey>> touched;  ///< By rank; sorted, without repeats.

  /// Some ranks touch nothing and some own nothing; blocks are touched by several ranks, or by others than their owner.
  Scenario(int ranks, std::uint32_t seed, int most_blocks) {
    Random random(seed, 1, 0);
    const auto block = [&] { return Vec3i((6 * random.uniform3()).cast<int>() - Vec3i::Constant(3)); };
    for (int cut = 1; cut < ranks; ++cut) cuts.at.push_back(key_of(block()));
    std::sort(cuts.at.begin(), cuts.at.end());
    for (int r = 0; r < ranks; ++r) {
      std::set<BlockKey> keys;
      const int count = random.uniform() < 0.25 ? 0 : static_cast<int>(most_blocks * random.uniform());
      for (int k = 0; k < count; ++k) keys.insert(key_of(block()));
      touched.emplace_back(keys.begin(), keys.end());
    }
  }

  std::vector<BlockKey> owned_by(int rank) const {
    std::set<BlockKey> keys;
    for (const auto& list : touched)
      for (const BlockKey key : list)
        if (cuts.owner(key) == rank) keys.insert(key);
    return {keys.begin(), keys.end()};
  }
  std::vector<BlockKey> ghosts_of(int rank) const {
    std::vector<BlockKey> keys;
    for (const BlockKey key : touched[rank])
      if (cuts.owner(key) != rank) keys.push_back(key);
    return keys;
  }
};

/// Calls check(scenario, map) for several scenarios, among them ones with fewer blocks than ranks and with none at all.
template <class Check>
void for_all_scenarios(Check&& check) {
  const Comm comm = Comm::world();
  for (const int most_blocks : {120, 3, 1})
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", at most " << most_blocks << " blocks");
      const Scenario scenario(comm.size(), seed, most_blocks);
      const BlockMap map(comm, scenario.cuts, scenario.touched[comm.rank()]);
      check(scenario, map);
    }
}

TEST(BlockMapTest, OwnersHoldAllTouchedBlocksAndRanksTheGhostsThatTheyTouch) {
  const int rank = Comm::world().rank();
  for_all_scenarios([&](const Scenario& scenario, const BlockMap& map) {
    const std::vector<BlockKey> owned = scenario.owned_by(rank), ghosts = scenario.ghosts_of(rank);
    EXPECT_EQ(map.owned(), static_cast<int>(owned.size()));
    std::vector<BlockKey> expected = owned;
    expected.insert(expected.end(), ghosts.begin(), ghosts.end());
    EXPECT_EQ(std::vector(map.keys().begin(), map.keys().end()), expected);
    EXPECT_EQ(map.size(), static_cast<int>(expected.size()));
    EXPECT_EQ(map.forest().owned(), owned.size());
    EXPECT_EQ(map.forest().ghosts(), ghosts.size());
  });
}

TEST(BlockMapTest, BlocksAreFoundByKeyAndByPlace) {
  for_all_scenarios([](const Scenario&, const BlockMap& map) {
    for (int b = 0; b < map.size(); ++b) {
      EXPECT_EQ(map.find(map.block(b)), b);
      EXPECT_EQ(key_of(map.block(b)), map.keys()[b]);
      EXPECT_EQ(map.first_node(b), 4 * map.block(b));
      EXPECT_EQ(map.octants(map.block(b))[0], b);
    }
    for (int x = -4; x <= 4; ++x)
      for (int y = -4; y <= 4; ++y)
        for (int z = -4; z <= 4; ++z) {
          const Vec3i block(x, y, z);
          const auto at = std::find(map.keys().begin(), map.keys().end(), key_of(block));
          const int expected = at == map.keys().end() ? -1 : static_cast<int>(at - map.keys().begin());
          EXPECT_EQ(map.find(block), expected);
          for (int o = 0; o < 8; ++o) EXPECT_EQ(map.octants(block - octant_offset(o))[o], expected);
        }
  });
}

/// A whole number that names one component of one node and a rank; sums of a few of them are exact.
Real named(const Vec3i& node, int component, int rank) {
  return ((((node.x() + 50) * 100.0 + node.y() + 50) * 100.0 + node.z() + 50) * 4 + component) * 10 + rank;
}

template <class Visit>
void for_each_value(NodeField& field, const BlockMap& map, Visit&& visit) {
  for (int b = 0; b < map.size(); ++b)
    for (int place = 0; place < nodes_per_block; ++place)
      for (int c = 0; c < NodeField::width; ++c)
        visit(field.block(b)[place * NodeField::width + c], b, map.first_node(b) + node_at_place(place), c);
}

TEST(BlockMapTest, GhostNodesBecomeCopiesOfTheSameNodeOfTheOwner) {
  for_all_scenarios([](const Scenario&, const BlockMap& map) {
    NodeField field("field", "1");
    field.reset(map.size());
    for_each_value(field, map, [&](Real& value, int b, const Vec3i& node, int c) {
      value = b < map.owned() ? named(node, c, 0) : -1;
    });
    map.forest().update_ghosts(field.view());
    int wrong = 0;
    for_each_value(field, map,
                   [&](Real& value, int, const Vec3i& node, int c) { wrong += value != named(node, c, 0); });
    EXPECT_EQ(wrong, 0);
  });
}

TEST(BlockMapTest, OwnersReceiveTheSumOverAllRanksThatTouchTheBlock) {
  const Comm comm = Comm::world();
  for_all_scenarios([&](const Scenario& scenario, const BlockMap& map) {
    NodeField field("field", "1");
    field.reset(map.size());
    const auto touches = [&](int rank, int b) {
      return std::binary_search(scenario.touched[rank].begin(), scenario.touched[rank].end(), map.keys()[b]);
    };
    for_each_value(field, map, [&](Real& value, int b, const Vec3i& node, int c) {
      if (touches(comm.rank(), b)) value = named(node, c, comm.rank());
    });
    map.forest().sum_to_owners(field.view());
    int wrong = 0;
    for_each_value(field, map, [&](Real& value, int b, const Vec3i& node, int c) {
      Real expected = 0;
      for (int r = 0; b < map.owned() && r < comm.size(); ++r)
        if (touches(r, b)) expected += named(node, c, r);
      wrong += value != expected;
    });
    EXPECT_EQ(wrong, 0);
  });
}

TEST(BlockMapTest, ReplacesAnOlderMap) {
  const Comm comm = Comm::world();
  BlockMap map;
  EXPECT_EQ(map.size(), 0);
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    const Scenario scenario(comm.size(), seed, 40);
    map = BlockMap(comm, scenario.cuts, scenario.touched[comm.rank()]);
    EXPECT_EQ(map.owned(), static_cast<int>(scenario.owned_by(comm.rank()).size()));
    NodeField field("field", "1");
    field.reset(map.size());
    map.forest().sum_to_owners(field.view());  // the graph fits the numbering
  }
}

TEST(NodeFieldTest, ResetForgetsAndKeepsBlocksApart) {
  NodeField field("field", "1");
  field.reset(3);
  EXPECT_EQ(field.blocks(), 3);
  EXPECT_EQ(field.block(1) - field.block(0), 64 * 4);
  EXPECT_EQ(field.view().rows, 3u);
  EXPECT_EQ(field.view().row_bytes, 64u * 4 * 8);
  EXPECT_EQ(reinterpret_cast<Real*>(field.view().row(2)), field.block(2));
  std::fill(field.block(0), field.block(0) + 3 * NodeField::row, 7.0);
  field.reset(2);
  EXPECT_EQ(field.blocks(), 2);
  EXPECT_TRUE(std::all_of(field.block(0), field.block(0) + 2 * NodeField::row, [](Real v) { return v == 0; }));
}

/// A number for each cell of a block.
struct CellNumber : CellKey {
  static constexpr Label label{"cell_number", "1", Keep::work};
};

TEST(LayerTest, HasTheFieldsThatKeysDeclare) {
  Layer layer;
  layer.add<CellNumber>();
  layer.reset(3);
  EXPECT_EQ(layer.get<NodeVelocity>().view().row_bytes, 64u * 4 * 8);
  EXPECT_EQ(layer.get<CellNumber>().view().row_bytes, 64u * 8);
  EXPECT_EQ(layer.get<CellNumber>().view().rows, 3u);
  EXPECT_EQ(layer.get<CellNumber>().view().label.name, "cell_number");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(layer.get<NodeInertia>().block(1)) % line_bytes, 0u);
  EXPECT_GE(layer.bytes(), 3u * 64 * (4 + 4 + 1) * 8);
}

TEST(LayerTest, CellsOfAllNeighbourBlocksTravelWithNodesInOneMessage) {
  const Comm comm = Comm::world();
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    const Scenario scenario(comm.size(), seed, 20);
    std::set<BlockKey> wide;  // with all 26 neighbours
    for (const BlockKey key : scenario.touched[comm.rank()])
      for (int n = 0; n < 27; ++n) wide.insert(key_of(block_of(key) + Vec3i(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1)));
    const std::vector<BlockKey> touched(wide.begin(), wide.end());
    const BlockMap map(comm, scenario.cuts, touched);
    Layer layer;
    layer.add<CellNumber>();
    layer.reset(map.size());
    CellField& cells = layer.get<CellNumber>();
    NodeField& nodes = layer.get<NodeVelocity>();
    nodes.reset(map.size());
    cells.reset(map.size());
    for (int b = 0; b < map.owned(); ++b)
      for (int place = 0; place < nodes_per_block; ++place) {
        const Vec3i at = map.first_node(b) + node_at_place(place);
        cells.block(b)[place] = named(at, 0, 0);
        nodes.block(b)[place * NodeField::width + 2] = named(at, 2, 0);
      }
    const std::vector<ColumnView> both{nodes.view(), cells.view()};
    map.forest().update_ghosts(both);
    int wrong = 0, seen = 0;
    for (const BlockKey key : scenario.touched[comm.rank()])
      for (int n = 0; n < 27; ++n) {
        const int b = map.find(block_of(key) + Vec3i(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1));
        ASSERT_GE(b, 0);
        for (int place = 0; place < nodes_per_block; ++place, ++seen) {
          const Vec3i at = map.first_node(b) + node_at_place(place);
          wrong += cells.block(b)[place] != named(at, 0, 0);
          wrong += nodes.block(b)[place * NodeField::width + 2] != named(at, 2, 0);
        }
      }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(seen, static_cast<int>(scenario.touched[comm.rank()].size()) * 27 * nodes_per_block);
  }
}

}  // namespace
}  // namespace weft
