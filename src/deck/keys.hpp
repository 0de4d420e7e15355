#pragma once
// The key tables of all deck structs: the deck language.

#include "deck/table.hpp"
#include "weft/deck/deck.hpp"

#include <functional>

namespace weft::deck {

// --- Words ---------------------------------------------------------------------------------------------------------

template <>
inline constexpr std::array words<Scheme> = {
    Word{Scheme::explicit_euler, "explicit", "symplectic Euler; dt is limited by the speed of sound"},
    Word{Scheme::implicit_euler, "implicit", "backward Euler; dt is limited by time.cfl and time.max_dt alone"},
    Word{Scheme::equilibrium, "static", "balance of forces in meshed bodies, without grid and inertia"}};

template <>
inline constexpr std::array words<KernelKind> = {Word{KernelKind::linear, "linear", "2 nodes in each direction"},
                                                 Word{KernelKind::quadratic, "quadratic", "3 nodes in each direction"},
                                                 Word{KernelKind::cubic, "cubic", "4 nodes in each direction"}};

template <>
inline constexpr std::array words<Sampling> = {
    Word{Sampling::poisson, "poisson", "Poisson disk: random, evenly spread"},
    Word{Sampling::jittered, "jittered", "one random place in each of equal subcells"},
    Word{Sampling::regular, "regular", "a regular lattice"}};

template <>
inline constexpr std::array words<WallCondition> = {
    Word{WallCondition::sticky, "sticky", "material moves with the collider"},
    Word{WallCondition::slip, "slip", "material slides but does not leave"},
    Word{WallCondition::separate, "separate", "material slides and may leave"}};

template <>
inline constexpr std::array words<Hold> = {
    Word{Hold::place, "place", "where the material is; it may turn about the held part"},
    Word{Hold::clamp, "clamp", "on a boundary also the slope; elsewhere as place"},
    Word{Hold::symmetry, "symmetry", "the boundary in a plane, so that the body goes on as its mirror image"}};

template <>
inline constexpr std::array words<LaminaPlaces> = {
    Word{LaminaPlaces::gauss, "gauss", "Gauss points"},
    Word{LaminaPlaces::quarter, "quarter",
         "two laminae a quarter of the thickness from the middle, as in Guo et al. "
         "2018; bending is a quarter too soft"}};

template <>
inline constexpr std::array words<FabricKind> = {
    Word{FabricKind::silk, "silk", "0.239 mm, 347 kg/m^3"}, Word{FabricKind::cotton, "cotton", "0.253 mm, 409 kg/m^3"},
    Word{FabricKind::canvas, "canvas", "0.37 mm, 795 kg/m^3"},
    Word{FabricKind::denim, "denim", "0.66 mm, 606 kg/m^3; linear moduli alone"},
    Word{FabricKind::wool, "wool", "1.28 mm, 375 kg/m^3; linear moduli alone"}};

template <>
inline constexpr std::array words<Axis> = {Word{Axis::x, "x", ""}, Word{Axis::y, "y", ""}, Word{Axis::z, "z", ""}};

template <>
inline constexpr std::array words<LoadPath> = {
    Word{LoadPath::time, "time", "from 0 to time.end in equal steps, which are halved where the balance is not found"},
    Word{LoadPath::arc, "arc", "along the load path: loads rise and fall again as the body snaps through"}};

template <>
inline constexpr std::array words<OnIoError> = {
    Word{OnIoError::stop, "stop", "end with exit code 5; earlier checkpoints stay"},
    Word{OnIoError::go_on, "continue", "warn, compute on, and try again when the next file is due"}};

template <>
inline constexpr std::array words<Plasticity> = {
    Word{Plasticity::lagged, "lagged", "materials are elastic within the solve and flow after it"},
    Word{Plasticity::in_loop, "in_loop", "what flows during the step counts in the balance at its end"}};

template <>
inline constexpr std::array words<Solver> = {
    Word{Solver::minimise, "minimise", "Newton's method descends the energy; symmetric systems (CG)"},
    Word{Solver::residual, "residual", "Newton's method makes the residual smaller; systems of any kind (GMRES)"}};

template <>
inline constexpr std::array words<Preconditioner> = {
    Word{Preconditioner::none, "none", "none, or what solve.petsc names"},
    Word{Preconditioner::blocks, "blocks", "the 3x3 block of each node"},
    Word{Preconditioner::multigrid, "multigrid", "algebraic multigrid (PETSc's GAMG) on the matrix of all nodes"},
    Word{Preconditioner::direct, "direct", "that matrix factored (MUMPS), by each rank for itself"}};

// --- Space, time, transfer -----------------------------------------------------------------------------------------

template <>
inline constexpr auto keys<BoundsDeck> =
    table("bounds", "A box; points that leave it are removed from the simulation.",
          Key{"lower", "m", anything, required, "Lowest corner.", &BoundsDeck::lower},
          Key{"upper", "m", anything, required, "Highest corner.", &BoundsDeck::upper});

template <>
inline constexpr auto keys<DomainDeck> = table(
    "domain", "Space. The grid has no edges: it exists wherever there is material.",
    Key{"dx", "m", above(0).or_none(), "none", "Grid spacing; needed unless time.scheme is static.", &DomainDeck::dx},
    Key{"gravity", "m/s^2", anything, "[0, -9.81, 0]", "Acceleration of everything.", &DomainDeck::gravity},
    Key{"bounds", absent, "Where material is kept; without bounds, everywhere.", &DomainDeck::bounds});

template <>
inline constexpr auto keys<TimeDeck> = table(
    "time", "How far and in which steps.", Key{"end", "s", above(0), required, "End of the run.", &TimeDeck::end},
    Key{"frame_interval", "s", above(0), required, "Simulated time from frame to frame.", &TimeDeck::frame_interval},
    Key{"cfl", "1", above(0).at_most(1), "0.3", "Largest travel of a point in one step, in grid spacings.",
        &TimeDeck::cfl},
    Key{"max_dt", "s", above(0).or_none(), "none", "Largest time step.", &TimeDeck::max_dt},
    Key{"max_strain", "1", above(0).at_most(1), "0.5",
        "Largest strain increment |dt grad v| of a point in one step; beyond it the step is taken again with half the "
        "dt.",
        &TimeDeck::max_strain},
    Key{"max_retries", "1", at_least(0).at_most(100), "8", "Halvings of dt in one step before the run gives up.",
        &TimeDeck::max_retries},
    Key{"scheme", "explicit", "Time integration.", &TimeDeck::scheme},
    Key{"watchdog", "s", above(0).or_none(), "30 min",
        "Wall-clock time without a step or a file after which the run ends with exit code 7 and the stack of every "
        "thread; none: never.",
        &TimeDeck::watchdog});

template <>
inline constexpr auto keys<TransferDeck> =
    table("transfer", "How points and grid exchange motion (APIC).",
          Key{"kernel", "quadratic", "B-spline between points and nodes.", &TransferDeck::kernel},
          Key{"rpic_damping", "1", at_least(0).at_most(1), "0",
              "Share of the non-rotational affine motion that is dropped in each step: 0 is APIC, 1 is RPIC.",
              &TransferDeck::rpic_damping});

// --- Materials -----------------------------------------------------------------------------------------------------

template <>
inline constexpr auto keys<YoungDeck> =
    table("young", "Young's modulus and Poisson's ratio.",
          Key{"youngs_modulus", "Pa", above(0), required, "Young's modulus.", &YoungDeck::youngs_modulus},
          Key{"poisson_ratio", "1", above(-1).below(0.5), required, "Poisson's ratio.", &YoungDeck::poisson_ratio});

template <>
inline constexpr auto keys<LameDeck> =
    table("lame", "The Lame parameters.",
          Key{"lame_lambda", "Pa", anything, required, "First Lame parameter; above -2/3 of lame_mu.",
              &LameDeck::lame_lambda},
          Key{"lame_mu", "Pa", above(0), required, "Second Lame parameter, the shear modulus.", &LameDeck::lame_mu});

inline constexpr const char* stiffness =
    "The stiffness: youngs_modulus with poisson_ratio, or lame_lambda with lame_mu.";

template <>
inline constexpr auto keys<FixedCorotatedDeck> =
    table("fixed_corotated", "Rubber and jelly: elastic, survives inversion [Stomakhin et al. 2012].",
          Either{stiffness, &FixedCorotatedDeck::stiffness});

template <>
inline constexpr auto keys<NeoHookeanDeck> = table("neo_hookean", "Rubber: elastic, never inverts.",
                                                   Either{stiffness, &NeoHookeanDeck::stiffness});

template <>
inline constexpr auto keys<StvkHenckyDeck> =
    table("stvk_hencky", "Elastic, quadratic in the logarithmic strain; for moderate stretch.",
          Either{stiffness, &StvkHenckyDeck::stiffness});

template <>
inline constexpr auto keys<DruckerPragerDeck> = table(
    "drucker_prager", "Sand and other grains: friction carries shear, tension only by cohesion [Klar et al. 2016].",
    Either{stiffness, &DruckerPragerDeck::stiffness},
    Key{"friction_angle", "deg", above(0).below(90), "30", "Angle of internal friction.",
        &DruckerPragerDeck::friction_angle},
    Key{"cohesion", "Pa", at_least(0), "0", "Tension carried at zero shear.", &DruckerPragerDeck::cohesion},
    Key{"hardening_gain", "deg", at_least(0).below(90), "0",
        "h1 in the friction angle h0 + (h1 q - h3) exp(-h2 q) after the plastic strain q.",
        &DruckerPragerDeck::hardening_gain},
    Key{"hardening_rate", "1", at_least(0), "0.2", "h2 of the friction angle.", &DruckerPragerDeck::hardening_rate},
    Key{"hardening_residual", "deg", at_least(0).below(90), "0", "h3 of the friction angle.",
        &DruckerPragerDeck::hardening_residual},
    Key{"volume_correction", "true", "Give back the volume that grains gained while they were apart.",
        &DruckerPragerDeck::volume_correction});

template <>
inline constexpr auto keys<SnowDeck> =
    table("snow", "Snow: elastic within limits of stretch, hardens when packed [Stomakhin et al. 2013].",
          Either{stiffness, &SnowDeck::stiffness},
          Key{"critical_compression", "1", above(0).below(1), "0.025", "Compression at which it begins to pack.",
              &SnowDeck::critical_compression},
          Key{"critical_stretch", "1", above(0), "0.0075", "Stretch at which it begins to break.",
              &SnowDeck::critical_stretch},
          Key{"hardening", "1", at_least(0), "10", "Exponent with which packing stiffens.", &SnowDeck::hardening});

template <>
inline constexpr auto keys<VonMisesDeck> = table(
    "von_mises", "Metal: elastic, then flows at constant volume under shear.",
    Either{stiffness, &VonMisesDeck::stiffness},
    Key{"yield_stress", "Pa", above(0), required, "Yield stress in uniaxial tension.", &VonMisesDeck::yield_stress},
    Key{"hardening_modulus", "Pa", at_least(0), "0", "Rise of the uniaxial yield stress with plastic strain.",
        &VonMisesDeck::hardening_modulus});

template <>
inline constexpr auto keys<TaitDeck> = table(
    "tait", "Liquid, weakly compressible. Choose the bulk modulus for a speed of sound ten times the fastest flow.",
    Key{"bulk_modulus", "Pa", above(0), required, "Bulk modulus at rest density.", &TaitDeck::bulk_modulus},
    Key{"exponent", "1", above(1), "7", "How fast pressure grows with density.", &TaitDeck::exponent},
    Key{"viscosity", "Pa s", at_least(0), "0", "Dynamic viscosity.", &TaitDeck::viscosity});

template <>
inline constexpr auto keys<HerschelBulkleyDeck> =
    table("herschel_bulkley", "Goo, foam, dough: elastic below the yield stress, flows above it [Yue et al. 2015].",
          Key{"shear_modulus", "Pa", above(0), required, "Shear modulus.", &HerschelBulkleyDeck::shear_modulus},
          Key{"bulk_modulus", "Pa", above(0), required, "Bulk modulus.", &HerschelBulkleyDeck::bulk_modulus},
          Key{"yield_stress", "Pa", at_least(0), required, "Yield stress in uniaxial tension.",
              &HerschelBulkleyDeck::yield_stress},
          Key{"consistency", "Pa s", at_least(0), required,
              "Resistance to flow beyond yield, in Pa s to the flow index.", &HerschelBulkleyDeck::consistency},
          Key{"flow_index", "1", above(0), "1", "Below 1 the goo thins when sheared fast, above 1 it thickens.",
              &HerschelBulkleyDeck::flow_index});

template <>
inline constexpr auto keys<SheetContactDeck> =
    table("sheet_contact", "What fills the space around a sheet where it meets something [Jiang et al. 2017].",
          Key{"stiffness", "Pa", above(0), required, "k: pressure k (1 - s)^2 at the compression s.",
              &SheetContactDeck::stiffness},
          Key{"shear_stiffness", "Pa", at_least(0), "0", "gamma: resists sliding up to friction; 0: no friction.",
              &SheetContactDeck::shear_stiffness},
          Key{"friction", "1", at_least(0), "0", "Coulomb's coefficient.", &SheetContactDeck::friction});

template <>
inline constexpr auto keys<SheetLawDeck> =
    table("sheet", "Cloth for membranes: isotropic in its plane, frictional contact across it.",
          Either{stiffness, &SheetLawDeck::stiffness},
          Key{"contact", required, "Frictional contact.", &SheetLawDeck::contact});

template <>
inline constexpr auto keys<WovenSheetLawDeck> = table(
    "woven_sheet", "Woven cloth for membranes: other stiffness along the warp than along the weft.",
    Key{"warp_modulus", "Pa", above(0), required, "Young's modulus along the warp.", &WovenSheetLawDeck::warp_modulus},
    Key{"weft_modulus", "Pa", above(0), required, "Young's modulus along the weft.", &WovenSheetLawDeck::weft_modulus},
    Key{"poisson_ratio", "1", above(-1).below(1), "0",
        "Shrinking of the weft as the warp is stretched; its square is below warp_modulus / weft_modulus.",
        &WovenSheetLawDeck::poisson_ratio},
    Key{"shear_modulus", "Pa", at_least(0), required, "Shear modulus.", &WovenSheetLawDeck::shear_modulus},
    Key{"contact", required, "Frictional contact.", &WovenSheetLawDeck::contact});

template <>
inline constexpr auto keys<FrictionAngleDeck> =
    table("friction_angle", "One angle for both frictions.",
          Key{"friction_angle", "deg", at_least(0).below(90), required,
              "phi: friction tan(phi) along fibers and sqrt(2/3) 2 sin(phi) / (3 - sin(phi)) across.",
              &FrictionAngleDeck::friction_angle});

template <>
inline constexpr auto keys<FrictionPairDeck> = table("friction_pair", "Each friction by itself.",
                                                     Key{"friction_along", "1", at_least(0), required,
                                                         "Coulomb's coefficient along the fibers.",
                                                         &FrictionPairDeck::friction_along},
                                                     Key{"friction_across", "1", at_least(0), required,
                                                         "Coulomb's coefficient across the fibers.",
                                                         &FrictionPairDeck::friction_across});

template <>
inline constexpr auto keys<FiberLawDeck> = table(
    "fiber", "Hair, yarn and threads: elastic along the fiber, frictional contact around it [Jiang et al. 2017].",
    Key{"stretch_modulus", "Pa", above(0), required, "Young's modulus along the fiber.",
        &FiberLawDeck::stretch_modulus},
    Key{"shear_modulus", "Pa", at_least(0), "0",
        "gamma: what surrounds the fiber resists sliding along it up to friction; 0: no friction along.",
        &FiberLawDeck::shear_modulus},
    Either{"The stiffness of contact around the fiber: youngs_modulus with poisson_ratio, or lame_lambda with lame_mu.",
           &FiberLawDeck::stiffness},
    Either{"The friction: friction_angle, or friction_along with friction_across.", &FiberLawDeck::friction});

template <>
inline constexpr auto keys<FabricDeck> = table(
    "fabric", "Woven fabric for shells, as measured by Clyde, Teran and Tamstorf 2017; warp along material axis 1.",
    Key{"fabric", required, "Which.", &FabricDeck::fabric});

template <>
inline constexpr bool is_named_by_key<MaterialDeck> = true;

template <>
inline constexpr auto keys<MaterialDeck> =
    table("material", "What a body is made of; entries stand under their names.",
          Key{"density", "kg/m^3", above(0), required, "Density at rest.", &MaterialDeck::density},
          Choice{"law", "The constitutive law; its own keys stand beside this one.", &MaterialDeck::law});

// --- Shapes --------------------------------------------------------------------------------------------------------

template <>
inline constexpr auto keys<PlaneDeck> = table(
    "plane", "A half space; for colliders and handles.",
    Key{"point", "m", anything, required, "Any point of the plane.", &PlaneDeck::point},
    Key{"normal", "1", direction, required, "Points away from the solid side; of any length.", &PlaneDeck::normal});

template <>
inline constexpr auto keys<BoxDeck> = table("box", "A box along the axes.",
                                            Key{"lower", "m", anything, required, "Lowest corner.", &BoxDeck::lower},
                                            Key{"upper", "m", anything, required, "Highest corner.", &BoxDeck::upper});

template <>
inline constexpr auto keys<SphereDeck> =
    table("sphere", "A ball.", Key{"center", "m", anything, required, "Its centre.", &SphereDeck::center},
          Key{"radius", "m", above(0), required, "Its radius.", &SphereDeck::radius});

template <>
inline constexpr auto keys<CylinderDeck> =
    table("cylinder", "A cylinder with flat ends.",
          Key{"from", "m", anything, required, "Centre of one end.", &CylinderDeck::from},
          Key{"to", "m", anything, required, "Centre of the other end.", &CylinderDeck::to},
          Key{"radius", "m", above(0), required, "Its radius.", &CylinderDeck::radius});

template <>
inline constexpr auto keys<CapsuleDeck> =
    table("capsule", "All points near a line segment.",
          Key{"from", "m", anything, required, "One end of the segment.", &CapsuleDeck::from},
          Key{"to", "m", anything, required, "The other end of the segment.", &CapsuleDeck::to},
          Key{"radius", "m", above(0), required, "Distance of the surface from the segment.", &CapsuleDeck::radius});

template <>
inline constexpr auto keys<EllipsoidDeck> =
    table("ellipsoid", "An ellipsoid along the axes.",
          Key{"center", "m", anything, required, "Its centre.", &EllipsoidDeck::center},
          Key{"radii", "m", above(0), required, "Its half axes.", &EllipsoidDeck::radii});

template <>
inline constexpr auto keys<TorusDeck> = table(
    "torus", "A ring.", Key{"center", "m", anything, required, "Its centre.", &TorusDeck::center},
    Key{"axis", "1", direction, required, "Direction of the axis of symmetry; of any length.", &TorusDeck::axis},
    Key{"major_radius", "m", above(0), required, "Radius of the circle along the tube.", &TorusDeck::major_radius},
    Key{"minor_radius", "m", above(0), required, "Radius of the tube; below the major one.", &TorusDeck::minor_radius});

template <>
inline constexpr auto keys<MeshDeck> =
    table("mesh", "A closed triangle mesh.",
          Key{"file", a_file, required, "OBJ, PLY or STL; the path is relative to the deck.", &MeshDeck::file});

template <>
inline constexpr auto keys<RotationDeck> =
    table("rotation", "A turn about an axis.",
          Key{"axis", "1", direction, required, "Direction of the axis; of any length.", &RotationDeck::axis},
          Key{"angle", "deg", anything, required, "Right-handed about the axis.", &RotationDeck::angle});

template <>
inline constexpr auto keys<ShapeDeck> =
    table("shape", "A solid region of space: one form, then scaled, turned and moved, in this order.",
          OneOf{"The form.", &ShapeDeck::form},
          Key{"scale", "1", above(0), "1", "Factor about the origin.", &ShapeDeck::scale},
          Key{"rotate", absent, "Turn about the origin.", &ShapeDeck::rotate},
          Key{"translate", "m", anything, "[0, 0, 0]", "Shift.", &ShapeDeck::translate});

// --- Bodies, sources, colliders ------------------------------------------------------------------------------------

template <>
inline constexpr auto keys<ContinuumDeck> =
    table("continuum", "Material points: a lump, a heap, a pool.",
          Key{"name", a_name, required, "Names files, columns and references.", &ContinuumDeck::name},
          Key{"material", a_name, required, "Name of a material.", &ContinuumDeck::material},
          Key{"shape", absent, "The region that is filled at the start; may be left out if a source feeds the body.",
              &ContinuumDeck::shape},
          Key{"particles_per_cell", "1", at_least(1).at_most(1000), "8", "Points for each grid cell of volume dx^3.",
              &ContinuumDeck::particles_per_cell},
          Key{"sampling", "poisson", "Where in the shape the points are put.", &ContinuumDeck::sampling},
          Key{"velocity", "m/s", anything, "[0, 0, 0]", "Initial velocity.", &ContinuumDeck::velocity},
          Key{"spin", "rad/s", anything, "[0, 0, 0]", "Initial angular velocity about the centre of mass.",
              &ContinuumDeck::spin},
          Key{"seed", "1", at_least(0).at_most(4294967295), "0", "Another seed gives another random sampling.",
              &ContinuumDeck::seed});

template <>
inline constexpr auto keys<MeshFileDeck> =
    table("file", "A mesh from a file.",
          Key{"path", a_file, required,
              "OBJ, PLY or STL. Shells keep quads and divide other polygons into quads once; membranes divide polygons "
              "into triangles.",
              &MeshFileDeck::file});

template <>
inline constexpr auto keys<RectangleDeck> =
    table("rectangle", "The rectangle from the origin to [width, height, 0]; its normal is +z.",
          Key{"width", "m", above(0), required, "Extent in x.", &RectangleDeck::width},
          Key{"height", "m", above(0), required, "Extent in y.", &RectangleDeck::height});

template <>
inline constexpr auto keys<CylinderPatchDeck> =
    table("cylinder_patch", "A part of a cylinder about the y axis; its normal points outwards.",
          Key{"radius", "m", above(0), required, "Radius.", &CylinderPatchDeck::radius},
          Key{"length", "m", above(0), required, "Extent in y, from 0.", &CylinderPatchDeck::length},
          Key{"from", "deg", at_least(-360).at_most(360), required, "First angle, from +z towards +x.",
              &CylinderPatchDeck::from},
          Key{"to", "deg", at_least(-360).at_most(360), required,
              "Last angle; a full turn more than the first gives a closed tube.", &CylinderPatchDeck::to});

template <>
inline constexpr auto keys<SpherePatchDeck> =
    table("sphere_patch", "A part of a sphere about the origin; its normal points outwards.",
          Key{"radius", "m", above(0), required, "Radius.", &SpherePatchDeck::radius},
          Key{"west", "deg", at_least(-360).at_most(360), required, "First longitude, about z from +x towards +y.",
              &SpherePatchDeck::west},
          Key{"east", "deg", at_least(-360).at_most(360), required, "Last longitude.", &SpherePatchDeck::east},
          Key{"south", "deg", above(-90).below(90), required, "First latitude.", &SpherePatchDeck::south},
          Key{"north", "deg", above(-90).below(90), required, "Last latitude.", &SpherePatchDeck::north});

template <>
inline constexpr auto keys<AnnulusDeck> = table(
    "annulus", "A part of a flat ring about the origin in the plane z = 0; its normal is +z.",
    Key{"inner", "m", above(0), required, "Inner radius.", &AnnulusDeck::inner},
    Key{"outer", "m", above(0), required, "Outer radius.", &AnnulusDeck::outer},
    Key{"from", "deg", at_least(-360).at_most(360), required, "First angle, from +x towards +y.", &AnnulusDeck::from},
    Key{"to", "deg", at_least(-360).at_most(360), required, "Last angle; the ring stays slit after a full turn.",
        &AnnulusDeck::to});

template <>
inline constexpr auto keys<ControlMeshDeck> =
    table("control_mesh", "The control mesh of a smooth surface, which is its Catmull-Clark limit.",
          OneOf{"The surface.", &ControlMeshDeck::form},
          Key{"across", "1", at_least(1), "16",
              "Faces in the first direction of a generated mesh: width, angle or radius.", &ControlMeshDeck::across},
          Key{"along", "1", at_least(1), "16",
              "Faces in the second direction of a generated mesh: height, length, latitude or angle.",
              &ControlMeshDeck::along},
          Key{"irregular", "false",
              "Give the generated mesh points where three and five edges meet; numbers of faces must be even and at "
              "least 12.",
              &ControlMeshDeck::irregular},
          Key{"scale", "1", above(0), "1", "Uniform scale.", &ControlMeshDeck::scale},
          Key{"rotate", absent, "Turn about the origin.", &ControlMeshDeck::rotate},
          Key{"translate", "m", anything, "[0, 0, 0]", "Shift.", &ControlMeshDeck::translate});

template <>
inline constexpr auto keys<ShellPartDeck> =
    table("shell_part", "Faces with a thickness of their own: those that satisfy all that is given.",
          Key{"where", absent, "Faces whose middle is inside this shape at rest.", &ShellPartDeck::where},
          Key{"group", absent, "Faces of this group of the mesh file.", &ShellPartDeck::group},
          Key{"thickness", "m", above(0), required, "Thickness.", &ShellPartDeck::thickness});

template <>
inline constexpr auto keys<ShellDeck> = table(
    "shell", "A thin sheet that resists stretching and bending, in frictional contact with itself and all else.",
    Key{"name", a_name, required, "Names files and columns.", &ShellDeck::name},
    Key{"material", a_name, required, "Name of a material with law stvk_hencky, von_mises or fabric.",
        &ShellDeck::material},
    Key{"mesh", required, "The surface in the middle of the thickness.", &ShellDeck::mesh},
    Key{"thickness", "m", above(0), required, "Thickness.", &ShellDeck::thickness},
    Key{"parts", "[]", "Parts with another thickness; later ones win.", &ShellDeck::parts},
    Key{"direction", "1", direction, absent,
        "Material axis 1, in space at rest; without, the direction in which the first texture coordinate grows, or the "
        "first direction of a generated mesh.",
        &ShellDeck::direction},
    Key{"across", "gauss", "Where laminae lie across the thickness.", &ShellDeck::across},
    Key{"laminae", "1", at_least(2).at_most(9), "2",
        "Laminae across the thickness; 2 are exact for elastic sheets, denting needs 5 or more.", &ShellDeck::laminae},
    Key{"in_plane", "1", at_least(1).at_most(4), "2",
        "Gauss points of a face in each direction; one leaves motions without energy.", &ShellDeck::in_plane},
    Key{"contact", absent, "Frictional contact; needed unless time.scheme is static.", &ShellDeck::contact},
    Key{"contact_points", "1", at_least(0).at_most(16), "0",
        "Contact points of a face in each direction; 0: as many as are no farther apart than half of domain.dx.",
        &ShellDeck::contact_points},
    Key{"velocity", "m/s", anything, "[0, 0, 0]", "Initial velocity.", &ShellDeck::velocity},
    Key{"spin", "rad/s", anything, "[0, 0, 0]", "Initial angular velocity about the centre of mass.",
        &ShellDeck::spin});

template <>
inline constexpr auto keys<SurfaceDeck> =
    table("surface", "A surface of triangles.", OneOf{"The surface.", &SurfaceDeck::form},
          Key{"across", "1", at_least(1), "16",
              "Divisions in the first direction of a generated surface: width, angle or radius; each square is two "
              "triangles.",
              &SurfaceDeck::across},
          Key{"along", "1", at_least(1), "16",
              "Divisions in the second direction of a generated surface: height, length, latitude or angle.",
              &SurfaceDeck::along},
          Key{"scale", "1", above(0), "1", "Uniform scale.", &SurfaceDeck::scale},
          Key{"rotate", absent, "Turn about the origin.", &SurfaceDeck::rotate},
          Key{"translate", "m", anything, "[0, 0, 0]", "Shift.", &SurfaceDeck::translate});

template <>
inline constexpr auto keys<PlateDeck> =
    table("bending", "Resistance of a sheet against bending, that of a plate.",
          Key{"youngs_modulus", "Pa", above(0), required, "Young's modulus in bending.", &PlateDeck::youngs_modulus},
          Key{"poisson_ratio", "1", above(-1).below(1), "0", "Poisson's ratio in bending.", &PlateDeck::poisson_ratio});

inline constexpr const char* tear_text =
    "Elements that are stretched beyond this are gone; without, nothing tears.";

template <>
inline constexpr auto keys<MembraneDeck> = table(
    "membrane",
    "Cloth: a thin sheet without stiffness against bending, in frictional contact with itself and all else.",
    Key{"name", a_name, required, "Names files, columns and references.", &MembraneDeck::name},
    Key{"material", a_name, required, "Name of a material with law sheet or woven_sheet.", &MembraneDeck::material},
    Key{"mesh", required, "The sheet at rest. Edges should be about as long as domain.dx.", &MembraneDeck::mesh},
    Key{"thickness", "m", above(0), required, "Thickness.", &MembraneDeck::thickness},
    Key{"warp", "1", direction, absent,
        "Direction of the warp at rest, of any length; without, the first edge of each triangle.", &MembraneDeck::warp},
    Key{"bending", absent, "Resistance against bending; without, none.", &MembraneDeck::bending},
    Key{"tear_stretch", "1", above(1), absent, tear_text, &MembraneDeck::tear_stretch},
    Key{"velocity", "m/s", anything, "[0, 0, 0]", "Initial velocity.", &MembraneDeck::velocity},
    Key{"spin", "rad/s", anything, "[0, 0, 0]", "Initial angular velocity about the centre of mass.",
        &MembraneDeck::spin});

template <>
inline constexpr auto keys<CurveFileDeck> = table("curve_file", "Curves from a file.",
                                                  Key{"path", a_file, required,
                                                      "OBJ (lines), .hair or .bcc; the path is relative to the deck.",
                                                      &CurveFileDeck::file});

template <>
inline constexpr auto keys<HairTubeDeck> =
    table("hair_tube", "Straight strands along z from 0, spread over the ring between two radii.",
          Key{"inner_radius", "m", at_least(0), required, "Inner radius.", &HairTubeDeck::inner_radius},
          Key{"outer_radius", "m", above(0), required, "Outer radius.", &HairTubeDeck::outer_radius},
          Key{"length", "m", above(0), required, "Of each strand.", &HairTubeDeck::length},
          Key{"strands", "1", at_least(1), required, "Their number.", &HairTubeDeck::strands});

template <>
inline constexpr auto keys<HairBallDeck> =
    table("hair_ball", "Straight strands that stand on a sphere about the origin.",
          Key{"radius", "m", above(0), required, "Radius of the sphere.", &HairBallDeck::radius},
          Key{"length", "m", above(0), required, "Of each strand.", &HairBallDeck::length},
          Key{"strands", "1", at_least(1), required, "Their number.", &HairBallDeck::strands});

template <>
inline constexpr auto keys<BraidDeck> = table(
    "braid", "Strands plaited along z.",
    Key{"strands", "1", at_least(3), "3", "Their number; odd.", &BraidDeck::strands},
    Key{"width", "m", above(0), required, "Of the braid, in x.", &BraidDeck::width},
    Key{"depth", "m", above(0), required, "Of the braid, in y.", &BraidDeck::depth},
    Key{"pitch", "m", above(0), required, "A strand comes back to its place after this length.", &BraidDeck::pitch},
    Key{"length", "m", above(0), required, "Of the braid.", &BraidDeck::length});

template <>
inline constexpr auto keys<ShagCarpetDeck> =
    table("shag_carpet", "Pile that stands on the plane z = 0 over [0, width] x [0, depth].",
          Key{"width", "m", above(0), required, "Extent in x.", &ShagCarpetDeck::width},
          Key{"depth", "m", above(0), required, "Extent in y.", &ShagCarpetDeck::depth},
          Key{"height", "m", above(0), required, "Of the pile.", &ShagCarpetDeck::height},
          Key{"gap", "m", above(0), required, "Between neighbouring strands.", &ShagCarpetDeck::gap},
          Key{"lean", "1", at_least(0), "0", "Strands lean at random by up to this much, horizontal over vertical.",
              &ShagCarpetDeck::lean},
          Key{"seed", "1", at_least(0).at_most(4294967295), "0", "Another seed gives another carpet.",
              &ShagCarpetDeck::seed});

template <>
inline constexpr auto keys<WeaveDeck> =
    table("weave", "Plain weave in the plane z = 0: warp yarns along y, weft yarns along x, over and under in turn.",
          Key{"warp", "1", at_least(1), required, "Number of warp yarns.", &WeaveDeck::warp},
          Key{"weft", "1", at_least(1), required, "Number of weft yarns.", &WeaveDeck::weft},
          Key{"gap", "m", above(0), required, "Between neighbouring yarns.", &WeaveDeck::gap},
          Key{"amplitude", "m", above(0), required, "Yarns pass at this height above and below the plane.",
              &WeaveDeck::amplitude});

template <>
inline constexpr auto keys<KnitDeck> =
    table("knit",
          "Knitted fabric in the plane z = 0: each row is a yarn along x, its loops go through those of the row below.",
          Key{"stitches", "1", at_least(1), required, "Stitches in a row.", &KnitDeck::stitches},
          Key{"rows", "1", at_least(1), required, "Number of rows.", &KnitDeck::rows},
          Key{"width", "m", above(0), required, "Of a stitch; rows are 0.9 of it apart.", &KnitDeck::width},
          Key{"depth", "m", above(0), required, "Loops reach from -depth to depth; 0.3 widths leave room for the yarn.",
              &KnitDeck::depth},
          Key{"pattern", "k", "Columns in turn, k for knit and p for purl: k is stockinette, kp and kkpp are ribs.",
              &KnitDeck::pattern});

template <>
inline constexpr auto keys<KnitSweaterDeck> = table(
    "knit_sweater",
    "A jumper knitted in one piece of rings, upright along z with its hem at z = 0: a body, sleeves beside it in x, and "
    "a yoke above all three that narrows to the neck. Without rows of body and sleeves it is a poncho.",
    Key{"body_stitches", "1", at_least(4), required, "In a row of the body; even.", &KnitSweaterDeck::body_stitches},
    Key{"sleeve_stitches", "1", at_least(2), required, "In a row of a sleeve.", &KnitSweaterDeck::sleeve_stitches},
    Key{"underarm", "1", at_least(0), "3", "Stitches of body and sleeve that meet under an arm.",
        &KnitSweaterDeck::underarm},
    Key{"body_rows", "1", at_least(0), required, "Rows of the body below the yoke.", &KnitSweaterDeck::body_rows},
    Key{"sleeve_rows", "1", at_least(0), required, "Rows of a sleeve below the yoke.", &KnitSweaterDeck::sleeve_rows},
    Key{"yoke_rows", "1", at_least(1), required, "Rows of the yoke.", &KnitSweaterDeck::yoke_rows},
    Key{"width", "m", above(0), required, "Of a stitch; rows are 0.9 of it apart.", &KnitSweaterDeck::width},
    Key{"depth", "m", above(0), required, "Loops reach from -depth to depth; 0.3 widths leave room for the yarn.",
        &KnitSweaterDeck::depth},
    Key{"neck", "1", above(0).at_most(1), "0.6", "Width of stitches at the neck over that elsewhere.",
        &KnitSweaterDeck::neck},
    Key{"spread", "deg", at_least(0).below(90), "20", "Angle of the sleeves against the body.",
        &KnitSweaterDeck::spread});

template <>
inline constexpr auto keys<PliesDeck> =
    table("plies", "Each curve becomes several strands twisted about it.",
          Key{"count", "1", at_least(2), required, "Number of strands.", &PliesDeck::count},
          Key{"radius", "m", above(0), required, "Distance of the strands from the curve.", &PliesDeck::radius},
          Key{"twist", "m", above(0), required, "Length of curve for one turn.", &PliesDeck::twist});

template <>
inline constexpr auto keys<CurvesDeck> = table(
    "curves", "Curves of straight segments: made, plied, then scaled, turned and moved.",
    OneOf{"The curves.", &CurvesDeck::form}, Key{"plies", absent, "Makes strands of each curve.", &CurvesDeck::plies},
    Key{"spacing", "m", above(0), absent, "Of vertices along the curves; without, domain.dx, and files keep theirs.",
        &CurvesDeck::spacing},
    Key{"scale", "1", above(0), "1", "Uniform scale.", &CurvesDeck::scale},
    Key{"rotate", absent, "Turn about the origin.", &CurvesDeck::rotate},
    Key{"translate", "m", anything, "[0, 0, 0]", "Shift.", &CurvesDeck::translate});

template <>
inline constexpr auto keys<FiberDeck> = table(
    "fiber", "Hair, yarn, threads: curves in frictional contact with one another and all else.",
    Key{"name", a_name, required, "Names files, columns and references.", &FiberDeck::name},
    Key{"material", a_name, required, "Name of a material with law fiber.", &FiberDeck::material},
    Key{"curves", required, "The fibers at rest. Segments should be about as long as domain.dx.", &FiberDeck::curves},
    Key{"radius", "m", above(0), required, "Of the round section.", &FiberDeck::radius},
    Key{"bending_modulus", "Pa", above(0), absent, "Young's modulus in bending; without, no resistance.",
        &FiberDeck::bending_modulus},
    Key{"tear_stretch", "1", above(1), absent, tear_text, &FiberDeck::tear_stretch},
    Key{"velocity", "m/s", anything, "[0, 0, 0]", "Initial velocity.", &FiberDeck::velocity},
    Key{"spin", "rad/s", anything, "[0, 0, 0]", "Initial angular velocity about the centre of mass.",
        &FiberDeck::spin});

template <>
inline constexpr auto keys<BodyDeck> = table("body", "What moves.",
                                             Choice{"kind", "How it is represented.", std::identity{}});

template <>
inline constexpr auto keys<SourceDeck> =
    table("source", "A region that is kept full of new material while it is open.",
          Key{"name", a_name, required, "Names it in messages.", &SourceDeck::name},
          Key{"body", a_name, required, "Name of the continuum body that receives the points.", &SourceDeck::body},
          Key{"shape", required, "The region.", &SourceDeck::shape},
          Key{"velocity", "m/s", anything, required, "Of the emitted material.", &SourceDeck::velocity},
          Key{"from", "s", at_least(0), "0", "Opens.", &SourceDeck::from},
          Key{"until", "s", above(0).or_none(), "none", "Closes.", &SourceDeck::until});

template <>
inline constexpr auto keys<KeyframeDeck> =
    table("keyframe", "A pose at a time.", Key{"time", "s", anything, required, "When.", &KeyframeDeck::time},
          Key{"translate", "m", anything, "[0, 0, 0]", "Shift from the initial place.", &KeyframeDeck::translate},
          Key{"rotate", absent, "Turn from the initial pose, about the centre of the motion.", &KeyframeDeck::rotate});

template <>
inline constexpr auto keys<MotionDeck> =
    table("motion", "Rigid motion: constant velocity and spin, or keyframes, never both.",
          Key{"velocity", "m/s", anything, "[0, 0, 0]", "Constant velocity.", &MotionDeck::velocity},
          Key{"spin", "rad/s", anything, "[0, 0, 0]", "Constant angular velocity.", &MotionDeck::spin},
          Key{"center", "m", anything, "[0, 0, 0]", "Point that rotations turn about, at time 0.", &MotionDeck::center},
          Key{"keyframes", "[]", "Poses in the order of time; interpolated between, constant before and after.",
              &MotionDeck::keyframes});

template <>
inline constexpr auto keys<ColliderDeck> = table(
    "collider", "A rigid obstacle that material cannot enter.",
    Key{"name", a_name, required, "Names files and columns.", &ColliderDeck::name},
    Key{"shape", required, "The obstacle.", &ColliderDeck::shape},
    Key{"hollow", "false", "Material is inside the shape: a container.", &ColliderDeck::hollow},
    Key{"condition", "separate", "What happens at the surface.", &ColliderDeck::condition},
    Key{"friction", "1", at_least(0), "0", "Coulomb's coefficient; for slip and separate.", &ColliderDeck::friction},
    Key{"motion", absent, "How it moves; without, it rests.", &ColliderDeck::motion});

// --- Handles and static analysis -----------------------------------------------------------------------------------

template <>
inline constexpr auto keys<AmplitudeKeyDeck> =
    table("amplitude_key", "A factor at a time; linear between, constant before and after.",
          Key{"time", "s", anything, required, "When.", &AmplitudeKeyDeck::time},
          Key{"factor", "1", anything, required, "The factor.", &AmplitudeKeyDeck::factor});

inline constexpr const char* amplitude_text = "Factor over time; without, in proportion to time up to 1 at time.end.";

template <>
inline constexpr auto keys<HoldDeck> = table(
    "hold", "Keeps the chosen part where it is, or moves it.", Key{"keep", "place", "What is kept.", &HoldDeck::keep},
    Key{"axes", at_least(1), "[x, y, z]", "Directions in which the place is held.", &HoldDeck::axes},
    Key{"normal", "1", direction, absent, "Normal of the plane of symmetry; of any length.", &HoldDeck::normal},
    Key{"motion", absent, "How the part moves, rigidly; without, it rests.", &HoldDeck::motion},
    Key{"until", "s", above(0).or_none(), "none", "Then the part is let go; in steps of the grid.", &HoldDeck::until});

template <>
inline constexpr auto keys<ForceDeck> =
    table("force", "A force that keeps its direction, in equal parts on the chosen vertices.",
          Key{"total", "N", anything, required, "All of it together.", &ForceDeck::total},
          Key{"amplitude", "[]", amplitude_text, &ForceDeck::amplitude});

template <>
inline constexpr auto keys<EdgeForceDeck> = table("edge_force",
                                                  "A force that keeps its direction, spread along the chosen boundary.",
                                                  Key{"per_length", "N/m", anything, required, "Per length at rest.",
                                                      &EdgeForceDeck::per_length},
                                                  Key{"amplitude", "[]", amplitude_text, &EdgeForceDeck::amplitude});

template <>
inline constexpr auto keys<EdgeMomentDeck> =
    table("edge_moment", "A moment along the chosen boundary, about the boundary as it is.",
          Key{"per_length", "N", anything, required,
              "Per length at rest; positive is right-handed about the direction that has the material on its left, "
              "seen from the side of the normal.",
              &EdgeMomentDeck::per_length},
          Key{"amplitude", "[]", amplitude_text, &EdgeMomentDeck::amplitude});

template <>
inline constexpr auto keys<PressureDeck> = table("pressure", "Pressure on the chosen part; it follows the surface.",
                                                 Key{"value", "Pa", anything, required,
                                                     "Positive pushes along the normal of the surface.",
                                                     &PressureDeck::value},
                                                 Key{"amplitude", "[]", amplitude_text, &PressureDeck::amplitude});

template <>
inline constexpr auto keys<TractionDeck> = table("traction", "A force on the chosen surface that keeps its direction.",
                                                 Key{"per_area", "Pa", anything, required, "Per area at rest.",
                                                     &TractionDeck::per_area},
                                                 Key{"amplitude", "[]", amplitude_text, &TractionDeck::amplitude});

template <>
inline constexpr auto keys<GravityDeck> = table("gravity", "Gravity on the chosen part alone, besides domain.gravity.",
                                                Key{"acceleration", "m/s^2", anything, required, "Acceleration.",
                                                    &GravityDeck::acceleration},
                                                Key{"amplitude", "[]", amplitude_text, &GravityDeck::amplitude});

template <>
inline constexpr auto keys<HandleDeck> =
    table("handle", "Holds, moves or loads a part of a meshed body. Groups, slopes and moments are for shells.",
          Key{"name", a_name, required, "Names columns.", &HandleDeck::name},
          Key{"body", a_name, required, "Name of a meshed body.", &HandleDeck::body},
          Key{"where", absent, "The part of the body that is inside this shape at rest.", &HandleDeck::where},
          Key{"group", absent, "The part that belongs to this group of the mesh file.", &HandleDeck::group},
          Key{"vertices", "1", at_least(0), "[]", "Vertices by number, counted from 0 as in the mesh file.",
              &HandleDeck::vertices},
          Key{"boundary", "1", at_least(0), absent,
              "A closed line of boundary edges by number; `weft check` counts them. What satisfies all keys that are "
              "given is chosen; without any, all of the body.",
              &HandleDeck::boundary},
          OneOf{"What it does.", &HandleDeck::action});

template <>
inline constexpr auto keys<LoadingDeck> =
    table("loading", "How a static analysis goes through its loads and motions; time orders them.",
          Key{"path", "time", "What the steps follow.", &LoadingDeck::path},
          Key{"steps", "1", at_least(1), "10",
              "Parts that time.end is divided in; with path arc the first step is one.", &LoadingDeck::steps},
          Key{"max_steps", "1", at_least(1), "500",
              "Steps of path arc before the analysis ends, if it does not reach time.end.", &LoadingDeck::max_steps},
          Key{"max_growth", "1", at_least(1), "4", "Longest step of path arc, in lengths of the first.",
              &LoadingDeck::max_growth});

template <>
inline constexpr auto keys<SolveDeck> = table(
    "solve", "How balanced states and implicit steps are found: Newton's method.",
    Key{"tolerance", "1", above(0).below(1), absent,
        "Unbalanced force, relative to loads and reactions; 1e-8 for static, 1e-4 for implicit schemes.",
        &SolveDeck::tolerance},
    Key{"max_iterations", "1", at_least(1), "30", "Newton steps of one attempt.", &SolveDeck::max_iterations},
    Key{"petsc", "\"\"",
        "Options for PETSc's SNES, KSP and PC, as on its command line: \"-ksp_type gmres -pc_type asm\". Without, a "
        "direct solver (MUMPS) for static schemes.",
        &SolveDeck::petsc},
    Key{"plasticity", absent,
        "Of implicit steps: when materials flow and contact on sheets, fibers and shells slips. Without, in the loop for "
        "all laws whose flow changes their stress, and for contact where there is inertia.",
        &SolveDeck::plasticity},
    Key{"solver", absent, "Of implicit steps. Without, minimise where all that moves has an energy, else residual.",
        &SolveDeck::solver},
    Key{"preconditioner", "blocks", "Of the linear systems of implicit steps.", &SolveDeck::preconditioner},
    Key{"inertia", "true", "Of implicit steps: false lets every step end in equilibrium (quasi-static).",
        &SolveDeck::inertia});

// --- Probes, output, balance ---------------------------------------------------------------------------------------

template <>
inline constexpr auto keys<CentreOfMassProbe> = table("centre_of_mass", "The centre of mass; written as {}.");

template <>
inline constexpr auto keys<BoundingBoxProbe> = table("bounding_box", "Lowest and highest corner; written as {}.");

template <>
inline constexpr auto keys<QuantileProbe> =
    table("quantile", "The value that a share of the particles stay below: a front, a depth.",
          Key{"field", a_name, required, "A scalar field, or position_x, velocity_y, ...", &QuantileProbe::field},
          Key{"q", "1", at_least(0).at_most(1), required, "The share.", &QuantileProbe::q});

template <>
inline constexpr auto keys<NearestProbe> =
    table("nearest", "A field at the particle that started nearest to a point.",
          Key{"point", "m", anything, required, "The point.", &NearestProbe::point},
          Key{"field", a_name, required, "A field, or position_x, velocity_y, ...", &NearestProbe::field});

template <>
inline constexpr auto keys<ProbeDeck> = table("probe", "A number or a few to follow over time, in diagnostics.csv.",
                                              Key{"name", a_name, required, "Names the columns.", &ProbeDeck::name},
                                              Key{"body", a_name, required, "Name of the body.", &ProbeDeck::body},
                                              OneOf{"What is measured.", &ProbeDeck::measure});

template <>
inline constexpr auto keys<CheckpointDeck> =
    table("checkpoint", "When the whole state is saved.",
          Key{"every_steps", "1", at_least(0), "0", "Steps between checkpoints; 0: not by steps.",
              &CheckpointDeck::every_steps},
          Key{"every_wall", "s", above(0).or_none(), "30 min", "Wall-clock time between checkpoints.",
              &CheckpointDeck::every_wall},
          Key{"keep", "1", at_least(1), "3", "How many of the newest are kept.", &CheckpointDeck::keep});

template <>
inline constexpr auto keys<OutputDeck> =
    table("output", "What is written.",
          Key{"fields", a_name, "[velocity, volume_ratio, plastic_measure, pressure, von_mises_stress]",
              "Fields of the particles in frames.", &OutputDeck::fields},
          Key{"grid", "false", "Also write mass and velocity of the active grid nodes.", &OutputDeck::grid},
          Key{"double_precision", "false", "Frames in double precision.", &OutputDeck::double_precision},
          Key{"diagnostics_every", "1", at_least(1), "10", "Steps between rows of diagnostics.csv.",
              &OutputDeck::diagnostics_every},
          Key{"checkpoint", "{}", "Checkpoints.", &OutputDeck::checkpoint},
          Key{"on_io_error", "stop", "When a file cannot be written while the run goes on.", &OutputDeck::on_io_error});

template <>
inline constexpr auto keys<BalanceDeck> =
    table("balance", "How work is shared among ranks.",
          Key{"threshold", "1", above(1), "1.1", "Share anew when the largest work over the mean exceeds this.",
              &BalanceDeck::threshold},
          Key{"every", "1", at_least(1), "20", "Steps between looks.", &BalanceDeck::every});

template <>
inline constexpr auto keys<Deck> = table(
    "deck", "The top level of a deck.",
    Key{"weft", "1", at_least(1).at_most(1), required, "Format of the deck.", &Deck::format},
    Key{"title", "\"\"", "What this is, in words.", &Deck::title}, Key{"domain", "{}", "Space.", &Deck::domain},
    Key{"time", required, "Time.", &Deck::time}, Key{"transfer", "{}", "Between points and grid.", &Deck::transfer},
    Key{"materials", at_least(1), required, "What bodies are made of, by name.", &Deck::materials},
    Key{"bodies", at_least(1), required, "What moves.", &Deck::bodies},
    Key{"sources", "[]", "Where material flows in.", &Deck::sources},
    Key{"colliders", "[]", "Obstacles.", &Deck::colliders},
    Key{"handles", "[]", "What holds, moves and loads meshed bodies.", &Deck::handles},
    Key{"loading", "{}", "Steps of a static analysis.", &Deck::loading},
    Key{"solve", "{}", "How balanced states are found.", &Deck::solve},
    Key{"probes", "[]", "What is followed.", &Deck::probes}, Key{"output", "{}", "What is written.", &Deck::output},
    Key{"balance", "{}", "Work among ranks.", &Deck::balance});

}  // namespace weft::deck
