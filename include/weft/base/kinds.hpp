#pragma once
// Choices that a deck names and several rooms understand.

namespace weft {

/// B-spline that carries points to nodes.
enum class KernelKind { linear, quadratic, cubic };

/// How a shape is filled with particles.
enum class Sampling { poisson, jittered, regular };

/// What a wall does to the material at it: hold it, let it slide but not leave, or let it slide and leave.
enum class WallCondition { sticky, slip, separate };

/// Where a wall acts: at the surface of the material, or at the nodes inside the wall.
enum class WallContactKind { surface, nodes };

/// How points of thin bodies meet the outer edges of a wall.
enum class WallEdges { rounded, sharp };

/// Whose freedoms move a body with a mesh: the nodes of the grid around it, or its own vertices.
enum class Carrier { grid, own };

/// How freedoms of a body's own go on in time.
enum class StageScheme { explicit_euler, implicit_euler };

/// What a handle keeps: the position of the material; on a boundary also its slope; or the symmetry about a plane.
enum class Hold { place, clamp, symmetry };

/// How impulses of several pairs on one vertex come together.
enum class ImpulseAveraging {
  largest_count,  ///< each pair is divided by the largest number of pairs at one of its vertices: keeps momentum
  per_vertex      ///< the sum at each vertex is divided by their number there [Han 2020, 4.2.4]: does not
};

/// Where plane stress begins to flow.
enum class YieldSurface {
  ellipse,  ///< von Mises
  diamond,  ///< the smallest box around the ellipse with sides along t1 = +-t2 [Guo et al. 2018, Han 2020]
};

/// What an implicit step makes its linear systems easier with.
enum class Preconditioner { none, blocks, multigrid, direct };

}  // namespace weft
