// A shell without grid.

#include "bodies/shell_fields.hpp"
#include "weft/bodies/shell_term.hpp"
#include "weft/bodies/static_body.hpp"

#include <fmt/format.h>

namespace weft {
namespace {

/// Each face is drawn as so many squares in each direction.
constexpr int drawn_divisions = 4;

class StaticShell final : public StaticBody {
 public:
  StaticShell(const Comm& comm, const ShellDescription& shell) : mesh_(shell.mesh), shell_(comm, shell) {
    shell_.points().add<LastDisplacement>();
    row_of_point_ = rows_of(shell_.piece(), mesh_.points.size());
    const auto at_rest = std::as_const(shell_).points().get<RestPosition>();
    sites_ = sites_of(mesh_, {0, mesh_.material_faces});
    side_count_ = sites_.sides.size();
    surface_ = surface_samples(shell, shell_.faces(), row_of_point_, at_rest);
    side_samples_ = side_samples(mesh_, shell_.faces(), row_of_point_, at_rest);
  }

  const std::string& name() const override { return shell_.name(); }
  const Forest& forest() const override { return shell_.forest(); }
  Table& points() override { return shell_.points(); }
  const std::vector<Vec3>& rest() const override { return mesh_.points; }
  const ControlMesh* control_mesh() const override { return &mesh_; }
  std::string census() const override {
    return fmt::format("{} faces, {} control points, {} sides", mesh_.material_faces, mesh_.points.size(), side_count_);
  }

  std::unique_ptr<Term> term(std::size_t b) const override { return std::make_unique<ShellTerm>(shell_, b); }
  bool flows() const override { return shell_.yields(); }
  void commit() override { shell_.flow(std::as_const(shell_).points().get<Position>()); }

  std::vector<BodyPart> parts() override { return {{name(), &points()}, {laminae_part(), &shell_.laminae()}}; }
  void take_over(const ReadPart& read) override {
    Table points = Table::with<Id, Position, Velocity, Mass, RestPosition, LastDisplacement>(),
          laminae = Table::with<Id, PlasticStretch, PlasticStrain>();
    read(name(), points);
    read(laminae_part(), laminae);
    shell_.take_over(std::move(points), std::move(laminae));
  }

  /// The limit surface.
  Drawing drawing() const override {
    constexpr int n = drawn_divisions + 1;
    std::vector<Vec2> at;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) at.emplace_back(Real(i) / drawn_divisions, Real(j) / drawn_divisions);
    const LimitBasis basis = limit_basis(mesh_, shell_.piece().elements, at);
    Drawing drawing{3, {}, {}};
    for (std::int64_t e = 0; e < basis.faces(); ++e) {
      for (int s = 0; s < basis.samples; ++s) {
        Stencil& point = drawing.points.emplace_back();
        for (std::int64_t a = 0; a < basis.points_in(e); ++a) {
          point.rows.push_back(row_of_point_[basis.points_of(e)[a]]);
          point.weights.push_back(basis.row(e, s)[a].value);
        }
      }
      for (int j = 0; j + 1 < n; ++j)
        for (int i = 0; i + 1 < n; ++i) {
          const std::int64_t a = (e * n + j) * n + i;
          for (const std::int64_t corner : {a, a + 1, a + n + 1, a, a + n + 1, a + n}) drawing.cells.push_back(corner);
        }
    }
    return drawing;
  }

  /// Of the middle surface.
  Table cell_fields() const override {
    const auto at = shell_.points().get<Position>();
    std::vector<Vec3> now(mesh_.points.size(), Vec3::Zero());  // by number
    for (std::size_t p = 0; p < now.size(); ++p)
      if (row_of_point_[p] >= 0) now[p] = at[static_cast<std::size_t>(row_of_point_[p])];
    return surface_fields(mesh_, shell_.piece().elements, shell_, now, drawn_divisions);
  }

 private:
  std::string laminae_part() const { return name() + "_laminae"; }

  ControlMesh mesh_;
  Shell shell_;
  std::size_t side_count_ = 0;
};

}  // namespace

std::unique_ptr<StaticBody> make_static_shell(const Comm& comm, const ShellDescription& shell) {
  return std::make_unique<StaticShell>(comm, shell);
}

}  // namespace weft
