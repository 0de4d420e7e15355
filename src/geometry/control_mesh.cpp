// Control meshes: checks, the outer row, and refinement by Catmull and Clark's rules.

#include "weft/geometry/control_mesh.hpp"

#include "geometry/outer_quads.hpp"
#include "geometry/outer_triangles.hpp"
#include "geometry/surroundings.hpp"
#include "weft/base/budget.hpp"
#include "weft/base/check.hpp"

#include <fmt/format.h>
#include <Eigen/Geometry>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <unordered_map>
#include <utility>

namespace weft {

namespace {

using Quad = std::array<std::int32_t, 4>;
using Triangle = std::array<std::int32_t, 3>;

void require_surface(const SurfaceMesh& mesh, const std::string& name) {
  const MeshReport report = check(mesh);
  std::string text;
  const auto tell = [&](const Finding& finding, const char* what, const char* cure) {
    if (finding.count > 0)
      text += fmt::format("\n  {} {} ({}): {}", finding.count, what, fmt::join(finding.first, ", "), cure);
  };
  tell(report.non_finite_points, "points that are not finite", "export the mesh again.");
  tell(report.bad_indices, "faces with missing points", "export the mesh again.");
  tell(report.degenerate_faces, "faces without area", "dissolve degenerate faces in a mesh editor.");
  tell(report.duplicate_faces, "faces given twice", "remove duplicate faces.");
  tell(report.non_manifold_edges, "edges of more than two faces", "split the surface along them.");
  tell(report.flipped_edges, "edges between faces of opposite orientation", "make the normals consistent.");
  if (report.components == 0) text += "\n  It has no faces.";
  require(text.empty(), ExitCode::geometry,
          name + ": this mesh is no surface that a shell can have." + text +
              "\n  (Points, faces and edges are counted from 0.)");
}

/// Every point's faces hang together by edges: one ring, or one fan between two boundary edges.
void require_no_pinch(const std::vector<std::vector<std::int32_t>>& faces, std::size_t points,
                      const std::string& name) {
  const Edges edges(faces);
  const Stars stars(faces, points);
  for (std::size_t p = 0; p < points; ++p) {
    std::size_t boundary_edges = 0;
    for (const auto& [f, c] : stars.of(p)) {
      const auto& face = faces[f];
      boundary_edges += !edges.has(face[(c + 1) % face.size()], face[c]);
    }
    std::size_t reached = 0;  // walking around from the first face
    if (boundary_edges == 0 && !stars.of(p).empty()) {
      std::int32_t f = stars.of(p)[0].first;
      do {
        const auto& face = faces[f];
        const std::size_t c = std::find(face.begin(), face.end(), static_cast<std::int32_t>(p)) - face.begin();
        f = edges.find(static_cast<std::int32_t>(p), face[(c + face.size() - 1) % face.size()]).face;
        ++reached;
      } while (f != stars.of(p)[0].first);
    }
    require(boundary_edges <= 1 && (boundary_edges == 1 || reached == stars.of(p).size()), ExitCode::geometry,
            fmt::format("{}: parts of this mesh touch in point {} alone (counted from 0): split the point, or make "
                        "points that lie on edges corners of the faces there.",
                        name, p));
  }
}

/// The surface around a point of n faces takes this many bytes times n^2, and time alike; points of few faces do not
/// count. So do faces of n corners, whose middles become such points.
constexpr Real bytes_of_star = 5000;
constexpr std::size_t few_around = 16, most_around = 256;

/// Throws Error(geometry) where more faces meet in points than a smooth surface can be made of, those of the outer row
/// among them: as many beyond a side, and three times as many beyond a corner of quads.
void require_few_around_points(const std::vector<std::vector<std::int32_t>>& faces, const std::vector<Vec3>& points,
                               const std::string& name) {
  const char* cure = "Divide the mesh otherwise there, as by a grid.";
  Real pairs = 0;
  const auto take = [&](const char* what, std::size_t number, std::size_t n, const char* things) {
    require(n <= most_around, ExitCode::geometry,
            fmt::format("{}: {} {} (counted from 0) has {} {}; a smooth surface takes {} at most. {}", name, what,
                        number, n, things, most_around, cure));
    if (n > few_around) pairs += static_cast<Real>(n * n);
  };
  for (std::size_t f = 0; f < faces.size(); ++f) take("face", f, faces[f].size(), "corners");
  const bool triangles = std::ranges::all_of(faces, [](const auto& face) { return face.size() == 3; });
  const Boundary boundary(faces, Edges(faces), points.size());
  const Stars stars(faces, points.size());
  for (std::size_t p = 0; p < points.size(); ++p) {
    const auto star = stars.of(p);
    if (boundary.after[p] == none) take("point", p, star.size(), "faces");
    else
      take("point", p, star.size() * (!triangles && is_sharp(faces, star, points) ? 4 : 2),
           "faces with those that go on beyond the boundary");
  }
  Budget(memory_of_machine())
      .require_room({name + ": the surface around points of many faces", pairs, "pairs of these", bytes_of_star}, cure);
}

/// The points that edges get when faces are divided, whichever way round edges are named.
class EdgePoints {
 public:
  /// The number of an edge that has one, else `next`, which it then has.
  std::int32_t find_or_add(std::int32_t p, std::int32_t q, std::int32_t next) {
    const auto key = static_cast<std::uint64_t>(std::min(p, q)) << 32 | static_cast<std::uint32_t>(std::max(p, q));
    return numbers_.try_emplace(key, next).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::int32_t> numbers_;
};

/// One step of Catmull and Clark on faces of any size: points are old points, face points, edge points. `child(f, c)`
/// is told the quad in corner c of face f. Corners of the boundary, told by the positions of their points, stay.
template <class Point, class Faces, class Child>
std::vector<Point> divide(const std::vector<Point>& points, const std::vector<Vec3>& places, const Faces& faces,
                          Child&& child) {
  const Edges edges(faces);
  const Stars stars(faces, points.size());
  const Boundary boundary(faces, edges, points.size());
  const Point zero = zero_like(points.front());
  std::vector<Point> fine(points.size() + faces.size(), zero);
  const auto middle_of = [&](std::int32_t f) -> Point& { return fine[points.size() + f]; };
  for (std::size_t f = 0; f < faces.size(); ++f) {
    Point sum = zero;
    for (const std::int32_t p : faces[f]) sum += points[p];
    middle_of(static_cast<std::int32_t>(f)) = sum / static_cast<Real>(faces[f].size());
  }
  for (std::size_t p = 0; p < points.size(); ++p) {
    const auto star = stars.of(p);
    const auto n = static_cast<Real>(star.size());
    const bool is_corner = boundary.after[p] != none && (star.size() == 1 || is_sharp(faces, star, places));
    if (star.empty() || is_corner) fine[p] = points[p];
    else if (boundary.after[p] != none)
      fine[p] = (6 * points[p] + points[boundary.before[p]] + points[boundary.after[p]]) / 8;
    else {
      Point faces_around = zero, edges_around = zero;
      for (const auto& [f, c] : star) {
        faces_around += middle_of(f);
        edges_around += 0.5 * (points[p] + points[faces[f][(c + 1) % faces[f].size()]]);
      }
      fine[p] = (faces_around / n + 2 * edges_around / n + (n - 3) * points[p]) / n;
    }
  }
  EdgePoints edge_points;
  const auto edge_point = [&](std::int32_t p, std::int32_t q) {
    const auto next = static_cast<std::int32_t>(fine.size()), number = edge_points.find_or_add(p, q, next);
    if (number == next) {
      const Point ends = points[p] + points[q];
      const std::int32_t left = edges.find(p, q).face, right = edges.find(q, p).face;
      fine.push_back(left == none || right == none ? Point(ends / 2)
                                                   : Point((ends + middle_of(left) + middle_of(right)) / 4));
    }
    return number;
  };
  for (std::size_t f = 0; f < faces.size(); ++f) {
    const auto& face = faces[f];
    const std::size_t n = face.size();
    for (std::size_t c = 0; c < n; ++c)
      child(f, c,
            Quad{face[c], edge_point(face[c], face[(c + 1) % n]), static_cast<std::int32_t>(points.size() + f),
                 edge_point(face[(c + n - 1) % n], face[c])});
  }
  return fine;
}

/// Loop's weight of the neighbours of a point of n triangles, all together.
Real weight_of_neighbours(Real n) {
  const Real root = 0.375 + std::cos(2 * std::numbers::pi / n) / 4;
  return 0.625 - root * root;
}

/// One step of Loop on triangles: points are old points, edge points. `child(f, c)` is told the triangle in corner c of
/// face f, and last, as c = 3, the one in its middle. Of the boundary old points stay, and middles of its edges.
template <class Child>
std::vector<Vec3> divide_triangles(const std::vector<Vec3>& points, const FaceList& faces, Child&& child) {
  const Edges edges(faces);
  const Stars stars(faces, points.size());
  const Boundary boundary(faces, edges, points.size());
  std::vector<Vec3> fine = points;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const auto star = stars.of(p);
    if (star.empty() || boundary.after[p] != none) continue;
    const auto n = static_cast<Real>(star.size());
    Vec3 around = Vec3::Zero();
    for (const auto& [f, c] : star) around += points[faces[f][(c + 1) % 3]] / n;
    fine[p] += weight_of_neighbours(n) * (around - points[p]);
  }
  EdgePoints edge_points;
  const auto edge_point = [&](std::int32_t p, std::int32_t q) {
    const auto next = static_cast<std::int32_t>(fine.size()), number = edge_points.find_or_add(p, q, next);
    if (number != next) return number;
    const Vec3 ends = points[p] + points[q];
    const Edges::Place left = edges.find(p, q), right = edges.find(q, p);
    const auto beyond = [&](const Edges::Place& at) { return points[faces[at.face][(at.corner + 2) % 3]]; };
    fine.push_back(left.face == none || right.face == none ? Vec3(ends / 2)
                                                           : Vec3(0.375 * ends + (beyond(left) + beyond(right)) / 8));
    return number;
  };
  for (std::size_t f = 0; f < faces.size(); ++f) {
    const auto face = faces[f];
    const Triangle middle{edge_point(face[0], face[1]), edge_point(face[1], face[2]), edge_point(face[2], face[0])};
    for (std::size_t c = 0; c < 3; ++c) child(f, c, Triangle{face[c], middle[c], middle[(c + 2) % 3]});
    child(f, 3, middle);
  }
  return fine;
}

/// New numbers of points once those that no face uses are dropped, with led points last.
std::vector<std::int32_t> compact_numbers(const FaceList& faces, std::size_t points, const LedPoints& led_points) {
  std::vector<std::int32_t> number(points, none);
  for (const std::int32_t p : faces.corners()) number[p] = 0;
  for (const auto& [p, sum] : led_points) number[p] = none;
  std::int32_t count = 0;
  for (std::int32_t& k : number)
    if (k != none) k = count++;
  for (const auto& [p, sum] : led_points) number[p] = count++;
  return number;
}

template <class Point>
void renumber(std::vector<Point>& points, const std::vector<std::int32_t>& number) {
  std::vector<Point> kept(static_cast<std::size_t>(*std::ranges::max_element(number)) + 1, zero_like(points.front()));
  for (std::size_t p = 0; p < points.size(); ++p)
    if (number[p] != none) kept[static_cast<std::size_t>(number[p])] = std::move(points[p]);
  points = std::move(kept);
}

/// Drops points that no face uses and puts led points last, keeping the order of the others; returns their new numbers.
std::vector<std::int32_t> compact(ControlMesh& mesh, const LedPoints& led_points = {}) {
  const std::vector<std::int32_t> number = compact_numbers(mesh.faces, mesh.points.size(), led_points);
  renumber(mesh.points, number);
  mesh.led_points.clear();
  for (const auto& [p, sum] : led_points) {
    LedPoint& led = mesh.led_points.emplace_back(sum);
    for (std::int32_t k = 0; k < sum.count; ++k) led.points[k] = number[sum.points[k]];
  }
  for (std::int32_t& p : mesh.faces.corners()) p = number[p];
  for (auto& listed : mesh.group_points) {
    std::erase_if(listed, [&](std::int32_t p) { return number[static_cast<std::size_t>(p)] == none; });
    for (std::int32_t& p : listed) p = number[static_cast<std::size_t>(p)];
  }
  if (mesh.given) mesh.given = mesh.given->numbered(number);
  return number;
}

/// Points of a divided mesh by those of the undivided one.
class DividedPoints {
 public:
  explicit DividedPoints(std::size_t points) : coarse_(points), fine_(points) {}

  /// Those amid faces, which are next in number.
  template <class Faces>
  void add_middles(const Faces& faces) {
    for (std::size_t f = 0; f < faces.size(); ++f) fine_.add(coarse_, faces[f]);
  }
  /// Those amid edges of the child in corner c of a face, as `divide` and `divide_triangles` tell it.
  template <class Face, std::size_t sides>
  void add(const Face& face, std::size_t c, const std::array<std::int32_t, sides>& child) {
    const std::size_t n = face.size();
    const auto add_if_next = [&](std::int32_t point, std::size_t at) {
      if (static_cast<std::size_t>(point) == fine_.size())
        fine_.add(coarse_, std::array{face[at % n], face[(at + 1) % n]});
    };
    add_if_next(child[1], c);
    add_if_next(child[sides - 1], c + n - 1);
  }

  const PointsBetween& fine() const { return fine_; }
  /// Points of groups: new ones belong to a group if all do that they lie between.
  std::vector<std::vector<std::int32_t>> of_groups(const std::vector<std::vector<std::int32_t>>& listed) const {
    std::vector<std::vector<std::int32_t>> all;
    for (const auto& points : listed) {
      const std::set<std::int32_t> among = fine_.among({points.begin(), points.end()});
      all.emplace_back(among.begin(), among.end());
    }
    return all;
  }

 private:
  PointsBetween coarse_, fine_;
};

std::array<Vec2, 4> child_texture(std::span<const Vec2> corners, std::size_t c) {
  const std::size_t n = corners.size();
  Vec2 middle = Vec2::Zero();
  for (const Vec2& t : corners) middle += t / static_cast<Real>(n);
  return {corners[c], (corners[c] + corners[(c + 1) % n]) / 2, middle, (corners[c] + corners[(c + n - 1) % n]) / 2};
}

/// Of child c of a triangle, as `divide_triangles` tells it; the last one is not used.
std::array<Vec2, 4> child_texture(const std::array<Vec2, 4>& corners, std::size_t c) {
  const auto middle = [&](std::size_t k) -> Vec2 { return (corners[k % 3] + corners[(k + 1) % 3]) / 2; };
  if (c == 3) return {middle(0), middle(1), middle(2), Vec2::Zero()};
  return {corners[c], middle(c), middle(c + 2), Vec2::Zero()};
}

template <class Point>
LedPoints add_outer_row(FaceList& faces, std::vector<Point>& points, const std::vector<Vec3>& places, Beyond beyond) {
  return faces.sides() == 3 ? add_outer_triangles(faces, points, places, beyond)
                            : add_outer_quads(faces, points, places, beyond);
}

/// Limits of points; one that faces do not surround has none and stays.
template <class Point>
std::vector<Point> limits_of(const FaceList& faces, const std::vector<Point>& points, std::vector<bool>& exists) {
  const Edges edges(faces);
  const Stars stars(faces, points.size());
  const int sides = faces.sides();
  std::vector<Point> limit = points;
  exists.assign(points.size(), false);
  for (std::size_t p = 0; p < points.size(); ++p) {
    const auto star = stars.of(p);
    Point along_edges = zero_like(points[p]), across_faces = along_edges;
    bool inside = !star.empty();
    for (const auto& [f, c] : star) {
      const auto face = faces[f];
      inside = inside && edges.has(face[(c + 1) % sides], face[c]);
      along_edges += points[face[(c + 1) % sides]];
      if (sides == 4) across_faces += points[face[(c + 2) % 4]];
    }
    if (!inside) continue;
    const LimitMask mask(sides, static_cast<Real>(star.size()));
    exists[p] = true;
    limit[p] = (mask.own * points[p] + mask.edge * along_edges + mask.corner * across_faces) / mask.sum;
  }
  return limit;
}

/// Orthonormal directions across which the surface holds a point of the mesh that it passes through.
struct Held {
  std::array<Vec3, 3> directions{Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
  std::size_t count = 3;
};

/// Inside points are held along the normal of the surface, on a side of the boundary across it, and in its corners.
std::vector<Held> held_directions(const std::vector<std::vector<std::int32_t>>& faces, const std::vector<Vec3>& x) {
  const Edges edges(faces);
  const Stars stars(faces, x.size());
  const Boundary boundary(faces, edges, x.size());
  std::vector<Held> held(x.size());
  for (std::size_t p = 0; p < x.size(); ++p) {
    const auto star = stars.of(p);
    Vec3 normal = Vec3::Zero();
    for (const auto& [f, c] : star) {
      const auto& face = faces[f];
      normal += (x[face[(c + 1) % face.size()]] - x[p]).cross(x[face[(c + face.size() - 1) % face.size()]] - x[p]);
    }
    const bool is_inside = boundary.after[p] == none;
    if (!(normal.norm() > 0) || (!is_inside && (star.size() == 1 || is_sharp(faces, star, x)))) continue;
    normal.normalize();
    if (is_inside) {
      held[p] = {{normal}, 1};
      continue;
    }
    const Vec3 along = x[boundary.after[p]] - x[boundary.before[p]], across = along.cross(normal).normalized();
    held[p] = {{across, across.cross(along).normalized()}, 2};
  }
  return held;
}

/// Moves the control points so that the limit surface passes through the points of the mesh that they were made of:
/// these would be the limits M X of control points X, linear in X. A limit may lie beside its point along the surface,
/// so that the pattern is as even as the mesh [docs/theory/shells.md (9.1a)]. `number`: of each point once divided (if
/// `is_divided`) and compact.
void pass_through(ControlMesh& mesh, const SurfaceMesh& given, const std::vector<std::vector<std::int32_t>>& polygons,
                  bool is_divided, const std::vector<std::int32_t>& number, const std::string& name) {
  const auto n = static_cast<std::int32_t>(given.points.size());
  std::vector<PointSum> sums(given.points.size(), PointSum(n));
  for (std::int32_t p = 0; p < n; ++p) sums[p].insert(p) = 1;
  if (is_divided) sums = divide(sums, given.points, polygons, [](auto&&...) {});
  renumber(sums, number);
  FaceList faces = mesh.faces;
  faces.resize(static_cast<std::size_t>(mesh.material_faces));
  const LedPoints led_points = add_outer_row(faces, sums, mesh.points, is_divided ? Beyond::mirror : Beyond::cubic);
  renumber(sums, compact_numbers(faces, sums.size(), led_points));
  std::vector<bool> exists;
  const std::vector<PointSum> limits = limits_of(mesh.faces, sums, exists);

  const auto limit_of = [&](std::int32_t p, const std::vector<Vec3>& X) -> Vec3 {
    if (number[p] == none) return X[p];
    Vec3 sum = Vec3::Zero();
    for (PointSum::InnerIterator w(limits[number[p]]); w; ++w) sum += w.value() * X[w.index()];
    return sum;
  };
  // Along the surface points first move as limits would fall short of them, evened out: what is smooth to fourth order.
  const std::vector<Held> held = held_directions(polygons, given.points);
  std::vector<Vec3> short_of(given.points.size()), X = given.points;
  for (std::int32_t p = 0; p < n; ++p) short_of[p] = given.points[p] - limit_of(p, given.points);
  for (std::int32_t p = 0; p < n; ++p) {
    const Vec3 even = limit_of(p, short_of);
    X[p] += even;
    for (std::size_t i = 0; i < held[p].count; ++i) X[p] -= even.dot(held[p].directions[i]) * held[p].directions[i];
  }
  std::vector<int> first{0};  // of a_p
  for (const Held& of : held) first.push_back(first.back() + static_cast<int>(of.count));
  std::vector<Eigen::Triplet<Real>> entries;
  Eigen::VectorXd rest(first.back());  // H^T (x - M X)
  for (std::int32_t p = 0; p < n; ++p) {
    const auto add = [&](std::int32_t q, Real weight) {
      for (std::size_t i = 0; i < held[p].count; ++i)
        for (std::size_t j = 0; j < held[q].count; ++j)
          entries.emplace_back(first[p] + static_cast<int>(i), first[q] + static_cast<int>(j),
                               weight * held[p].directions[i].dot(held[q].directions[j]));
    };
    if (number[p] == none) add(p, 1);
    else
      for (PointSum::InnerIterator w(limits[number[p]]); w; ++w) add(static_cast<std::int32_t>(w.index()), w.value());
    const Vec3 off = given.points[p] - limit_of(p, X);
    for (std::size_t i = 0; i < held[p].count; ++i)
      rest[first[p] + static_cast<int>(i)] = held[p].directions[i].dot(off);
  }
  Eigen::SparseMatrix<Real, Eigen::RowMajor> M(first.back(), first.back());
  M.setFromTriplets(entries.begin(), entries.end());
  Eigen::BiCGSTAB<Eigen::SparseMatrix<Real, Eigen::RowMajor>> solver(M);
  solver.setTolerance(1e-14);
  const Eigen::VectorXd a = solver.solve(rest);
  Box box;
  for (const Vec3& x : given.points) box.include(x);
  require((M * a - rest).norm() < 1e-9 * (box.upper - box.lower).norm() * std::sqrt(Real(n)), ExitCode::geometry,
          name +
              ": no surface of this mesh passes through its points. Divide its faces, or let the surface approach "
              "them (through_points: false).");
  for (std::int32_t p = 0; p < n; ++p)
    for (std::size_t i = 0; i < held[p].count; ++i) X[p] += a[first[p] + static_cast<int>(i)] * held[p].directions[i];
  for (std::size_t k = 0; k < sums.size(); ++k) {
    mesh.points[k].setZero();
    for (PointSum::InnerIterator w(sums[k]); w; ++w) mesh.points[k] += w.value() * X[w.index()];
  }
}

}  // namespace

void LedPoint::add(std::int32_t point, Real weight) {
  const auto known = std::find(points.begin(), points.begin() + count, point) - points.begin();
  if (known == count) {
    WEFT_ENSURE(points.size() > static_cast<std::size_t>(count));
    points[known] = point;
    weights[known] = 0;
    ++count;
  }
  weights[known] += weight;
}

LimitMask::LimitMask(int sides, Real n) : own(n * n), edge(4), corner(1), sum(n * (n + 5)) {
  if (sides == 4) return;
  own = 0.375 * n / weight_of_neighbours(n);
  edge = 1;
  corner = 0;
  sum = n + own;
}

ControlMesh control_mesh(const SurfaceMesh& mesh, const std::string& name, MeshPoints meaning) {
  require_surface(mesh, name);
  std::vector<std::vector<std::int32_t>> polygons;
  for (std::int64_t f = 0; f < mesh.face_count(); ++f) polygons.emplace_back(mesh.face(f).begin(), mesh.face(f).end());
  require_few_around_points(polygons, mesh.points, name);
  require_no_pinch(polygons, mesh.points.size(), name);

  const auto all_have = [&](std::size_t sides) {
    return std::all_of(polygons.begin(), polygons.end(), [&](const auto& face) { return face.size() == sides; });
  };
  ControlMesh control;
  control.faces = FaceList(all_have(3) ? 3 : 4);
  control.groups = mesh.groups;
  const auto add = [&](std::size_t f, std::span<const std::int32_t> face) {
    control.faces.push_back(face);
    if (!mesh.group.empty()) control.group.push_back(mesh.group[f]);
  };
  const auto texture_of = [&](std::size_t f) {
    return std::span(mesh.texture).subspan(mesh.offsets[f], polygons[f].size());
  };
  const bool is_divided = !all_have(3) && !all_have(4);
  if (!is_divided) {
    control.points = mesh.points;
    control.group_points = mesh.group_points;
    control.given.emplace(mesh.points.size());
    for (std::size_t f = 0; f < polygons.size(); ++f) {
      add(f, polygons[f]);
      if (!mesh.texture.empty())
        std::copy_n(texture_of(f).begin(), polygons[f].size(), control.texture.emplace_back().begin());
    }
  } else {
    DividedPoints divided(mesh.points.size());
    divided.add_middles(polygons);
    control.points = divide(mesh.points, mesh.points, polygons, [&](std::size_t f, std::size_t c, const Quad& quad) {
      add(f, quad);
      divided.add(polygons[f], c, quad);
      if (!mesh.texture.empty()) control.texture.push_back(child_texture(texture_of(f), c));
    });
    control.group_points = divided.of_groups(mesh.group_points);
    control.given = divided.fine();
  }
  control.material_faces = static_cast<std::int64_t>(control.faces.size());
  const std::vector<std::int32_t> number = compact(control);
  control = with_outer_row(std::move(control));
  if (meaning == MeshPoints::surface) pass_through(control, mesh, polygons, is_divided, number, name);
  return control;
}

ControlMesh refined(const ControlMesh& mesh) {
  ControlMesh fine;
  fine.faces = FaceList(mesh.sides());
  fine.groups = mesh.groups;
  fine.material_faces = 4 * mesh.material_faces;
  DividedPoints divided(mesh.points.size());
  if (mesh.sides() == 4) divided.add_middles(mesh.faces);
  const auto add = [&](std::size_t f, std::size_t c, const auto& child) {
    fine.faces.push_back(child);
    if (c < static_cast<std::size_t>(mesh.sides())) divided.add(mesh.faces[f], c, child);
    if (static_cast<std::int64_t>(f) >= mesh.material_faces) return;
    if (!mesh.group.empty()) fine.group.push_back(mesh.group[f]);
    if (mesh.texture.empty()) return;
    if (mesh.sides() == 4) fine.texture.push_back(child_texture(std::span(mesh.texture[f]), c));
    else fine.texture.push_back(child_texture(mesh.texture[f], c));
  };
  fine.points = mesh.sides() == 4 ? divide(mesh.points, mesh.points, mesh.faces, add)
                                  : divide_triangles(mesh.points, mesh.faces, add);
  fine.group_points = divided.of_groups(mesh.group_points);
  fine.given = mesh.given ? divided.fine().by(*mesh.given) : divided.fine();
  // Of the two rings that the outer row became, the one at the material stays.
  std::vector<bool> material(fine.points.size(), false);
  for (std::int64_t f = 0; f < fine.material_faces; ++f)
    for (const std::int32_t p : fine.faces[f]) material[p] = true;
  FaceList kept(mesh.sides());
  for (std::size_t f = 0; f < fine.faces.size(); ++f) {
    const auto face = std::as_const(fine.faces)[f];
    if (std::any_of(face.begin(), face.end(), [&](std::int32_t p) { return material[p]; })) kept.push_back(face);
  }
  fine.faces = kept;
  compact(fine);
  return fine;
}

ControlMesh divided(const ControlMesh& mesh, const std::string& name) {
  const ControlMesh fine = refined(mesh);
  SurfaceMesh surface = cage_of(fine);
  std::vector<bool> exists;
  surface.points = limit_points(fine, exists);
  surface.groups = fine.groups;
  surface.group = fine.group;
  surface.group_points = fine.group_points;
  for (const auto& corners : fine.texture)
    surface.texture.insert(surface.texture.end(), corners.begin(), corners.begin() + fine.sides());
  ControlMesh control = control_mesh(surface, name, MeshPoints::surface);
  control.given = control.given->by(*fine.given);
  return control;
}

ControlMesh with_outer_row(ControlMesh mesh) {
  mesh.faces.resize(mesh.material_faces);
  std::int32_t count = 0;
  for (const std::int32_t p : mesh.faces.corners()) count = std::max(count, p + 1);
  mesh.points.resize(count);
  compact(mesh, add_outer_row(mesh.faces, mesh.points, std::vector(mesh.points), Beyond::mirror));
  return mesh;
}

std::vector<Vec3> limit_points(const ControlMesh& mesh, std::vector<bool>& exists) {
  return limits_of(mesh.faces, mesh.points, exists);
}

std::vector<std::int64_t> faces_around(const ControlMesh& mesh, std::span<const std::int64_t> faces) {
  std::vector<bool> is_corner(mesh.points.size(), false);
  for (const std::int64_t f : faces)
    for (const std::int32_t p : mesh.faces[f]) is_corner[p] = true;
  std::vector<std::int64_t> around;
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    const auto face = mesh.faces[f];
    if (std::any_of(face.begin(), face.end(), [&](std::int32_t p) { return is_corner[p]; }))
      around.push_back(static_cast<std::int64_t>(f));
  }
  return around;
}

SurfaceMesh cage_of(const ControlMesh& mesh) {
  SurfaceMesh cage;
  cage.points = mesh.points;
  for (std::int64_t f = 0; f < mesh.material_faces; ++f) {
    const auto face = mesh.faces[f];
    cage.add_face(face);
  }
  return cage;
}

}  // namespace weft
