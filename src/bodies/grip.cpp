#include "weft/bodies/grip.hpp"

#include "weft/parallel/send.hpp"

#include <algorithm>

namespace weft {

Grip grip_of(std::int64_t element, const Stencil& sum) {
  Grip grip{element, {}, {}, 0, {}};
  for (std::size_t k = 0; k < sum.rows.size(); ++k) grip.vertices.push_back({sum.rows[k], {sum.weights[k], 0, 0}});
  return grip;
}

Grip grip_of(const HeldSum& sum) {
  Grip grip = grip_of(sum.element, sum.stencil);
  for (std::size_t k = 0; k < sum.edge.rows.size(); ++k) grip.vertices[k].weights[1] = sum.edge.weights[k];
  grip.values = {sum.rest, sum.total, sum.axis.x(), sum.axis.y(), sum.axis.z()};
  return grip;
}

HeldAim aim_of(const Grip& grip) {
  const auto& v = grip.values;
  return {v[0], v[1], Vec3(v[2], v[3], v[4])};
}

HeldSum held_sum_of(const Grip& grip) {
  HeldSum sum{aim_of(grip), {grip.rows, {}}, {grip.rows, {}}, grip.element};
  for (const Grip::Vertex& vertex : grip.vertices) {
    sum.stencil.weights.push_back(vertex.weights[0]);
    sum.edge.weights.push_back(vertex.weights[1]);
  }
  return sum;
}

Grip grip_of(std::int64_t element, const SegmentEnd& end) {
  const Vec3 &t = end.tangent, &u = end.director;
  return {element,
          {t.x(), t.y(), t.z(), u.x(), u.y(), u.z(), end.is_last ? 1.0 : 0.0},
          {{end.points[0], {1, 0, 0}}, {end.points[1], {1, 0, 0}}},
          0,
          {}};
}

SegmentEnd segment_end_of(const Grip& grip) {
  const auto& v = grip.values;
  return {{grip.rows[0], grip.rows[1]}, Vec3(v[0], v[1], v[2]), Vec3(v[3], v[4], v[5]), v[6] != 0};
}

Grip grip_of(const Sample& sample, Real value) {
  Grip grip{sample.element, {value}, {}, 0, {}};
  for (std::size_t k = 0; k < sample.rows.size(); ++k)
    grip.vertices.push_back({sample.rows[k], {sample.value[k], sample.d1[k], sample.d2[k]}});
  return grip;
}

Grip grip_of(std::int64_t element, std::int32_t vertex, const Vec3& force) {
  return {element, {force.x(), force.y(), force.z()}, {{vertex, {1, 0, 0}}}, 0, {}};
}

Vec3 force_of(const Grip& grip) { return {grip.values[0], grip.values[1], grip.values[2]}; }

std::vector<Grip> send_grips(const Comm& comm, std::span<const Grip> grips, std::span<const int> to) {
  struct Head {
    std::int64_t element, order, vertices;
    std::array<Real, 7> values;
  };
  std::vector<Head> heads;
  std::vector<Grip::Vertex> vertices;
  std::vector<int> to_of_vertex;
  for (std::size_t g = 0; g < grips.size(); ++g) {
    const Grip& grip = grips[g];
    heads.push_back({grip.element, grip.order, static_cast<std::int64_t>(grip.vertices.size()), grip.values});
    vertices.insert(vertices.end(), grip.vertices.begin(), grip.vertices.end());
    to_of_vertex.insert(to_of_vertex.end(), grip.vertices.size(), to[g]);
  }
  // Both arrive in the same order: by source, and of each as they were sent.
  vertices = send(comm, vertices, to_of_vertex);
  std::vector<Grip> arrived;
  auto next = vertices.begin();
  for (const Head& head : send(comm, heads, to)) {
    arrived.push_back({head.element, head.values, {next, next + head.vertices}, head.order, {}});
    next += head.vertices;
  }
  std::sort(arrived.begin(), arrived.end(), precedes);
  return arrived;
}

}  // namespace weft
