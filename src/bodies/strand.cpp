// Bodies of strands.

#include "weft/bodies/strand.hpp"

#include "bodies/made_strand.hpp"
#include "bodies/nearest_weights.hpp"
#include "bodies/rods.hpp"
#include "bodies/segment_fields.hpp"
#include "bodies/strand_clamp.hpp"
#include "weft/base/check.hpp"
#include "weft/bodies/continuum.hpp"
#include "weft/bodies/membrane.hpp"
#include "weft/bodies/mesh_body.hpp"
#include "weft/parallel/send.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace weft {
namespace {

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
struct HalfAxis : Field<Real> {
  static constexpr Label label{"half_axis", "m", Keep::shown};  ///< Of the section, the larger one.
};

/// A segment; vertices and segments are numbers in the whole.
struct StrandElement {
  std::int32_t number;
  std::array<std::int32_t, 2> vertices;
  float size;                 ///< Of its section, over that of the body.
  std::uint32_t place : 31;   ///< In its strand.
  std::uint32_t is_last : 1;  ///< Of an open strand: its second vertex is the end.

  /// The first one of its strand.
  std::int64_t first() const { return number - std::int64_t(place); }
};

/// The run of `elements` from `at` that are a strand.
std::span<const StrandElement> strand_at(std::span<const StrandElement> elements, std::size_t at) {
  std::size_t end = at;
  while (end < elements.size() && elements[end].first() == elements[at].first()) ++end;
  return elements.subspan(at, end - at);
}
bool is_ring(std::span<const StrandElement> strand) { return strand.back().vertices[1] == strand.front().vertices[0]; }

/// Contact points of a segment, at most: each vertex is one, of the segment that begins or ends there.
constexpr std::int64_t most_contact_points = 2;

class StrandBody final : public MeshBody {
 public:
  StrandBody(const StrandDescription& of, const MeshCounts& counts, std::vector<StrandElement> elements)
      : MeshBody(of.name, Carrier::own, counts),
        half_axis_(of.half_axis),
        has_balanced_turns_(of.has_balanced_turns),
        viscosity_(of.viscosity),
        nature_{of.naturally_straight, of.natural_twist},
        elements_(std::move(elements)),
        rods_(of.section, {}, {}) {
    segments_ = Table::with<Id, Mass, TurnVelocity, SegmentTangent, SegmentDirector, JointTwist>();
    if (!of.meets_grid) return;
    if (!of.continuum) {
      meet_by(std::make_unique<ContactPoints>(false));
      return;
    }
    const Real density = of.continuum->packing * of.density;
    auto continuum = make_continuum(of.name, Chosen<DruckerPrager>{of.continuum->law}, density, true);
    continuum_ = continuum.get();
    meet_by(std::move(continuum));
  }

  Roles roles() override {
    Roles roles = MeshBody::roles();
    if (continuum_ != nullptr) roles.trial = continuum_->roles().trial;
    return roles;
  }
  bool contact_points_are_vertices() const override { return true; }
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
  bool has_balanced_turns() const override { return has_balanced_turns_; }
  void balance_turns(std::span<const Vec3> x, std::span<const TurnLink> clamps, std::span<Real> turns) const override {
    rods_.balance_turns(x, state(), damping_ ? &*damping_ : nullptr, clamps, turns);
  }
  Vec3 angular_momentum_of_turns() const override {
    Vec3 sum = Vec3::Zero();
    for (std::size_t s = 0; s < segments_.rows(); ++s)
      sum += segments_.get<Mass>()[s] * rods_.section(s).gyration * segments_.get<TurnVelocity>()[s] *
             segments_.get<SegmentTangent>()[s];
    return sum;
  }
  std::unique_ptr<Clamp> clamp(const Freedoms& freedoms, std::size_t vertices, std::size_t turns,
                               std::span<const Grip> ends, const RigidMotion& motion, Real until) const override {
    std::vector<StrandClamp::End> clamped;
    for (const Grip& grip : ends) {
      const auto segment = segment_of(grip.element);
      const Real lb = rods_.length(segment) / 2;
      const auto over = [lb](const RodSection& section) {
        return JointStiffness{section.bend1 / lb, section.bend2 / lb, section.twist / lb, 0, 0, 0};
      };
      const SegmentEnd at = segment_end_of(grip);
      const std::size_t next = at.is_last ? segment - 1 : segment + 1;  // its length, and the twist of that joint
      const bool is_alone = at.is_last ? elements_[segment].place == 0 : elements_[segment].is_last;
      const Real share = is_alone ? 0 : lb / (lb + rods_.length(next) / 2);
      const RodSection section = rods_.section(segment);
      StrandClamp::End& end = clamped.emplace_back(
          StrandClamp::End{at, static_cast<std::int32_t>(segment), share, section.gyration, over(section), {}});
      if (viscosity_) end.viscosity = over(viscosity_->scaled(elements_[segment].size));
    }
    return std::make_unique<StrandClamp>(freedoms, vertices, turns, std::move(clamped), motion, until, x(), segments_,
                                         !has_balanced_turns_);
  }

  std::vector<StrandSegment> strand_segments() const override {
    std::vector<StrandSegment> segments;
    segments.reserve(elements_.size());
    for (std::size_t s = 0; s < elements_.size(); ++s)
      segments.push_back({elements_[s].number, elements_[s].first(), rods_.rows(s), rods_.length(s)});
    return segments;
  }

  bool is_viscous() const override { return viscosity_.has_value(); }
  void begin_substep(Real h, const TrialShape& start) override {
    if (damping_) damping_->resist_changes_of(start, state(), h);
  }
  Real frequency_at(std::span<const Vec3> x) const override { return frequency(x, {}); }
  /// Of all vibrations that have this bound the strongest damped one is stiffened the most.
  Real stiffened(Real frequency, Real square) const override {
    if (!viscosity_) return std::hypot(frequency, std::sqrt(square));
    const auto [of_stretch, of_bending, of_twist] = damping_times();  // clamps bend and twist
    return damped_frequency(square, frequency + std::max(of_bending, of_twist) * square);
  }
  Real fastest_turn(std::span<const Vec3> v) const override {
    Real most = 0;
    for (std::size_t s = 0; s < rods_.size(); ++s) {
      const auto [a, b] = rods_.rows(s);
      const Vec3 e = x()[b] - x()[a];
      most = std::max(most, e.cross(v[b] - v[a]).norm() / e.squaredNorm());
    }
    return most;
  }
  Real largest_turn(std::span<const Vec3> at) const override {
    Real least = 1;
    for (std::size_t s = 0; s < rods_.size(); ++s) {
      const auto [a, b] = rods_.rows(s);
      least = std::min(least, segments_.get<SegmentTangent>()[s].dot((at[b] - at[a]).normalized()));
    }
    return std::acos(std::max(least, Real(-1)));
  }
  Real damping_ratio_at(std::span<const Vec3> at) const override {
    return viscosity_ ? rods_.frequency(at, {}, !has_balanced_turns_) * std::ranges::min(damping_times()) / 2 : 0;
  }

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
    for (std::size_t s = 0; s < rods_.size(); ++s)
      for (const std::int32_t row : rods_.rows(s)) f[row] += rods_.mass(s) / 2 * gravity;
  }

  Picture picture() const override {
    Picture picture{2, {}, Table::with<Stretch, Bend, TwistRate, ShownDirector, HalfAxis>(), &forest()};
    picture.fields.resize(rods_.size());
    const std::vector<RodStrain> strains = rods_.strains(x(), state());
    for (std::size_t s = 0; s < rods_.size(); ++s) {
      const auto rows = rods_.rows(s);
      picture.cells.insert(picture.cells.end(), rows.begin(), rows.end());
      picture.fields.get<Stretch>()[s] = (x()[rows[1]] - x()[rows[0]]).norm() / rods_.length(s);
      picture.fields.get<Bend>()[s] = strains[s].curvature;
      picture.fields.get<TwistRate>()[s] = strains[s].twist;
      picture.fields.get<ShownDirector>()[s] = segments_.get<SegmentDirector>()[s];
      picture.fields.get<HalfAxis>()[s] = half_axis_ * elements_[s].size;
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
    numbers.reserve(elements_.size());
    for (const StrandElement& segment : elements_) numbers.push_back(segment.number);
    return numbers;
  }
  std::vector<std::int32_t> needed_vertices() const override {
    std::vector<std::int32_t> needed;
    needed.reserve(2 * elements_.size());
    for (const StrandElement& segment : elements_)
      needed.insert(needed.end(), segment.vertices.begin(), segment.vertices.end());
    sort_unique(needed);
    return needed;
  }
  std::vector<std::int64_t> first_vertices() const override {
    std::vector<std::int64_t> vertices;
    vertices.reserve(elements_.size());
    for (const StrandElement& segment : elements_) vertices.push_back(segment.vertices.front());
    return vertices;
  }
  /// A strand.
  std::int64_t unit_of(std::int64_t element) const override { return elements_[segment_of(element)].first(); }
  void send_elements(const Comm& comm, std::span<const int> to) override {
    elements_ = send(comm, elements_, to);
    std::ranges::sort(elements_, {}, &StrandElement::number);
  }
  std::size_t bytes_of_elements() const override { return bytes_of(elements_) + rods_.bytes(); }
  std::vector<std::int64_t> rows_of_elements(const Table& table) const override {
    std::vector<std::int64_t> rows(elements_.size(), 1);
    if (&table != &segments_)
      for (std::size_t s = 0; s < rows.size(); ++s) rows[s] += elements_[s].is_last ? 1 : 0;
    return rows;
  }
  void add_mass(std::span<Real> of_vertices, std::span<Real>) const override {
    for (std::size_t s = 0; s < rods_.size(); ++s)
      for (const std::int32_t row : rods_.rows(s)) of_vertices[row] += rods_.mass(s) / 2;
  }

  void rest_elements() override {
    visit_strands([this](std::size_t first, std::span<const StrandElement>, const MadeStrand& made) {
      std::ranges::copy(made.tangent, segments_.get<SegmentTangent>().begin() + static_cast<std::ptrdiff_t>(first));
      std::ranges::copy(made.director, segments_.get<SegmentDirector>().begin() + static_cast<std::ptrdiff_t>(first));
      std::ranges::copy(made.twist, segments_.get<JointTwist>().begin() + static_cast<std::ptrdiff_t>(first));
    });
    for (std::size_t s = 0; s < elements_.size(); ++s) segments_.get<Mass>()[s] = rods_.mass(s);
    if (continuum_ != nullptr) continuum_->rest(0, 0);  // masses follow with the piece
    if (touches_walls()) set_extents();
  }
  void spin_elements(const Vec3& angular_velocity) override {
    if (has_balanced_turns_) return;
    for (std::size_t s = 0; s < elements_.size(); ++s)
      segments_.get<TurnVelocity>()[s] =
          rods_.section(s).gyration * angular_velocity.dot(segments_.get<SegmentTangent>()[s]);
  }
  void take_piece() override {
    std::vector<RodSegment> segments;
    std::vector<RodJointAtRest> joints;
    segments.reserve(elements_.size());
    joints.reserve(elements_.size());
    visit_strands([&](std::size_t first, std::span<const StrandElement> strand, const MadeStrand& made) {
      for (std::size_t s = 0; s < made.size(); ++s) {
        segments.push_back(
            {{row_of(strand[s].vertices[0]), row_of(strand[s].vertices[1])}, made.length[s], strand[s].size});
        if (made.before(s) == made.size()) continue;
        const Vec3& natural = made.natural[s];
        joints.push_back({{static_cast<std::int32_t>(first + made.before(s)), static_cast<std::int32_t>(first + s)},
                          natural[0],
                          natural[1],
                          natural[2]});
      }
    });
    rods_ = Rods(rods_.section(), segments, joints);
    if (viscosity_) damping_.emplace(*viscosity_, rods_);
    WEFT_ENSURE(forest().ghosts() == 0);
  }
  void turn_elements(std::span<const Real> turns) override {
    rods_.move({x(), {}, turns}, state(), segments_.get<SegmentTangent>(), segments_.get<SegmentDirector>(),
               segments_.get<JointTwist>());
  }
  void commit_elements(Real, std::span<const Mat3>) override {}
  StepLimit limit_of_elements() override {
    StepLimit limit;
    limit.frequency = frequency(x(), state().twist);
    return limit;
  }

  void sample(std::span<const Vec3>, std::span<Vec3>) const override {}
  void add_force_at_sample(std::size_t, const Vec3&, std::span<Vec3>) const override { WEFT_ENSURE(false); }
  void place_contact_points(const ContactPlaces& places) const override { std::ranges::copy(x(), places.x.begin()); }
  void weigh_contact_points(std::span<Real> mass) const override {
    std::ranges::copy(points_.get<Mass>(), mass.begin());
  }
  Real half_thickness(std::size_t) const override { return half_axis_; }
  std::optional<Real> half_thickness_at_vertices() const override { return half_axis_; }

 private:
  std::span<const Vec3> x() const { return points_.get<Position>(); }
  /// Of the thicker of the segments at each vertex.
  void set_extents() {
    std::vector<Real> most(points_.rows(), 0);
    for (std::size_t s = 0; s < elements_.size(); ++s)
      for (const std::int32_t row : rods_.rows(s)) most[row] = std::max<Real>(most[row], elements_[s].size);
    std::ranges::transform(most, points_.get<ContactExtent>().begin(),
                           [this](Real size) { return ball_extent(half_axis_ * size); });
  }
  /// visit(row of its first segment, elements, strand) for all strands, which are whole.
  void visit_strands(const std::function<void(std::size_t, std::span<const StrandElement>, const MadeStrand&)>& visit) {
    const auto rest = std::as_const(points_).get<RestPosition>();
    std::vector<Vec3> points;
    for (std::size_t first = 0; first < elements_.size();) {
      const std::span<const StrandElement> strand = strand_at(elements_, first);
      const bool is_closed = is_ring(strand);
      WEFT_ENSURE(strand.front().place == 0 && (is_closed || strand.back().is_last));
      points.clear();
      for (const StrandElement& element : strand) points.push_back(rest[row_of(element.vertices[0])]);
      if (!is_closed) points.push_back(rest[row_of(strand.back().vertices[1])]);
      visit(first, strand, MadeStrand(points, is_closed, nature_));
      first += strand.size();
    }
  }
  /// Viscosity over modulus of stretch, bending and twist [s].
  std::array<Real, 3> damping_times() const {
    const RodSection& section = rods_.section();
    return {viscosity_->stretch / section.stretch, viscosity_->bend1 / section.bend1,
            viscosity_->twist / section.twist};
  }
  Real frequency(std::span<const Vec3> at, std::span<const Real> twist) const {
    return rods_.frequency(at, twist, !has_balanced_turns_, viscosity_);
  }
  RodState state() const {
    return {segments_.get<SegmentTangent>(), segments_.get<SegmentDirector>(), segments_.get<JointTwist>()};
  }
  auto found(std::int64_t number) const {
    return std::ranges::lower_bound(elements_, number, {}, &StrandElement::number);
  }
  bool has_segment(std::int64_t number) const {
    const auto at = found(number);
    return at != elements_.end() && at->number == number;
  }
  /// The row of a segment that this rank has.
  std::size_t segment_of(std::int64_t number) const {
    WEFT_ENSURE(has_segment(number));
    return static_cast<std::size_t>(found(number) - elements_.begin());
  }

  Real half_axis_;  ///< [m].
  bool has_balanced_turns_;
  std::optional<RodSection> viscosity_;
  StrandNature nature_;
  std::vector<StrandElement> elements_;  ///< Of this rank, by number.
  Rods rods_;                            ///< The same, over rows,
  std::optional<Rods> damping_;          ///< and what resists changes since a substep began.
  Table segments_;
  PointBody* continuum_ = nullptr;  ///< Contact points with stress; null without.
};

class StrandSource final : public MeshSource {
 public:
  explicit StrandSource(StrandDescription of)
      : MeshSource(of.name, Carrier::own), of_(std::move(of)), all_(of_.part.value_or(CurveNumbers::of(of_.curves))) {
    for (std::int64_t c = 0; c < of_.curves.count(); ++c) {
      require_lengths(c);
      require_possible_joints(c, made(c));
      first_segment_.push_back(end_);
      end_ += static_cast<std::int64_t>(of_.curves.curve(c).size()) - (is_closed(c) ? 0 : 1);
    }
    end_ += all_.first_segment;
  }

  MeshCounts counts() const override {
    return {all_.points, all_.segments, 0, of_.meets_grid ? most_contact_points : 0};
  }
  std::string census() const override {
    return fmt::format("{} strands, {} segments, {} vertices", all_.curves, all_.segments, all_.points);
  }
  std::optional<ElementRange> held() const override {
    if (!of_.part) return {};
    return ElementRange{all_.first_segment, end_};
  }
  Real element_size() const override {
    Real sum = 0, whole = 0;
    for (std::int64_t c = 0; c < of_.curves.count(); ++c) {
      const auto curve = of_.curves.curve(c);
      for (std::size_t k = 1; k < curve.size(); ++k) {
        const Real length = (curve[k] - curve[k - 1]).norm();
        sum += length * length;
        whole += length;
      }
    }
    return whole > 0 ? sum / whole : 0;
  }
  VertexValues rest_positions() const override { return VertexValues(of_.curves.points, all_.first_point); }
  Box bounds() const override { return all_.bounds; }

  Sites sites(const ElementRange& range) const override {
    Sites sites;
    for (std::int64_t e = range.begin; e < range.end; ++e) {
      const auto [c, element] = element_at(e);
      const bool is_first = element.place == 0 && !is_closed(c);
      std::optional<MadeStrand> strand;
      if (is_first || element.is_last) strand = made(c);
      add_site(element, 0, is_first ? &*strand : nullptr, sites);
      if (element.is_last) add_site(element, 1, &*strand, sites);
    }
    return sites;
  }

  Site nearest(const ElementRange& range, const Vec3& x) const override {
    return nearest_site<2>(
        range, x, rest_positions(), [this](std::int64_t e) { return element_at(e).element.vertices; }, std::identity());
  }

  std::vector<Sample> surface_samples(const ElementRange& range) const override {
    std::vector<Sample> samples;
    for (std::int64_t e = range.begin; e < range.end; ++e) {
      const std::array<std::int32_t, 2> vertices = element_at(e).element.vertices;
      Sample& sample = samples.emplace_back();
      sample.rows.assign(vertices.begin(), vertices.end());
      sample.value.assign(2, 0.5);
      for (const std::int32_t vertex : vertices) sample.where += rest_positions()[vertex] / 2;
      sample.mass = of_.section.scaled(element_at(e).element.size).mass_per_length *
                    (rest_positions()[vertices[1]] - rest_positions()[vertices[0]]).norm();
      sample.face = sample.element = e;
    }
    return samples;
  }
  std::vector<Sample> side_samples(const ElementRange&) const override { return {}; }

  std::unique_ptr<MeshBody> body_of(const ElementRange& range) const override {
    std::vector<StrandElement> elements;
    elements.reserve(static_cast<std::size_t>(range.end - range.begin));
    for (std::int64_t e = range.begin; e < range.end; ++e) elements.push_back(element_at(e).element);
    return std::make_unique<StrandBody>(of_, counts(), std::move(elements));
  }

 private:
  bool is_closed(std::int64_t c) const { return of_.curves.closed[static_cast<std::size_t>(c)]; }
  MadeStrand made(std::int64_t c) const {
    return {of_.curves.curve(c), is_closed(c), {of_.naturally_straight, of_.natural_twist}};
  }

  struct OfCurve {
    std::int64_t curve;
    StrandElement element;
  };
  OfCurve element_at(std::int64_t number) const {
    const std::int64_t held = number - all_.first_segment;
    const auto c = std::ranges::upper_bound(first_segment_, held) - first_segment_.begin() - 1;
    const std::int64_t first = first_segment_[static_cast<std::size_t>(c)], begin = of_.curves.offsets[c],
                       points = of_.curves.offsets[c + 1] - begin, s = held - first;
    const auto vertex = [&](std::int64_t k) {
      return static_cast<std::int32_t>(all_.first_point + begin + k % points);
    };
    const Real size = (size_at(begin + s) + size_at(begin + (s + 1) % points)) / 2;
    return {c,
            {static_cast<std::int32_t>(number),
             {vertex(s), vertex(s + 1)},
             static_cast<float>(size),
             static_cast<std::uint32_t>(s),
             !is_closed(c) && s + 2 == points}};
  }
  /// Of the section at a held point, over that of the body.
  Real size_at(std::int64_t point) const {
    const std::vector<Real>& thickness = of_.curves.thickness;
    return thickness.empty() ? 1 : thickness[static_cast<std::size_t>(point)] / (2 * of_.half_axis);
  }
  /// strand: for an end, else null.
  void add_site(const StrandElement& element, std::size_t which, const MadeStrand* strand, Sites& sites) const {
    Site& site = sites.vertices.emplace_back();
    site.point = element.vertices[which];
    site.element = element.number;
    site.place = {{site.point}, {1}};
    site.where = rest_positions()[site.point];
    if (strand == nullptr) return;
    const auto s = static_cast<std::size_t>(element.place);
    site.end = SegmentEnd{element.vertices, strand->tangent[s], strand->director[s], which == 1};
  }

  void require_lengths(std::int64_t c) const {
    const std::span<const Vec3> points = of_.curves.curve(c);
    for (std::size_t s = 0; s + (is_closed(c) ? 0 : 1) < points.size(); ++s)
      require((points[(s + 1) % points.size()] - points[s]).norm() > 0, ExitCode::geometry,
              fmt::format("curve {} has a segment without length: remove the repeated point", all_.first_curve + c));
  }
  void require_possible_joints(std::int64_t c, const MadeStrand& strand) const {
    for (std::size_t f = 0; f < strand.size(); ++f) {
      const std::size_t e = strand.before(f);
      if (e == strand.size()) continue;
      const auto place = [&] {
        const Vec3& x = of_.curves.curve(c)[f];
        return fmt::format("curve {} at [{:.4g}, {:.4g}, {:.4g}]", all_.first_curve + c, x.x(), x.y(), x.z());
      };
      require(strand.tangent[e].dot(strand.tangent[f]) > -std::numbers::sqrt3 / 2, ExitCode::geometry,
              fmt::format("{} folds back by more than 150 degrees. Make its segments shorter, or smooth the curve.",
                          place()));
      const Real lb = strand.joint_length(f);
      const Real half_axis = of_.half_axis * size_at(of_.curves.offsets[c] + static_cast<std::int64_t>(f));
      require(strand.bend[f] * half_axis <= lb, ExitCode::geometry,
              fmt::format("{} bends with a radius of {:.3g} m, less than half of its thickness, {:.3g} m. Make it "
                          "thinner, or smooth the curve.",
                          place(), lb / strand.bend[f], half_axis));
    }
  }

  StrandDescription of_;
  CurveNumbers all_;
  std::vector<std::int64_t> first_segment_;  ///< Of each held curve, from the first held one.
  std::int64_t end_ = 0;                     ///< Of the numbers of held segments.
};

}  // namespace

std::unique_ptr<MeshSource> make_strands(StrandDescription strands) {
  return std::make_unique<StrandSource>(std::move(strands));
}

}  // namespace weft
