#include "run/strand_impulses.hpp"

namespace weft {

StrandImpulses::StrandImpulses(const Comm& comm, const Scene& scene) : comm_(comm), scene_(scene) {
  for (const auto& of_body : scene.step.impulses)
    if (of_body && !impulses_)  // the same for all bodies
      impulses_.emplace(
          comm,
          ImpulseSettings{.iterations = of_body->iterations, .averaging = of_body->averaging, .swept = of_body->swept});
}

StrandImpulses::Ground StrandImpulses::ground(Real dt) const {
  Ground ground;
  std::size_t vertices = 0;
  for (const Strands& strands : strands_) vertices += body_of(strands).points().rows();
  for (std::vector<Vec3>* column : {&ground.x, &ground.v}) column->reserve(vertices);
  ground.lightness.reserve(vertices);
  for (const Strands& strands : strands_) {
    ground.first_vertex.push_back(ground.x.size());
    const auto x = body_of(strands).points().get<Position>();
    const auto v = strands.motion->velocities();
    const std::vector<Real> lightness = strands.motion->lightness(dt);
    ground.x.insert(ground.x.end(), x.begin(), x.end());
    ground.v.insert(ground.v.end(), v.begin(), v.end());
    ground.lightness.insert(ground.lightness.end(), lightness.begin(), lightness.end());
  }
  ground.impulses.assign(ground.x.size(), Vec3::Zero());
  return ground;
}

/// Numbers of segments and vertices go on from body to body, in the order of the scene.
std::vector<MeetingSegment> StrandImpulses::meeting() const {
  std::vector<MeetingSegment> all;
  std::int64_t first_number = 0, first_id = 0;
  std::int32_t first_row = 0;
  for (const Strands& strands : strands_) {
    const MeshBody& body = body_of(strands);
    if (const std::optional<StrandImpulseSettings>& impulses = scene_.step.impulses[strands.motion->body()]) {
      const auto rest = body.points().get<RestPosition>();
      const auto id = body.points().get<Id>();
      const std::vector<StrandSegment> segments = body.strand_segments();
      all.reserve(all.size() + segments.size());
      for (const StrandSegment& segment : segments) {
        const auto [a, b] = segment.rows;
        all.push_back({{first_row + a, first_row + b},
                       {first_id + static_cast<std::int64_t>(id[a]), first_id + static_cast<std::int64_t>(id[b])},
                       first_number + segment.number,
                       first_number + segment.strand,
                       {rest[a], rest[b]},
                       impulses->distance,
                       impulses->friction});
      }
    }
    first_row += static_cast<std::int32_t>(body.points().rows());
    first_number += body.counts().elements;
    first_id += body.counts().vertices;
  }
  return all;
}

void StrandImpulses::limit_stretches(Real dt, Ground& ground) {
  for (std::size_t m = 0; m < strands_.size(); ++m) {
    auto& [motion, limited] = strands_[m];
    const auto& limit = scene_.step.stretch_limits[motion->body()];
    if (!limit) continue;
    if (limited.empty())
      for (const StrandSegment& segment : body_of(strands_[m]).strand_segments())
        limited.push_back({segment.rows, segment.length});
    const std::size_t first = ground.first_vertex[m];
    limit_stretch(limited, *limit, std::span(ground.x).subspan(first), std::span(ground.lightness).subspan(first), dt,
                  std::span(ground.v).subspan(first), std::span(ground.impulses).subspan(first));
  }
}

void StrandImpulses::meet(Real dt, Ground& ground) {
  if (impulses_) counts_ = impulses_->act(dt, ground.vertices(), [this] { return meeting(); });
}

/// Impulses and forces of a step act together, so that power goes with the mean of the velocities before and after it.
void StrandImpulses::correct(Real dt) {
  Ground all = ground(dt);
  limit_stretches(dt, all);
  meet(dt, all);
  limit_stretches(dt, all);
  if (impulses_) counts_.crossings = impulses_->stop_crossings(all.vertices());
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
