// Shells as bodies, on the grid or by themselves.

#include "weft/bodies/shell_body.hpp"

#include "bodies/director_kernel.hpp"
#include "bodies/shell_cage.hpp"
#include "bodies/shell_fields.hpp"
#include "bodies/shell_kernel.hpp"
#include "bodies/shell_sites.hpp"
#include "weft/base/check.hpp"
#include "weft/base/sums.hpp"
#include "weft/bodies/mesh_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft {
namespace {

/// Part of the mass of a face that its control points carry; its contact points have the rest.
constexpr Real share_of_control_points = 0.5;
/// The power iteration finds the largest frequency from below within a few percent.
constexpr Real frequency_margin = 1.05;

/// The numbers of a range.
template <class T>
std::vector<T> counted(const ElementRange& range) {
  std::vector<T> numbers(static_cast<std::size_t>(range.end - range.begin));
  std::iota(numbers.begin(), numbers.end(), static_cast<T>(range.begin));
  return numbers;
}

/// What the whole of a shell on the grid is like, besides its mesh.
struct ShellOnGrid {
  ShellContact contact;
  Real mesh_speed;  ///< Of the fastest waves along it [m/s].
};

class ShellBody final : public MeshBody {
 public:
  /// The faces of a range.
  ShellBody(const ShellDescription& whole, const std::optional<ShellOnGrid>& on_grid, Real rest_frequency,
            const MeshCounts& counts, const ElementRange& range)
      : MeshBody(whole.name, on_grid ? Carrier::grid : Carrier::own, counts),
        cage_(cage_of(whole, counted<std::int64_t>(range))),
        part_(ShellCage().as_shell(whole, {})),
        on_grid_(on_grid),
        rest_frequency_(rest_frequency),
        faces_(std::make_unique<ShellFaces>(part_, std::vector<std::int64_t>())) {
    samples().add<Director>();
  }

  bool flows() const override { return faces_->yields(); }

  Real trial_energy(const Parts& parts, const TrialShape& at) const override {
    const std::span<const Vec3> x = at.x;
    const std::span<const Mat3> H = at.H;
    const Real of_faces = parts.elastic ? faces_->energy(x) : 0;
    if (!parts.contact) return of_faces;
    const auto a3 = samples().get<Director>();
    const Real of_contact = ordered_sum(a3.size(), Real(0), [&](std::size_t q) {
      return contact_volume_[q] * SurfaceContact::energy(law(), joined(tangents(q, x), Vec3(a3[q] + H[q] * a3[q])));
    });
    return of_faces + of_contact;
  }
  void trial_response(const Parts& parts, const TrialShape& at, const TrialForces& to) const override;
  void add_stiffness(const Parts& parts, const TrialShape& at, bool definite, MeshStiffness& stiffness) const override;
  void weigh_elements(const Vec3& gravity, std::span<Vec3> f) const override {
    const auto every_row = counted<std::int32_t>({0, static_cast<std::int64_t>(f.size())});
    for (const Sample& sample : surface_samples(part_, all_faces(), every_row, part_.mesh.points))
      for (std::size_t k = 0; k < sample.rows.size(); ++k) f[sample.rows[k]] += sample.value[k] * sample.mass * gravity;
  }

  bool is_drawn_by_its_points() const override { return false; }
  Picture picture() const override;

 protected:
  std::vector<ElementRows> element_rows() override {
    auto rows = MeshBody::element_rows();
    if (part_.yield) rows.push_back({&faces_->laminae(), faces_->laminae_per_face(), "_laminae"});
    return rows;
  }

  std::vector<std::int64_t> elements() const override { return cage_.numbers(); }
  std::vector<std::int32_t> needed_vertices() const override { return cage_.points(); }
  std::vector<std::int64_t> first_vertices() const override {
    std::vector<std::int64_t> vertices;
    std::size_t f = 0;
    for (const ShellCage::Material& m : cage_.material) {
      while (cage_.faces[f].number != m.number) ++f;
      vertices.push_back(cage_.faces[f].points.front());
    }
    return vertices;
  }
  void send_elements(const Comm& comm, std::span<const int> to) override { cage_ = send_cage(comm, cage_, to); }
  std::size_t bytes_of_elements() const override {
    const auto of_shell = [](const ShellDescription& shell) {
      return bytes_of(shell.mesh.points) + bytes_of(shell.mesh.led_points) + shell.mesh.faces.bytes() +
             bytes_of(shell.mesh.texture) + bytes_of(shell.thickness);
    };
    return of_shell(part_) + bytes_of(cage_.material) + bytes_of(cage_.faces) + bytes_of(cage_.led_points) +
           faces_->bytes() + contact_.bytes() + bytes_of(contact_volume_);
  }
  std::vector<std::int64_t> rows_of_elements(const Table& table) const override {
    return std::vector<std::int64_t>(cage_.material.size(),
                                     &table == &samples() ? counts().samples : faces_->laminae_per_face());
  }
  void add_mass(std::span<Real> of_vertices, std::span<Real> of_samples) const override {
    std::vector<Real> of_surface(of_vertices.size(), 0);
    faces_->add_mass(of_surface);
    const Real share = carrier() == Carrier::grid ? share_of_control_points : 1;
    for (std::size_t r = 0; r < of_vertices.size(); ++r) of_vertices[r] += share * of_surface[r];
    for (std::size_t q = 0; q < of_samples.size(); ++q)
      of_samples[q] += (1 - share) * part_.density * contact_volume_[q];
  }

  Real half_thickness(std::size_t sample) const override {
    return part_.thickness[sample / static_cast<std::size_t>(contact_.basis().samples)] / 2;
  }
  std::optional<Real> half_thickness_at_vertices() const override { return std::nullopt; }

  void rest_elements() override {
    const auto a3 = samples().get<Director>();
    for (std::size_t q = 0; q < a3.size(); ++q) a3[q] = normal_at(q);
    const auto stretch = faces_->laminae().get<PlasticStretch>();
    std::fill(stretch.begin(), stretch.end(), LaminaMemory{}.stretch);
  }

  void take_piece() override {
    part_ = cage_.as_shell(part_, piece());
    auto faces = std::make_unique<ShellFaces>(part_, elements());
    if (part_.yield) std::swap(faces->laminae(), faces_->laminae());
    faces_ = std::move(faces);
    if (carrier() == Carrier::own) return;
    contact_ = FacePacks(
        limit_basis(part_.mesh, all_faces(), DrawnFace(part_.mesh.sides(), on_grid_->contact.per_edge).middles),
        points_.rows());
    contact_volume_.clear();
    const LimitBasis& basis = contact_.basis();
    for (std::int64_t e = 0; e < basis.faces(); ++e) {
      Real sum = 0;
      for (int s = 0; s < basis.samples; ++s) {
        const Mat32 F = tangents_at(basis, e, s, part_.mesh.points);
        sum += contact_volume_.emplace_back(F.col(0).cross(F.col(1)).norm());
      }
      // By their areas the points of a face share its volume.
      const Real volume = faces_->mass_of_faces()[static_cast<std::size_t>(e)] / part_.density;
      for (Real& share : std::span(contact_volume_).last(static_cast<std::size_t>(basis.samples)))
        share *= volume / sum;
    }
  }

  void commit_elements(Real dt, std::span<const Mat3> C) override {
    const auto a3 = samples().get<Director>();
    each_contact(x(), [&](const FacePack&, int, const PackRows& rows, const Matrix32<Pack>& F) {
      const Vector3<Pack> before = load(std::span<const Vec3>(a3), rows);
      const Matrix3<Pack> trial = joined(F, Vector3<Pack>(before + Pack(dt) * (load(C, rows) * before)));
      store(Vector3<Pack>(SurfaceContact::return_map(law(), trial).col(2)), rows, a3);
    });
    faces_->flow(x());
  }

  Real frequency_at(std::span<const Vec3> x) const override {
    return rest_frequency_ * std::sqrt(faces_->stiffening(x));
  }

  StepLimit limit_of_elements() override {
    StepLimit limit;
    const Real stiffening = std::sqrt(faces_->stiffening(x()));
    limit.frequency = rest_frequency_ * stiffening;
    if (!on_grid_) return limit;
    const auto a3 = std::as_const(*this).samples().get<Director>();
    std::vector<Real> of_point(a3.size());
    each_contact(x(), [&](const FacePack&, int, const PackRows& rows, const Matrix32<Pack>& F) {
      store(SurfaceContact::stiffness(law(), joined(F, load(a3, rows))), rows, std::span(of_point));
    });
    const Real stiffness = of_point.empty() ? 0 : *std::ranges::max_element(of_point);
    limit.wave_speed = std::sqrt(stiffness / part_.density);
    limit.mesh_speed = on_grid_->mesh_speed * stiffening;
    return limit;
  }

  void sample(std::span<const Vec3> of_vertices, std::span<Vec3> of_samples) const override {
    contact_.each(of_vertices, [&](const FacePack& pack, std::span<const Vector3<Pack>> corners) {
      for (int s = 0; s < contact_.basis().samples; ++s)
        store(contact_.at(pack, s, [&](const auto row) { return position_of(row, corners); }), rows_of(pack, s),
              of_samples);
    });
  }
  void add_force_at_sample(std::size_t q, const Vec3& force, std::span<Vec3> f) const override {
    const auto points = contact_.basis().points_of(face_of(q));
    const auto row = contact_.basis().row(face_of(q), sample_of(q));
    for (std::size_t a = 0; a < points.size(); ++a) f[points[a]] += row[a].value * force;
  }

 private:
  void add_pressure(const DrawnFace& drawn, Table& of_cells) const;
  void add_stiffness_of_contact(bool in_loop, std::span<const Vec3> x, std::span<const Mat3> H, bool definite,
                                MeshStiffness& stiffness) const;
  std::span<const Vec3> x() const { return points_.get<Position>(); }
  const SurfaceContact::Constants& law() const { return on_grid_->contact.law; }
  std::vector<std::int64_t> all_faces() const { return counted<std::int64_t>({0, part_.mesh.material_faces}); }
  std::size_t row_of_sample(std::int64_t e, int s) const {
    return static_cast<std::size_t>(e * contact_.basis().samples + s);
  }
  std::int64_t face_of(std::size_t q) const { return static_cast<std::int64_t>(q) / contact_.basis().samples; }
  int sample_of(std::size_t q) const {
    return static_cast<int>(q % static_cast<std::size_t>(contact_.basis().samples));
  }

  /// Contact points s of the faces of a pack.
  PackRows rows_of(const FacePack& pack, int s) const { return FacePacks::rows_of(pack, contact_.basis().samples, s); }
  Matrix32<Pack> tangents(const FacePack& pack, int s, std::span<const Vector3<Pack>> corners) const {
    return contact_.at(pack, s, [&](const auto row) { return tangents_of(row, corners); });
  }
  /// of(pack, s, rows of its contact points s, tangents there)
  template <class Of>
  void each_contact(std::span<const Vec3> x, Of&& of) const {
    contact_.each(x, [&](const FacePack& pack, std::span<const Vector3<Pack>> corners) {
      for (int s = 0; s < contact_.basis().samples; ++s) of(pack, s, rows_of(pack, s), tangents(pack, s, corners));
    });
  }
  /// [a1 a2] at a contact point.
  Mat32 tangents(std::size_t q, std::span<const Vec3> x) const {
    return tangents_at(contact_.basis(), face_of(q), sample_of(q), x);
  }
  /// [a1 a2 a3]
  Mat3 deformation(std::size_t q, const Vec3& a3) const { return joined(tangents(q, x()), a3); }
  Vec3 normal_at(std::size_t q) const {
    const Mat32 F = tangents(q, x());
    return F.col(0).cross(F.col(1)).normalized();
  }

  ShellCage cage_;         ///< Of this rank.
  ShellDescription part_;  ///< The same, over rows.
  std::optional<ShellOnGrid> on_grid_;
  Real
      rest_frequency_;  ///< Of the free whole at rest, with the mass of its control points alone; 0: not known [rad/s].
  std::unique_ptr<ShellFaces> faces_;
  FacePacks contact_;                 ///< Weights at the contact points.
  std::vector<Real> contact_volume_;  ///< Of these [m^3].
};

void ShellBody::trial_response(const Parts& parts, const TrialShape& at, const TrialForces& to) const {
  if (parts.elastic) faces_->add_force(at.x, to.f);
  if (!parts.contact) {
    std::fill(to.A.begin(), to.A.end(), Mat3::Zero());
    return;
  }
  const std::span<const Mat3> H = at.H;
  const auto a3 = samples().get<Director>();
  contact_.add_forces(at.x, to.f, [&](const FacePack& pack, const auto corners, const auto forces) {
    for (int s = 0; s < contact_.basis().samples; ++s) {
      const PackRows rows = rows_of(pack, s);
      const Matrix3<Pack> moved = H.empty() ? Matrix3<Pack>(Matrix3<Pack>::Zero()) : load(H, rows);
      const Pack volume = load(std::span<const Real>(contact_volume_), rows);
      const auto response =
          director_response<SurfaceContact, 2>(law(), tangents(pack, s, corners), load(a3, rows), moved, parts.in_loop);
      store(Matrix3<Pack>(volume * response.A), rows, to.A);
      const Matrix32<Pack> P = volume * response.P;
      contact_.at(pack, s, [&](const auto row) { add_tangent_force(row, P, forces); });
    }
  });
}

void ShellBody::add_stiffness(const Parts& parts, const TrialShape& at, bool definite, MeshStiffness& stiffness) const {
  if (parts.elastic) faces_->add_stiffness(at.x, definite, stiffness);
  if (parts.contact) add_stiffness_of_contact(parts.in_loop, at.x, at.H, definite, stiffness);
}

void ShellBody::add_stiffness_of_contact(bool in_loop, std::span<const Vec3> x, std::span<const Mat3> H, bool definite,
                                         MeshStiffness& stiffness) const {
  const auto a3 = samples().get<Director>();
  const LimitBasis& basis = contact_.basis();
  const std::size_t first = stiffness.size();
  const auto directors = [&](const PackRows& rows, const Matrix32<Pack>& F) {
    return DirectorPack<2>{rows, F, load(a3, rows), load(H, rows)};
  };
  std::vector<char> slips(a3.size(), false);
  if (in_loop)
    each_contact(x, [&](const FacePack&, int, const PackRows& rows, const Matrix32<Pack>& F) {
      find_slips<SurfaceContact>(law(), directors(rows, F), slips);
    });
  for (std::size_t q = 0; q < a3.size(); ++q)
    stiffness.add(vectors_of_point<2>(slips[q] != 0), basis.points_of(face_of(q)), static_cast<std::int64_t>(q));
  each_contact(x, [&](const FacePack& pack, int s, const PackRows& rows, const Matrix32<Pack>& F) {
    const Pack volume = load(std::span<const Real>(contact_volume_), rows);
    fill_director_parts<SurfaceContact>(
        law(), directors(rows, F), definite, slips,
        [&]<int n>(Eigen::Matrix<Pack, n, n> of_points) {
          of_points *= volume;
          return of_points;
        },
        [&](int lane) {
          return [row = basis.row(pack.faces.row[lane], s)](Eigen::Index r, int t) {
            return t == 0 ? row[static_cast<std::size_t>(r)].d1 : row[static_cast<std::size_t>(r)].d2;
          };
        },
        [&](int lane) { return stiffness.part(first + rows.row[lane]); });
  });
}

/// The limit surface; points are numbered face by face of the whole.
Picture ShellBody::picture() const {
  const int n = carrier() == Carrier::grid ? 3 : 4;
  const DrawnFace drawn(part_.mesh.sides(), n);
  const LimitBasis at_corners = limit_basis(part_.mesh, all_faces(), drawn.points);

  Picture picture;
  picture.corners = 3;
  picture.fields = surface_fields(part_.mesh, all_faces(), *faces_, x(), n);
  picture.point_fields = Table::with<Id, Velocity>();
  picture.point_fields.resize(static_cast<std::size_t>(at_corners.faces() * at_corners.samples));
  const auto velocity = picture.point_fields.get<Velocity>();
  const auto id = picture.point_fields.get<Id>();
  for (std::int64_t e = 0; e < at_corners.faces(); ++e) {
    const auto first = static_cast<std::int64_t>(picture.points.size());
    const std::int64_t first_id = cage_.material[static_cast<std::size_t>(e)].number * at_corners.samples;
    for (int s = 0; s < at_corners.samples; ++s) {
      id[picture.points.size()] = static_cast<PointId>(first_id + s);
      velocity[picture.points.size()] = place_at(at_corners, e, s, points_.get<Velocity>());
      picture.points.push_back(place_at(at_corners, e, s, x()));
      if (carrier() == Carrier::own) picture.rest.push_back(place_at(at_corners, e, s, points_.get<RestPosition>()));
    }
    for (const auto& cell : drawn.cells)
      for (const int corner : cell) picture.cells.push_back(first + corner);
  }
  if (carrier() == Carrier::grid) add_pressure(drawn, picture.fields);
  return picture;
}

/// Of the nearest contact point.
void ShellBody::add_pressure(const DrawnFace& drawn, Table& of_cells) const {
  of_cells.add<ContactPressure>();
  const auto pressure = of_cells.get<ContactPressure>();
  const auto a3 = samples().get<Director>();
  const DrawnFace contact(part_.mesh.sides(), on_grid_->contact.per_edge);
  std::vector<int> nearest;
  for (std::size_t k = 0; k < drawn.middles.size(); ++k) {
    const auto distance = [&](const Vec2& at) { return (at - drawn.middles[k]).squaredNorm(); };
    const int n = static_cast<int>(std::lround(std::sqrt(drawn.middles.size()))), nc = on_grid_->contact.per_edge;
    const int row = static_cast<int>(k) / n * nc / n, column = static_cast<int>(k) % n * nc / n;
    nearest.push_back(
        part_.mesh.sides() == 4
            ? row * nc + column
            : static_cast<int>(std::ranges::min_element(contact.middles, {}, distance) - contact.middles.begin()));
  }
  std::size_t cell = 0;
  for (std::int64_t e = 0; e < contact_.basis().faces(); ++e)
    for (const int s : nearest) {
      const std::size_t q = row_of_sample(e, s);
      const Real s3 = a3[q].dot(normal_at(q)), gap = std::max(0.0, 1 - s3);
      for (int part = 0; part < drawn.cells_each(); ++part) pressure[cell++] = law().compression * gap * gap;
    }
}

class ShellSource final : public MeshSource {
 public:
  ShellSource(const ShellDescription& shell, const std::optional<ShellOnGrid>& on_grid, Real rest_frequency)
      : MeshSource(shell.name, on_grid ? Carrier::grid : Carrier::own),
        shell_(shell),
        on_grid_(on_grid),
        rest_frequency_(rest_frequency) {}

  MeshCounts counts() const override {
    return {static_cast<std::int64_t>(shell_.mesh.free_points()), shell_.mesh.material_faces,
            on_grid_ ? on_grid_->contact.per_edge * on_grid_->contact.per_edge : 0};
  }
  std::string census() const override {
    return fmt::format("{} faces, {} control points, {} sides", shell_.mesh.material_faces, shell_.mesh.free_points(),
                       boundary_sides(shell_.mesh).size());
  }
  VertexValues rest_positions() const override {
    return std::span(shell_.mesh.points).first(shell_.mesh.free_points());
  }
  Sites sites(const ElementRange& range) const override { return sites_of(shell_.mesh, range); }
  Site nearest(const ElementRange& range, const Vec3& x) const override {
    return nearest_site(shell_.mesh, counted<std::int64_t>(range), x);
  }
  std::vector<Sample> surface_samples(const ElementRange& range) const override {
    return weft::surface_samples(shell_, counted<std::int64_t>(range), every_point(), shell_.mesh.points);
  }
  std::vector<Sample> side_samples(const ElementRange& range) const override {
    return weft::side_samples(shell_.mesh, counted<std::int64_t>(range), every_point(), shell_.mesh.points);
  }
  Real element_size() const override {
    const ControlMesh& mesh = shell_.mesh;
    Real sum = 0;
    for (std::int64_t f = 0; f < mesh.material_faces; ++f)
      for (int c = 0; c < mesh.sides(); ++c)
        sum += (mesh.points[mesh.faces[f][(c + 1) % mesh.sides()]] - mesh.points[mesh.faces[f][c]]).norm();
    return sum / static_cast<Real>(mesh.sides() * mesh.material_faces);
  }
  const ControlMesh* control_mesh() const override { return &shell_.mesh; }
  std::unique_ptr<MeshBody> body_of(const ElementRange& range) const override {
    return std::make_unique<ShellBody>(shell_, on_grid_, rest_frequency_, counts(), range);
  }

 private:
  std::vector<std::int32_t> every_point() const {
    return counted<std::int32_t>({0, static_cast<std::int64_t>(shell_.mesh.free_points())});
  }

  ShellDescription shell_;
  std::optional<ShellOnGrid> on_grid_;
  Real rest_frequency_;
};

}  // namespace

int contact_points_per_edge(const ControlMesh& mesh, Real dx) {
  Real longest = 0;
  for (std::int64_t f = 0; f < mesh.material_faces; ++f)
    for (int c = 0; c < mesh.sides(); ++c)
      longest = std::max(longest,
                         (mesh.points[mesh.faces[f][(c + 1) % mesh.sides()]] - mesh.points[mesh.faces[f][c]]).norm());
  return std::max(1, static_cast<int>(std::ceil(2 * longest / dx - 1e-6)));
}

std::unique_ptr<MeshSource> make_shell(const Comm& comm, const ShellDescription& shell,
                                       const std::optional<ShellContact>& contact, Real dx, bool moves_in_time) {
  const ShellShare part(comm, shell);  // for the frequencies of all; refuses shells that are too thick
  const Real share = contact ? share_of_control_points : 1;
  const Real frequency = moves_in_time ? frequency_margin * std::sqrt(part.stiffest(part.rest()) / share) : 0;
  if (!contact) return std::make_unique<ShellSource>(shell, std::nullopt, frequency);
  // Bending carries the shortest waves of the grid faster than stretch if the shell is thicker than dx.
  const Real thickest = *std::max_element(shell.thickness.begin(), shell.thickness.end());
  const Real along = std::sqrt(part.membrane_stiffness() / shell.density) * (1 + thickest / dx);
  return std::make_unique<ShellSource>(shell, ShellOnGrid{*contact, along}, frequency);
}

}  // namespace weft
