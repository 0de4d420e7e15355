#pragma once
// Key tables of continua, shells, membranes and solids.

#include "deck/keys/motion.hpp"
#include "deck/keys/shapes.hpp"
#include "deck/table.hpp"
#include "weft/deck/deck.hpp"

namespace weft::deck {

template <>
inline constexpr std::array words<Sampling> = {
    Word{Sampling::poisson, "poisson", "Poisson disk: random, evenly spread"},
    Word{Sampling::jittered, "jittered", "one random place in each of equal subcells"},
    Word{Sampling::regular, "regular", "a regular lattice"}};

template <>
inline constexpr std::array words<LaminaPlaces> = {
    Word{LaminaPlaces::gauss, "gauss", "Gauss points"},
    Word{LaminaPlaces::quarter, "quarter",
         "two laminae a quarter of the thickness from the middle, as in Guo et al. "
         "2018; bending is a quarter too soft"}};

template <>
inline constexpr std::array words<YieldSurface> = {
    Word{YieldSurface::ellipse, "ellipse", "that of von Mises"},
    Word{YieldSurface::diamond, "diamond",
         "the box around it, as in Guo et al. 2018: 1.15 times the stress in uniaxial tension, 1.41 times at its "
         "corners; without hardening"}};

template <>
inline constexpr std::array words<Carrier> = {
    Word{Carrier::grid, "grid", "the nodes of the grid, where it meets all other bodies and colliders"},
    Word{Carrier::own, "own", "its own vertices; bodies of static analyses always move so"}};

template <>
inline constexpr std::array words<StageScheme> = {
    Word{StageScheme::explicit_euler, "explicit", "symplectic Euler in stable substeps"},
    Word{StageScheme::implicit_euler, "implicit", "backward Euler, which damps what it does not resolve"}};

template <>
inline constexpr auto keys<StageDeck> =
    table("stage", "How the freedoms of a body's own go on in time.",
          Key{"scheme", "explicit", "Time integration.", &StageDeck::scheme},
          Key{"substeps", "1", at_least(0).at_most(1e6), "0",
              "Steps of the body in each step of the scene, which they limit if they are explicit; 0: as many as are "
              "stable, up to 1000, or one if they are implicit. Strands that the grid, impulses or a stretch limit "
              "change take one.",
              &StageDeck::substeps},
          Key{"tolerance", "1", above(0).below(1), "1e-8",
              "Of implicit steps: unbalanced force over the largest one, where Newton's method ends.",
              &StageDeck::tolerance});

template <>
inline constexpr auto keys<PicShareDeck> =
    table("pic_share", "By step.",
          Key{"pic_share", "1", at_least(0).at_most(1), required, "In each step.", &PicShareDeck::share});
template <>
inline constexpr auto keys<PicRateDeck> =
    table("pic_rate", "By time.",
          Key{"pic_rate", "1/s", at_least(0), required, "For steps of any length, 1 - exp(-pic_rate dt).",
              &PicRateDeck::rate});
template <>
inline constexpr auto keys<BlendDeck> =
    table("blend", "How much of its motion a point takes over from the nodes; of the rest it gets their change alone.",
          Either{"The share: pic_share, or pic_rate.", &BlendDeck::pic});

inline constexpr const char* carrier_text = "Whose freedoms move the body.";
inline constexpr const char* stage_text = "How its own freedoms move in time; for \"carrier: own\".";
inline constexpr const char* meets_grid_text =
    "Whether the body meets others on the grid; absent: true if the grid carries it, else false. Of bodies with "
    "\"carrier: own\" only solids and strands can; nothing touches others, and colliders do not stop them.";
inline constexpr const char* layer_text =
    "Name of its grid layer; absent: \"materials\", or of a body with freedoms of its own one that has the body's "
    "name.";

template <>
inline constexpr auto keys<ContinuumDeck> =
    table("continuum", "Material points: a lump, a heap, a pool.",
          Key{"name", a_name, required, "Names files, columns and references.", &ContinuumDeck::name},
          Key{"material", a_name, required, "Name of a material.", &ContinuumDeck::material},
          Key{"shape", absent, "The region that is filled at the start; may be left out if a source feeds the body.",
              &ContinuumDeck::shape},
          Key{"particles_per_cell", "1", at_least(1).at_most(1000), "8",
              "Points for each grid cell of volume dx^3. Together they have the volume of the shape.",
              &ContinuumDeck::particles_per_cell},
          Key{"sampling", "poisson", "Where in the shape the points are put.", &ContinuumDeck::sampling},
          Key{"velocity", "m/s", anything, "[0, 0, 0]", "Initial velocity.", &ContinuumDeck::velocity},
          Key{"spin", "rad/s", anything, "[0, 0, 0]", "Initial angular velocity about the centre of mass.",
              &ContinuumDeck::spin},
          Key{"seed", "1", at_least(0).at_most(4294967295), "0", "Another seed gives another random sampling.",
              &ContinuumDeck::seed},
          Key{"layer", a_name, absent, layer_text, &ContinuumDeck::layer},
          Key{"blend", absent,
              "What particles take over from nodes; without, all. Liquids whose flow turns within few cells are damped "
              "several times less with pic_rate 50 /s.",
              &ContinuumDeck::blend});

template <>
inline constexpr auto keys<MeshFileDeck> = table("file", "A mesh from a file.",
                                                 Key{"path", a_file, required,
                                                     "OBJ, PLY or STL. Shells keep meshes of quads or of triangles and "
                                                     "divide others into quads once; membranes divide polygons "
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
inline constexpr auto keys<ControlMeshDeck> = table(
    "control_mesh",
    "The control mesh of a smooth surface, which is its Catmull-Clark limit, or Loop limit for triangles.",
    OneOf{"The surface.", &ControlMeshDeck::form},
    Key{"across", "1", at_least(1), "16", "Faces in the first direction of a generated mesh: width, angle or radius.",
        &ControlMeshDeck::across},
    Key{"along", "1", at_least(1), "16",
        "Faces in the second direction of a generated mesh: height, length, latitude or angle.",
        &ControlMeshDeck::along},
    Key{"irregular", "false",
        "Give the generated mesh points where three and five edges meet; numbers of faces must be even and at "
        "least 12.",
        &ControlMeshDeck::irregular},
    Key{"through_points", absent,
        "Whether the surface passes through the points of a file, as it does without this key. If false, they are "
        "its control points, and where they bulge it lies on their inner side by up to a sixth of the square of "
        "their distance over the radius.",
        &ControlMeshDeck::through_points},
    Key{"divide", "1", at_least(0).at_most(6), "0",
        "How often each face of a file is divided in four. New points lie on the smooth surface, so that an uneven "
        "mesh becomes even within its faces.",
        &ControlMeshDeck::divide},
    Key{"scale", "1", above(0), "1", "Uniform scale.", &ControlMeshDeck::scale},
    Key{"rotate", absent, "Turn about the origin.", &ControlMeshDeck::rotate},
    Key{"translate", "m", anything, "[0, 0, 0]", "Shift.", &ControlMeshDeck::translate});

template <>
inline constexpr auto keys<ShellPartDeck> =
    table("shell_part", "Faces with a thickness of their own: those that satisfy all that is given.",
          Key{"where", absent, "Faces whose middle is inside this shape at rest.", &ShellPartDeck::where},
          Key{"group", absent, "Faces of this group of the mesh file, or all of whose corners it lists.",
              &ShellPartDeck::group},
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
    Key{"laminae", "1", at_least(2).at_most(64), "2",
        "Laminae across the thickness; 2 are exact for elastic sheets, denting needs 5 or more, and the curvature that "
        "stays after yielding in bending 32 or more.",
        &ShellDeck::laminae},
    Key{"in_plane", "1", at_least(1).at_most(4), "2",
        "Gauss points of a quad in each direction; triangles have 1, 3, 6 or 16 points. One leaves motions without "
        "energy, as do two where the shell is a single row of quads: there 2 means 3.",
        &ShellDeck::in_plane},
    Key{"yield", "ellipse", "Yield surface in plane stress of a shell of metal.", &ShellDeck::yield},
    Key{"contact", absent, "Frictional contact; needed unless time.scheme is static.", &ShellDeck::contact},
    Key{"contact_points", "1", at_least(0).at_most(16), "0",
        "Contact points of a face along each edge; 0: as many as are no farther apart than half of domain.dx.",
        &ShellDeck::contact_points},
    Key{"carrier", "grid", carrier_text, &ShellDeck::carrier}, Key{"stage", absent, stage_text, &ShellDeck::stage},
    Key{"meets_grid", absent, meets_grid_text, &ShellDeck::meets_grid},
    Key{"layer", a_name, absent, layer_text, &ShellDeck::layer},
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
    "Elements that are stretched beyond this leave the mesh, and it comes apart; without, nothing tears.";

template <>
inline constexpr auto keys<MembraneDeck> = table(
    "membrane",
    "Cloth: a thin sheet without stiffness against bending, in frictional contact with itself and all else.",
    Key{"name", a_name, required, "Names files, columns and references.", &MembraneDeck::name},
    Key{"material", a_name, required, "Name of a material with law sheet or woven_sheet.", &MembraneDeck::material},
    Key{"mesh", required, "The sheet at rest. Edges should be about as long as domain.dx.", &MembraneDeck::mesh},
    Key{"thickness", "m", above(0), required, "Thickness.", &MembraneDeck::thickness},
    Key{"warp", "1", direction, absent,
        "Direction of the warp at rest, of any length; without, the x axis, and the y axis on triangles across that.",
        &MembraneDeck::warp},
    Key{"bending", absent, "Resistance against bending; without, none.", &MembraneDeck::bending},
    Key{"tear_stretch", "1", above(1), absent, tear_text, &MembraneDeck::tear_stretch},
    Key{"carrier", "grid", carrier_text, &MembraneDeck::carrier},
    Key{"stage", absent, stage_text, &MembraneDeck::stage},
    Key{"meets_grid", absent, meets_grid_text, &MembraneDeck::meets_grid},
    Key{"layer", a_name, absent, layer_text, &MembraneDeck::layer},
    Key{"velocity", "m/s", anything, "[0, 0, 0]", "Initial velocity.", &MembraneDeck::velocity},
    Key{"spin", "rad/s", anything, "[0, 0, 0]", "Initial angular velocity about the centre of mass.",
        &MembraneDeck::spin});

template <>
inline constexpr auto keys<TetFileDeck> = table("file", "Tetrahedra from a file.",
                                                Key{"path", a_file, required,
                                                    "Gmsh's MSH 2.2 or 4.1, text or binary, of tetrahedra with 4 or 10 "
                                                    "nodes; physical groups are groups. Of a rigid "
                                                    "body also a closed surface: OBJ, PLY or STL.",
                                                    &TetFileDeck::file});

template <>
inline constexpr auto keys<BlockDeck> =
    table("block", "A block along the axes, of cubes of six tetrahedra each.",
          Key{"lower", "m", anything, required, "Lowest corner.", &BlockDeck::lower},
          Key{"upper", "m", anything, required, "Highest corner.", &BlockDeck::upper});

template <>
inline constexpr auto keys<TetMeshDeck> =
    table("tetrahedra", "A mesh of tetrahedra.", OneOf{"The mesh.", &TetMeshDeck::form},
          Key{"size", "m", above(0), absent,
              "Edges of the cubes that a block, or the space around a shape, is divided into, at most; needed for "
              "these. Each "
              "cube is 6 tetrahedra of a block, 12 of a shape, whose edges and corners are blunted.",
              &TetMeshDeck::size},
          Key{"inner_size", "m", above(0), absent,
              "Edges of the cubes deep inside a shape, at most: they double inwards; absent: size.",
              &TetMeshDeck::inner_size},
          Key{"scale", "1", above(0), "1", "Uniform scale.", &TetMeshDeck::scale},
          Key{"rotate", absent, "Turn about the origin.", &TetMeshDeck::rotate},
          Key{"translate", "m", anything, "[0, 0, 0]", "Shift.", &TetMeshDeck::translate});

template <>
inline constexpr auto keys<SolidContactDeck> = table(
    "contact", "How the surface of a body with freedoms of its own meets the grid.",
    Key{"points", "1", at_least(1).at_most(100), "4", "Contact points in an area of dx^2 of the surface at rest.",
        &SolidContactDeck::points},
    Key{"restitution", "1", at_least(0).at_most(1), "0",
        "Of hits of rigid bodies on colliders and on one another: the speed after a hit over that before, along the "
        "normal. Of two bodies the larger one counts. Bodies that deform rebound by their elasticity.",
        &SolidContactDeck::restitution},
    Key{"tolerance", "1", above(0).at_most(1), absent,
        "Contact with other layers is passed on again in a step, until the forces change by less than this part; "
        "absent: 0.001 for solids with implicit stages, 0.0003 for rigid bodies, and 5e-4 for solids of several "
        "substeps, in steps in which they touch another solid or rigid body; else once.",
        &SolidContactDeck::tolerance});

template <>
inline constexpr auto keys<SolidDeck> = table(
    "solid", "An elastic solid of tetrahedra.",
    Key{"name", a_name, required, "Names files, columns and references.", &SolidDeck::name},
    Key{"material", a_name, required, "Name of a material with law fixed_corotated, neo_hookean or stvk_hencky.",
        &SolidDeck::material},
    Key{"mesh", required, "The solid at rest.", &SolidDeck::mesh},
    Key{"order", "1", at_least(1).at_most(2), absent,
        "1: linear tetrahedra, which are too stiff in bending and where material is hardly compressible; 2: quadratic "
        "ones. Without, that of the file, and 1 of what is made here.",
        &SolidDeck::order},
    Key{"contact", absent, "Its surface on the grid; for \"meets_grid: true\" beside \"carrier: own\".",
        &SolidDeck::contact},
    Key{"damping", "1/s", at_least(0), "0",
        "Rate at which tetrahedra lose the motion within them but for turns, by explicit steps with \"carrier: own\"; "
        "it damps waves as a viscosity of about density damping edge^2 / 16 does.",
        &SolidDeck::damping},
    Key{"carrier", "grid", carrier_text, &SolidDeck::carrier}, Key{"stage", absent, stage_text, &SolidDeck::stage},
    Key{"meets_grid", absent, meets_grid_text, &SolidDeck::meets_grid},
    Key{"layer", a_name, absent, layer_text, &SolidDeck::layer},
    Key{"velocity", "m/s", anything, "[0, 0, 0]", "Initial velocity.", &SolidDeck::velocity},
    Key{"spin", "rad/s", anything, "[0, 0, 0]", "Initial angular velocity about the centre of mass.",
        &SolidDeck::spin});

template <>
inline constexpr auto keys<DensityDeck> =
    table("by_density", "Mass by density.",
          Key{"density", "kg/m^3", above(0), required, "Mass by volume, the same everywhere.", &DensityDeck::density});

template <>
inline constexpr auto keys<MassDeck> =
    table("by_mass", "Mass as a whole.",
          Key{"mass", "kg", above(0), required, "Mass, spread evenly over the volume.", &MassDeck::mass});

template <>
inline constexpr auto keys<BallJointDeck> =
    table("ball", "The body turns about a point.",
          Key{"point", "m", anything, required, "The point, which stays.", &BallJointDeck::point},
          Key{"damping", "N m s", at_least(0), "0", "Torque against spin.", &BallJointDeck::damping});

template <>
inline constexpr auto keys<HingeDeck> =
    table("hinge", "The body turns about an axis.",
          Key{"point", "m", anything, required, "A point on the axis.", &HingeDeck::point},
          Key{"axis", "1", direction, required, "Direction of the axis; of any length.", &HingeDeck::axis},
          Key{"damping", "N m s", at_least(0), "0", "Torque against spin.", &HingeDeck::damping},
          Key{"torque", "N m", anything, "0", "Torque about the axis.", &HingeDeck::torque},
          Key{"speed", "rad/s", anything, absent, "Spin about the axis, whatever it takes.", &HingeDeck::speed});

template <>
inline constexpr auto keys<SliderDeck> =
    table("slider", "The body moves along an axis and does not turn.",
          Key{"axis", "1", direction, required, "Direction of the axis; of any length.", &SliderDeck::axis},
          Key{"damping", "N s/m", at_least(0), "0", "Force against motion.", &SliderDeck::damping},
          Key{"force", "N", anything, "0", "Force along the axis.", &SliderDeck::force},
          Key{"speed", "m/s", anything, absent, "Velocity along the axis, whatever it takes.", &SliderDeck::speed});

template <>
inline constexpr auto keys<InertiaDeck> =
    table("inertia", "Tensor of inertia about the centre of mass, along the axes of the deck.",
          Key{"moments", "kg m^2", anything, required, "Its entries xx, yy and zz.", &InertiaDeck::moments},
          Key{"products", "kg m^2", anything, "[0, 0, 0]",
              "Its entries xy, yz and zx; of xy minus the integral of x y over the mass.", &InertiaDeck::products});

template <>
inline constexpr auto keys<JointDeck> =
    table("joint", "What ties a rigid body to the world.", OneOf{"The joint.", &JointDeck::form});

template <>
inline constexpr auto keys<RigidDeck> = table(
    "rigid", "A rigid body.", Key{"name", a_name, required, "Names files, columns and references.", &RigidDeck::name},
    Either{"How heavy it is.", &RigidDeck::weight},
    Key{"center", "m", anything, absent, "Centre of mass at rest; absent: the middle of the volume.",
        &RigidDeck::center},
    Key{"inertia", absent, "Absent: that of the volume, of equal density, about its middle.", &RigidDeck::inertia},
    Key{"mesh", required, "The body at rest; tetrahedra, of which the surface counts, or a closed surface.",
        &RigidDeck::mesh},
    Key{"contact", absent, "Its surface on the grid.", &RigidDeck::contact},
    Key{"joint", absent, "What ties it to the world, or moves it; absent: it is free.", &RigidDeck::joint},
    Key{"meets_grid", absent, "Whether it meets others on the grid, and colliders; absent: true.",
        &RigidDeck::meets_grid},
    Key{"layer", a_name, absent, layer_text, &RigidDeck::layer},
    Key{"velocity", "m/s", anything, "[0, 0, 0]", "Initial velocity.", &RigidDeck::velocity},
    Key{"spin", "rad/s", anything, "[0, 0, 0]", "Initial angular velocity about the centre of mass.",
        &RigidDeck::spin});

}  // namespace weft::deck
