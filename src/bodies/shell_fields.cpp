#include "bodies/shell_fields.hpp"

#include "bodies/shell_kernel.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

Real determinant(const Mat2& M) { return M(0, 0) * M(1, 1) - M(0, 1) * M(1, 0); }

/// The principal value of largest size of a symmetric tensor with these mixed components.
Real largest_principal(const Mat2& mixed) {
  const Real mean = mixed.trace() / 2, root = std::sqrt(std::max(0.0, mean * mean - determinant(mixed)));
  return mean >= 0 ? mean + root : mean - root;
}

/// The logarithmic principal strain of largest size.
Real membrane_strain(const SurfacePoint<Real>& here, const SurfacePoint<Real>& rest) {
  const Mat2 stretch = rest.inverse_metric * form_matrix<Real>(here.forms.head<3>());
  const Real m = stretch.trace() / 2, r = std::sqrt(std::max(0.0, m * m - determinant(stretch)));
  const Vec2 logs(std::log(m + r) / 2, std::log(std::max(m - r, 1e-300)) / 2);
  return std::abs(logs[0]) > std::abs(logs[1]) ? logs[0] : logs[1];
}

Real curvature_change(const SurfacePoint<Real>& here, const SurfacePoint<Real>& rest) {
  return largest_principal(here.inverse_metric * form_matrix<Real>(here.forms.tail<3>()) -
                           rest.inverse_metric * form_matrix<Real>(rest.forms.tail<3>()));
}

}  // namespace

Table surface_fields(const ControlMesh& mesh, std::span<const std::int64_t> faces, const ShellFaces& laminae,
                     std::span<const Vec3> now, int n) {
  const DrawnFace drawn(mesh.sides(), n);
  const LimitBasis basis = limit_basis(mesh, faces, drawn.middles);
  Table fields = Table::with<MembraneStrain, CurvatureChange, PlasticStrain>();
  fields.resize(drawn.cells.size() * faces.size());
  const auto strain = fields.get<MembraneStrain>(), curvature = fields.get<CurvatureChange>(),
             plastic = fields.get<PlasticStrain>();
  std::size_t cell = 0;
  for (std::int64_t e = 0; e < basis.faces(); ++e)
    for (int s = 0; s < basis.samples; ++s) {
      const SurfacePoint<Real> here(jet_at(basis, e, s, now)), rest(jet_at(basis, e, s, mesh.points));
      for (int part = 0; part < drawn.cells_each(); ++part, ++cell) {
        strain[cell] = membrane_strain(here, rest);
        curvature[cell] = curvature_change(here, rest);
        plastic[cell] = laminae.plastic_strain_near(e, drawn.middles[static_cast<std::size_t>(s)]);
      }
    }
  return fields;
}

}  // namespace weft
