// Contact of layers at nodes: closed forms of one node, and what pairs and triples keep.

#include "weft/coupling/layer_contact.hpp"

#include <gtest/gtest.h>

#include "support/random_matrices.hpp"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace weft {
namespace {

using test::MatrixSource;

constexpr Real dt = 0.01;

TEST(ContactImpulseTest, SlidesWithinTheCone) {
  const Vec3 n(0, 1, 0);
  const Real m = 2;
  // Approach 3 along n, 1 across: all is stopped while friction 1/3 holds.
  EXPECT_TRUE(contact_impulse(Vec3::Zero(), {1, 3, 0}, n, 0, m, 0.5).isApprox(Vec3(-2, -6, 0), 1e-14));
  EXPECT_TRUE(contact_impulse(Vec3::Zero(), {1, 3, 0}, n, 0, m, 0.1).isApprox(Vec3(-0.6, -6, 0), 1e-14));
  EXPECT_TRUE(contact_impulse(Vec3::Zero(), {1, -3, 0}, n, 0, m, 0.5).isZero(0));
}

TEST(ContactImpulseTest, LetsSurfacesClose) {
  const Vec3 n(0, 1, 0);
  EXPECT_TRUE(contact_impulse(Vec3::Zero(), {0, 3, 0}, n, 2, 1, 0).isApprox(Vec3(0, -1, 0), 1e-14));
  EXPECT_TRUE(contact_impulse(Vec3::Zero(), {0, 3, 0}, n, 4, 1, 0).isZero(0));
}

TEST(ContactImpulseTest, WhatIsRememberedIsGivenBackWhenLayersPart) {
  const Vec3 n(0, 1, 0), before(0, -5, 0);
  EXPECT_TRUE(contact_impulse(before, {0, 0, 0}, n, 0, 1, 0).isApprox(before, 1e-14));
  EXPECT_TRUE(contact_impulse(before, {0, -2, 0}, n, 0, 1, 0).isApprox(Vec3(0, -3, 0), 1e-14));
  EXPECT_TRUE(contact_impulse(before, {0, -7, 0}, n, 0, 1, 0).isZero(0));
}

/// Layers with one block each, on one rank, whose nodes have mass, velocity and normals at random.
struct Layers {
  std::vector<std::unique_ptr<BlockMap>> maps;
  std::vector<std::unique_ptr<Layer>> nodes;
  std::vector<MeetingLayer> meeting;

  explicit Layers(std::vector<bool> has_contact_points) {
    const std::array<BlockKey, 1> key{key_of(Vec3i::Zero())};
    for (std::size_t l = 0; l < has_contact_points.size(); ++l) {
      maps.push_back(std::make_unique<BlockMap>(Comm(MPI_COMM_SELF), Cuts{}, key));
      Layer& layer = *nodes.emplace_back(std::make_unique<Layer>());
      layer.add<NodeNormal>();
      if (has_contact_points[l]) {
        layer.add<NodeMemory>();
        layer.add<NodeOffset>();
        layer.add<NodeFacing>();
        layer.add<NodeFacingAcross>();
        layer.add<NodeMeeting>();
      }
      layer.reset(1);
      layer.get<NodeVelocity>().reset(1);
      layer.get<NodeNormal>().reset(1);
      meeting.push_back({maps.back().get(), &layer, has_contact_points[l]});
    }
    contact.emplace(has_contact_points.size(),
                    std::vector<Real>(has_contact_points.size() * has_contact_points.size(), 0.3));
    contact->find(meeting);
    for (std::size_t l = 0; l < nodes.size(); ++l) {
      MatrixSource random(static_cast<std::uint32_t>(l));
      for (int place = 0; place < nodes_per_block; ++place) {
        const auto row = [&](NodeField& field) { return field.block(0) + place * NodeField::width; };
        row(nodes[l]->get<NodeInertia>())[0] = 1 + random.vector().cwiseAbs()[0];
        Vec3::Map(row(nodes[l]->get<NodeVelocity>())) = random.vector();
        row(nodes[l]->get<NodeNormal>())[0] = 2;
        Vec3::Map(row(nodes[l]->get<NodeNormal>()) + 1) = random.vector().normalized();
        if (has_contact_points[l]) Vec3::Map(row(nodes[l]->get<NodeMemory>()) + 1) = random.vector();
      }
    }
  }

  Real mass(std::size_t l, int place) const { return nodes[l]->get<NodeInertia>().block(0)[place * NodeField::width]; }
  Vec3 velocity(std::size_t l, int place) const {
    return Vec3::Map(nodes[l]->get<NodeVelocity>().block(0) + place * NodeField::width);
  }
  Vec3 momentum(int place) const {
    Vec3 sum = Vec3::Zero();
    for (std::size_t l = 0; l < nodes.size(); ++l) sum += mass(l, place) * velocity(l, place);
    return sum;
  }
  Real energy(int place) const {
    Real sum = 0;
    for (std::size_t l = 0; l < nodes.size(); ++l) sum += mass(l, place) * velocity(l, place).squaredNorm() / 2;
    return sum;
  }
  Vec3 memory(int place) const {
    Vec3 sum = Vec3::Zero();
    for (const auto& layer : meeting)
      if (layer.has_contact_points)
        sum += dt * Vec3::Map(layer.nodes->get<NodeMemory>().block(0) + place * NodeField::width + 1);
    return sum;
  }
  std::optional<LayerContact> contact;
};

TEST(LayerContactTest, TwoAndThreeLayersKeepMomentumAndGainNoEnergy) {
  for (const std::size_t count : {2u, 3u}) {
    Layers layers(std::vector<bool>(count, false));
    std::vector<Vec3> momenta;
    std::vector<Real> energies;
    for (int place = 0; place < nodes_per_block; ++place) {
      momenta.push_back(layers.momentum(place));
      energies.push_back(layers.energy(place));
    }
    layers.contact->exchange(layers.meeting, 0.1, dt);
    int changed = 0;
    for (int place = 0; place < nodes_per_block; ++place) {
      const auto p = static_cast<std::size_t>(place);
      EXPECT_LT((layers.momentum(place) - momenta[p]).norm(), 1e-14) << count;
      EXPECT_LE(layers.energy(place), energies[p] * (1 + 1e-14)) << count;
      changed += layers.energy(place) < 0.99 * energies[p] ? 1 : 0;
    }
    EXPECT_GT(changed, nodes_per_block / 4);
  }
}

/// Whatever points remember: it is given back, and impulses are opposite.
TEST(LayerContactTest, LayersWithContactPointsKeepWhatTheyHadWithoutMemory) {
  for (const std::vector<bool>& kinds :
       {std::vector{true, false}, std::vector{true, true}, std::vector{false, true, true}}) {
    Layers layers(kinds);
    std::vector<Vec3> momenta;
    for (int place = 0; place < nodes_per_block; ++place)
      momenta.push_back(layers.momentum(place) - layers.memory(place));
    layers.contact->exchange(layers.meeting, 0.1, dt);
    for (int place = 0; place < nodes_per_block; ++place)
      EXPECT_LT((layers.momentum(place) - momenta[static_cast<std::size_t>(place)]).norm(), 1e-14);
  }
}

/// Beside edges nodes see two faces of each body; those that face the other one say how near they are.
TEST(LayerContactTest, EdgesCloseByTheGapBetweenTheirFaces) {
  Layers layers({true, true});
  constexpr Real dx = 0.1, gap = 0.03;
  const int place = 21;  // of a node with all coordinates
  const Vec3 node = dx * (layers.meeting[0].map->first_node(0) + node_at_place(place)).cast<Real>();
  const Vec3 side(0, 1, 0);
  for (std::size_t l = 0; l < 2; ++l) {
    const auto set = [&](NodeField& field, const Vec3& value) {
      field.block(0)[place * NodeField::width] = 2;
      Vec3::Map(field.block(0) + place * NodeField::width + 1) = 2 * value;
    };
    const Vec3 end(l == 0 ? 1 : -1, 0, 0), on_end = node + (l == 0 ? 0.02 : 0.02 + gap) * Vec3::UnitX();
    const Vec3 on_side = node + 0.04 * side;
    Layer& nodes = *layers.nodes[l];
    set(nodes.get<NodeNormal>(), (end + side) / 2);
    set(nodes.get<NodeFacing>(), (end.cwiseAbs2() + side.cwiseAbs2()) / 2);
    set(nodes.get<NodeFacingAcross>(), Vec3::Zero());
    set(nodes.get<NodeOffset>(), (end.dot(on_end) * end + side.dot(on_side) * side) / 2);
    set(nodes.get<NodeMemory>(), Vec3::Zero());
    Vec3::Map(nodes.get<NodeVelocity>().block(0) + place * NodeField::width) = l == 0 ? 1000 * Vec3::UnitX() : side;
  }
  layers.contact->exchange(layers.meeting, dx, dt);
  EXPECT_NEAR((layers.velocity(0, place) - layers.velocity(1, place)).x(), (gap - 0.1 * dx) / dt, 1e-9);
}

TEST(LayerContactTest, TwoLayersDoNotApproachEachOtherAfterwards) {
  Layers layers({false, false});
  layers.contact->exchange(layers.meeting, 0.1, dt);
  for (int place = 0; place < nodes_per_block; ++place) {
    const auto normal = [&](std::size_t l) {
      return Vec3::Map(layers.nodes[l]->get<NodeNormal>().block(0) + place * NodeField::width + 1);
    };
    const Vec3 n = (normal(0) - normal(1)).normalized();
    EXPECT_LT((layers.velocity(0, place) - layers.velocity(1, place)).dot(n), 1e-14);
  }
}

}  // namespace
}  // namespace weft
