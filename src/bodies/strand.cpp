// Bodies of strands.

#include "weft/bodies/strand.hpp"

#include "bodies/nearest_weights.hpp"
#include "weft/base/check.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/bodies/membrane.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/bodies/rods.hpp"
#include "weft/parallel/send.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace weft {
namespace {

// State of segments.
struct SegmentTangent : Field<Vec3> {
  static constexpr Label label{"tangent", "1"};
};
/// Of the first half axis of the section.
struct SegmentDirector : Field<Vec3> {
  static constexpr Label label{"section_director", "1"};
};
/// Of the joint at its first vertex.
struct JointTwist : Field<Real> {
  static constexpr Label label{"joint_twist", "rad"};
};

// As drawn.
struct ShownDirector : Field<Vec3> {
  static constexpr Label label{"section_director", "1", Keep::shown};
};
struct Bend : Field<Real> {
  static constexpr Label label{"bend", "1/m", Keep::shown};  ///< Curvature.
};
struct TwistRate : Field<Real> {
  static constexpr Label label{"twist_rate", "rad/m", Keep::shown};
};

/// A segment at rest; vertices and segments are numbers in the whole.
struct SegmentAtRest {
  std::int64_t number, first;  ///< Its own, and that of the first one of its strand.
  std::int64_t before;         ///< The segment that its first vertex joins it to; -1: none.
  std::array<std::int32_t, 2> vertices;
  Real length;  ///< [m].
  Vec3 tangent, director;
  Real twist;               ///< Of that joint as it is made [rad].
  Real natural1, natural2;  ///< Of that joint without moment [1].
  Real natural_twist;       ///< [rad].
  bool is_last;             ///< Of an open strand: its second vertex is the end.
};

/// Contact points of a segment, at most: each vertex is one, of the segment that begins or ends there.
constexpr std::int64_t most_contact_points = 2;

/// The joint of a clamp's frame and a segment, over half of its length:
///   lb = l / 2, without natural curvature and twist.
class StrandClamp final : public Clamp {
 public:
  struct End {
    SegmentEnd at;         ///< Over rows.
    std::int32_t segment;  ///< Row.
    JointStiffness stiffness;
    std::optional<JointStiffness> viscosity;  ///< In place of stiffness.
    std::optional<JointStiffness> damping{};  ///< Of the substep, if that is known.
  };
  StrandClamp(const Freedoms& freedoms, std::size_t vertices, std::size_t turns, std::vector<End> ends, Real gyration,
              const RigidMotion& motion, Real until, std::span<const Vec3> positions, const Table& segments)
      : freedoms_(freedoms),
        vertices_(vertices),
        turns_(turns),
        ends_(std::move(ends)),
        gyration_(gyration),
        motion_(motion),
        until_(until),
        positions_(positions),
        segments_(segments) {}

  void begin_substep(Real h, const Motion& start) override {
    for (End& end : ends_) {
      if (!end.viscosity) continue;
      const auto& [joint, unused, e, f, turn_e, turn_f] = joint_of(end, start);
      const JointShape<Real> shape(joint, e, f, turn_e, turn_f);
      end.damping = JointStiffness{end.viscosity->bend1 / h,   end.viscosity->bend2 / h,   end.viscosity->twist / h,
                                   shape.limited() * shape.k1, shape.limited() * shape.k2, shape.twist};
    }
  }

  Real energy(const Motion& motion) const override {
    Real sum = 0;
    if (!holds_at(motion.time)) return sum;
    for (const End& end : ends_)
      for (const Joined& joined : joints_of(end, motion)) sum += joined.energy().value;
    return sum;
  }
  void add_force(const Motion& motion, Load& force) const override {
    if (!holds_at(motion.time)) return;
    for (const End& end : ends_) {
      const auto [by_edge, by_turn] = derivative(end, motion);
      force.points(vertices_)[end.at.points[0]] += by_edge;
      force.points(vertices_)[end.at.points[1]] -= by_edge;
      force.block(turns_)[end.segment] -= by_turn / gyration_;
    }
  }
  std::unique_ptr<Linear> linearise(const Motion& motion) const override { return linear_at(motion, false); }
  std::unique_ptr<Linear> linearise_definite(const Motion& motion) const override { return linear_at(motion, true); }
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override {
    const auto u = du.points(vertices_);
    for (std::size_t k = 0; k < ends_.size(); ++k) {
      const auto& [points, tangent, director, is_last] = ends_[k].at;
      Vec7 of_end;
      of_end << u[points[0]], u[points[1]], du.block(turns_)[ends_[k].segment];
      const Vec7 forces = static_cast<const AtEnds&>(linear).stiffness[k] * of_end;
      change.points(vertices_)[points[0]] -= forces.head<3>();
      change.points(vertices_)[points[1]] -= forces.segment<3>(3);
      change.block(turns_)[ends_[k].segment] -= forces[6];
    }
  }
  void add_tangent(const Linear& linear, Tangent& tangent) const override {
    for (std::size_t k = 0; k < ends_.size(); ++k) {
      std::vector<std::int32_t> numbers;
      for (const std::int32_t point : ends_[k].at.points)
        for (int c = 0; c < 3; ++c) numbers.push_back(freedoms_.at(vertices_, static_cast<std::size_t>(point)) + c);
      numbers.push_back(freedoms_.at(turns_, static_cast<std::size_t>(ends_[k].segment)));
      const Mat7& stiffness = static_cast<const AtEnds&>(linear).stiffness[k];  // symmetric
      tangent.add(numbers, {stiffness.data(), static_cast<std::size_t>(stiffness.size())});
    }
  }

  Reaction reaction(const Motion& motion) const override {
    Reaction sum;
    if (!holds_at(motion.time)) return sum;
    for (const End& end : ends_) {
      const auto [by_edge, by_turn] = derivative(end, motion);
      const Vec3 e = edge(end, motion);
      sum.torque -= e.cross(by_edge) + by_turn * e.normalized();
    }
    return sum;
  }

 private:
  using Vec7 = Eigen::Matrix<Real, 7, 1>;
  using Mat7 = Eigen::Matrix<Real, 7, 7>;
  struct AtEnds : Linear {
    std::vector<Mat7> stiffness;
  };
  /// A joint with the clamp's frame in place of one of its segments.
  struct Joined {
    RodJoint joint;
    JointStiffness stiffness;
    Vec3 e, f;
    Real turn_e, turn_f;

    JointEnergy energy() const { return joint_energy(joint, stiffness, e, f, turn_e, turn_f); }
    Mat8 hessian(bool definite) const { return joint_hessian(joint, stiffness, e, f, turn_e, turn_f, definite); }
  };
  struct Derivative {
    Vec3 by_edge;
    Real by_turn;
  };

  bool holds_at(Real time) const { return time <= (1 + same_time) * until_; }
  Vec3 edge(const End& end, const Motion& motion) const {
    const auto u = motion.u.points(vertices_);
    const auto [a, b] = end.at.points;
    return positions_[b] + u[b] - positions_[a] - u[a];
  }
  Joined joint_of(const End& end, const Motion& motion) const {
    const Mat3 R = motion_.at(motion.time).rotation;
    const auto segment = static_cast<std::size_t>(end.segment);
    const RodFrame clamp{R * end.at.tangent, R * end.at.director};
    const RodFrame own{segments_.get<SegmentTangent>()[segment], segments_.get<SegmentDirector>()[segment]};
    const auto between = [](const RodFrame& e, const RodFrame& f) {
      return RodJoint{e, f, angle_between(transported(e.director, e.tangent, f.tangent), f.director, f.tangent)};
    };
    const Real turn = motion.u.block(turns_)[segment] / gyration_;
    if (end.at.is_last) return {between(own, clamp), end.stiffness, edge(end, motion), clamp.tangent, turn, 0};
    return {between(clamp, own), end.stiffness, clamp.tangent, edge(end, motion), 0, turn};
  }
  /// The elastic one, and that of damping.
  std::vector<Joined> joints_of(const End& end, const Motion& motion) const {
    std::vector<Joined> joints{joint_of(end, motion)};
    if (!end.damping) return joints;
    joints.push_back(joints.front());
    joints.back().stiffness = *end.damping;
    return joints;
  }
  /// Of the energy by the edge and the turn of the segment.
  Derivative derivative(const End& end, const Motion& motion) const {
    Vec8 gradient = Vec8::Zero();
    for (const Joined& joined : joints_of(end, motion)) gradient += joined.energy().gradient;
    if (end.at.is_last) return {gradient.head<3>(), gradient[6]};
    return {gradient.segment<3>(3), gradient[7]};
  }
  std::unique_ptr<Linear> linear_at(const Motion& motion, bool definite) const {
    auto linear = std::make_unique<AtEnds>();
    for (const End& end : ends_) {
      Mat7& to = linear->stiffness.emplace_back(Mat7::Zero());
      if (!holds_at(motion.time)) continue;
      Mat8 hessian = Mat8::Zero();
      for (const Joined& joined : joints_of(end, motion)) hessian += joined.hessian(definite);
      const int at = end.at.is_last ? 0 : 3, turn = end.at.is_last ? 6 : 7;
      const Mat3 by_edges = hessian.block<3, 3>(at, at);
      const Vec3 mixed = hessian.block<3, 1>(at, turn) / gyration_;
      to.block<3, 3>(0, 0) = to.block<3, 3>(3, 3) = by_edges;
      to.block<3, 3>(0, 3) = to.block<3, 3>(3, 0) = -by_edges;
      to.block<3, 1>(0, 6) = -mixed;
      to.block<3, 1>(3, 6) = mixed;
      to.row(6) = to.col(6).transpose().eval();
      to(6, 6) = hessian(turn, turn) / (gyration_ * gyration_);
    }
    return linear;
  }

  const Freedoms& freedoms_;
  std::size_t vertices_, turns_;
  std::vector<End> ends_;
  Real gyration_;
  RigidMotion motion_;
  Real until_;
  std::span<const Vec3> positions_;
  const Table& segments_;
};

class StrandBody final : public MeshBody {
 public:
  StrandBody(const StrandDescription& of, const MeshCounts& counts, std::vector<SegmentAtRest> segments)
      : MeshBody(of.name, Carrier::own, counts),
        half_axis_(of.half_axis),
        viscosity_(of.viscosity),
        at_rest_(std::move(segments)),
        rods_(of.section, {}, {}, 0) {
    segments_ = Table::with<Id, Mass, TurnVelocity, SegmentTangent, SegmentDirector, JointTwist>();
    if (!of.meets_grid) return;
    if (!of.continuum) {
      meet_by(std::make_unique<ContactPoints>(false));
      return;
    }
    const Real density = of.continuum->packing * of.density;
    auto continuum = make_continuum(of.name, Chosen<DruckerPrager>{of.continuum->law}, density);
    continuum->points().add<TentativeVelocity>();
    continuum_ = continuum.get();
    meet_by(std::move(continuum));
  }

  Roles roles() override {
    Roles roles = MeshBody::roles();
    if (continuum_ != nullptr) roles.trial = continuum_->roles().trial;
    return roles;
  }
  std::span<const ContactStencil> contact_stencils() const override { return contact_; }
  /// They act on vertices.
  void let_touch_walls() override { let_points_touch_walls(); }
  StepLimit limit_from(std::size_t first_row) override {
    StepLimit limit = MeshBody::limit_from(first_row);
    if (continuum_ != nullptr) limit.wave_speed = continuum_->limit_from(0).wave_speed;
    return limit;
  }
  Real elastic_energy() const override {
    return MeshBody::elastic_energy() + (continuum_ != nullptr ? continuum_->elastic_energy() : 0);
  }
  using Body::observe;
  Table observe(std::size_t first, std::size_t count) const override {
    return continuum_ != nullptr ? continuum_->observe(first, count) : MeshBody::observe(first, count);
  }

  Table* turning() override { return &segments_; }
  Vec3 angular_momentum_of_turns() const override {
    Vec3 sum = Vec3::Zero();
    for (std::size_t s = 0; s < segments_.rows(); ++s)
      sum += segments_.get<Mass>()[s] * rods_.section().gyration * segments_.get<TurnVelocity>()[s] *
             segments_.get<SegmentTangent>()[s];
    return sum;
  }
  std::unique_ptr<Clamp> clamp(const Freedoms& freedoms, std::size_t vertices, std::size_t turns,
                               std::span<const Grip> ends, const RigidMotion& motion, Real until) const override {
    std::vector<StrandClamp::End> clamped;
    for (const Grip& grip : ends) {
      const auto segment = segment_of(grip.element);
      const Real lb = rods_.segments()[segment].length / 2;
      const auto over = [lb](const RodSection& section) {
        return JointStiffness{section.bend1 / lb, section.bend2 / lb, section.twist / lb, 0, 0, 0};
      };
      StrandClamp::End& end = clamped.emplace_back(
          StrandClamp::End{segment_end_of(grip), static_cast<std::int32_t>(segment), over(rods_.section()), {}});
      if (viscosity_) end.viscosity = over(*viscosity_);
    }
    return std::make_unique<StrandClamp>(freedoms, vertices, turns, std::move(clamped), rods_.section().gyration,
                                         motion, until, x(), segments_);
  }

  std::vector<StrandSegment> strand_segments() const override {
    std::vector<StrandSegment> segments;
    for (std::size_t s = 0; s < at_rest_.size(); ++s)
      segments.push_back({at_rest_[s].number, at_rest_[s].first, rods_.segments()[s].rows, rods_.segments()[s].length});
    return segments;
  }

  bool is_viscous() const override { return viscosity_.has_value(); }
  void begin_substep(Real h, const TrialShape& start) override {
    if (damping_) damping_->resist_changes_of(start, state(), h);
  }
  Real frequency_at(std::span<const Vec3> x) const override { return damped(rods_.frequency(x, {})); }

  Real trial_energy(const Parts& parts, const TrialShape& at) const override {
    return (parts.elastic ? rods_.energy(at, state()) : 0) + (parts.viscous ? damping_->energy(at, state()) : 0);
  }
  void trial_response(const Parts& parts, const TrialShape& at, const TrialForces& to) const override {
    if (parts.elastic) rods_.add_force(at, state(), to);
    if (parts.viscous) damping_->add_force(at, state(), to);
  }
  void add_stiffness(const Parts& parts, const TrialShape& at, bool definite, MeshStiffness& stiffness) const override {
    if (parts.elastic) rods_.add_stiffness(at, state(), definite, stiffness);
    if (parts.viscous) damping_->add_stiffness(at, state(), definite, stiffness);
  }
  void weigh_elements(const Vec3& gravity, std::span<Vec3> f) const override {
    for (std::size_t s = 0; s < rods_.segments().size(); ++s)
      for (const std::int32_t row : rods_.segments()[s].rows) f[row] += rods_.mass(s) / 2 * gravity;
  }

  Picture picture() const override {
    Picture picture{2, {}, Table::with<Stretch, Bend, TwistRate, ShownDirector>(), &forest()};
    const auto& segments = rods_.segments();
    picture.fields.resize(segments.size());
    for (std::size_t s = 0; s < segments.size(); ++s) {
      const auto& rows = segments[s].rows;
      picture.cells.insert(picture.cells.end(), rows.begin(), rows.end());
      const RodStrain strain = rods_.strain(s, x(), state());
      picture.fields.get<Stretch>()[s] = (x()[rows[1]] - x()[rows[0]]).norm() / segments[s].length;
      picture.fields.get<Bend>()[s] = strain.curvature;
      picture.fields.get<TwistRate>()[s] = strain.twist;
      picture.fields.get<ShownDirector>()[s] = segments_.get<SegmentDirector>()[s];
    }
    return picture;
  }

 protected:
  std::vector<ElementRows> element_rows() override {
    std::vector<ElementRows> rows = MeshBody::element_rows();
    rows.push_back({&segments_, 1, "_segments"});
    return rows;
  }
  std::vector<std::int64_t> elements() const override {
    std::vector<std::int64_t> numbers;
    for (const SegmentAtRest& segment : at_rest_) numbers.push_back(segment.number);
    return numbers;
  }
  std::vector<std::int32_t> needed_vertices() const override {
    std::vector<std::int32_t> needed;
    for (const SegmentAtRest& segment : at_rest_)
      needed.insert(needed.end(), segment.vertices.begin(), segment.vertices.end());
    sort_unique(needed);
    return needed;
  }
  std::vector<std::int64_t> first_vertices() const override {
    std::vector<std::int64_t> vertices;
    for (const SegmentAtRest& segment : at_rest_) vertices.push_back(segment.vertices.front());
    return vertices;
  }
  /// A strand.
  std::int64_t unit_of(std::int64_t element) const override { return at_rest_[segment_of(element)].first; }
  void send_elements(const Comm& comm, std::span<const int> to) override {
    at_rest_ = send(comm, at_rest_, to);
    std::ranges::sort(at_rest_, {}, &SegmentAtRest::number);
  }
  std::size_t bytes_of_elements() const override { return bytes_of(at_rest_) + rods_.bytes(); }
  std::vector<std::int64_t> rows_of_elements(const Table& table) const override {
    std::vector<std::int64_t> rows(at_rest_.size(), 1);
    if (&table != &segments_)
      for (std::size_t s = 0; s < rows.size(); ++s) rows[s] += at_rest_[s].is_last ? 1 : 0;
    return rows;
  }
  void add_mass(std::span<Real> of_vertices, std::span<Real>) const override {
    for (std::size_t s = 0; s < rods_.segments().size(); ++s)
      for (const std::int32_t row : rods_.segments()[s].rows) of_vertices[row] += rods_.mass(s) / 2;
  }

  void rest_elements() override {
    for (std::size_t s = 0; s < at_rest_.size(); ++s) {
      segments_.get<Mass>()[s] = rods_.mass(s);
      segments_.get<SegmentTangent>()[s] = at_rest_[s].tangent;
      segments_.get<SegmentDirector>()[s] = at_rest_[s].director;
      segments_.get<JointTwist>()[s] = at_rest_[s].twist;
    }
    if (continuum_ != nullptr) continuum_->rest(0, 0);  // masses follow with the piece
    if (touches_walls()) std::ranges::fill(points_.get<ContactExtent>(), ball_extent(half_axis_));
  }
  void spin_elements(const Vec3& angular_velocity) override {
    for (std::size_t s = 0; s < at_rest_.size(); ++s)
      segments_.get<TurnVelocity>()[s] = rods_.section().gyration * angular_velocity.dot(at_rest_[s].tangent);
  }
  /// Until strands are whole on one rank, joints between ranks are left out.
  void take_piece() override {
    std::vector<RodSegment> segments;
    std::vector<RodJointAtRest> joints;
    for (const SegmentAtRest& segment : at_rest_) {
      const auto row = static_cast<std::int32_t>(segments.size());
      segments.push_back({{row_of(segment.vertices[0]), row_of(segment.vertices[1])}, segment.length});
      if (segment.before >= 0 && has_segment(segment.before))
        joints.push_back({{static_cast<std::int32_t>(segment_of(segment.before)), row},
                          segment.natural1,
                          segment.natural2,
                          segment.natural_twist});
    }
    if (viscosity_) damping_.emplace(*viscosity_, segments, joints, points_.rows());
    rods_ = Rods(rods_.section(), std::move(segments), std::move(joints), points_.rows());
    contact_.clear();
    if (contact_points() == nullptr) return;
    for (const SegmentAtRest& segment : at_rest_)
      for (std::size_t k = 0; k < (segment.is_last ? 2 : 1); ++k) {
        const std::int32_t row = row_of(segment.vertices[k]);
        contact_.push_back({{row, row, row}, {1, 0, 0}});
      }
  }
  void turn_elements(std::span<const Real> turns) override {
    rods_.move({x(), {}, turns}, state(), segments_.get<SegmentTangent>(), segments_.get<SegmentDirector>(),
               segments_.get<JointTwist>());
  }
  void commit_elements(Real, std::span<const Mat3>) override {}
  StepLimit limit_of_elements() override {
    StepLimit limit;
    limit.frequency = damped(rods_.frequency(x(), state().twist));
    return limit;
  }

  void place_samples(std::span<Vec3>) const override {}
  void add_force_at_sample(std::size_t, const Vec3&, std::span<Vec3>) const override { WEFT_ENSURE(false); }
  void place_contact_points(std::span<Vec3> places, std::span<Vec3>) const override {
    std::ranges::transform(contact_, places.begin(), [this](const ContactStencil& point) { return point.of(x()); });
  }
  void weigh_contact_points(std::span<Real> mass) const override {
    const auto of_vertices = points_.get<Mass>();
    std::ranges::transform(contact_, mass.begin(),
                           [&](const ContactStencil& point) { return of_vertices[point.rows[0]]; });
  }
  Real half_thickness(std::size_t) const override { return half_axis_; }
  std::optional<Real> half_thickness_at_vertices() const override { return half_axis_; }

 private:
  std::span<const Vec3> x() const { return points_.get<Position>(); }
  /// Damping, at a rate of omega^2 times the ratio of viscosity and modulus at most, counts as half of it.
  Real damped(Real omega) const {
    if (!viscosity_) return omega;
    const RodSection& section = rods_.section();
    const Real ratio = std::max(
        {viscosity_->stretch / section.stretch, viscosity_->bend1 / section.bend1, viscosity_->twist / section.twist});
    return omega + omega * omega * ratio / 2;
  }
  RodState state() const {
    return {segments_.get<SegmentTangent>(), segments_.get<SegmentDirector>(), segments_.get<JointTwist>()};
  }
  auto found(std::int64_t number) const {
    return std::ranges::lower_bound(at_rest_, number, {}, &SegmentAtRest::number);
  }
  bool has_segment(std::int64_t number) const {
    const auto at = found(number);
    return at != at_rest_.end() && at->number == number;
  }
  /// The row of a segment that this rank has.
  std::size_t segment_of(std::int64_t number) const {
    WEFT_ENSURE(has_segment(number));
    return static_cast<std::size_t>(found(number) - at_rest_.begin());
  }

  Real half_axis_;  ///< [m].
  std::optional<RodSection> viscosity_;
  std::vector<SegmentAtRest> at_rest_;  ///< Of this rank, by number.
  Rods rods_;                           ///< The same, over rows,
  std::optional<Rods> damping_;         ///< and what resists changes since a substep began.
  Table segments_;
  std::vector<ContactStencil> contact_;  ///< Whole strands on a rank have them in the order of their vertices.
  PointBody* continuum_ = nullptr;       ///< Contact points with stress; null without.
};

/// The axis that is most across a direction, z before y before x, made across it.
Vec3 most_across(const Vec3& t) {
  Vec3 axis = Vec3::UnitZ();
  if (std::abs(t.z()) > std::numbers::sqrt2 / 2)
    axis = std::abs(t.x()) < std::abs(t.y()) ? Vec3::UnitX() : Vec3::UnitY();
  return (axis - axis.dot(t) * t).normalized();
}

class StrandSource final : public MeshSource {
 public:
  explicit StrandSource(const StrandDescription& of)
      : MeshSource(of.name, Carrier::own), of_(of), all_(of.part.value_or(CurveNumbers::of(of.curves))) {
    for (std::int64_t c = 0; c < of_.curves.count(); ++c) add_strand(c);
  }

  MeshCounts counts() const override {
    return {all_.points, all_.segments, 0, of_.meets_grid ? most_contact_points : 0};
  }
  std::string census() const override {
    return fmt::format("{} strands, {} segments, {} vertices", all_.curves, all_.segments, all_.points);
  }
  std::optional<ElementRange> held() const override {
    if (!of_.part) return {};
    return ElementRange{all_.first_segment, all_.first_segment + static_cast<std::int64_t>(segments_.size())};
  }
  VertexValues rest_positions() const override { return VertexValues(of_.curves.points, all_.first_point); }
  Box bounds() const override { return all_.bounds; }

  Sites sites(const ElementRange& range) const override {
    Sites sites;
    for (std::int64_t e = range.begin; e < range.end; ++e) {
      const SegmentAtRest& segment = segment_of(e);
      add_site(segment, 0, segment.before < 0, sites);
      if (segment.is_last) add_site(segment, 1, true, sites);
    }
    return sites;
  }

  Site nearest(const ElementRange& range, const Vec3& x) const override {
    Site nearest;
    Real least = std::numeric_limits<Real>::infinity();
    for (std::int64_t e = range.begin; e < range.end; ++e) {
      const auto& [a, b] = segment_of(e).vertices;
      const std::array<Real, 2> weights = nearest_weights(std::array{rest_positions()[a], rest_positions()[b]}, x);
      Stencil place{{a, b}, {weights.begin(), weights.end()}};
      const Vec3 where = place.of(rest_positions());
      if (!((where - x).norm() < least)) continue;
      least = (where - x).norm();
      nearest.place = std::move(place);
      nearest.where = where;
      nearest.element = e;
    }
    return nearest;
  }

  std::vector<Sample> surface_samples(const ElementRange& range) const override {
    std::vector<Sample> samples;
    for (std::int64_t e = range.begin; e < range.end; ++e) {
      const SegmentAtRest& segment = segment_of(e);
      Sample& sample = samples.emplace_back();
      sample.rows.assign(segment.vertices.begin(), segment.vertices.end());
      sample.value.assign(2, 0.5);
      for (const std::int32_t vertex : segment.vertices) sample.where += rest_positions()[vertex] / 2;
      sample.mass = of_.section.mass_per_length * segment.length;
      sample.face = sample.element = e;
    }
    return samples;
  }
  std::vector<Sample> side_samples(const ElementRange&) const override { return {}; }

  std::unique_ptr<MeshBody> body_of(const ElementRange& range) const override {
    const auto at = [&](std::int64_t number) { return segments_.begin() + (number - all_.first_segment); };
    return std::make_unique<StrandBody>(of_, counts(), std::vector<SegmentAtRest>(at(range.begin), at(range.end)));
  }

 private:
  const SegmentAtRest& segment_of(std::int64_t number) const {
    return segments_[static_cast<std::size_t>(number - all_.first_segment)];
  }
  void add_site(const SegmentAtRest& segment, std::size_t which, bool is_end, Sites& sites) const {
    Site& site = sites.vertices.emplace_back();
    site.point = segment.vertices[which];
    site.element = segment.number;
    site.place = {{site.point}, {1}};
    site.where = rest_positions()[site.point];
    if (is_end) site.end = SegmentEnd{segment.vertices, segment.tangent, segment.director, which == 1};
  }

  /// Segments with directors that turn about the strand by its natural twist alone, and joints without moment.
  void add_strand(std::int64_t c) {
    const auto begin = static_cast<std::int32_t>(all_.first_point + of_.curves.offsets[c]);
    const auto end = static_cast<std::int32_t>(all_.first_point + of_.curves.offsets[c + 1]);
    const bool is_closed = of_.curves.closed[static_cast<std::size_t>(c)];
    const auto first = segments_.size();
    for (std::int32_t a = begin; a < (is_closed ? end : end - 1); ++a)
      add_segment(c, first, {a, a + 1 < end ? a + 1 : begin});
    segments_.back().is_last = !is_closed;
    Real along = 0;
    for (std::size_t s = first; s < segments_.size(); ++s) {
      SegmentAtRest& segment = segments_[s];
      segment.director = s == first ? most_across(segment.tangent)
                                    : transported(segments_[s - 1].director, segments_[s - 1].tangent, segment.tangent);
    }
    // a ring's last director comes back turned: all have a share of that
    const SegmentAtRest &last = segments_.back(), &front = segments_[first];
    Real whole = 0;
    for (std::size_t s = first; s < segments_.size(); ++s) whole += segments_[s].length;
    Real rate = of_.natural_twist;
    if (is_closed)
      rate += std::remainder(angle_between(transported(last.director, last.tangent, front.tangent), front.director,
                                           front.tangent) -
                                 of_.natural_twist * whole,
                             2 * std::numbers::pi) /
              whole;
    for (std::size_t s = first; s < segments_.size(); ++s) {
      SegmentAtRest& segment = segments_[s];
      const Real angle = rate * along;
      along += segment.length / 2 + (s + 1 < segments_.size() ? segments_[s + 1].length / 2 : 0);
      segment.director = turned(segment.director, segment.tangent, std::cos(angle), std::sin(angle));
    }
    if (is_closed) segments_[first].before = segments_.back().number;
    for (std::size_t s = first; s < segments_.size(); ++s)
      if (segments_[s].before >= 0) join(c, rate, segment_of(segments_[s].before), segments_[s]);
  }

  void add_segment(std::int64_t c, std::size_t first, const std::array<std::int32_t, 2>& vertices) {
    const Vec3 edge = rest_positions()[vertices[1]] - rest_positions()[vertices[0]];
    const Real length = edge.norm();
    require(length > 0, ExitCode::geometry,
            fmt::format("curve {} has a segment without length: remove the repeated point", all_.first_curve + c));
    const std::int64_t number = all_.first_segment + static_cast<std::int64_t>(segments_.size());
    const std::int64_t of_first = all_.first_segment + static_cast<std::int64_t>(first);
    segments_.push_back({number, of_first, number > of_first ? number - 1 : -1, vertices, length, edge / length,
                         Vec3::Zero(), 0, 0, 0, 0, false});
  }

  /// The joint of two segments, as it is made and without moment. rate: of the twist as it is made [rad/m].
  void join(std::int64_t c, Real rate, const SegmentAtRest& e, SegmentAtRest& f) {
    const Real lb = (e.length + f.length) / 2, cosine = e.tangent.dot(f.tangent);
    const auto place = [&] {
      const Vec3& x = rest_positions()[f.vertices[0]];
      return fmt::format("curve {} at [{:.4g}, {:.4g}, {:.4g}]", all_.first_curve + c, x.x(), x.y(), x.z());
    };
    require(cosine > -std::numbers::sqrt3 / 2, ExitCode::geometry,
            fmt::format("{} folds back by more than 150 degrees. Make its segments shorter, or smooth the curve.",
                        place()));
    f.twist = rate * lb;
    const JointShape<Real> shape({{e.tangent, e.director}, {f.tangent, f.director}, f.twist}, e.tangent, f.tangent, 0,
                                 0);
    f.twist = shape.twist;
    require(
        shape.kb.norm() * of_.half_axis <= lb, ExitCode::geometry,
        fmt::format("{} bends with a radius of {:.3g} m, less than half of its thickness, {:.3g} m. Make it thinner, "
                    "or smooth the curve.",
                    place(), lb / shape.kb.norm(), of_.half_axis));
    f.natural1 = of_.naturally_straight ? 0 : shape.k1;
    f.natural2 = of_.naturally_straight ? 0 : shape.k2;
    f.natural_twist = of_.naturally_straight ? of_.natural_twist * lb : f.twist;
  }

  StrandDescription of_;
  CurveNumbers all_;
  std::vector<SegmentAtRest> segments_;  ///< Held ones.
};

}  // namespace

std::unique_ptr<MeshSource> make_strands(const StrandDescription& strands) {
  return std::make_unique<StrandSource>(strands);
}

}  // namespace weft
