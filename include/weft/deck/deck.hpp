#pragma once
// The deck as plain structs, SI units, angles in radians. Nothing here knows YAML; the key tables that fill these
// structs stand in src/deck/keys.hpp. Names, ranges and defaults stand there, once.

#include "weft/base/kinds.hpp"
#include "weft/base/types.hpp"
#include "weft/deck/bodies.hpp"
#include "weft/deck/handles.hpp"
#include "weft/deck/location.hpp"
#include "weft/deck/materials.hpp"
#include "weft/deck/motion.hpp"
#include "weft/deck/shapes.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weft {

struct BoundsDeck {
  Vec3 lower, upper;
};

struct DomainDeck {
  Real dx;                           ///< Grid spacing [m]; infinity in decks without a grid.
  Vec3 gravity;                      ///< [m/s^2].
  std::optional<BoundsDeck> bounds;  ///< Points that leave are removed.
};

enum class Scheme { explicit_euler, implicit_euler, equilibrium };  // "explicit", "implicit", "static"

struct TimeDeck {
  Real end;             ///< [s].
  Real frame_interval;  ///< [s].
  Real cfl;             ///< Largest travel of a point in one step, in grid spacings.
  Real max_dt;          ///< [s].
  Real max_strain;      ///< Largest |dt grad v| of a point in one step, else the step is taken again with a smaller dt.
  int max_retries;      ///< Halvings of dt before the run gives up.
  Scheme scheme;
  Real watchdog;  ///< Wall-clock seconds without a step or a file after which the run is ended [s]; infinity: never.
};

struct TransferDeck {
  KernelKind kernel;
  Real rpic_damping;  ///< nu of docs/theory/transfer.md (2.5), in [0, 1].
};

struct SourceDeck {
  std::string name;
  std::string body;  ///< A continuum body, which receives the points.
  ShapeDeck shape;   ///< Kept full while the source is open.
  Vec3 velocity;     ///< Of the emitted material [m/s].
  Real from, until;  ///< [s].
  DeckLocation location;
};

struct ColliderDeck {
  std::string name;
  ShapeDeck shape;
  bool hollow;  ///< The material is inside the shape (a container).
  WallCondition condition;
  Real friction;  ///< Coulomb coefficient; for slip and separate.
  WallContactKind contact;
  WallEdges edges;
  std::optional<MotionDeck> motion;
  DeckLocation location;
};

/// How a static analysis goes through its loads.
enum class LoadPath { time, arc };
/// What follows a balanced state that is not stable.
enum class OnUnstable { warn, stop, nudge };
struct LoadingDeck {
  LoadPath path;
  int steps;        ///< Equal parts of time.end: the steps of `time`, the first step of `arc`.
  int max_steps;    ///< Of `arc`.
  Real max_growth;  ///< Longest step of `arc`, in lengths of the first.
  OnUnstable unstable;
  Real nudge;  ///< Largest displacement of a nudge, in sizes of the scene.
};

enum class Plasticity { lagged, in_loop };
enum class Solver { minimise, residual };
struct SolveDeck {
  std::optional<Real> tolerance;  ///< Unbalanced force relative to loads and reactions.
  int max_iterations;
  std::string petsc;  ///< Options for SNES, KSP and PC.
  // Of implicit steps.
  std::optional<Plasticity> plasticity;
  std::optional<Solver> solver;
  Preconditioner preconditioner;
  bool inertia;
  DeckLocation location;
};

// What a probe measures; the deck gives exactly one of these keys.
struct CentreOfMassProbe {};
struct BoundingBoxProbe {};
struct QuantileProbe {
  std::string field;
  Real q;
};  ///< Of a scalar field, or position_x, velocity_y, ...
struct NearestProbe {
  Vec3 point;
  std::string field;
};  ///< Value at the particle that started nearest to this point.

struct ProbeDeck {
  std::string name;
  std::string body;
  std::variant<CentreOfMassProbe, BoundingBoxProbe, QuantileProbe, NearestProbe> measure;
  DeckLocation location;
};

struct CheckpointDeck {
  int every_steps;  ///< 0: not by steps.
  Real every_wall;  ///< Wall-clock seconds [s]; infinity: not by wall clock.
  int keep;
};

/// How the rows of checkpoints and frames get into their files.
enum class FileWriter { direct, collective };

/// What the collective writer tells MPI-IO, and where data sets begin. 0: left to the libraries.
struct WriteHintsDeck {
  int cb_nodes;         ///< Ranks that write; the others send them their rows.
  Real cb_buffer_size;  ///< Of each of these ranks [byte].
  Real alignment;       ///< Data sets of at least that size begin at multiples of it [byte]; for both writers.
};

/// What happens when a file cannot be written.
enum class OnIoError { stop, go_on };  // "stop", "continue"

struct OutputDeck {
  std::vector<std::string> fields;  ///< Of the particles, by field name; see the reference for the list.
  bool grid;                        ///< Also write node mass and velocity on active blocks.
  bool contact_points;              ///< Also write contact points of bodies with freedoms of their own.
  bool double_precision;            ///< Frames in double precision.
  int diagnostics_every;            ///< Steps.
  CheckpointDeck checkpoint;
  OnIoError on_io_error;
  FileWriter writer;
  WriteHintsDeck hints;
  DeckLocation location;
};

struct BalanceDeck {
  Real threshold;  ///< Recut when the largest counted work over the mean exceeds this.
  int every;       ///< Steps between looks.
};

/// A grid layer: bodies on it share the nodes, so they stick and slide as their materials do.
struct LayerDeck {
  std::string name;
  std::optional<KernelKind> kernel;  ///< Else that of `transfer`.
  DeckLocation location;
};

/// What two layers do where they meet.
struct LayerContactDeck {
  std::vector<std::string> between;  ///< Two layers.
  Real friction;                     ///< Coulomb's coefficient [1].
  DeckLocation location;
};

struct Deck {
  int format;  ///< Deck key `weft`.
  std::string title;
  DomainDeck domain;
  TimeDeck time;
  TransferDeck transfer;
  std::vector<MaterialDeck> materials;
  std::vector<LayerDeck> layers;
  std::vector<LayerContactDeck> layer_contact;
  std::vector<BodyDeck> bodies;
  std::vector<SourceDeck> sources;
  std::vector<ColliderDeck> colliders;
  std::vector<HandleDeck> handles;
  LoadingDeck loading;
  SolveDeck solve;
  std::vector<ProbeDeck> probes;
  OutputDeck output;
  BalanceDeck balance;
};

}  // namespace weft
