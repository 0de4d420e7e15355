#pragma once
// The deck as plain structs, SI units, angles in radians. Nothing here knows YAML; the key tables that fill these
// structs stand in src/deck/keys.hpp. Names, ranges and defaults stand there, once.

#include "weft/base/kinds.hpp"
#include "weft/base/types.hpp"

#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weft {

/// Where something stands in a deck, for messages of later stages: "decks/a.yaml:14:5: materials.sand".
struct DeckPlace {
  std::string text;
};

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

/// Stiffness of an isotropic elastic law; the deck gives one complete pair of keys, flat in the material.
struct YoungDeck {
  Real youngs_modulus;  ///< [Pa].
  Real poisson_ratio;   ///< [1].
};
struct LameDeck {
  Real lame_lambda, lame_mu;  ///< [Pa].
};
using StiffnessDeck = std::variant<YoungDeck, LameDeck>;

// One struct for each law; the deck key `law` chooses.
struct FixedCorotatedDeck {
  StiffnessDeck stiffness;
};
struct NeoHookeanDeck {
  StiffnessDeck stiffness;
};
struct StvkHenckyDeck {
  StiffnessDeck stiffness;
};
struct DruckerPragerDeck {
  StiffnessDeck stiffness;
  Real friction_angle;      ///< [rad]; degrees in the deck. h0 of Klar 2016.
  Real cohesion;            ///< Tension carried at zero shear [Pa].
  Real hardening_gain;      ///< h1 [rad]; 0: friction angle stays.
  Real hardening_rate;      ///< h2 [1].
  Real hardening_residual;  ///< h3 [rad].
  bool volume_correction;
};
struct SnowDeck {
  StiffnessDeck stiffness;
  Real critical_compression, critical_stretch;  ///< theta_c, theta_s [1].
  Real hardening;                               ///< xi [1].
};
struct VonMisesDeck {
  StiffnessDeck stiffness;
  Real yield_stress;       ///< In uniaxial tension [Pa].
  Real hardening_modulus;  ///< d(uniaxial yield stress)/d(plastic strain) [Pa].
};
struct TaitDeck {
  Real bulk_modulus;  ///< At rest density: K g of docs/theory/laws.md, 5.7 [Pa].
  Real exponent;      ///< g [1].
  Real viscosity;     ///< Dynamic [Pa s].
};
struct HerschelBulkleyDeck {
  Real shear_modulus, bulk_modulus;  ///< [Pa].
  Real yield_stress;                 ///< In uniaxial tension [Pa].
  Real consistency;                  ///< eta [Pa s^h].
  Real flow_index;                   ///< h [1].
};

/// Frictional contact of sheets.
struct SheetContactDeck {
  Real stiffness;                       ///< k [Pa].
  std::optional<Real> shear_stiffness;  ///< gamma [Pa].
  Real friction;                        ///< c_F [1].
};
// Laws of membranes.
struct SheetLawDeck {
  StiffnessDeck stiffness;
  SheetContactDeck contact;
};
struct WovenSheetLawDeck {
  Real warp_modulus, weft_modulus;  ///< Young's moduli [Pa].
  Real poisson_ratio;               ///< Of the weft, as the warp is stretched.
  Real shear_modulus;               ///< [Pa].
  SheetContactDeck contact;
};

struct FrictionAngleDeck {
  Real friction_angle;  ///< [rad]; degrees in the deck.
};
struct FrictionPairDeck {
  Real friction_along, friction_across;  ///< beta and alpha [1].
};
/// The law of fibers.
struct FiberLawDeck {
  Real stretch_modulus;               ///< k, along the fiber [Pa].
  std::optional<Real> shear_modulus;  ///< gamma, of the sides [Pa].
  StiffnessDeck stiffness;            ///< Of the section.
  std::variant<FrictionAngleDeck, FrictionPairDeck> friction;
};

/// The law of strands.
struct RodLawDeck {
  Real youngs_modulus;                  ///< In bending, and along the strand unless that is given [Pa].
  Real poisson_ratio;                   ///< Of the shear modulus in twist.
  std::optional<Real> stretch_modulus;  ///< Young's modulus along the strand [Pa].
  Real viscosity;                       ///< Dynamic [Pa s].
};

/// Woven fabrics whose tension was measured, in the order of fabrics().
enum class FabricKind { silk, cotton, canvas, denim, wool };
struct FabricDeck {
  FabricKind fabric;
};

using LawDeck =
    std::variant<FixedCorotatedDeck, NeoHookeanDeck, StvkHenckyDeck, DruckerPragerDeck, SnowDeck, VonMisesDeck,
                 TaitDeck, HerschelBulkleyDeck, SheetLawDeck, WovenSheetLawDeck, FiberLawDeck, RodLawDeck, FabricDeck>;

struct MaterialDeck {
  std::string name;
  Real density;  ///< Rest density [kg/m^3].
  LawDeck law;
  DeckPlace place;
};

// Shapes: the deck gives exactly one of these keys, plus the transform keys (applied as scale, rotate, translate).
struct PlaneDeck {
  Vec3 point, normal;
};  ///< The solid side is opposite to the normal. Colliders only.
struct BoxDeck {
  Vec3 lower, upper;
};
struct SphereDeck {
  Vec3 center;
  Real radius;
};
struct CylinderDeck {
  Vec3 from, to;
  Real radius;
};
struct CapsuleDeck {
  Vec3 from, to;
  Real radius;
};
struct EllipsoidDeck {
  Vec3 center, radii;
};
struct TorusDeck {
  Vec3 center, axis;
  Real major_radius, minor_radius;
};
struct MeshDeck {
  std::string file;
};  ///< Closed triangle mesh: OBJ, PLY or STL; path relative to the deck.

struct RotationDeck {
  Vec3 axis;
  Real angle;  ///< [rad]; degrees in the deck.
};

struct UnionPartDeck {
  std::variant<BoxDeck, SphereDeck, CylinderDeck, CapsuleDeck, EllipsoidDeck, TorusDeck> form;
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
};
struct UnionDeck {
  std::vector<UnionPartDeck> parts;  ///< At least one.
  Real blend;                        ///< Radius of fillets [m].
};

struct ShapeDeck {
  std::variant<PlaneDeck, BoxDeck, SphereDeck, CylinderDeck, CapsuleDeck, EllipsoidDeck, TorusDeck, MeshDeck, UnionDeck>
      form;
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
  DeckPlace place;
};

/// The grid layer of a body; the key is the same for every kind.
struct LayeredDeck {
  std::optional<std::string> layer;  ///< Else the first one, or one of its own for freedoms of its own.
};

struct ContinuumDeck : LayeredDeck {
  std::string name;
  std::string material;
  std::optional<ShapeDeck> shape;  ///< May be left out if a source feeds the body.
  int particles_per_cell;
  Sampling sampling;
  Vec3 velocity;  ///< Initial [m/s].
  Vec3 spin;      ///< Initial angular velocity about the body's centre of mass [rad/s].
  std::uint32_t seed;
  DeckPlace place;
};

// Control meshes of shells; the deck gives exactly one of these keys.
struct MeshFileDeck {
  std::string file;
};  ///< OBJ or PLY of quads (other polygons are divided); path relative to the deck.
struct RectangleDeck {
  Real width, height;  ///< [m].
};
struct CylinderPatchDeck {
  Real radius, length;  ///< [m].
  Real from, to;        ///< [rad]; degrees in the deck.
};
struct SpherePatchDeck {
  Real radius;                    ///< [m].
  Real west, east, south, north;  ///< [rad]; degrees in the deck.
};
struct AnnulusDeck {
  Real inner, outer;  ///< Radii [m].
  Real from, to;      ///< [rad]; degrees in the deck.
};

struct ControlMeshDeck {
  std::variant<MeshFileDeck, RectangleDeck, CylinderPatchDeck, SpherePatchDeck, AnnulusDeck> form;
  int across, along;                   ///< Faces of generated meshes.
  bool irregular;                      ///< Generated meshes get points where other than four edges meet.
  std::optional<bool> through_points;  ///< The surface passes through the points of a file, as it does without the key;
                                       ///< else they are its control points.
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
};

/// Where laminae lie across the thickness of a shell.
enum class LaminaPlaces { gauss, quarter };

/// Faces of a shell that have a thickness of their own.
struct ShellPartDeck {
  std::optional<ShapeDeck> where;    ///< Middles of the faces.
  std::optional<std::string> group;  ///< Of the mesh file.
  Real thickness;                    ///< [m].
};

/// How a body with freedoms of its own moves in time.
struct StageDeck {
  StageScheme scheme;
  int substeps;    ///< In each step; 0: as many as are stable, one if it is implicit.
  Real tolerance;  ///< Of implicit ones: unbalanced force over the largest one.
};

/// What carries a body with a mesh; the keys are the same for every kind.
struct CarriedDeck : LayeredDeck {
  Carrier carrier;
  std::optional<StageDeck> stage;  ///< For freedoms of its own.
  std::optional<bool> meets_grid;  ///< Else as the kind and its carrier have it.
};

struct ShellDeck : CarriedDeck {
  std::string name;
  std::string material;
  ControlMeshDeck mesh;
  Real thickness;                           ///< [m].
  std::vector<ShellPartDeck> parts;         ///< Later ones win.
  std::optional<Vec3> direction;            ///< Of material axis 1, in space at rest; else from the texture.
  LaminaPlaces across;                      ///< Where laminae lie across the thickness.
  int laminae;                              ///< Gauss points across the thickness.
  int in_plane;                             ///< Gauss points of a face in each direction.
  YieldSurface yield;                       ///< Of metal.
  std::optional<SheetContactDeck> contact;  ///< For steps in time.
  int contact_points;                       ///< Of a face in each direction; 0: by domain.dx.
  Vec3 velocity;                            ///< Initial [m/s].
  Vec3 spin;                                ///< Initial angular velocity about the body's centre of mass [rad/s].
  DeckPlace place;
};

/// The surface of a membrane, in triangles.
struct SurfaceDeck {
  std::variant<MeshFileDeck, RectangleDeck, CylinderPatchDeck, SpherePatchDeck, AnnulusDeck> form;
  int across, along;  ///< Divisions of generated surfaces.
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
};

/// Resistance of a sheet against bending.
struct PlateDeck {
  Real youngs_modulus;  ///< [Pa].
  Real poisson_ratio;   ///< [1].
};

struct MembraneDeck : CarriedDeck {
  std::string name;
  std::string material;
  SurfaceDeck mesh;
  Real thickness;            ///< [m].
  std::optional<Vec3> warp;  ///< Direction at rest.
  std::optional<PlateDeck> bending;
  std::optional<Real> tear_stretch;  ///< [1].
  Vec3 velocity;                     ///< Initial [m/s].
  Vec3 spin;                         ///< Initial angular velocity about the body's centre of mass [rad/s].
  DeckPlace place;
};

// Curves of fibers; the deck gives exactly one of these keys. See geometry/fiber_patterns.hpp.
struct CurveFileDeck {
  std::string file;
};
struct HairTubeDeck {
  Real inner_radius, outer_radius, length;  ///< [m].
  int strands;
};
struct HairBallDeck {
  Real radius, length;  ///< [m].
  int strands;
};
struct BraidDeck {
  int strands;
  Real width, depth, pitch, length;  ///< [m].
};
struct ShagCarpetDeck {
  Real width, depth, height, gap;  ///< [m].
  Real lean;                       ///< [1].
  std::uint32_t seed;
};
struct WeaveDeck {
  int warp, weft;
  Real gap, amplitude;  ///< [m].
};
struct KnitDeck {
  int stitches, rows;
  Real width, depth;  ///< [m].
  std::string pattern;
};
struct KnitSweaterDeck {
  int body_stitches, sleeve_stitches, underarm;
  int body_rows, sleeve_rows, yoke_rows;
  Real width, depth;  ///< [m].
  Real neck;          ///< [1].
  Real spread;        ///< [rad].
};
// What strands of a groom grow on; the deck gives exactly one of these keys.
struct GroomColliderDeck {
  std::string collider;
};
struct GroomFileDeck {
  std::string file;
};
struct WaveDeck {
  Real amplitude, length;  ///< [m].
  Real spread;             ///< [1].
};
struct CurlDeck {
  Real radius, length;  ///< [m].
  Real spread;          ///< [1].
};
struct GroomDeck {
  std::variant<GroomColliderDeck, GroomFileDeck> surface;
  std::optional<ShapeDeck> where;  ///< Roots.
  int strands;
  Real length;         ///< [m].
  Real length_spread;  ///< [1].
  Real lie;            ///< Against the normal [rad].
  Real lie_spread;     ///< [rad].
  std::optional<Vec3> toward;
  std::optional<Real> droop;  ///< [m].
  Real clearance;             ///< [m].
  std::optional<WaveDeck> wave;
  std::optional<CurlDeck> curl;
  std::uint32_t seed;
  DeckPlace place;
};
struct PliesDeck {
  int count;
  Real radius, twist;  ///< [m].
};

struct CurvesDeck {
  std::variant<CurveFileDeck, HairTubeDeck, HairBallDeck, BraidDeck, ShagCarpetDeck, WeaveDeck, KnitDeck,
               KnitSweaterDeck, GroomDeck>
      form;
  std::optional<PliesDeck> plies;
  std::optional<Real> spacing;  ///< Of vertices along the curves [m].
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
};

struct FiberDeck : CarriedDeck {
  std::string name;
  std::string material;
  CurvesDeck curves;
  Real radius;                          ///< [m].
  std::optional<Real> bending_modulus;  ///< [Pa].
  std::optional<Real> tear_stretch;     ///< [1].
  Vec3 velocity;                        ///< Initial [m/s].
  Vec3 spin;                            ///< [rad/s].
  DeckPlace place;
};

// Sections of strands; the deck gives exactly one of these keys.
struct RoundSectionDeck {
  Real radius;  ///< [m].
};
struct EllipticSectionDeck {
  std::vector<Real> half_axes;  ///< Two [m].
};
/// The shape of a strand without moment: as its curve is made, or straight.
enum class NaturalShape { as_made, straight };
/// What strands are for one another and all else on the grid: a continuum that yields, or nothing.
enum class StrandResponse { elastoplastic, none };

/// The continuum that strands are on the grid.
struct StrandContactDeck {
  Real youngs_modulus;  ///< [Pa].
  Real poisson_ratio;
  Real friction;  ///< Shear over normal stress of a layer that slides.
  Real packing;   ///< Volume of strands in that of the continuum at rest.
};

// How much of the velocities of nodes strands take over; the deck gives exactly one of these keys.
struct PicShareDeck {
  Real share;  ///< In each step.
};
struct PicRateDeck {
  Real rate;  ///< [1/s].
};
struct BlendDeck {
  std::variant<PicShareDeck, PicRateDeck> pic;
};

/// Strands that begin in a collider move with it.
struct RootsDeck {
  std::string collider;
  Real depth;  ///< First vertices are no farther from the collider [m].
  DeckPlace place;
};

/// How segments of strands that move by themselves meet.
struct ImpulsesDeck {
  Real distance;  ///< [m].
  int iterations;
  Real friction;  ///< [1].
  ImpulseAveraging averaging;
  bool swept;
};

struct StrandDeck : CarriedDeck {
  std::string name;
  std::string material;
  CurvesDeck curves;
  std::variant<RoundSectionDeck, EllipticSectionDeck> section;
  NaturalShape natural;
  Real twist;                                ///< Natural, of the section along the strand [rad/m].
  std::optional<RootsDeck> roots;            ///< Else nothing ties their first vertices.
  std::optional<StrandContactDeck> contact;  ///< Else the nodes have no stress of them.
  StrandResponse response;
  std::optional<BlendDeck> blend;
  std::optional<ImpulsesDeck> impulses;  ///< Without, strands pass through one another between nodes.
  std::optional<Real> stretch_limit;     ///< [1].
  Vec3 velocity;                         ///< Initial [m/s].
  Vec3 spin;                             ///< [rad/s].
  DeckPlace place;
};

// Tetrahedra of solids; the deck gives exactly one of these keys.
struct TetFileDeck {
  std::string file;
};
struct BlockDeck {
  Vec3 lower, upper;  ///< Corners [m].
};
struct TetMeshDeck {
  std::variant<TetFileDeck, BlockDeck, ShapeDeck> form;
  std::optional<Real> size;        ///< Of the edges of what is made here, at most [m].
  std::optional<Real> inner_size;  ///< The same deep inside a shape; else `size`.
  Real scale;
  std::optional<RotationDeck> rotate;  ///< About the origin.
  Vec3 translate;
};

/// How the surface of a solid with freedoms of its own meets the grid.
struct SolidContactDeck {
  Real points;                    ///< In an area of dx^2.
  Real restitution;               ///< Of hits of rigid bodies.
  std::optional<Real> tolerance;  ///< Of passes in a step, relative; else as the kind has it.
};

struct SolidDeck : CarriedDeck {
  std::string name;
  std::string material;
  TetMeshDeck mesh;
  std::optional<int> order;                 ///< Of the tetrahedra: 1, 2; without, as the mesh has it.
  std::optional<SolidContactDeck> contact;  ///< Without, four points.
  Real damping;                             ///< Of the motion within elements [1/s].
  Vec3 velocity;                            ///< Initial [m/s].
  Vec3 spin;                                ///< Initial angular velocity about the body's centre of mass [rad/s].
  DeckPlace place;
};

struct KeyframeDeck {
  Real time;                           ///< [s].
  Vec3 translate;                      ///< [m].
  std::optional<RotationDeck> rotate;  ///< About the motion's center.
};

/// Rigid motion: constant velocity and spin, or keyframes (interpolated, constant outside); never both.
struct MotionDeck {
  Vec3 velocity;  ///< [m/s].
  Vec3 spin;      ///< [rad/s].
  Vec3 center;    ///< Point that the rotations turn about, at time 0 [m].
  std::vector<KeyframeDeck> keyframes;
};

// How heavy a rigid body is; the deck gives exactly one of these keys.
struct DensityDeck {
  Real density;  ///< [kg/m^3].
};
struct MassDeck {
  Real mass;  ///< [kg].
};

// What ties a rigid body to the world; the deck gives exactly one of these keys.
struct BallJointDeck {
  Vec3 point;    ///< [m].
  Real damping;  ///< [N m s].
};
struct HingeDeck {
  Vec3 point, axis;
  Real damping, torque;       ///< [N m s], [N m].
  std::optional<Real> speed;  ///< [rad/s].
};
struct SliderDeck {
  Vec3 axis;
  Real damping, force;        ///< [N s/m], [N].
  std::optional<Real> speed;  ///< [m/s].
};
struct JointDeck {
  std::variant<BallJointDeck, HingeDeck, SliderDeck, MotionDeck> form;
};

/// Entries of the tensor of inertia [kg m^2].
struct InertiaDeck {
  Vec3 moments;   ///< xx, yy, zz.
  Vec3 products;  ///< xy, yz, zx: of xy minus the integral of x y dm.
};

struct RigidDeck : LayeredDeck {
  std::string name;
  std::variant<DensityDeck, MassDeck> weight;
  std::optional<Vec3> center;          ///< Of mass, at rest [m]; else the middle of the volume.
  std::optional<InertiaDeck> inertia;  ///< About it; else that of the volume about its middle.
  TetMeshDeck mesh;
  std::optional<SolidContactDeck> contact;  ///< Without, four points.
  std::optional<JointDeck> joint;
  std::optional<bool> meets_grid;  ///< Else true.
  Vec3 velocity;                   ///< Initial [m/s].
  Vec3 spin;                       ///< Initial angular velocity about the body's centre of mass [rad/s].
  DeckPlace place;
};

/// The deck key `kind` chooses; more kinds join with their issues.
using BodyDeck = std::variant<ContinuumDeck, ShellDeck, MembraneDeck, FiberDeck, StrandDeck, SolidDeck, RigidDeck>;

struct SourceDeck {
  std::string name;
  std::string body;  ///< A continuum body, which receives the points.
  ShapeDeck shape;   ///< Kept full while the source is open.
  Vec3 velocity;     ///< Of the emitted material [m/s].
  Real from, until;  ///< [s].
  DeckPlace place;
};

struct ColliderDeck {
  std::string name;
  ShapeDeck shape;
  bool hollow;  ///< The material is inside the shape (a container).
  WallCondition condition;
  Real friction;  ///< Coulomb coefficient; for slip and separate.
  WallContactKind contact;
  std::optional<MotionDeck> motion;
  DeckPlace place;
};

/// A point of a factor over time.
struct AmplitudeKeyDeck {
  Real time;    ///< [s].
  Real factor;  ///< [1].
};
enum class Axis { x, y, z };

// What a handle does; the deck gives exactly one of these keys. Loads without amplitude grow in proportion to time, to
// their full size at time.end.
struct HoldDeck {
  Hold keep;
  std::vector<Axis> axes;      ///< Components of the place that are held.
  std::optional<Vec3> normal;  ///< Of the plane of symmetry.
  std::optional<MotionDeck> motion;
  Real until;  ///< Then the part is let go [s].
};
struct ForceDeck {
  Vec3 total;  ///< [N], shared by the vertices chosen.
  std::vector<AmplitudeKeyDeck> amplitude;
};
struct EdgeForceDeck {
  Vec3 per_length;  ///< [N/m].
  std::vector<AmplitudeKeyDeck> amplitude;
};
struct EdgeMomentDeck {
  Real per_length;  ///< [N].
  std::vector<AmplitudeKeyDeck> amplitude;
};
struct PressureDeck {
  Real value;  ///< [Pa].
  std::vector<AmplitudeKeyDeck> amplitude;
};
struct TractionDeck {
  Vec3 per_area;  ///< [Pa].
  std::vector<AmplitudeKeyDeck> amplitude;
};
struct GravityDeck {
  Vec3 acceleration;  ///< [m/s^2].
  std::vector<AmplitudeKeyDeck> amplitude;
};
using HandleActionDeck =
    std::variant<HoldDeck, ForceDeck, EdgeForceDeck, EdgeMomentDeck, PressureDeck, TractionDeck, GravityDeck>;

struct HandleDeck {
  std::string name;
  std::string body;
  // Which part of the body, at rest: what satisfies all that is given; all of it without any.
  std::optional<ShapeDeck> where;
  std::optional<std::string> group;  ///< Of the mesh file.
  std::vector<int> vertices;         ///< Numbers of control points.
  std::optional<int> boundary;       ///< Number of a closed line of boundary edges.
  HandleActionDeck action;
  DeckPlace place;
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
  DeckPlace place;
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
  DeckPlace place;
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
  DeckPlace place;
};

struct BalanceDeck {
  Real threshold;  ///< Recut when the largest counted work over the mean exceeds this.
  int every;       ///< Steps between looks.
};

/// A grid layer: bodies on it share the nodes, so they stick and slide as their materials do.
struct LayerDeck {
  std::string name;
  std::optional<KernelKind> kernel;  ///< Else that of `transfer`.
  DeckPlace place;
};

/// What two layers do where they meet.
struct LayerContactDeck {
  std::vector<std::string> between;  ///< Two layers.
  Real friction;                     ///< Coulomb's coefficient [1].
  DeckPlace place;
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
