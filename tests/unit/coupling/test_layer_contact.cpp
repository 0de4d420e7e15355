// Contact of layers at nodes: closed forms of one node, and what pairs and triples keep.

#include "weft/coupling/layer_contact.hpp"

#include <gtest/gtest.h>

#include "support/random_matrices.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
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

/// One block of a surface, whose first node sees faces with normals and areas.
struct Surface {
  BlockMap map{Comm(MPI_COMM_SELF), Cuts{}, std::array<BlockKey, 1>{key_of(Vec3i::Zero())}};
  Layer nodes;
  NodeField far_at_rest{"far_at_rest", "m^3"};

  explicit Surface(const std::vector<std::pair<Vec3, Real>>& faces) {
    nodes.add<NodeNormal>();
    nodes.add<NodeFacing>();
    nodes.add<NodeFacingAcross>();
    nodes.add<NodeAtRest>();
    nodes.add<NodeSplit>();
    for (NodeField* field : {&nodes.get<NodeNormal>(), &nodes.get<NodeFacing>(), &nodes.get<NodeFacingAcross>(),
                             &nodes.get<NodeAtRest>(), &far_at_rest})
      field->reset(1);
    for (const auto& [n, area] : faces) {
      add(nodes.get<NodeNormal>(), area, n);
      add(nodes.get<NodeFacing>(), area, n.cwiseProduct(n));
      add(nodes.get<NodeFacingAcross>(), area, {n.y() * n.z(), n.z() * n.x(), n.x() * n.y()});
    }
    split_by_normals(map, nodes);
  }
  static void add(NodeField& field, Real area, const Vec3& value) {
    field.block(0)[0] += area;
    Vec3::Map(field.block(0) + 1) += area * value;
  }
  void split_by_places(const Vec3& near, const Vec3& far) {
    add(nodes.get<NodeAtRest>(), 2, near);
    add(far_at_rest, 2, far);
    weft::split_by_places(map, dx, nodes, far_at_rest);
  }
  bool has_two_sides() const { return blocks_with_two_sides(nodes.get<NodeSplit>())[0] != 0; }
  /// Of a point that is marked by y, on the near side.
  Real share(const Vec3& y) {
    const Real* const split = nodes.get<NodeSplit>().block(0);
    return std::clamp(split[0] + Vec3::Map(split + 1).dot(y), Real(0), Real(1));
  }
  static constexpr Real dx = 0.1;
};

TEST(SidesTest, OneSideKeepsAllAndOppositeFacesPart) {
  const Vec3 n = Vec3(1, 2, -2) / 3, across = Vec3(2, 1, 2) / 3;
  Surface edge({{n, 1}, {across, 0.7}});
  EXPECT_FALSE(edge.has_two_sides());
  EXPECT_EQ(edge.share(-n), 1);
  Surface plate({{n, 1}, {-n, 0.8}, {across, 0.01}});
  EXPECT_TRUE(plate.has_two_sides());
  EXPECT_NEAR(plate.share(n), 1, 1e-3);  // the axis of all is near n
  EXPECT_NEAR(plate.share(-n), 0, 1e-3);
  EXPECT_NEAR(plate.share(across), 0.5, 0.02);
}

TEST(SidesTest, PlacesAtRestTellWhatFacesAcross) {
  const Vec3 n = Vec3(1, 2, -2) / 3, across = Vec3(2, 1, 2) / 3, place(3, -1, 2);
  Surface fold({{n, 1}, {-n, 0.9}});
  fold.split_by_places(place + 0.5 * across, place - 0.5 * across);
  for (const Real beyond : {0.3, 0.5, 2.0}) {
    EXPECT_NEAR(fold.share(place + beyond * across), 1, 1e-12);
    EXPECT_NEAR(fold.share(place - beyond * across), 0, 1e-12);
  }
  EXPECT_NEAR(fold.share(place + 3 * n), 0.5, 1e-12);
  EXPECT_NEAR(fold.share(place + 0.125 * across), 0.75, 1e-12);
}

TEST(SidesTest, ThinPartsHaveOneSideAtTheirEdges) {
  const Vec3 n = Vec3::UnitZ(), across = Vec3::UnitX(), place(3, -1, 2), half = 0.25 * Surface::dx * n;
  Surface edge({{n, 1}, {-n, 1}, {across, 1}});
  edge.split_by_places(place + half, place - half);
  EXPECT_EQ(edge.share(place - half), 1);
  Surface fold({{n, 1}, {-n, 1}, {across, 1}});
  fold.split_by_places(place + 20 * half, place - 20 * half);
  EXPECT_NEAR(fold.share(place - 20 * half), 0, 1e-12);
}

/// Grains may be on both sides, which they share; and alone a surface needs but one.
TEST(SidesTest, ThereAreTwoSidesBesideOtherSurfacesAlone) {
  for (const bool has_mass : {false, true})
    for (const bool has_surface : {false, true}) {
      Surface plate({{Vec3::UnitZ(), 1}, {-Vec3::UnitZ(), 1}}), other({{Vec3::UnitX(), 1}});
      Layer grains;
      grains.add<NodeNormal>();
      grains.get<NodeNormal>().reset(1);
      const std::vector<MeetingLayer> layers{
          {.map = &plate.map, .nodes = &grains, .has_contact_points = false, .is_thin = false, .layer = 0},
          {.map = &plate.map, .nodes = &plate.nodes, .has_contact_points = true, .is_thin = false, .layer = 1},
          {.map = &plate.map, .nodes = &other.nodes, .has_contact_points = true, .is_thin = false, .layer = 2}};
      LayerContact contact(3, std::vector<Real>(9, 0.3));
      contact.find(layers);
      Surface again({{Vec3::UnitZ(), 1}, {-Vec3::UnitZ(), 1}});  // find has marked its normals
      plate.nodes.get<NodeSplit>() = again.nodes.get<NodeSplit>();
      grains.get<NodeNormal>().block(0)[0] = has_mass ? 1 : 0;
      other.nodes.get<NodeNormal>().block(0)[0] = has_surface ? 1 : 0;
      contact.keep_whole(layers);
      EXPECT_EQ(plate.has_two_sides(), has_surface && !has_mass);
    }
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
      meeting.push_back({.map = maps.back().get(),
                         .nodes = &layer,
                         .has_contact_points = has_contact_points[l],
                         .is_thin = false,
                         .layer = l});
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
  void exchange() {
    contact->look(meeting, dx);
    contact->find_hits(Comm(MPI_COMM_SELF), meeting, dt);
    contact->exchange(meeting, dt);
  }
  static constexpr Real dx = 0.1;
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
    layers.exchange();
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
    layers.exchange();
    for (int place = 0; place < nodes_per_block; ++place)
      EXPECT_LT((layers.momentum(place) - momenta[static_cast<std::size_t>(place)]).norm(), 1e-14);
  }
}

/// A node 0.02 from a plane sees a mass whose middle is at a height above this. One that fills the space beyond should
/// be 0.018 farther than 0.03, and touches; it parts where its middle is inside by 0.1 dx. A sheet comes as near as it
/// is thick, sqrt(3) deviations (16.4b); one whose middle is inside parts.
TEST(LayerContactTest, SheetsTouchWhereTheyAre) {
  constexpr Real fast = 1000;
  struct Case {
    bool is_thin;
    Real height, deviation, approach, parts_by;
  };
  for (const auto& [is_thin, height, deviation, approach, parts_by] :
       {Case{false, 0.03, 0, 0, 0}, Case{false, -0.01, 0, 0, 0}, Case{false, -0.03, 0, 0, (0.03 - 0.01) / 2},
        Case{true, 0.03, 0, 0, 0}, Case{true, -0.01, 0, 0, 0.01 / 2}, Case{true, 0.03, 0, fast, -0.03 / dt},
        Case{true, 0.03, 0.01, fast, -(0.03 - std::sqrt(3) * 0.01) / dt}, Case{true, 0.03, 0.02, fast, 0}}) {
    Layers layers({true, false});
    const Vec3 z = Vec3::UnitZ();
    Layer &surface = *layers.nodes[0], &mass = *layers.nodes[1];
    mass.add<NodeMiddle>();
    mass.add<NodeSquares>();
    mass.add<NodeProducts>();
    for (NodeField* field : {&mass.get<NodeMiddle>(), &mass.get<NodeSquares>(), &mass.get<NodeProducts>()})
      field->reset(1);
    for (int place = 0; place < nodes_per_block; ++place) {
      const Vec3 node = Layers::dx * (layers.meeting[0].map->first_node(0) + node_at_place(place)).cast<Real>();
      const auto fill = [&](NodeField& field, Real weight, const Vec3& value) {
        field.block(0)[place * NodeField::width] = weight;
        Vec3::Map(field.block(0) + place * NodeField::width + 1) = weight * value;
      };
      fill(surface.get<NodeNormal>(), 2, z);
      fill(surface.get<NodeFacing>(), 2, z);
      fill(surface.get<NodeFacingAcross>(), 2, Vec3::Zero());
      fill(surface.get<NodeOffset>(), 2, (node.z() - 0.02) * z);
      fill(surface.get<NodeMemory>(), 0, Vec3::Zero());
      fill(mass.get<NodeNormal>(), 2, -(height - 0.02) / (0.25 * Layers::dx) * z);
      const Vec3 x = node + (height - 0.02) * z;
      fill(mass.get<NodeMiddle>(), 3, x);
      fill(mass.get<NodeSquares>(), 3, x.cwiseAbs2() + deviation * deviation * z);
      fill(mass.get<NodeProducts>(), 3, Vec3(x.y() * x.z(), x.z() * x.x(), x.x() * x.y()));
      Vec3::Map(surface.get<NodeVelocity>().block(0) + place * NodeField::width) = Vec3::Zero();
      Vec3::Map(mass.get<NodeVelocity>().block(0) + place * NodeField::width) = -approach * z;
    }
    for (MeetingLayer& layer : layers.meeting) layer.spread = 0.25;
    layers.meeting[0].frequency = 100;
    layers.meeting[1].is_thin = is_thin;
    layers.exchange();
    for (int place = 0; place < nodes_per_block; ++place) {
      const Real parting = (layers.velocity(1, place) - layers.velocity(0, place)).z();
      EXPECT_NEAR(parting, parts_by, 0.001) << height << ' ' << deviation;
    }
  }
}

/// A part of a surface at a node: its normal, a place on its plane from the node, and its area.
struct Face {
  Vec3 normal, place;
  Real area;
};

/// Two layers with surfaces that meet at one node without friction.
struct TwoSurfaces {
  static constexpr Real dx = Layers::dx;
  static constexpr int place = 21;  // of a node with all coordinates
  Layers layers{{true, true}};
  std::array<RigidVelocity, 2> moves, start;

  TwoSurfaces() {
    layers.contact.emplace(2, std::vector<Real>(4, 0));
    layers.contact->find(layers.meeting);
    for (std::size_t l : {0u, 1u}) {
      Layer& nodes = *layers.nodes[l];
      layers.meeting[l].moves = &moves[l];
      layers.meeting[l].start = &start[l];
      layers.meeting[l].spread = 0.25;
      layers.meeting[l].remembered = &nodes.get<NodeMemory>();
      nodes.add<NodeMiddle>();
      nodes.add<NodePlace>();
      nodes.add<NodeRebound>();
      nodes.get<NodeMiddle>().reset(1);
      for (int node = 0; node < nodes_per_block; ++node)
        if (node != place) nodes.get<NodeNormal>().block(0)[node * NodeField::width] = 0;
    }
  }
  Vec3 node() const { return dx * (layers.meeting[0].map->first_node(0) + node_at_place(place)).cast<Real>(); }
  /// middle: of the mass, from the node.
  void set(std::size_t l, const std::vector<Face>& faces, const Vec3& velocity, const Vec3& middle = Vec3::Zero()) {
    Real area = 0;
    Vec3 normal = Vec3::Zero(), offset = normal;
    Mat3 facing = Mat3::Zero();
    for (const Face& face : faces) {
      area += face.area;
      normal += face.area * face.normal;
      offset += face.area * face.normal.dot(node() + face.place) * face.normal;
      facing += face.area * face.normal * face.normal.transpose();
    }
    Layer& nodes = *layers.nodes[l];
    const auto fill = [](NodeField& field, Real weight, const Vec3& value) {
      field.block(0)[place * NodeField::width] = weight;
      Vec3::Map(field.block(0) + place * NodeField::width + 1) = value;
    };
    fill(nodes.get<NodeNormal>(), area, normal);
    fill(nodes.get<NodeFacing>(), area, facing.diagonal());
    fill(nodes.get<NodeFacingAcross>(), area, {facing(1, 2), facing(2, 0), facing(0, 1)});
    fill(nodes.get<NodeOffset>(), area, offset);
    fill(nodes.get<NodeMiddle>(), 2, 2 * (node() + middle));
    fill(nodes.get<NodeMemory>(), 0, Vec3::Zero());
    moves[l].velocity = start[l].velocity = velocity;
  }
  /// Of the first body; both remember forces that change the velocity of the first by so much, of the second opposite.
  void rebounds(Real restitution, Real remembered) {
    for (std::size_t l : {0u, 1u}) {
      layers.meeting[l].restitution = l == 0 ? restitution : 0;
      layers.meeting[l].slowest_hit = 1;
      Real* const force = layers.nodes[l]->get<NodeMemory>().block(0) + place * NodeField::width + 1;
      const Vec3 change = (l == 0 ? -1 : 1) * remembered * Vec3::UnitX();
      Vec3::Map(force) = layers.mass(l, place) / dt * change;
      moves[l].velocity = start[l].velocity + change;
    }
  }
  /// Where the node acts on the first body.
  Vec3 place_on_body() const {
    return Vec3::Map(layers.nodes[0]->get<NodePlace>().block(0) + place * NodeField::width);
  }
  /// Of the first relative to the second.
  Vec3 velocity_after() {
    layers.exchange();
    return layers.velocity(0, place) - layers.velocity(1, place);
  }
};

/// Beside edges nodes see two faces of each body; those that face the other one say how near they are. How much of its
/// side a node sees of each is no matter.
TEST(LayerContactTest, EdgesCloseByTheGapBetweenTheirFaces) {
  constexpr Real gap = 0.03;
  for (const Real side : {0.7, 1.0, 5.0}) {
    TwoSurfaces two;
    two.set(0, {{Vec3::UnitX(), {0.02, 0, 0}, 2}, {Vec3::UnitY(), {0, 0.04, 0}, side}}, {1000, 0, 0});
    two.set(1, {{-Vec3::UnitX(), {0.02 + gap, 0, 0}, 2}, {Vec3::UnitY(), {0, 0.04, 0}, 1}}, {0, 1, 0});
    EXPECT_LT((two.velocity_after() - Vec3((gap - 0.1 * two.dx) / dt, -1, 0)).norm(), 0.015 * 1000) << side;
  }
}

TEST(LayerContactTest, NodesTakeMemoryWhereSurfacesTouch) {
  const auto touch_with_gap = [](Real gap) {
    TwoSurfaces two;
    const Vec3 n = Vec3::UnitX();
    two.set(0, {{n, Vec3::Zero(), 1}}, Vec3::Zero());
    two.set(1, {{-n, (0.1 * two.dx + gap) * n, 1}}, Vec3::Zero());
    two.layers.contact->look(two.layers.meeting, two.dx);
    NodeField touch{"touch", "1"};
    touch.reset(1);
    two.layers.contact->mark_touch(0, touch);
    const Real elsewhere = touch.block(0)[(two.place + 1) * NodeField::width];
    return std::array{touch.block(0)[two.place * NodeField::width], elsewhere};
  };
  const auto [touching, elsewhere] = touch_with_gap(0);
  EXPECT_NEAR(touching, 1, 1e-12);
  EXPECT_GT(elsewhere, 0);
  EXPECT_LT(elsewhere, 0.01);
  EXPECT_NEAR(touch_with_gap(0.003 * TwoSurfaces::dx)[0], 0.5, 0.01);
  EXPECT_NEAR(touch_with_gap(0.5 * TwoSurfaces::dx)[0], elsewhere, 1e-3);
}

/// A flat surface says where an edge of the other one touches.
TEST(LayerContactTest, EdgesDoNotPloughOnFlatSurfaces) {
  TwoSurfaces two;
  two.set(0, {{Vec3::UnitX(), {0.02, 0, 0}, 2}}, {1000, 0, 0});
  two.set(1, {{-Vec3::UnitX(), {0.03, 0, 0}, 1}, {Vec3::UnitY(), {0, 0.04, 0}, 1}}, {0, 1, 0});
  const Vec3 after = two.velocity_after();
  EXPECT_NEAR(after.x(), 0, 1e-5 * 1000);
  EXPECT_NEAR(after.y(), -1, 5e-3 * 1000);  // edges have a share of a hundredth
}

TEST(LayerContactTest, SidesThatFaceAlikeDoNotMeet) {
  TwoSurfaces two;
  const Vec3 tilted = Vec3(1e-4, 1, 0).normalized();
  two.set(0, {{Vec3::UnitY(), {0, 0.04, 0}, 2}}, {1000, 0, 0});
  two.set(1, {{tilted, {0, 0.04, 0}, 1}}, Vec3::Zero());
  EXPECT_EQ(two.velocity_after(), Vec3(1000, 0, 0));
}

/// Nodes act on two rigid bodies at the same place, in the middle of what both have around it, where gaps are taken.
TEST(LayerContactTest, RigidBodiesMeetAtTheSamePlace) {
  constexpr Real slope = 0.1, gap = 0.03;
  const Vec3 tilted = Vec3(-1, slope, 0).normalized();  // the gap is wider by slope times y
  for (const auto& [first, second, y] : {std::array{0.0, 0.05, 0.05}, std::array{0.02, -0.03, -0.01},
                                         std::array{0.04, 0.04, 0.04}, std::array{0.04, 0.02, 0.036}}) {
    TwoSurfaces two;
    two.set(0, {{Vec3::UnitX(), {0, 0, 0}, 1}}, {1000, 0, 0}, {0, first, 0});
    two.set(1, {{tilted, {gap, 0, 0}, 1}}, Vec3::Zero(), {0, second, 0});
    const Vec3 after = two.velocity_after(), at = two.place_on_body() - two.node();
    const Vec3 n = (Vec3::UnitX() - tilted).normalized();    // both are flat
    EXPECT_NEAR(at.y(), y, 2e-3) << first << ' ' << second;  // across n, which is tilted a little
    const Vec3 aside = at - at.dot(n) * n;
    const Real of_first = aside.x() / n.x(), of_second = tilted.dot(aside - Vec3(gap, 0, 0)) / tilted.dot(-n);
    EXPECT_NEAR(at.dot(n), (of_second - of_first) / 2, 1e-12);  // between both
    EXPECT_NEAR(after.dot(n), (of_first + of_second - 0.1 * two.dx) / dt, 1e-9);
  }
}

/// What is of the one body is beside the other: together they cover less than a plane.
TEST(LayerContactTest, EdgesPassOneAnother) {
  constexpr Real plane = 0.75 * TwoSurfaces::dx * TwoSurfaces::dx;  // what a node sees of one that it lies on
  for (const Real covered : {0.4, 0.6}) {
    TwoSurfaces two;
    two.set(0, {{Vec3::UnitX(), {0, 0, 0}, covered * plane}, {Vec3::UnitY(), {0, 0.01, 0}, 0.1 * plane}}, {1000, 0, 0});
    two.set(1, {{-Vec3::UnitX(), {0, 0, 0}, covered * plane}, {-Vec3::UnitY(), {0, 0.01, 0}, 0.1 * plane}},
            Vec3::Zero());
    const Vec3 after = two.velocity_after();
    if (covered < 0.5) EXPECT_EQ(after, Vec3(1000, 0, 0));
    else EXPECT_LT(after.x(), 1);
  }
}

/// Hits are faster than the slowest, reach the other body in the step, and are not of bodies that touch already. Bodies
/// that are hit press until they do not approach, then they rebound.
TEST(LayerContactTest, RigidBodiesReboundFromHits) {
  struct Case {
    Real start, gap, remembered, after;
  };
  constexpr Real e = 0.4, nearest = 0.1 * TwoSurfaces::dx;
  for (const auto& [start, gap, remembered, after] :
       {Case{10, 0.05, 0, -10 * e}, Case{10, 0.05, 5, -10 * e}, Case{10, 0.05, 20, 0.05 / dt}, Case{0.9, 0.005, 0, 0.5},
        Case{4, 0.05, 0, 4}}) {
    TwoSurfaces two;
    two.set(0, {{Vec3::UnitX(), {0, 0, 0}, 2}}, {start, 0, 0});
    two.set(1, {{-Vec3::UnitX(), {gap + nearest, 0, 0}, 2}}, Vec3::Zero());
    two.rebounds(e, remembered);
    const Vec3 before = two.layers.mass(0, two.place) * Vec3(start, 0, 0);
    const bool is_hit = after < 0;
    EXPECT_NEAR(two.velocity_after().x(), is_hit ? 0 : after, 1e-12) << start << ' ' << gap << ' ' << remembered;
    EXPECT_EQ(two.layers.contact->any_hits(), is_hit);
    EXPECT_EQ(two.layers.contact->let_rebound(two.layers.meeting), is_hit);
    EXPECT_FALSE(two.layers.contact->let_rebound(two.layers.meeting));
    two.layers.contact->exchange(two.layers.meeting, dt);
    EXPECT_NEAR((two.layers.velocity(0, two.place) - two.layers.velocity(1, two.place)).x(), after, 1e-12);
    EXPECT_LT((two.layers.momentum(two.place) - before).norm(), 1e-13 * (1 + before.norm()));
    const Real* const rebound = two.layers.nodes[0]->get<NodeRebound>().block(0) + two.place * NodeField::width;
    EXPECT_EQ(rebound[0] < 0, is_hit);
  }
}

/// What falls within the step adds to what presses, not to what rebounds.
TEST(LayerContactTest, LoadsOfAStepDoNotRebound) {
  constexpr Real e = 0.4;
  TwoSurfaces two;
  two.set(0, {{Vec3::UnitX(), {0, 0, 0}, 2}}, {10, 0, 0});
  two.set(1, {{-Vec3::UnitX(), {0.05, 0, 0}, 2}}, Vec3::Zero());
  two.rebounds(e, 0);
  two.moves[0].velocity.x() += 1;
  two.velocity_after();
  two.layers.contact->let_rebound(two.layers.meeting);
  two.layers.contact->exchange(two.layers.meeting, dt);
  EXPECT_NEAR((two.layers.velocity(0, two.place) - two.layers.velocity(1, two.place)).x(), -10 * e, 1e-12);
}

/// Poisson's law: the impulse along the normal has a least size, and friction stops what it can.
TEST(ContactImpulseTest, ReboundsSlideWithinTheirCone) {
  const Vec3 n(0, 1, 0);
  EXPECT_TRUE(contact_impulse(Vec3::Zero(), {1, 3, 0}, n, 0, 2, 0.5, 8).isApprox(Vec3(-2, -8, 0), 1e-14));
  EXPECT_TRUE(contact_impulse(Vec3::Zero(), {1, 3, 0}, n, 0, 2, 0.1, 8).isApprox(Vec3(-0.8, -8, 0), 1e-14));
  EXPECT_TRUE(contact_impulse(Vec3(-1, -8, 0), {0.25, -4, 0}, n, 0, 2, 0.5, 8).isApprox(Vec3(-1.5, -8, 0), 1e-14));
  EXPECT_TRUE(contact_impulse(Vec3::Zero(), {0, 5, 0}, n, 0, 2, 0, 8).isApprox(Vec3(0, -10, 0), 1e-14));
}

TEST(LayerContactTest, TwoLayersDoNotApproachEachOtherAfterwards) {
  Layers layers({false, false});
  layers.exchange();
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
