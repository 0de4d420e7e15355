#include "run/strand_impulses.hpp"

namespace weft {

StrandImpulses::StrandImpulses(const Comm& comm, const Scene& scene) : comm_(comm), scene_(scene) {
  for (const auto& of_body : scene.step.impulses)
    if (of_body && !impulses_)  // the same for all bodies
      impulses_.emplace(
          comm,
          ImpulseSettings{.iterations = of_body->iterations, .averaging = of_body->averaging, .swept = of_body->swept});
}

/// Numbers of segments and vertices go on from body to body, in the order of the scene.
StrandImpulses::Ground StrandImpulses::ground(Real dt) const {
  Ground ground;
  std::int64_t first_number = 0, first_id = 0;
  for (const Strands& strands : strands_) {
    const MeshBody& body = body_of(strands);
    const std::size_t first_vertex = ground.x.size();
    ground.first_vertex.push_back(first_vertex);
    const auto x = body.points().get<Position>();
    const auto v = strands.motion->velocities();
    const std::vector<Real> lightness = strands.motion->lightness(dt);
    ground.x.insert(ground.x.end(), x.begin(), x.end());
    ground.v.insert(ground.v.end(), v.begin(), v.end());
    ground.lightness.insert(ground.lightness.end(), lightness.begin(), lightness.end());
    if (scene_.step.impulses[strands.motion->body()])
      add_segments(strands, first_number, first_id, first_vertex, ground);
    first_number += body.counts().elements;
    first_id += body.counts().vertices;
  }
  ground.impulses.assign(ground.x.size(), Vec3::Zero());
  return ground;
}

void StrandImpulses::add_segments(const Strands& strands, std::int64_t first_number, std::int64_t first_id,
                                  std::size_t first_vertex, Ground& ground) const {
  const ImpulsesDeck& impulses = *scene_.step.impulses[strands.motion->body()];
  const auto rest = body_of(strands).points().get<RestPosition>();
  const auto id = body_of(strands).points().get<Id>();
  for (const StrandSegment& segment : strands.segments) {
    MovingSegment& moving = ground.meeting.emplace_back();
    auto& vertices = ground.vertices_of_meeting.emplace_back();
    for (const std::size_t end : {0u, 1u}) {
      const auto row = static_cast<std::size_t>(segment.rows[end]);
      vertices[end] = static_cast<std::int32_t>(first_vertex + row);
      moving.x[end] = ground.x[first_vertex + row];
      moving.rest[end] = rest[row];
      moving.lightness[end] = ground.lightness[first_vertex + row];
      moving.vertices[end] = first_id + static_cast<std::int64_t>(id[row]);
    }
    moving.number = first_number + segment.number;
    moving.strand = first_number + segment.strand;
    moving.distance = impulses.distance;
    moving.friction = impulses.friction;
  }
}

void StrandImpulses::limit_stretches(Real dt, Ground& ground) const {
  for (std::size_t m = 0; m < strands_.size(); ++m) {
    const auto& limit = scene_.step.stretch_limits[strands_[m].motion->body()];
    if (!limit) continue;
    std::vector<LimitedSegment> segments;
    for (const StrandSegment& segment : strands_[m].segments) segments.push_back({segment.rows, segment.length});
    const std::size_t first = ground.first_vertex[m];
    limit_stretch(segments, *limit, std::span(ground.x).subspan(first), std::span(ground.lightness).subspan(first), dt,
                  std::span(ground.v).subspan(first), std::span(ground.impulses).subspan(first));
  }
}

void StrandImpulses::meet(Real dt, Ground& ground) {
  if (impulses_) counts_ = impulses_->act(ground.meeting, ground.vertices_of_meeting, dt, ground.v, ground.impulses);
}

/// Impulses and forces of a step act together, so that power goes with the mean of the velocities before and after it.
void StrandImpulses::correct(Real dt) {
  for (Strands& strands : strands_)
    if (strands.segments.empty()) strands.segments = body_of(strands).strand_segments();
  Ground all = ground(dt);
  limit_stretches(dt, all);
  meet(dt, all);
  limit_stretches(dt, all);
  Real gained = 0;
  for (std::size_t m = 0; m < strands_.size(); ++m) {
    OwnMotion& motion = *strands_[m].motion;
    const std::size_t first = all.first_vertex[m], count = motion.velocities().size();
    motion.push(dt, std::span(all.impulses).subspan(first, count));
    const auto before = body_of(strands_[m]).points().get<Velocity>();
    const auto after = motion.velocities();
    for (std::size_t r = 0; r < count; ++r) gained += all.impulses[first + r].dot(before[r] + after[r]) / 2;
  }
  energy_taken_ = -comm_.sum(gained);
}

}  // namespace weft
