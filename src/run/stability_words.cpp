#include "run/stability_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "weft/bodies/mesh_body.hpp"

namespace weft {
namespace {

/// Of a unit vector: less is not worth a word.
constexpr Real slight = 1e-6;
/// Components of a body that are described one by one.
constexpr std::size_t most_described = 4;

std::string as_text(const Vec3& v) {
  const auto plain = [](Real x) { return std::abs(x) < slight ? 0.0 : x; };
  return fmt::format("({:.4g}, {:.4g}, {:.4g})", plain(v.x()), plain(v.y()), plain(v.z()));
}

/// A direction and its opposite are one: the largest component is positive.
Vec3 direction(const Vec3& v) {
  Eigen::Index largest = 0;
  v.cwiseAbs().maxCoeff(&largest);
  return v.normalized() * (v[largest] < 0 ? -1 : 1);
}

/// The point of all ranks that a mode moves most.
struct Mover {
  std::size_t body = 0;
  Vec3 place = Vec3::Zero(), way = Vec3::Zero();
};

Mover largest_mover(const Comm& comm, const Scene& scene, const FreedomValues& mode) {
  Real most = -1;
  Mover mover;
  for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
    const Table& points = std::as_const(*scene.bodies[b]).points();
    for (std::size_t r = 0; r < points.owned(); ++r)
      if (const Real size = mode.points(b)[r].norm(); size > most)
        most = size, mover = {b, points.get<Position>()[r], mode.points(b)[r]};
  }
  const bool has_it = most == comm.max(most);
  const auto first = static_cast<int>(comm.min(static_cast<Real>(has_it ? comm.rank() : comm.size())));
  std::array<Real, 7> all{};
  if (comm.rank() == first) {
    all[0] = static_cast<Real>(mover.body);
    Vec3::Map(all.data() + 1) = mover.place;
    Vec3::Map(all.data() + 4) = mover.way;
  }
  comm.sum(all);
  return {static_cast<std::size_t>(all[0]), Vec3::Map(all.data() + 1), Vec3::Map(all.data() + 4)};
}

/// Shifts first, then turns: combinations of the motions that are easy to name.
std::string motions_in_words(const FreeComponent& component) {
  const auto n = static_cast<Eigen::Index>(component.motions.size());
  if (n == 6) return "it may move as it likes";
  Eigen::Matrix<Real, 3, Eigen::Dynamic> shifts(3, n), turns(3, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    shifts.col(k) = component.motions[static_cast<std::size_t>(k)].shift;
    turns.col(k) = component.motions[static_cast<std::size_t>(k)].turn;
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> parts(turns, Eigen::ComputeFullV);
  std::string text;
  for (Eigen::Index k = n; k-- > 0;) {
    const Vec3 shift = shifts * parts.matrixV().col(k), turn = turns * parts.matrixV().col(k);
    text += text.empty() ? "it may " : ", ";
    if (k >= parts.singularValues().size() || parts.singularValues()[k] <= slight * parts.singularValues()[0] ||
        turn.norm() * component.size <= slight * shift.norm())
      text += fmt::format("move along {}", as_text(direction(shift)));
    else
      text += fmt::format("turn about {} through {}", as_text(direction(turn)),
                          as_text(component.center + turn.cross(shift) / turn.squaredNorm()));
  }
  return text;
}

/// Planes of symmetry that hold a body; a wrong one leaves motions free.
std::string planes_of(const Scene& scene, const std::string& body) {
  std::string text;
  for (const HandleDeck& handle : scene.deck.handles)
    if (const auto* hold = std::get_if<HoldDeck>(&handle.action);
        hold != nullptr && handle.body == body && hold->keep == Hold::symmetry)
      text += fmt::format("{}{} with normal {}", text.empty() ? "" : ", ", handle.name,
                          as_text(hold->normal.value_or(Vec3::Zero()).normalized()));
  return text;
}

std::string in_words(const Scene& scene, const FreeComponent& component) {
  const std::string& name = scene.bodies[component.block]->name();
  const std::string which =
      component.components == 1
          ? fmt::format("body {}", name)
          : fmt::format("a component of body {} ({} vertices about {} m; one of {} that no element joins)", name,
                        component.points, as_text(component.center), component.components);
  if (!component.is_held && component.components > 1)
    return fmt::format(
        "No handle holds {}: {} rigid motions are free. Weld it to its neighbours, whose vertices must be the same "
        "ones, "
        "or hold it. ",
        which, component.motions.size());
  if (!component.is_held)
    return fmt::format("No handle holds {}: {} rigid motions are free. Give it a handle with hold. ", which,
                       component.motions.size());
  const std::string planes = planes_of(scene, name);
  return fmt::format("The holds of {} leave {} rigid motion{} free: {}. {}", which, component.motions.size(),
                     component.motions.size() == 1 ? "" : "s", motions_in_words(component),
                     planes.empty() ? "" : fmt::format("See whether its planes of symmetry are right: {}. ", planes));
}

}  // namespace

std::string in_words(const Comm& comm, const Scene& scene, const Stability& stability) {
  std::string text = fmt::format("{}{} independent motion{} release{} energy",
                                 stability.count == Stability::Count::at_least ? "at least " : "", stability.negative,
                                 stability.negative == 1 ? "" : "s", stability.negative == 1 ? "s" : "");
  if (!stability.mode) return text;
  const Mover mover = largest_mover(comm, scene, *stability.mode);
  return text + fmt::format(", foremost of body {} at {} m along {}", scene.bodies[mover.body]->name(),
                            as_text(mover.place), as_text(direction(mover.way)));
}

std::string in_words(const Scene& scene, std::span<const FreeComponent> components) {
  std::string text;
  std::map<std::size_t, std::size_t> described;
  for (const FreeComponent& component : components)
    if (++described[component.block] <= most_described) text += in_words(scene, component);
  for (const auto& [block, count] : described)
    if (count > most_described)
      text +=
          fmt::format("{} more components of body {} are free. ", count - most_described, scene.bodies[block]->name());
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace weft
