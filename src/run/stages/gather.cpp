// Gather and correct: nodes to points, and what points make of it.

#include <omp.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "run/stages/followers.hpp"
#include "run/stages/law_clock.hpp"
#include "run/stages/rigid_bodies.hpp"
#include "run/stages/stages.hpp"
#include "weft/base/memory.hpp"
#include "weft/bodies/continuum.hpp"

namespace weft {
namespace {

std::size_t bytes_of_points(const StepContext& step) {
  std::size_t sum = 0;
  for (const VisitedSet& set : step.sets) sum += set.points->points().bytes();
  return sum;
}

/// Chunks that move and deform, with their limits and the time of their laws. Each thread calls it for its chunks.
class Commits {
 public:
  Commits(StepContext& step, std::size_t s)
      : step_(step), set_(step.sets[s]), limits_(static_cast<std::size_t>(omp_get_max_threads())) {}

  void operator()(ChunkRows rows, const ChunkMotion& motion) {
    clock_.measure(rows.size(), [&] {
      limits_[static_cast<std::size_t>(omp_get_thread_num())].include(set_.points->commit(rows, step_.dt(), motion));
    });
  }
  void finish() {
    step_.timers.move(clock_.seconds(), "gather", "law");
    if (!set_.points->is_matter()) return;
    for (const StepLimit& limit : limits_) step_.state.limits[set_.body].include(limit);
  }

 private:
  StepContext& step_;
  const VisitedSet& set_;
  LawClock clock_;
  std::vector<StepLimit> limits_;  ///< By thread.
};

/// A chunk and its motion, by copies.
struct ChosenRows {
  std::size_t count = 0;
  std::array<std::uint32_t, most_rows_in_chunk> row;
  std::array<Vec3, most_rows_in_chunk> v;
  std::array<Mat3, most_rows_in_chunk> C;

  void add(std::uint32_t its_row, const Vec3& its_v, const Mat3& its_C) {
    row[count] = its_row;
    v[count] = its_v;
    C[count++] = its_C;
  }
  ChunkRows rows() const { return std::span(row).first(count); }
  ChunkMotion motion() const { return {std::span(v).first(count), std::span(C).first(count)}; }
};

/// All of a chunk but what handles correct.
void commit_free(Commits& commits, const HeldVertices& held, ChunkRows rows, const ChunkMotion& motion) {
  if (std::ranges::none_of(rows, [&](std::uint32_t row) { return held.has(row); })) return commits(rows, motion);
  ChosenRows free;
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (!held.has(rows[k])) free.add(rows[k], motion.v[k], motion.C[k]);
  commits(free.rows(), free.motion());
}

void gather_set(StepContext& step, std::size_t s) {
  const VisitedSet& set = step.sets[s];
  Table& points = set.points->points();
  const GridLayer& layer = step.layers[set.layer];
  Commits commits(step, s);
  const Receive receive = [&](ChunkRows rows, const ChunkMotion& motion) {
    if (set.is_corrected) return;
    if (set.held != nullptr) commit_free(commits, *set.held, rows, motion);
    else commits(rows, motion);
  };
  step.state.drift[set.body] = gather(layer.settings.transfer, step.bins[s], std::as_const(points).get<Position>(),
                                      layer.nodes.get<NodeVelocity>(), receive,
                                      {points.get<Velocity>(), points.get<Affine>()}, RowsAhead(points));
  commits.finish();
}

Mat3 skew(const Mat3& A) { return (A - A.transpose()) / 2; }

/// The part of a kept gradient K that a step dt along the gradient C of the nodes piles up, if it is there.
Mat3 moved_along(const Mat3& K, const Mat3& C, Real dt) {
  const Mat3 C_squared = C * C, steeper = (C_squared + C_squared.transpose()) / 2;
  const Real size = steeper.squaredNorm();
  if (size == 0) return Mat3::Zero();
  return std::clamp(K.cwiseProduct(steeper).sum() / size, Real(0), dt) * steeper;
}

/// To points that keep the share 1 - xi of what nodes did not take of their motion q = (v, C):
///   k_p = (1 - xi) (q_p - R s),   q_p = R v + k_p,   R a = (sum_i w_ip a_i, sum_i a_i G_ip^T)               (2.6)
/// where v are the velocities of nodes and s those that the points gave them. The gradient K in k_p goes along:
///   K -= dt skew(C~ K^T) + c sym(C~^2),   c = K : sym(C~^2) / |sym(C~^2)|^2 within [0, dt]                    (2.7)
void gather_beside_own(StepContext& step, std::size_t s) {
  const VisitedSet& set = step.sets[s];
  const GridLayer& layer = step.layers[set.layer];
  const TransferSettings& transfer = layer.settings.transfer;
  Table& points = set.points->points();
  const auto x = std::as_const(points).get<Position>();
  const auto v = points.get<Velocity>();
  const auto C = points.get<Affine>(), kept_C = points.get<KeptAffine>();
  const Real kept = 1 - step.settings.blends[set.body]->share(step.dt());
  const Real nu = transfer.rpic_damping, dx = transfer.dx;
  const auto gave = [&](std::uint32_t p) -> Mat3 {  // as scatter takes it
    if (nu == 0) return C[p];
    return (1 - nu) * C[p] + nu * rigid_part<Real>(C[p], moment_of_inertia(transfer, x[p]) / (dx * dx));
  };
  gather(
      transfer, step.bins[s], x, layer.nodes.get<NodeGiven>(),
      [&](ChunkRows rows, const ChunkMotion& given) {
        for (std::size_t k = 0; k < rows.size(); ++k) {
          v[rows[k]] = kept * (v[rows[k]] - given.v[k]);
          kept_C[rows[k]] = kept * (gave(rows[k]) - given.C[k]);
        }
      },
      {}, RowsAhead({x, std::span<const Vec3>(v)}));
  Commits commits(step, s);
  const Receive receive = [&](ChunkRows rows, const ChunkMotion& motion) {
    commits(rows, motion);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Mat3& shown = motion.C[k];
      Mat3& K = kept_C[rows[k]];
      v[rows[k]] += motion.v[k];
      K -= step.dt() * skew(shown * K.transpose()) + moved_along(K, shown, step.dt());
      C[rows[k]] = shown + K;
    }
  };
  step.state.drift[set.body] =
      gather(transfer, step.bins[s], x, layer.nodes.get<NodeVelocity>(), receive, {}, RowsAhead(points));
  commits.finish();
}

/// What the grid does to contact points.
void gather_contact(StepContext& step, std::size_t s) {
  const VisitedSet& set = step.sets[s];
  if (set.has_surface) {
    if (step.layers[set.layer].rigid == nullptr) set.follows->receive(gathered<NodeChange>(step, s));
    else set.follows->forget(step.dt(), gathered<NodeRebound>(step, s));
    return;
  }
  const Layer& nodes = step.layers[set.layer].nodes;
  set.follows->begin_blend(step.dt());
  const auto x = std::as_const(*set.points).points().get<Position>();
  gather_values(
      step.transfer_of(set), step.bins[s], x, {&nodes.get<NodeChange>(), &nodes.get<NodeVelocity>()},
      [&](ChunkRows rows, std::span<const Vec3> change, std::span<const Vec3> at_nodes) {
        set.follows->receive_blended(rows, change, at_nodes);
      },
      RowsAhead({x, set.follows->displacements(), set.follows->velocities()}));
}

/// Moves and deforms points of a set with the motion that stands in their columns.
void commit_rows(StepContext& step, std::size_t s, ChunkRows order) {
  const Table& points = std::as_const(*step.sets[s].points).points();
  const auto v = points.get<Velocity>();
  const auto C = points.get<Affine>();
  Commits commits(step, s);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t first = 0; first < order.size(); first += most_rows_in_chunk) {
    ChosenRows chunk;
    for (const std::uint32_t row : order.subspan(first, std::min(most_rows_in_chunk, order.size() - first)))
      chunk.add(row, v[row], C[row]);
    commits(chunk.rows(), chunk.motion());
  }
  commits.finish();
}

/// The continuum of vertices deforms as these move, through the nodes: by the transpose of what its stress does to
/// them, so that it knows what walls and holds do.
void deform_followers(StepContext& step, GridLayer& layer) {
  NodeField& nodes = layer.nodes.get<NodeGiven>();
  nodes.reset(layer.map().size());
  for (std::size_t s = layer.first_set; s < layer.end_of_sets; ++s) {
    if (step.sets[s].follows == nullptr) continue;
    const Table& points = std::as_const(*step.sets[s].points).points();
    const auto x = points.get<Position>(), u = step.sets[s].follows->displacements();
    scatter(layer.settings.transfer, step.bins[s], {x, u, {}, points.get<Mass>()}, {}, 0, nodes, RowsAhead({x, u}));
  }
  layer.map().forest().sum_to_owners(nodes.view());
  find_means(layer.map(), nodes, 1 / step.dt(), nodes);
  layer.map().forest().update_ghosts(nodes.view());
  for (std::size_t s = layer.first_set; s < layer.end_of_sets; ++s) {
    if (step.sets[s].follows == nullptr) continue;
    Commits commits(step, s);
    Table& points = step.sets[s].points->points();
    const auto C = points.get<Affine>();
    gather(
        layer.settings.transfer, step.bins[s], std::as_const(points).get<Position>(), nodes,
        [&](ChunkRows rows, const ChunkMotion& motion) {  // velocities are those of the vertices
          for (std::size_t k = 0; k < rows.size(); ++k) C[rows[k]] = motion.C[k];
          commits(rows, motion);
        },
        {}, RowsAhead(points));
    commits.finish();
  }
}

/// What points of a set that handles lead take of the impulses of other layers, over their mass; none if there are no
/// such layers, the same on every rank.
std::optional<std::vector<Vec3>> borne_by_handles(StepContext& step, std::size_t s) {
  const VisitedSet& set = step.sets[s];
  if (!step.layers[set.layer].nodes.has<NodeBorne>()) return {};
  std::vector<Vec3> borne = gathered<NodeBorne>(step, s);
  const IsHeld is_led = step.held_positions[set.body].of(*set.points, step.state.time);
  for (std::size_t row = 0; row < borne.size(); ++row)
    if (!is_led || !is_led(static_cast<std::uint32_t>(row))) borne[row].setZero();
  return borne;
}

}  // namespace

void gather(StepContext& step) {
  for (GridLayer& layer : step.layers)
    if (layer.contacts.any() || layer.contacts.lets_go()) layer.contacts.keep();
  // The grid has taken what points give, and gather writes their velocities and gradients anew: the most of what they
  // carry need not be moved.
  const auto keeps_motion = [](const VisitedSet& set) { return set.keeps_motion; };
  reorder_rows(step, std::not_fn(keeps_motion), {Velocity::label.name, Affine::label.name});
  reorder_rows(step, keeps_motion, {});
  if (const std::size_t bytes = bytes_of_points(step);
      bytes > step.bytes_when_trimmed) {  // columns that grew have moved
    return_freed_memory();
    step.bytes_when_trimmed = bytes;
  }
  std::fill(step.state.limits.begin(), step.state.limits.end(), StepLimit{});
  std::fill(step.state.drift.begin(), step.state.drift.end(), 0);
  const auto timing = step.timers.measure("gather");
  push_rigid_bodies(step);
  for (const auto& held : step.held) held->renew();
  for (std::size_t s = 0; s < step.sets.size(); ++s)
    if (HeldVertices* const held = step.sets[s].held) held->bear(borne_by_handles(step, s));
  for (std::size_t s = 0; s < step.sets.size(); ++s)
    if (step.sets[s].keeps_motion) gather_beside_own(step, s);
    else if (step.sets[s].follows == nullptr) gather_set(step, s);
    else gather_contact(step, s);
}

void correct(StepContext& step) {
  if (step.correcting.empty() && step.held.empty() && step.led_bodies.empty() && step.own_motions.empty()) return;
  const auto timing = step.timers.measure("gather");
  for (const auto& own : step.own_motions) own->correct(step.dt());
  {
    const auto of_contact = step.timers.measure("contact");
    for (Corrects* corrects : step.correcting) corrects->correct(step.dt());
  }
  for (GridLayer& layer : step.layers)
    if (layer.settings.has_followers && !layer.settings.has_contact_points) deform_followers(step, layer);
  for (const auto& held : step.held) held->correct(step.state.time, step.dt(), step.given.by_handles);
  for (std::size_t s = 0; s < step.sets.size(); ++s)
    if (const VisitedSet& set = step.sets[s]; set.held == nullptr && step.carries_what_handles_lead(set))
      lead_points(step.scene, set.body, step.bins[s], borne_by_handles(step, s).value_or(std::vector<Vec3>()),
                  step.state.time, step.dt(), step.given.by_handles);
  for (std::size_t s = 0; s < step.sets.size(); ++s)
    if (const VisitedSet& set = step.sets[s]; set.is_corrected && set.follows == nullptr)
      commit_rows(step, s, step.bins[s].order());
    else if (set.held != nullptr) commit_rows(step, s, set.held->rows());
}

}  // namespace weft
