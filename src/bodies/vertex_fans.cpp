// Vertices are split where elements do not hang together.

#include "bodies/vertex_fans.hpp"

#include "weft/base/check.hpp"
#include "weft/parallel/send.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace weft {
namespace {

/// A rank that wants to know the id of a vertex: for an element, or with element -1 as its owner.
struct Claim {
  VertexUse use;
  std::int64_t order;  ///< Of the use on the rank that asks.
  int rank;

  bool is_owner() const { return use.element < 0; }
  bool is_corner() const { return use.mass > 0; }
};

struct Answer {
  std::int64_t order;
  std::int32_t id;
};

/// By vertex, then by element; a corner before those that look at it.
bool precedes(const Claim& a, const Claim& b) {
  return std::tuple(a.use.vertex, a.use.element, !a.is_corner(), a.rank, a.order) <
         std::tuple(b.use.vertex, b.use.element, !b.is_corner(), b.rank, b.order);
}

std::vector<Claim> send_claims(const Comm& comm, const Runs& ids, std::span<const VertexUse> uses,
                               std::span<const std::int32_t> owned) {
  std::vector<Claim> claims;
  for (std::size_t k = 0; k < uses.size(); ++k) claims.push_back({uses[k], static_cast<std::int64_t>(k), comm.rank()});
  for (const std::int32_t vertex : owned) claims.push_back({{-1, vertex, 0}, 0, comm.rank()});
  std::vector<int> keepers;
  for (const Claim& claim : claims) keepers.push_back(ids.rank_of(claim.use.vertex));
  claims = send(comm, claims, keepers);
  std::sort(claims.begin(), claims.end(), precedes);
  return claims;
}

bool share_a_side(const VertexUse& a, const VertexUse& b) {
  if (a.others[1] < 0) return true;  // segments end at the vertex
  return std::ranges::any_of(a.others, [&](std::int32_t vertex) { return std::ranges::count(b.others, vertex) > 0; });
}

/// The fan of each corner at a vertex, numbered in the order of their first elements.
std::vector<std::size_t> fans_among(std::span<const Claim> corners) {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> fan(corners.size(), none), reached;
  std::size_t count = 0;
  for (std::size_t first = 0; first < corners.size(); ++first) {
    if (fan[first] != none) continue;
    fan[first] = count;
    for (reached = {first}; !reached.empty();) {
      const std::size_t from = reached.back();
      reached.pop_back();
      for (std::size_t to = 0; to < corners.size(); ++to)
        if (fan[to] == none && share_a_side(corners[from].use, corners[to].use)) {
          fan[to] = count;
          reached.push_back(to);
        }
    }
    ++count;
  }
  return fan;
}

/// The claims of one vertex, in order.
struct ClaimsOfVertex {
  std::span<const Claim> owners, elements;  ///< Corners, and those that look at them.
  std::vector<Claim> corners;
  std::vector<std::size_t> fan;  ///< Of each corner.
  std::vector<Fan> fans;

  explicit ClaimsOfVertex(std::span<const Claim> claims) {
    const auto first = std::ranges::find_if_not(claims, &Claim::is_owner);
    owners = {claims.begin(), first};
    elements = {first, claims.end()};
    std::ranges::copy_if(elements, std::back_inserter(corners), &Claim::is_corner);
    fan = fans_among(corners);
    for (std::size_t c = 0; c < corners.size(); ++c) {
      const Claim& corner = corners[c];
      if (fan[c] == fans.size()) fans.push_back({corner.use.vertex, corner.use.element, corner.rank});
      fans[fan[c]].mass += corner.use.mass;
    }
  }

  /// The id for an element; -1 if it has left.
  std::int32_t id_for(std::int64_t element) const {
    const auto corner = std::ranges::lower_bound(corners, element, {}, [](const Claim& c) { return c.use.element; });
    if (corner == corners.end() || corner->use.element != element) return -1;
    return fans[fan[static_cast<std::size_t>(corner - corners.begin())]].vertex;
  }
};

std::vector<ClaimsOfVertex> by_vertex(std::span<const Claim> claims) {
  std::vector<ClaimsOfVertex> vertices;
  for (auto begin = claims.begin(); begin != claims.end();) {
    const auto end =
        std::find_if(begin, claims.end(), [&](const Claim& c) { return c.use.vertex != begin->use.vertex; });
    vertices.emplace_back(std::span(begin, end));
    begin = end;
  }
  return vertices;
}

/// Further fans get the ids after those of the ranks before, which keep lower vertices. Returns how many there are
/// on all ranks.
std::int64_t number_fans(const Comm& comm, const Runs& ids, std::vector<ClaimsOfVertex>& vertices) {
  std::int64_t further = 0;
  for (const ClaimsOfVertex& vertex : vertices)
    further += std::max<std::int64_t>(static_cast<std::int64_t>(vertex.fans.size()) - 1, 0);
  std::int64_t next = ids.count + comm.offset(further);
  const std::int64_t all = comm.sum(further);
  WEFT_ENSURE(ids.count + all <= std::numeric_limits<std::int32_t>::max());
  for (ClaimsOfVertex& vertex : vertices)
    for (std::size_t f = 1; f < vertex.fans.size(); ++f) vertex.fans[f].vertex = static_cast<std::int32_t>(next++);
  return all;
}

void answer_elements(const Comm& comm, std::span<const ClaimsOfVertex> vertices, std::span<std::int32_t> ids) {
  std::vector<Answer> answers;
  std::vector<int> to;
  for (const ClaimsOfVertex& vertex : vertices)
    for (const Claim& claim : vertex.elements) {
      answers.push_back({claim.order, vertex.id_for(claim.use.element)});
      to.push_back(claim.rank);
    }
  for (const auto& [order, id] : send(comm, answers, to)) ids[static_cast<std::size_t>(order)] = id;
}

std::vector<VertexCopy> answer_owners(const Comm& comm, std::span<const ClaimsOfVertex> vertices) {
  std::vector<VertexCopy> copies;
  std::vector<int> to;
  for (const ClaimsOfVertex& vertex : vertices)
    for (const Claim& owner : vertex.owners) {
      Real all = 0;
      for (const Fan& fan : vertex.fans) all += fan.mass;
      for (const Fan& fan : vertex.fans) copies.push_back({owner.use.vertex, fan.vertex, fan.mass / all});
      if (vertex.fans.empty()) copies.push_back({owner.use.vertex, -1, 1});
      to.resize(copies.size(), owner.rank);
    }
  copies = send(comm, copies, to);
  std::ranges::sort(copies, {}, [](const VertexCopy& copy) { return std::pair(copy.vertex, copy.id); });
  return copies;
}

}  // namespace

SplitVertices split_vertices(const Comm& comm, const Runs& ids, std::span<const VertexUse> uses,
                             std::span<const std::int32_t> owned) {
  const std::vector<Claim> claims = send_claims(comm, ids, uses, owned);
  std::vector<ClaimsOfVertex> vertices = by_vertex(claims);
  SplitVertices split;
  split.new_vertices = number_fans(comm, ids, vertices);
  split.ids.resize(uses.size());
  answer_elements(comm, vertices, split.ids);
  split.copies = answer_owners(comm, vertices);
  for (const ClaimsOfVertex& vertex : vertices)
    if (!vertex.corners.empty()) split.fans[vertex.corners.front().use.vertex] = vertex.fans;
  return split;
}

FansOfVertices fans_at_rest(const Comm& comm, const Runs& ids, std::span<const VertexUse> uses,
                            std::span<const std::int32_t> present) {
  struct Present {
    std::int32_t vertex;
    Fan fan;
  };
  std::vector<Present> known;
  std::vector<int> keepers;
  for (std::size_t k = 0; k < uses.size(); ++k) {
    if (!(uses[k].mass > 0)) continue;
    known.push_back({uses[k].vertex, {present[k], uses[k].element, comm.rank(), uses[k].mass}});
    keepers.push_back(ids.rank_of(uses[k].vertex));
  }
  known = send(comm, known, keepers);
  std::ranges::sort(known, {}, [](const Present& p) { return std::pair(p.vertex, p.fan.element); });
  FansOfVertices fans;
  for (const auto& [vertex, fan] : known) {
    std::vector<Fan>& there = fans[vertex];
    if (std::ranges::find(there, fan.vertex, &Fan::vertex) == there.end()) there.push_back(fan);
  }
  return fans;
}

}  // namespace weft
