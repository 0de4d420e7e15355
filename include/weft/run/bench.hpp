#pragma once
// How fast steps are on this machine, phase by phase, each beside what the machine's memory and arithmetic would allow.

#include "weft/deck/deck.hpp"
#include "weft/parallel/comm.hpp"

#include <string>
#include <vector>

namespace weft {

/// A standard scene, of the same shape whatever its size, with dx = 1 cm.
struct BenchScene {
  enum class Kind {
    continuum,  ///< The standard block: a cube of one material, 8 particles in a cell, on a floor.
    membrane,   ///< A square of cloth: a vertex and two triangles in each square of dx.
    fiber,      ///< A round bundle, three fibers to a square of dx, with a vertex and a segment in each dx.
    shell,      ///< A square plate: faces of nearly dx, with a control point and 2 x 2 contact points each.
    solid,      ///< A cube of linear tetrahedra that moves by its vertices, one to a cell; a step is one of its own.
    strand,     ///< The bundle of fibers, of rods that move by their vertices; a step is one of their own.
  };
  Kind kind = Kind::continuum;
  Real particles = 1e6;                 ///< Points: particles, or vertices and quadrature points; about.
  std::string law = "fixed_corotated";  ///< Of a continuum.
  std::string kernel = "quadratic";
  bool bending = false;  ///< A membrane or fibers resist it.
  std::string fabric;    ///< The shell is of this fabric; else of rubber (Hencky).
  bool contact = false;  ///< The solid meets the grid, by four contact points in dx^2 of its surface, or strands do.
};

/// Throws Error(deck) if there is no such law, kernel or fabric, or if the kind does not take what is set.
Deck bench_deck(const BenchScene& scene);

/// The least that must be moved and computed for a point in a step; 0 where it is not counted.
struct LeastWork {
  Real bytes = 0, flops = 0;
};
/// Of the mesh of a standard scene, phase by phase: each column read or written once, and operations counted in the
/// source.
std::vector<std::pair<std::string, LeastWork>> least_work_of_mesh(const BenchScene& scene);

/// Time is wall time of all ranks and threads together.
struct BenchPhase {
  std::string name;
  Real nanoseconds;       ///< Per particle step.
  Real memory_floor;      ///< The same work at the machine's copy bandwidth; 0 if it is not counted.
  Real arithmetic_floor;  ///< At the machine's rate of fused multiply-adds; 0 if it is not counted.
};

/// What ranks told one another, counted and not timed: the same on every machine. Of a rank and step on average, but
/// where it says otherwise.
struct BenchExchange {
  Real owned_blocks, ghost_blocks;       ///< Of a rank at the end.
  Real neighbours, most_neighbours;      ///< Ranks that a rank shares blocks with at the end; of the rank with most.
  Real ghost_messages, ghost_bytes;      ///< Nodes between owners and ghosts.
  Real shipped_messages, shipped_bytes;  ///< Points that went to another rank.
  Real asked_messages, asked_bytes;      ///< Who owns what.
  Real most_bytes;                       ///< Of all kinds, of the rank that sent most.
  Real reductions;                       ///< Operations in which all ranks wait for one another.
  Real cuts;                             ///< New cuts of the curve in all steps.
  Real imbalance_cut;                    ///< Largest counted work of a rank over the mean, the worst after any cut.
  Real imbalance_most;                   ///< The worst after any step.
};

struct BenchResult {
  std::int64_t particles;
  std::int64_t elements, contact_points;  ///< Of meshes.
  int steps, refused;                     ///< Taken, and tries with a larger dt that were refused on the way.
  int ranks, threads;
  Real particle_steps_per_second;
  Real bytes_per_particle;  ///< Resident memory of all ranks beyond that of a program without particles.
  Real copy_bandwidth;      ///< Of all threads together, bytes read plus bytes written [byte/s].
  Real multiply_adds;       ///< Of all threads together, two operations each [1/s].
  std::vector<BenchPhase> phases;
  BenchExchange exchange;
};

/// Takes `steps` steps of a deck, after a few that are not timed, as a run does but without files. If the deck is that
/// of a standard scene, points get velocities first that deform the whole of it and reach the CFL number. Collective.
BenchResult bench(const Comm& comm, const Deck& deck, int steps, const BenchScene* standard);

std::string as_text(const BenchResult& result);
std::string as_json(const BenchResult& result);

}  // namespace weft
