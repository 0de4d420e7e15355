// Rods, by packs of segments and joints. A tile of whole strands fits into the nearest caches: edges and directors of
// its segments are found once, then what its joints do, then forces, so that no force of a joint is ever kept.

#include "bodies/rods.hpp"

#include "bodies/rod_hessian.hpp"
#include "bodies/turn_balance.hpp"
#include "weft/base/check.hpp"
#include "weft/base/sums.hpp"

#include <algorithm>

namespace weft {
namespace {

/// Segments of a tile, at least; a strand may be longer.
constexpr std::size_t least_tile = 192;

std::size_t bytes_of(const auto& values) { return values.capacity() * sizeof(values[0]); }

/// The rows that are left of a list up to `end`, less `first`.
PackRows rows_within(std::span<const std::uint32_t> rows, std::size_t at, std::size_t end, std::size_t first) {
  PackRows pack = PackRows::of(rows.first(end), at);
  for (std::uint32_t& row : pack.row) row -= static_cast<std::uint32_t>(first);
  return pack;
}

}  // namespace

/// Of the segments of one tile, from its first.
struct Rods::Work {
  explicit Work(std::size_t segments)
      : edge(segments), length(segments), t(segments), u(segments), m1(segments), lag(segments) {}

  std::vector<Vec3> edge;
  std::vector<Real> length;
  std::vector<Vec3> t, u, m1, lag;
  // Of the joints after and before a segment: derivatives of the energy by its edge and its turn, or row sums that
  // bound second ones for a vertex and its turn.
  std::vector<Vec3> by_e, by_f;
  std::vector<Real> spring_by_e, spring_by_f, turn_by_e, turn_by_f;
  std::vector<Pack> squares, rates;  ///< Row sums over masses, of freedoms by packs.

  void forget_joints() {
    for (std::vector<Vec3>* of_edges : {&by_e, &by_f}) of_edges->assign(edge.size(), Vec3::Zero());
    for (std::vector<Real>* sums : {&spring_by_e, &spring_by_f, &turn_by_e, &turn_by_f}) sums->assign(edge.size(), 0);
  }
  SegmentShape<Pack> at(const PackRows& rows) const {
    SegmentShape<Pack> shape;
    shape.t = load(t, rows);
    shape.length = load(length, rows);
    shape.u = load(u, rows);
    shape.m1 = load(m1, rows);
    return shape;
  }
};

Rods::Chain::Chain(const std::vector<RodSegment>& segments, const std::vector<RodJointAtRest>& joints) {
  std::vector<std::uint8_t> met(segments.size(), 0);
  begin.reserve(segments.size());
  end.reserve(segments.size());
  length.reserve(segments.size());
  for (const RodSegment& segment : segments) {
    begin.push_back(static_cast<std::uint32_t>(segment.rows[0]));
    end.push_back(static_cast<std::uint32_t>(segment.rows[1]));
    length.push_back(segment.length);
  }
  if (std::ranges::any_of(segments, [](const RodSegment& segment) { return segment.size != 1; })) {
    size.reserve(segments.size());
    for (const RodSegment& segment : segments) size.push_back(segment.size);
  }
  e.reserve(joints.size());
  f.reserve(joints.size());
  for (const RodJointAtRest& joint : joints) {
    e.push_back(static_cast<std::uint32_t>(joint.segments[0]));
    f.push_back(static_cast<std::uint32_t>(joint.segments[1]));
    ++met[joint.segments[0]];
    ++met[joint.segments[1]];
  }
  WEFT_ENSURE(std::ranges::is_sorted(f));
  for (std::size_t s = 0; s < segments.size(); ++s)
    if (met[s] < 2) ends.push_back(static_cast<std::uint32_t>(s));
  make_tiles();
}

/// Where no vertex has segments on both sides.
void Rods::Chain::make_tiles() {
  std::uint32_t vertices = 0;
  for (const auto& rows : {std::span(begin), std::span(end)})
    for (const std::uint32_t row : rows) vertices = std::max(vertices, row + 1);
  std::vector<std::uint32_t> last(vertices, 0);  // segment of a vertex
  for (std::uint32_t s = 0; s < begin.size(); ++s) last[begin[s]] = last[end[s]] = s;
  std::size_t first = 0, joint = 0, reach = 0;
  for (std::size_t s = 0; s < begin.size(); ++s) {
    reach = std::max<std::size_t>({reach, last[begin[s]], last[end[s]]});
    const std::size_t next = s + 1;
    if (reach > s || (next - first < least_tile && next < begin.size())) continue;
    const std::size_t first_joint = joint;
    while (joint < f.size() && f[joint] < next) ++joint;
    tiles.push_back({first, next, first_joint, joint});
    largest_tile = std::max(largest_tile, next - first);
    first = next;
  }
}

Rods::Rods(const RodSection& section, const std::vector<RodSegment>& segments,
           const std::vector<RodJointAtRest>& joints)
    : section_(section), chain_(std::make_shared<Chain>(segments, joints)) {
  natural_.reserve(joints.size());
  for (const RodJointAtRest& joint : joints) natural_.emplace_back(joint.natural1, joint.natural2, joint.natural_twist);
}

Rods::Rods(const RodSection& section, const Rods& like) : Rods(like) { section_ = section; }

std::size_t Rods::bytes() const {
  return bytes_of(chain_->begin) + bytes_of(chain_->end) + bytes_of(chain_->length) + bytes_of(chain_->size) +
         bytes_of(chain_->e) + bytes_of(chain_->f) + bytes_of(chain_->ends) + bytes_of(chain_->tiles) +
         bytes_of(natural_) + bytes_of(natural_stretch_);
}

RodJoint Rods::state_of(std::size_t joint, const RodState& from) const {
  const std::uint32_t e = chain_->e[joint], f = chain_->f[joint];
  return {{from.tangent[e], from.director[e]}, {from.tangent[f], from.director[f]}, from.twist[f]};
}

/// Over the size of the sections of segments.
Pack Rods::per_size(const Pack& a, const PackRows& rows) const {
  return chain_->size.empty() ? a : a / load(chain_->size, rows);
}
/// Times their area over that of the section.
Pack Rods::times_area(const Pack& a, const PackRows& rows) const {
  if (chain_->size.empty()) return a;
  const Pack size = load(chain_->size, rows);
  return a * size * size;
}
/// The length of the section that bends and twists as much as a segment.
Pack Rods::compliant_length(const PackRows& rows) const {
  const Pack length = load(chain_->length, rows);
  if (chain_->size.empty()) return length;
  const Pack size = load(chain_->size, rows), square = size * size;
  return length / (square * square);
}

// --- Tiles -----------------------------------------------------------------------------------------------------------

/// of_tile(tile, its number, work).
template <class OfTile>
void Rods::visit(OfTile&& of_tile) const {
#pragma omp parallel
  {
    Work work(chain_->largest_tile);
#pragma omp for schedule(static)
    for (std::size_t k = 0; k < chain_->tiles.size(); ++k) of_tile(chain_->tiles[k], k, work);
  }
}

void Rods::find_edges(const Tile& tile, std::span<const Vec3> x, Work& work) const {
  for (std::size_t s = tile.first; s < tile.end; s += Pack::size) {
    const PackRows own = PackRows::range(s - tile.first, tile.end - tile.first);
    const Vector3<Pack> edge = load(x, PackRows::of(std::span(chain_->end).first(tile.end), s)) -
                               load(x, PackRows::of(std::span(chain_->begin).first(tile.end), s));
    const Pack length = sqrt(edge.dot(edge));
    store(edge, own, work.edge);
    store(length, own, work.length);
    store(Vector3<Pack>(edge / length), own, work.t);
  }
}

void Rods::find_shapes(const Tile& tile, const TrialShape& at, const RodState& from, Work& work) const {
  for (std::size_t s = tile.first; s < tile.end; s += Pack::size) {
    const PackRows rows = PackRows::range(s, tile.end), own = PackRows::range(s - tile.first, tile.end - tile.first);
    const Vector3<Pack> edge = load(at.x, PackRows::of(std::span(chain_->end).first(tile.end), s)) -
                               load(at.x, PackRows::of(std::span(chain_->begin).first(tile.end), s));
    const RodFrameOf<Pack> frame{load(from.tangent, rows), load(from.director, rows)};
    const SegmentShape<Pack> shape(frame, edge, per_size(load(at.turns, rows), rows) / section_.gyration);
    store(shape.length, own, work.length);
    store(shape.t, own, work.t);
    store(shape.u, own, work.u);
    store(shape.m1, own, work.m1);
    store(lag(frame.tangent, shape.t, shape.length), own, work.lag);
  }
}

/// of_joints(joints, their segments e and f in the work, shape, stiffness).
template <class OfJoints>
void Rods::visit_joints(const Tile& tile, const RodState& from, const TrialShape& at, const Work& work,
                        OfJoints&& of_joints) const {
  const Chain& chain = *chain_;
  for (std::size_t j = tile.first_joint; j < tile.end_joint; j += Pack::size) {
    const PackRows joints = PackRows::range(j, tile.end_joint);
    const PackRows in_e = PackRows::of(std::span(chain.e).first(tile.end_joint), j);
    const PackRows in_f = PackRows::of(std::span(chain.f).first(tile.end_joint), j);
    const PackRows e = rows_within(chain.e, j, tile.end_joint, tile.first);
    const PackRows f = rows_within(chain.f, j, tile.end_joint, tile.first);
    const Vector3<Pack> natural = load(natural_, joints);
    const Pack per_length =
        scale_ * share_in_fold(natural[0], natural[1]) * 2 / (compliant_length(in_e) + compliant_length(in_f));
    const Pack turned_more =
        (per_size(load(at.turns, in_f), in_f) - per_size(load(at.turns, in_e), in_e)) / section_.gyration;
    const JointStiffnessOf<Pack> stiffness{section_.bend1 * per_length,
                                           section_.bend2 * per_length,
                                           section_.twist * per_length,
                                           natural[0],
                                           natural[1],
                                           natural[2]};
    of_joints(joints, e, f, JointShape<Pack>(work.at(e), work.at(f), load(from.twist, in_f), turned_more), stiffness);
  }
}

// --- Energy and forces -----------------------------------------------------------------------------------------------

Real Rods::energy_of(const Tile& tile, const TrialShape& at, const RodState& from, Work& work) const {
  find_shapes(tile, at, from, work);
  Pack sum = 0;
  for (std::size_t s = tile.first; s < tile.end; s += Pack::size) {
    const PackRows rows = PackRows::range(s, tile.end), own = PackRows::range(s - tile.first, tile.end - tile.first);
    const Pack l = load(chain_->length, rows), natural = natural_stretch_.empty() ? 1 : load(natural_stretch_, rows);
    const Pack strain = load(work.length, own) / l - natural;
    sum += without_idle(times_area(scale_ * section_.stretch / 2 * strain * strain * l, rows), rows);
  }
  visit_joints(tile, from, at, work, [&](const PackRows& joints, auto&&, auto&&, const auto& shape, const auto& of) {
    sum += without_idle(JointGradient<Pack>(shape, of).energy, joints);
  });
  return sum_of_lanes(sum);
}

Real Rods::energy(const TrialShape& at, const RodState& from) const {
  std::vector<Real> of_tiles(chain_->tiles.size());
  visit([&](const Tile& tile, std::size_t k, Work& work) { of_tiles[k] = energy_of(tile, at, from, work); });
  return ordered_sum(of_tiles.size(), Real(0), [&](std::size_t k) { return of_tiles[k]; });
}

[[gnu::flatten]] void Rods::find_forces(const Tile& tile, const TrialShape& at, const RodState& from,
                                        const TrialForces& to, Work& work) const {
  find_shapes(tile, at, from, work);
  work.forget_joints();
  visit_joints(tile, from, at, work,
               [&](const PackRows&, const PackRows& e, const PackRows& f, const auto& shape, const auto& stiffness) {
                 const JointGradient<Pack> of(shape, stiffness);
                 store(of.by_e, e, work.by_e);
                 store(of.by_f, f, work.by_f);
                 store(of.by_turn_e, e, work.turn_by_e);
                 store(of.by_turn_f, f, work.turn_by_f);
               });
  for (std::size_t s = tile.first; s < tile.end; s += Pack::size) {
    const PackRows rows = PackRows::range(s, tile.end), own = PackRows::range(s - tile.first, tile.end - tile.first);
    const Pack l = load(chain_->length, rows), natural = natural_stretch_.empty() ? 1 : load(natural_stretch_, rows);
    const Pack tension = times_area(scale_ * section_.stretch * (load(work.length, own) / l - natural), rows);
    const Pack by_turn = load(work.turn_by_e, own) + load(work.turn_by_f, own);
    const Vector3<Pack> by_edge =
        load(work.t, own) * tension + load(work.by_e, own) + load(work.by_f, own) + load(work.lag, own) * by_turn;
    store(by_edge, own, work.edge);
    store(load(std::span<const Real>(to.turning), rows) - per_size(by_turn, rows) / section_.gyration, rows,
          to.turning);
  }
  for (std::size_t s = tile.first; s < tile.end; ++s) {
    const Vec3& by_edge = work.edge[s - tile.first];
    to.f[chain_->begin[s]] += by_edge;
    to.f[chain_->end[s]] -= by_edge;
  }
}

void Rods::add_force(const TrialShape& at, const RodState& from, const TrialForces& to) const {
  visit([&](const Tile& tile, std::size_t, Work& work) { find_forces(tile, at, from, to, work); });
}

void Rods::resist_changes_of(const TrialShape& start, const RodState& from, Real h) {
  scale_ = 1 / h;
  natural_stretch_.resize(size());
  visit([&](const Tile& tile, std::size_t, Work& work) {
    find_shapes(tile, start, from, work);
    for (std::size_t s = tile.first; s < tile.end; ++s)
      natural_stretch_[s] = work.length[s - tile.first] / chain_->length[s];
    visit_joints(tile, from, start, work, [&](const PackRows& joints, auto&&, auto&&, const auto& shape, auto&&) {
      const Pack r = shape.limited();
      store(Vector3<Pack>(r * shape.k1, r * shape.k2, shape.twist), joints, natural_);
    });
  });
}

void Rods::add_stiffness(const TrialShape& at, const RodState& from, bool definite, MeshStiffness& stiffness) const {
  const std::size_t first = stiffness.size();
  for (std::size_t s = 0; s < size(); ++s) stiffness.add(1, rows(s), -1);
  for (std::size_t j = 0; j < natural_.size(); ++j) {
    const std::uint32_t e = chain_->e[j], f = chain_->f[j];
    stiffness.add(2, std::array{rows(e)[0], rows(e)[1], rows(f)[1]}, -1,
                  std::array{static_cast<std::int32_t>(e), static_cast<std::int32_t>(f)});
  }
#pragma omp parallel for schedule(static)
  for (std::size_t s = 0; s < size(); ++s) stretch_stiffness(s, at, definite, stiffness.part(first + s));
  visit([&](const Tile& tile, std::size_t, Work& work) {
    find_joint_stiffness(tile, at, from, definite, work, first + size(), stiffness);
  });
}

/// EA (t t^T / l + (1 / l - s' / |e|) (1 - t t^T)); the second part pulls a pressed segment aside.
void Rods::stretch_stiffness(std::size_t s, const TrialShape& at, bool definite, MeshStiffness::Part part) const {
  const Vec3 e = edge(s, at.x), t = e.normalized();
  const Real across = 1 / length(s) - (natural_stretch_.empty() ? 1 : natural_stretch_[s]) / e.norm();
  part.w << -1, 1;
  part.K = scale_ * section(s).stretch *
           (t * t.transpose() / length(s) +
            (definite ? std::max(across, 0.0) : across) * (Mat3::Identity() - t * t.transpose()));
}

/// first: of the parts of joints.
[[gnu::flatten]] void Rods::find_joint_stiffness(const Tile& tile, const TrialShape& at, const RodState& from,
                                                 bool definite, Work& work, std::size_t first,
                                                 MeshStiffness& stiffness) const {
  const auto tangents = from.tangent.subspan(tile.first);
  find_shapes(tile, at, from, work);
  visit_joints(tile, from, at, work,
               [&](const PackRows& joints, const PackRows& e, const PackRows& f, const auto& shape, const auto& of) {
                 Eigen::Matrix<Pack, 8, 8> K =
                     joint_hessian<Pack>(shape, of, load(tangents, e), load(tangents, f), definite);
                 const std::array both{&chain_->e, &chain_->f};
                 for (const Eigen::Index k : {0, 1}) {
                   const PackRows segments = PackRows::of(std::span(*both[k]).first(tile.end_joint), joints.row[0]);
                   const Pack per_turn = per_size(1 / section_.gyration, segments);
                   K.col(6 + k) *= per_turn;
                   K.row(6 + k) *= per_turn;
                 }
                 LanePlaces places{};
                 for (std::size_t lane = 0; lane < static_cast<std::size_t>(joints.count); ++lane) {
                   MeshStiffness::Part part = stiffness.part(first + joints.row[lane]);
                   part.w << -1, 1, 0, 0, -1, 1;
                   places[lane] = part.K.data();
                 }
                 store_lanes(K, places);
               });
}

void Rods::move(const TrialShape& at, const RodState& from, std::span<Vec3> tangent, std::span<Vec3> director,
                std::span<Real> twist) const {
  visit([&](const Tile& tile, std::size_t, Work& work) __attribute__((flatten)) {
    find_shapes(tile, at, from, work);
    visit_joints(tile, from, at, work, [&](const PackRows&, auto&&, const PackRows& f, const auto& shape, auto&&) {
      PackRows rows = f;
      for (std::uint32_t& row : rows.row) row += static_cast<std::uint32_t>(tile.first);
      store(shape.twist, rows, twist);
    });
    for (std::size_t s = tile.first; s < tile.end; s += Pack::size) {
      const PackRows rows = PackRows::range(s, tile.end), own = PackRows::range(s - tile.first, tile.end - tile.first);
      const Vector3<Pack> t = load(work.t, own), m1 = load(work.m1, own), across = m1 - t * t.dot(m1);
      store(t, rows, tangent);
      store(Vector3<Pack>(across / Pack(sqrt(across.dot(across)))), rows, director);
    }
  });
}

// --- Turns without inertia -------------------------------------------------------------------------------------------

void Rods::find_turned_joints(const Tile& tile, const TrialShape& at, const RodState& from, const Work& work,
                              std::vector<TurnLink>& links) const {
  visit_joints(tile, from, at, work, [&](const PackRows& joints, auto&&, auto&&, const auto& shape, const auto& of) {
    const auto turned = TurnedJointOf<Pack>::of(shape, of);
    for (int lane = 0; lane < joints.count; ++lane) {
      const std::uint32_t j = joints.row[lane];
      links.push_back(
          {static_cast<std::int32_t>(chain_->e[j]), static_cast<std::int32_t>(chain_->f[j]), lane_of(turned, lane)});
    }
  });
}

/// Where the strand ends that begins with a segment: the next one has no joint with the last.
std::size_t Rods::end_of_strand(const Tile& tile, std::size_t first) const {
  const std::span<const std::uint32_t> e(chain_->e), f(chain_->f);
  auto joint = static_cast<std::size_t>(std::ranges::upper_bound(f.first(tile.end_joint), first) - f.begin());
  std::size_t end = first + 1;
  for (; joint < tile.end_joint && f[joint] == end && e[joint] + 1 == end; ++joint) ++end;
  return end;
}

void Rods::balance_turns(std::span<const Vec3> x, const RodState& from, const Rods* damping,
                         std::span<const TurnLink> clamps, std::span<Real> turns) const {
  const auto segment_of = [](const TurnLink& clamp) { return static_cast<std::size_t>(std::max(clamp.e, clamp.f)); };
  std::vector<TurnLink> sorted(clamps.begin(), clamps.end());
  std::ranges::stable_sort(sorted, {}, segment_of);
  visit([&](const Tile& tile, std::size_t, Work& work) {
    const TrialShape at{x, {}, turns};
    find_shapes(tile, at, from, work);
    std::array<std::vector<TurnLink>, 2> links;
    find_turned_joints(tile, at, from, work, links[0]);
    if (damping != nullptr) damping->find_turned_joints(tile, at, from, work, links[1]);
    std::array<std::size_t, 2> next{};
    TurnBalance balance;
    for (std::size_t first = tile.first, end; first < tile.end; first = end) {
      end = end_of_strand(tile, first);
      balance.begin(end - first);
      for (const int k : {0, 1})
        for (; next[k] < links[k].size() && static_cast<std::size_t>(links[k][next[k]].f) < end; ++next[k])
          balance.join(links[k][next[k]].from(first));
      for (auto clamp = std::ranges::lower_bound(sorted, first, {}, segment_of);
           clamp != sorted.end() && segment_of(*clamp) < end; ++clamp)
        balance.join(clamp->from(first));
      const std::span<const Real> found = balance.find();
      for (std::size_t s = first; s < end; ++s) turns[s] += section_.gyration * size_of(s) * found[s - first];
    }
  });
}

// --- The bound of frequencies ----------------------------------------------------------------------------------------

/// Row sums of a bound of the stiffness of joints, for each of their segments and its turn [docs/theory/strands.md,
/// 15.6].
void Rods::bound_joints(const Tile& tile, const RodSection& section, std::span<const Real> twist,
                        bool turns_have_inertia, Work& work) const {
  const Chain& chain = *chain_;
  const auto [softer, stiffer] = std::minmax(section.bend1, section.bend2);
  const Real flatness = std::sqrt(1 - softer / stiffer), per_turn = turns_have_inertia ? 1 / section.gyration : 0;
  work.forget_joints();
  for (std::size_t j = tile.first_joint; j < tile.end_joint; j += Pack::size) {
    const PackRows in_e = PackRows::of(std::span(chain.e).first(tile.end_joint), j);
    const PackRows in_f = PackRows::of(std::span(chain.f).first(tile.end_joint), j);
    const PackRows e = rows_within(chain.e, j, tile.end_joint, tile.first);
    const PackRows f = rows_within(chain.f, j, tile.end_joint, tile.first);
    const Vector3<Pack> natural = load(natural_, PackRows::range(j, tile.end_joint));
    const Pack per_length = scale_ * 2 / (compliant_length(in_e) + compliant_length(in_f));
    const auto per_smaller = [&](const Pack& a) { return max(per_size(a, in_e), per_size(a, in_f)); };
    const Pack natural_curvature = natural.head<2>().norm();
    const BendingBound<Pack> bound(load(work.t, e), load(work.t, f), natural_curvature);
    const Pack moment = twist.empty() ? Pack(0) : section.twist * per_length * abs(load(twist, in_f) - natural[2]);
    const Pack by_turn = per_smaller((flatness * bound.curvature + natural_curvature) / 2 * per_turn);
    const Pack by_e = 1 / load(work.length, e);
    const Pack by_f = 1 / load(work.length, f);
    Pack sum_e = 0, sum_f = 0, sum_turn = 0;
    /// Norms of derivatives by the three vertices and the turns, and the sum of their products.
    const auto add = [&](const Pack& factor, const Pack& of_e, const Pack& of_f, const Pack& of_turn) {
      const Pack sum = 2 * factor * (of_e + of_f + of_turn);
      sum_e += sum * of_e;
      sum_f += sum * of_f;
      sum_turn += sum * of_turn;
    };
    add(stiffer * per_length * bound.factor + moment, 2 / bound.chi * by_e, 2 / bound.chi * by_f, by_turn);
    add(section.twist * per_length, bound.curvature / 2 * by_e, bound.curvature / 2 * by_f, per_smaller(per_turn));
    store(sum_e, e, work.spring_by_e);
    store(sum_f, f, work.spring_by_f);
    store(sum_turn, e, work.turn_by_e);
    store(sum_turn, f, work.turn_by_f);
  }
}

/// Row sums over masses of turns, of vertices in joints and of those at ends, by packs.
void Rods::find_row_sums(const Tile& tile, const RodSection& section, const Work& work,
                         std::vector<Pack>& over_mass) const {
  const Chain& chain = *chain_;
  const auto heavy_length = [&](const PackRows& rows) { return times_area(load(chain.length, rows), rows); };
  const auto springs = [&](const PackRows& own, const PackRows& in) {  // of both vertices of a segment
    const Pack per_length = 1 / load(chain.length, in);
    const Pack stretch = max(per_length, abs(per_length - 1 / load(work.length, own)));
    return times_area(2 * section.stretch * stretch, in) + load(work.spring_by_e, own) + load(work.spring_by_f, own);
  };
  over_mass.clear();
  const auto add = [&](const Pack& sum, const Pack& heavy_length) {
    over_mass.push_back(sum / (section_.mass_per_length * heavy_length));
  };
  for (std::size_t s = tile.first; s < tile.end; s += Pack::size) {
    const PackRows own = PackRows::range(s - tile.first, tile.end - tile.first);
    add(load(work.turn_by_e, own) + load(work.turn_by_f, own), heavy_length(PackRows::range(s, tile.end)));
  }
  for (std::size_t j = tile.first_joint; j < tile.end_joint; j += Pack::size) {
    const PackRows in_e = PackRows::of(std::span(chain.e).first(tile.end_joint), j);
    const PackRows in_f = PackRows::of(std::span(chain.f).first(tile.end_joint), j);
    const Pack of_vertex = springs(rows_within(chain.e, j, tile.end_joint, tile.first), in_e) +
                           springs(rows_within(chain.f, j, tile.end_joint, tile.first), in_f);
    add(of_vertex, (heavy_length(in_e) + heavy_length(in_f)) / 2);
  }
  const auto first_end = std::ranges::lower_bound(chain.ends, static_cast<std::uint32_t>(tile.first));
  const auto last_end = std::ranges::lower_bound(chain.ends, static_cast<std::uint32_t>(tile.end));
  for (auto end = first_end; end < last_end; ++end) {
    const PackRows in = PackRows::range(*end, *end + 1),
                   own = PackRows::range(*end - tile.first, *end - tile.first + 1);
    add(springs(own, in), heavy_length(in) / 2);
  }
}

Real Rods::frequency(std::span<const Vec3> x, std::span<const Real> twist, bool turns_have_inertia,
                     const std::optional<RodSection>& viscosities) const {
  std::vector<Real> of_tiles(chain_->tiles.size(), 0);
  visit([&](const Tile& tile, std::size_t k, Work& work) {
    find_edges(tile, x, work);
    bound_joints(tile, section_, twist, turns_have_inertia, work);
    find_row_sums(tile, section_, work, work.squares);
    if (viscosities) {
      bound_joints(tile, *viscosities, {}, turns_have_inertia, work);
      find_row_sums(tile, *viscosities, work, work.rates);
    }
    Pack most = 0;  // of each row by itself, as no largest of ranks and tiles would be
    for (std::size_t row = 0; row < work.squares.size(); ++row)
      most = max(most, viscosities ? damped_frequency(work.squares[row], work.rates[row]) : sqrt(work.squares[row]));
    of_tiles[k] = largest(most);
  });
  Real most = 0;
  for (const Real bound : of_tiles) most = std::max(most, bound);
  return most;
}

std::vector<RodStrain> Rods::strains(std::span<const Vec3> x, const RodState& at) const {
  std::vector<RodStrain> sums(size(), RodStrain{0, 0});
  std::vector<int> joints(size(), 0);
  for (std::size_t j = 0; j < natural_.size(); ++j) {
    const std::uint32_t e = chain_->e[j], f = chain_->f[j];
    const Real lb = (length(e) + length(f)) / 2;
    const JointShape<Real> shape(state_of(j, at), edge(e, x), edge(f, x), 0, 0);
    for (const std::uint32_t s : {e, f}) {
      sums[s].curvature += std::hypot(shape.k1, shape.k2) / lb;
      sums[s].twist += shape.twist / lb;
      ++joints[s];
    }
  }
  for (std::size_t s = 0; s < sums.size(); ++s)
    sums[s] = {sums[s].curvature / std::max(joints[s], 1), sums[s].twist / std::max(joints[s], 1)};
  return sums;
}

}  // namespace weft
