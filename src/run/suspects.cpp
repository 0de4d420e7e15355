#include "run/suspects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

constexpr int most_named = 5;
/// Half the width of the widest kernel, in grid spacings: how far a node reaches.
constexpr Real reach = 2;

bool is_finite(const ColumnView& column, std::size_t row) {
  const auto* numbers = reinterpret_cast<const Real*>(column.row(row));
  return std::all_of(numbers, numbers + column.shape.components(), [](Real x) { return std::isfinite(x); });
}

std::int64_t count(const Suspicions& suspicions, Suspicion sought) {
  std::int64_t sum = 0;
  for (const SuspectTable& suspects : suspicions)
    sum += std::count(suspects.marks.begin(), suspects.marks.end(), sought);
  return sum;
}

std::string vector_text(const Vec3& v) { return fmt::format("({:.4g}, {:.4g}, {:.4g})", v.x(), v.y(), v.z()); }

std::string row_text(const SuspectTable& suspects, std::size_t r) {
  const Table& table = *suspects.table;
  std::string text = table.has<Id>() ? fmt::format("id {} of {}", table.get<Id>()[r], suspects.name)
                                     : fmt::format("row {} of {}", r, suspects.name);
  if (table.has<Position>()) text += fmt::format(" at {} m", vector_text(table.get<Position>()[r]));
  if (table.has<Velocity>()) text += fmt::format(" with velocity {} m/s", vector_text(table.get<Velocity>()[r]));
  return text;
}

/// The first few rows of this rank that are suspect in this way.
std::string some_of(const Suspicions& suspicions, Suspicion sought) {
  std::string text;
  int named = 0;
  for (const SuspectTable& suspects : suspicions)
    for (std::size_t r = 0; r < suspects.marks.size() && named < most_named; ++r)
      if (suspects.marks[r] == sought) text += (named++ == 0 ? "" : "; ") + row_text(suspects, r);
  return text;
}

/// The text of the lowest rank that has one. Collective.
std::string text_of_one(const Comm& comm, const std::string& mine) {
  try {
    comm.agree([&] {
      if (!mine.empty()) throw Error(ExitCode::numerics, mine);
    });
  } catch (const Error& spoken) {
    return spoken.what();
  }
  return "";
}

}  // namespace

std::vector<CheckpointPart> tables_of(const Scene& scene) {
  std::vector<CheckpointPart> tables;
  for (const auto& body : scene.bodies)
    for (const auto& [name, table] : body->parts()) tables.push_back({name, table});
  return tables;
}

Suspicions suspect_states(std::span<const CheckpointPart> tables) {
  Suspicions suspicions;
  for (const auto& [name, table] : tables) {
    std::vector<Suspicion> marks(table->owned(), Suspicion::none);
    for (const ColumnView& column : table->columns(Keep::state)) {
      if (column.shape.kind != ScalarKind::real) continue;
      for (std::size_t r = 0; r < marks.size(); ++r)
        if (!is_finite(column, r)) marks[r] = Suspicion::state;
    }
    suspicions.push_back({name, table, std::move(marks)});
  }
  return suspicions;
}

Suspicions suspect_states(const Scene& scene) { return suspect_states(tables_of(scene)); }

void suspect_motions(const Scene& scene, const TransferSettings& transfer, PointSet& points, const Bins& bins,
                     const NodeField& velocity, Real dt, const Vec3& node, Suspicions& suspicions) {
  const auto suspects = std::find_if(suspicions.begin(), suspicions.end(),
                                     [&](const SuspectTable& s) { return s.table == &points.points(); });
  if (suspects == suspicions.end()) return;  // points that are made anew from others
  const auto x = std::as_const(points).points().get<Position>();
  gather(transfer, bins, x, velocity, [&](ChunkRows rows, const ChunkMotion& motion) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (rows[k] >= suspects->marks.size()) continue;  // another rank's
      Suspicion& mark = suspects->marks[rows[k]];
      const bool deforms = !(dt * motion.C[k].norm() <= scene.step.max_strain);
      const bool is_near = (x[rows[k]] - node).cwiseAbs().maxCoeff() < reach * scene.dx;
      if (mark == Suspicion::none && (deforms || is_near)) mark = Suspicion::motion;
    }
  });
}

std::span<const Suspicion> suspicions_of(const Table& table, const Suspicions& suspicions) {
  for (const SuspectTable& suspects : suspicions)
    if (suspects.table == &table) return suspects.marks;
  return {};
}

std::string accuse(const Comm& comm, const Suspicions& suspicions) {
  for (const Suspicion sought : {Suspicion::state, Suspicion::motion}) {
    const std::int64_t all = comm.sum(count(suspicions, sought));
    if (all == 0) continue;
    return fmt::format("{} particles {}: {}{}. Likely cause: {}.", all,
                       sought == Suspicion::state ? "hold numbers that are not finite" : "are suspect",
                       text_of_one(comm, some_of(suspicions, sought)), all > most_named ? "; and others" : "",
                       sought == Suspicion::state
                           ? "what the run started or resumed from was spoilt; no smaller step can mend it"
                           : "they are torn, squeezed or hit faster than steps can follow, by a stiff law at a strong "
                             "deformation, an impact or a collider");
  }
  return "";
}

}  // namespace weft
