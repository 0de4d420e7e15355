// Conditions between entries of a deck.

#include "deck/checks.hpp"
#include "weft/deck/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace weft::deck {
namespace {

using Names = std::set<std::string, std::less<>>;

/// The names in a list of entries, each with its spot; complains about a name that was used before.
void collect_names(const Spot& list, const char* what, Names& names) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Spot entry = list.entry(i);
    const Node* name = entry.node().child("name");
    if (name == nullptr || name->kind != Node::Kind::scalar || name->text.empty()) continue;
    if (!names.insert(name->text).second)
      entry["name"].error(fmt::format("there is another {} named {}. Names must be unique.", what, shown(name->text)));
  }
}

/// Complains about bodies whose pictures, or parts of checkpoints, would have the name of another's.
void check_files_of_bodies(const Spot& bodies, const Spot& colliders, const Names& body_names, bool draws_grid) {
  std::map<std::string, std::string, std::less<>> taken;  // by what
  for (std::size_t c = 0; c < colliders.size(); ++c)
    if (const Node* name = colliders.entry(c).node().child("name"))
      taken.emplace("collider_" + name->text, fmt::format("pictures of the collider {}", shown(name->text)));
  for (const std::string& name : body_names)
    for (const char* part : {"_contact", "_laminae"})
      taken.emplace(name + part, fmt::format("a part of the body {} in checkpoints", shown(name)));
  if (draws_grid) taken.emplace("grid", "pictures of the grid (output.grid)");
  for (std::size_t b = 0; b < bodies.size(); ++b)
    if (const Node* name = bodies.entry(b).node().child("name"))
      if (const auto other = taken.find(name->text); other != taken.end())
        bodies.entry(b)["name"].error(fmt::format("{} has the same name. Choose another for the body.", other->second));
}

/// Complains if the text under `key` of each entry is not one of the names. Without any name there is another
/// complaint.
void check_names_used(const Spot& list, const char* key, const char* what, const Names& names) {
  if (names.empty()) return;
  const std::vector<std::string> known(names.begin(), names.end());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Node* used = list.entry(i).node().child(key);
    if (used == nullptr || used->kind != Node::Kind::scalar || used->text.empty() || names.contains(used->text))
      continue;
    const bool is_read = !list.reading().report.is_full();  // a suggestion looks at all names, which takes time
    list.entry(i)[key].error(fmt::format("there is no {} named {}. {}Known: {}.", what, shown(used->text),
                                         is_read ? did_you_mean(used->text, known) : "", listed(known)));
  }
}

/// The list under a top key; without entries if it is not written or not a list.
Spot list_of(const Spot& root, const char* key) {
  const bool is_list = root.has(key) && root[key].node().kind == Node::Kind::list;
  return is_list ? root[key] : root.with_default("[]");
}

/// Complains about colliders that act on nodes, through which bodies with contact points would sink.
void check_colliders_of_surfaces(const Deck& deck, const Spot& root) {
  if (std::ranges::none_of(deck.bodies, has_contact_surface)) return;
  const Spot colliders = list_of(root, "colliders");
  for (std::size_t i = 0; i < std::min(colliders.size(), deck.colliders.size()); ++i)
    if (deck.colliders[i].contact == WallContactKind::nodes)
      colliders.entry(i)["contact"].error(
          "rigid bodies and solids that move by themselves sink through colliders that act on nodes. Expected: "
          "\"surface\".");
}

/// Complains about keys of a body that say different things of what carries it.
void check_carrier(const CarriedDeck& body, bool may_meet, bool is_static, const Spot& at) {
  const bool has_own = body.carrier == Carrier::own;
  if (body.stage && is_static)
    at["stage"].error_at_key("has no meaning with \"scheme: static\" under time, where nothing moves in time.");
  else if (body.stage && !has_own)
    at["stage"].error_at_key(
        "is for bodies with \"carrier: own\"; the grid moves this one. Leave it out, or add that key.");
  if (has_own && !body.meets_grid.value_or(false) && body.layer && !is_static)
    at["layer"].error_at_key(
        "nothing touches this body, so it is on no layer. Leave it out, or add \"meets_grid: true\".");
  if (!body.meets_grid || is_static) return;
  if (has_own && *body.meets_grid && !may_meet)
    at["meets_grid"].error("bodies of this kind with \"carrier: own\" cannot meet the grid. Expected: false.");
  if (!has_own && !*body.meets_grid)
    at["meets_grid"].error("the grid carries this body, so they meet. Expected: true, or \"carrier: own\".");
}

/// Whether bodies of a kind may meet the grid whatever carries them.
template <class Kind>
constexpr bool meets = false;
template <>
constexpr bool meets<SolidDeck> = true;
template <>
constexpr bool meets<StrandDeck> = true;

/// Complains about damping that nothing would do.
void check_damping(const SolidDeck& solid, const Deck& deck, const Spot& at) {
  if (solid.damping == 0) return;
  const bool is_implicit = solid.stage && solid.stage->scheme == StageScheme::implicit_euler;
  if (solid.carrier != Carrier::own || is_implicit || deck.time.scheme == Scheme::equilibrium)
    at["damping"].error_at_key(
        "is for explicit steps of solids with \"carrier: own\". Implicit ones damp by themselves, and \"rpic_damping\" "
        "under transfer damps what the grid moves.");
}

/// Complains about keys of contact of solids that have no contact points, or are for rigid bodies.
void check_contact(const SolidDeck& solid, const BodyDeck& body, const Spot& at) {
  if (!solid.contact) return;
  if (!has_contact_points(body))
    at["contact"].error_at_key(
        "is for contact points, which this body has not. Leave it out, or add \"carrier: own\" and \"meets_grid: "
        "true\".");
  if (solid.contact->restitution > 0)
    at["contact"]["restitution"].error(
        "a body that deforms rebounds by its elasticity; more would add energy. Expected: 0, or \"kind: rigid\".");
}

/// Complains about bodies with contact points, which exchange momentum with nodes, where these have none.
void check_quasi_static(const Deck& deck, const Spot& bodies) {
  if (deck.time.scheme != Scheme::implicit_euler || deck.solve.inertia) return;
  for (std::size_t i = 0; i < std::min(bodies.size(), deck.bodies.size()); ++i)
    if (has_contact_points(deck.bodies[i]))
      bodies.entry(i)["meets_grid"].error(
          "with \"inertia: false\" under solve nodes have no velocities by which this body could meet them. Expected: "
          "\"meets_grid: false\", or \"inertia: true\". A collider can stand for a rigid body that is led.");
}

/// Complains about keys of contact of strands that meet nothing.
void check_contact(const StrandDeck& strand, const BodyDeck& body, const Spot& at) {
  if (has_contact_points(body)) return;
  for (const auto& [key, is_there] :
       {std::pair{"contact", strand.contact.has_value()}, {"blend", strand.blend.has_value()}})
    if (is_there) at[key].error_at_key("is for strands that meet the grid. Leave it out, or add \"meets_grid: true\".");
}

/// Complains about bodies that share the nodes of a layer and blend, but not alike: their momentum would not be kept.
void check_blends(const Deck& deck, const Spot& bodies) {
  std::map<std::string, const BodyDeck*> first;
  for (std::size_t i = 0; i < std::min(bodies.size(), deck.bodies.size()); ++i) {
    const BodyDeck& body = deck.bodies[i];
    if (!blend_of(body)) continue;
    const BodyDeck& other = *first.try_emplace(*layer_of(body), &body).first->second;
    if (blend_of(body) != blend_of(other))
      bodies.entry(i)["blend"].error(
          fmt::format("the blend differs from that of {}, which is on the same layer. Give both the same \"blend\" (a "
                      "strand without one has pic_rate 10 /s), or layers of their own.",
                      shown(std::visit([](const auto& its) { return its.name; }, other))));
  }
}

/// Complains about continua whose points keep a part of their motion that is not theirs to keep.
void check_kept_motion(const Deck& deck, const Spot& bodies) {
  for (std::size_t i = 0; i < std::min(bodies.size(), deck.bodies.size()); ++i) {
    const auto* continuum = std::get_if<ContinuumDeck>(&deck.bodies[i]);
    if (continuum == nullptr || !continuum->blend) continue;
    for (const HandleDeck& handle : deck.handles)
      if (handle.body == continuum->name && std::holds_alternative<HoldDeck>(handle.action))
        bodies.entry(i)["blend"].error(
            fmt::format("the handle {} holds points of it, which take over all from nodes. Expected: no blend.",
                        shown(handle.name)));
  }
}

/// Complains about strands in several substeps on which the grid or impulses act once in a step.
void check_substeps(const Deck& deck, const Spot& bodies) {
  for (std::size_t i = 0; i < std::min(bodies.size(), deck.bodies.size()); ++i) {
    const auto* strand = std::get_if<StrandDeck>(&deck.bodies[i]);
    if (strand == nullptr || !strand->stage || strand->stage->substeps <= 1 || !acts_on_whole_steps(deck, *strand))
      continue;
    bodies.entry(i)["stage"]["substeps"].error(
        "impulses, stretch_limit and the grid, with contact or other bodies, act once in a step: strands of several "
        "substeps gain energy. Expected: 1, or leave it out.");
  }
}

/// Complains about roots in colliders that are not there, and about handles that have the name of theirs.
void check_roots(const Deck& deck, const Spot& bodies, const Names& colliders, const Names& handles) {
  for (std::size_t i = 0; i < std::min(bodies.size(), deck.bodies.size()); ++i) {
    const auto* strand = std::get_if<StrandDeck>(&deck.bodies[i]);
    if (strand == nullptr || !strand->roots) continue;
    const Spot at = bodies.entry(i)["roots"];
    if (!colliders.contains(strand->roots->collider))
      at["collider"].error(fmt::format("there is no collider named {}. Known: {}.", shown(strand->roots->collider),
                                       listed({colliders.begin(), colliders.end()})));
    if (handles.contains(roots_name(*strand)))
      at.error_at_key(fmt::format("a handle is named {}, as the diagnostics name these roots. Choose another name.",
                                  shown(roots_name(*strand))));
  }
}

/// Complains about hair on colliders that are not there, or have no end.
void check_grooms(const Deck& deck, const Spot& bodies, const Names& colliders) {
  for (std::size_t i = 0; i < std::min(bodies.size(), deck.bodies.size()); ++i)
    std::visit(
        [&](const auto& body) {
          if constexpr (requires { body.curves; }) {
            const auto* groom = std::get_if<GroomDeck>(&body.curves.form);
            const auto* on = groom != nullptr ? std::get_if<GroomColliderDeck>(&groom->surface) : nullptr;
            if (on == nullptr) return;
            const Spot at = bodies.entry(i)["curves"]["groom"];
            if (!colliders.contains(on->collider))
              at["collider"].error(fmt::format("there is no collider named {}. Known: {}.", shown(on->collider),
                                               listed({colliders.begin(), colliders.end()})));
            for (const ColliderDeck& collider : deck.colliders)
              if (collider.name == on->collider && std::holds_alternative<PlaneDeck>(collider.shape.form) &&
                  (!groom->where || std::holds_alternative<PlaneDeck>(groom->where->form)))
                at["collider"].error("is a plane, which has no end. Expected: a shape \"where\" roots lie.");
          }
        },
        deck.bodies[i]);
}

/// Complains about layers that are not there, or that a body with freedoms of its own shares with others.
void check_layers(const Deck& deck, const Spot& root) {
  const Spot layers = list_of(root, "layers"), pairs = list_of(root, "layer_contact"), bodies = list_of(root, "bodies");
  Names names{first_layer};
  collect_names(layers, "layer", names);
  const std::size_t count = std::min(bodies.size(), deck.bodies.size());
  std::map<std::string, int, std::less<>> bodies_on;
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = layer_of(deck.bodies[i]);
    if (!name) continue;
    ++bodies_on[*name];
    if (bodies.entry(i).has("layer") || *name == first_layer) continue;
    if (!names.insert(*name).second)
      bodies.entry(i).error(
          fmt::format("there is a layer named {}, as would be this body's own. Name its \"layer\".", shown(*name)));
  }
  check_names_used(bodies, "layer", "layer", names);
  for (std::size_t i = 0; i < count; ++i)
    if (const auto name = layer_of(deck.bodies[i]);
        name && has_contact_surface(deck.bodies[i]) && bodies_on.find(*name)->second > 1)
      bodies.entry(i)["layer"].error(
          fmt::format("another body is on the layer {}, where they would not touch. Expected: a layer for this body, "
                      "which has freedoms of its own.",
                      shown(*name)));
  std::set<std::set<std::string>> seen;
  for (std::size_t p = 0; p < std::min(pairs.size(), deck.layer_contact.size()); ++p) {
    const std::vector<std::string>& between = deck.layer_contact[p].between;
    const Spot pair = pairs.entry(p)["between"];
    for (std::size_t k = 0; k < std::min(pair.size(), between.size()); ++k)
      if (!names.contains(between[k]))
        pair.entry(k).error(fmt::format("there is no layer named {}. Known: {}.", shown(between[k]),
                                        listed({names.begin(), names.end()})));
    const std::set<std::string> both(between.begin(), between.end());
    const auto meets_itself = [&](const BodyDeck& body) {
      return std::holds_alternative<SolidDeck>(body) && has_contact_surface(body) && layer_of(body) == between.front();
    };
    if (between.size() != 2) pair.error("expected: the names of two layers, as in [materials, tools].");
    else if (both.size() == 1 && std::ranges::none_of(deck.bodies, meets_itself))
      pair.error(
          fmt::format("nothing on the layer {} can meet itself. Expected: two layers, or twice that of a solid "
                      "with carrier: own and meets_grid: true.",
                      shown(between.front())));
    else if (!seen.insert(both).second) pair.error("these two layers stand together above already.");
  }
}

/// Complains about what handles cannot do to rigid bodies.
void check_rigid(const Deck& deck, const Spot& root) {
  const auto is_rigid = [&](const std::string& name) {
    return std::ranges::any_of(deck.bodies, [&](const BodyDeck& body) {
      const auto* rigid = std::get_if<RigidDeck>(&body);
      return rigid != nullptr && rigid->name == name;
    });
  };
  const auto can_act = [](const HandleActionDeck& action) {
    return std::holds_alternative<ForceDeck>(action) || std::holds_alternative<PressureDeck>(action) ||
           std::holds_alternative<TractionDeck>(action);
  };
  const Spot handles = list_of(root, "handles");
  for (std::size_t i = 0; i < std::min(handles.size(), deck.handles.size()); ++i)
    if (is_rigid(deck.handles[i].body) && !can_act(deck.handles[i].action))
      handles.entry(i)["body"].error(
          "rigid bodies are held and moved by their \"joint\", and have no edges. Expected of a handle: force, "
          "pressure or traction.");
}

/// Complains about strands that meet by other rules than those before them.
void check_impulses(const Deck& deck, const Spot& root) {
  const Spot bodies = list_of(root, "bodies");
  const ImpulsesDeck* first = nullptr;
  for (std::size_t i = 0; i < std::min(bodies.size(), deck.bodies.size()); ++i) {
    const auto* strand = std::get_if<StrandDeck>(&deck.bodies[i]);
    if (strand == nullptr || !strand->impulses) continue;
    const ImpulsesDeck& impulses = *strand->impulses;
    if (first == nullptr) first = &impulses;
    if (has_contact_points(deck.bodies[i]) && impulses.distance > deck.domain.dx / 2)
      bodies.entry(i)["impulses"]["distance"].error(fmt::format(
          "must not exceed half of domain.dx, {} m, where strands meet the grid, which sees what is farther "
          "apart.",
          deck.domain.dx / 2));
    for (const auto& [key, is_same] : {std::pair{"iterations", impulses.iterations == first->iterations},
                                       {"averaging", impulses.averaging == first->averaging},
                                       {"swept", impulses.swept == first->swept}})
      if (!is_same)
        bodies.entry(i)["impulses"].error(fmt::format(
            "another body has other {}. All strands meet by the same ones. Expected: the same in all bodies.", key));
  }
}

/// Complains about what an analysis without time and grid would ignore.
void check_static(const Deck& deck, const Spot& root) {
  constexpr auto has_no_meaning = "has no meaning with \"scheme: static\" under time. Leave it out.";
  for (const char* key : {"sources", "colliders", "layers", "layer_contact"})
    if (list_of(root, key).size() > 0) root[key].error_at_key(has_no_meaning);
  const Spot bodies = list_of(root, "bodies"), handles = list_of(root, "handles");
  for (std::size_t i = 0; i < std::min(bodies.size(), deck.bodies.size()); ++i)
    std::visit(
        [&](const auto& body) {
          for (const auto& [key, value] : {std::pair{"velocity", body.velocity}, {"spin", body.spin}})
            if (!value.isZero(0)) bodies.entry(i)[key].error_at_key(has_no_meaning);
        },
        deck.bodies[i]);
  for (std::size_t i = 0; i < std::min(bodies.size(), deck.bodies.size()); ++i)
    if (const auto* strand = std::get_if<StrandDeck>(&deck.bodies[i]))
      for (const auto& [key, is_given] :
           {std::pair{"impulses", strand->impulses.has_value()}, {"stretch_limit", strand->stretch_limit.has_value()}})
        if (is_given) bodies.entry(i)[key].error_at_key(has_no_meaning);
  for (std::size_t i = 0; i < std::min(handles.size(), deck.handles.size()); ++i)
    if (const auto* hold = std::get_if<HoldDeck>(&deck.handles[i].action); hold && std::isfinite(hold->until))
      handles.entry(i)["hold"]["until"].error_at_key(
          "nothing can be let go with \"scheme: static\" under time. Leave it out.");
}

/// Complains about keys of a body that its carrier or its kind make senseless.
void check_carried(const Deck& deck, const Spot& bodies) {
  for (std::size_t i = 0; i < std::min(bodies.size(), deck.bodies.size()); ++i)
    std::visit(
        [&]<class Kind>(const Kind& body) {
          if constexpr (std::is_base_of_v<CarriedDeck, Kind>) {
            if constexpr (std::is_same_v<Kind, SolidDeck>) check_damping(body, deck, bodies.entry(i));
            if constexpr (std::is_same_v<Kind, SolidDeck>) check_contact(body, deck.bodies[i], bodies.entry(i));
            if constexpr (std::is_same_v<Kind, StrandDeck>) check_contact(body, deck.bodies[i], bodies.entry(i));
            check_carrier(body, meets<Kind>, deck.time.scheme == Scheme::equilibrium, bodies.entry(i));
          }
        },
        deck.bodies[i]);
}

/// Complains about sources of bodies that cannot be fed, and about bodies that would stay empty.
void check_fed(const Deck& deck, const Spot& bodies, const Spot& sources) {
  Names fed, meshed;
  for (std::size_t i = 0; i < bodies.size() && i < deck.bodies.size(); ++i)
    if (const Node* name = bodies.entry(i).node().child("name");
        name != nullptr && !std::holds_alternative<ContinuumDeck>(deck.bodies[i]))
      meshed.insert(name->text);
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (const Node* body = sources.entry(i).node().child("body")) {
      fed.insert(body->text);
      if (meshed.contains(body->text))
        sources.entry(i)["body"].error(
            fmt::format("{} has a mesh; a source can feed bodies of kind continuum only.", shown(body->text)));
    }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Spot body = bodies.entry(i);
    const Node* name = body.node().child("name");
    const bool is_meshed = i < deck.bodies.size() && !std::holds_alternative<ContinuumDeck>(deck.bodies[i]);
    if (name != nullptr && !is_meshed && body.node().kind == Node::Kind::mapping && !body.has("shape") &&
        !fed.contains(name->text))
      body.error("has no shape, and no source feeds it, so it would stay empty. Give it a shape or a source.");
  }
}

}  // namespace

void check_references(const Deck& deck, const Spot& root) {
  if (deck.time.scheme != Scheme::equilibrium && std::isinf(deck.domain.dx))
    root["domain"]["dx"].error("the grid spacing \"dx\" is missing; \"scheme: static\" under time alone has no grid.");
  if (deck.time.scheme == Scheme::equilibrium) check_static(deck, root);
  const Spot bodies = list_of(root, "bodies"), sources = list_of(root, "sources");
  check_carried(deck, bodies);
  check_quasi_static(deck, bodies);
  check_layers(deck, root);
  check_colliders_of_surfaces(deck, root);
  check_rigid(deck, root);
  check_impulses(deck, root);
  const Spot colliders = list_of(root, "colliders"), probes = list_of(root, "probes");
  const Spot handles = list_of(root, "handles");

  Names materials, body_names, source_names, probe_names, handle_names, collider_names;
  for (const MaterialDeck& material : deck.materials) materials.insert(material.name);
  collect_names(bodies, "body", body_names);
  collect_names(sources, "source", source_names);
  collect_names(probes, "probe", probe_names);
  collect_names(handles, "handle", handle_names);
  Names drawn = body_names;
  collect_names(colliders, "body or collider", drawn);
  check_files_of_bodies(bodies, colliders, body_names, deck.output.grid);

  check_names_used(bodies, "material", "material", materials);
  check_names_used(sources, "body", "body", body_names);
  check_names_used(probes, "body", "body", body_names);
  check_names_used(handles, "body", "body", body_names);
  for (const ColliderDeck& collider : deck.colliders) collider_names.insert(collider.name);
  check_roots(deck, bodies, collider_names, handle_names);
  check_grooms(deck, bodies, collider_names);
  check_blends(deck, bodies);
  check_kept_motion(deck, bodies);
  check_substeps(deck, bodies);
  check_fed(deck, bodies, sources);
}

}  // namespace weft::deck
