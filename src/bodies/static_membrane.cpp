// Sheets and fibers without grid: elasticity of their elements and of the angles between them, contact apart.

#include "bodies/ingredients.hpp"
#include "weft/base/check.hpp"
#include "weft/base/sums.hpp"
#include "weft/bodies/mesh_piece.hpp"
#include "weft/bodies/static_body.hpp"

#include <fmt/format.h>

#include <iterator>

namespace weft {
namespace {

/// The elements of one rank, whose points are rows. x: places of the rows [m].
template <class K>
class FreeElements {
  using Stencil = typename BendsOf<K>::Stencil;
  using Tangents = typename K::Tangents;

 public:
  FreeElements(const typename K::Constants& law, std::vector<ElementAtRest<K>> elements, std::vector<Stencil> bends,
               std::size_t rows)
      : law_(law), elements_(std::move(elements)), bending_(std::move(bends), rows), stress_(elements_.size()) {
    std::vector<std::int32_t> rows_of_corners;
    for (const ElementAtRest<K>& e : elements_)
      rows_of_corners.insert(rows_of_corners.end(), e.rows.begin(), e.rows.end());
    incidence_ = Incidence(rows_of_corners, rows);
  }

  const std::vector<ElementAtRest<K>>& elements() const { return elements_; }
  static Tangents tangents(const ElementAtRest<K>& element, std::span<const Vec3> x) {
    return CodimensionalElements<K>::tangents(element, x);
  }

  /// Sum of V psi(F) [J] over the elements, F = sum_a x_a grad N_a, and the energy of bending.
  Real energy(std::span<const Vec3> x) const {
    return bending_.energy(x) + ordered_sum(elements_.size(), Real(0), [&](std::size_t e) {
             return elements_[e].volume * K::Free::energy(K::free(law_), tangents(elements_[e], x));
           });
  }

  /// f_a -= V P(F) grad N_a
  void add_force(std::span<const Vec3> x, std::span<Vec3> f) const {
#pragma omp parallel for schedule(static)
    for (std::size_t e = 0; e < elements_.size(); ++e)
      stress_[e] = elements_[e].volume * K::Free::stress(K::free(law_), tangents(elements_[e], x));
    incidence_.add(f, [&](std::int32_t corner) {
      const std::int32_t e = corner / K::corners;
      return Vec3(-stress_[e] * elements_[e].gradients.row(corner % K::corners).transpose());
    });
    bending_.respond(x, f);
  }

  /// Parts that look at the tangents of an element, with K = V dP/dF; definite: without negative eigenvalues.
  MeshStiffness stiffness(std::span<const Vec3> x, bool definite) const {
    constexpr int n = 3 * K::tangents;
    MeshStiffness stiffness;
    for (const ElementAtRest<K>& element : elements_) {
      const Tangents F = tangents(element, x);
      stiffness.add(K::tangents, element.rows, -1);
      MeshStiffness::Part part = stiffness.part(stiffness.size() - 1);
      part.w = element.gradients.transpose();
      for (int c = 0; c < n; ++c) {
        Tangents unit = Tangents::Zero();
        unit.data()[c] = element.volume;
        const Tangents change = definite ? K::Free::projected_differential(K::free(law_), F, unit)
                                         : K::Free::stress_differential(K::free(law_), F, unit);
        part.K.col(c).template head<n>() = Eigen::Map<const Eigen::Matrix<Real, n, 1>>(change.data());
      }
    }
    bending_.add_stiffness(x, definite, stiffness);
    stiffness.close(x.size());
    return stiffness;
  }

 private:
  typename K::Constants law_;
  std::vector<ElementAtRest<K>> elements_;
  BendingElements<Stencil> bending_;
  Incidence incidence_;
  mutable std::vector<Tangents> stress_;  ///< Work: V P of each element [J].
};

/// The energy of elements whose points are block b of a motion.
template <class K>
class FreeTerm final : public Term {
 public:
  FreeTerm(const FreeElements<K>& elements, const Table& points, std::size_t b)
      : elements_(elements), points_(points), block_(b) {}

  Real energy(const Motion& motion) const override { return elements_.energy(places(motion)); }
  void add_force(const Motion& motion, Load& force) const override {
    elements_.add_force(places(motion), force.points(block_));
  }

  std::unique_ptr<Linear> linearise(const Motion& motion) const override { return stiffness_at(motion, false); }
  std::unique_ptr<Linear> linearise_definite(const Motion& motion) const override { return stiffness_at(motion, true); }
  void add_force_change(const Linear& linear, const FreedomValues& du, Load& change) const override {
    static_cast<const Stiffness&>(linear).of_mesh.multiply(du.points(block_), {}, change.points(block_), {});
  }

  /// K_ab = sum_kl w_ka K_kl w_lb of each part.
  void add_tangent(const Linear& linear, Tangent& tangent) const override {
    const auto& at = static_cast<const Stiffness&>(linear);
    std::vector<std::int32_t> numbers;
    Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> matrix;
    for (std::size_t k = 0; k < at.of_mesh.size(); ++k) {
      const MeshStiffness::Part part = at.of_mesh.part(k);
      const Eigen::Index vectors = part.w.rows(), rows = part.w.cols();
      matrix.setZero(3 * rows, 3 * rows);
      numbers.clear();
      for (Eigen::Index a = 0; a < rows; ++a) {
        for (int i = 0; i < 3; ++i)
          numbers.push_back(at.freedoms->at(block_, static_cast<std::size_t>(part.rows[a])) + i);
        for (Eigen::Index b = 0; b < rows; ++b)
          for (Eigen::Index v = 0; v < vectors; ++v)
            for (Eigen::Index w = 0; w < vectors; ++w)
              matrix.block<3, 3>(3 * a, 3 * b) += part.w(v, a) * part.w(w, b) * part.K.block<3, 3>(3 * v, 3 * w);
      }
      tangent.add(numbers, {matrix.data(), static_cast<std::size_t>(matrix.size())});
    }
  }

 private:
  struct Stiffness : Linear {
    const Freedoms* freedoms = nullptr;
    MeshStiffness of_mesh;
  };

  std::unique_ptr<Linear> stiffness_at(const Motion& motion, bool definite) const {
    auto linear = std::make_unique<Stiffness>();
    linear->freedoms = &motion.u.freedoms();
    linear->of_mesh = elements_.stiffness(places(motion), definite);
    return linear;
  }
  std::vector<Vec3> places(const Motion& motion) const {
    const auto at = points_.get<Position>();
    const auto u = motion.u.points(block_);
    std::vector<Vec3> x(at.size());
    for (std::size_t r = 0; r < x.size(); ++r) x[r] = at[r] + u[r];
    return x;
  }

  const FreeElements<K>& elements_;
  const Table& points_;
  std::size_t block_;
};

template <class K>
class StaticMembrane final : public StaticBody {
 public:
  StaticMembrane(const Comm& comm, const Ingredients<K>& of) : StaticMembrane(comm, of, own_piece(comm, of)) {}

  const std::string& name() const override { return name_; }
  const Forest& forest() const override { return forest_; }
  Table& points() override { return points_; }
  const std::vector<Vec3>& rest() const override { return rest_; }
  std::string census() const override {
    return fmt::format("{} {}, {} vertices", element_count_, K::corners == 3 ? "triangles" : "segments", rest_.size());
  }

  std::unique_ptr<Term> term(std::size_t b) const override {
    return std::make_unique<FreeTerm<K>>(elements_, points_, b);
  }

  bool is_slack() const override { return true; }

  void take_over(const ReadPart& read) override {
    Table points = Table::with<Id, Position, RestPosition, LastDisplacement>();
    read(name_, points);
    require(take_rows(comm_, std::move(points), points_), ExitCode::checkpoint,
            fmt::format("{}: these are not the vertices of this body.", name_));
    for (const ColumnView& column : points_.columns(Keep::state)) forest_.update_ghosts(column);
  }

  Drawing drawing() const override {
    Drawing drawing{K::corners, {}, {}};
    for (std::size_t r = 0; r < points_.rows(); ++r) drawing.points.push_back({{static_cast<std::int32_t>(r)}, {1}});
    for (const ElementAtRest<K>& e : elements_.elements())
      drawing.cells.insert(drawing.cells.end(), e.rows.begin(), e.rows.end());
    return drawing;
  }
  Table cell_fields() const override {
    Table shown = Table::with<Stretch>();
    shown.resize(elements_.elements().size());
    for (std::size_t e = 0; e < shown.rows(); ++e)
      shown.get<Stretch>()[e] = longest(elements_.tangents(elements_.elements()[e], points_.get<Position>()));
    return shown;
  }

 private:
  static MeshPiece own_piece(const Comm& comm, const Ingredients<K>& of) {
    std::vector<Vec3> middles;
    for (const ElementAtRest<K>& e : of.elements) {
      Vec3& middle = middles.emplace_back(Vec3::Zero());
      for (const std::int32_t corner : e.rows) middle += of.rest[corner] / K::corners;
    }
    const std::vector<std::int64_t> elements = equal_run(middles, comm);
    std::vector<std::int32_t> needed;
    const auto add = [&](const auto& rows) {
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(needed), [](std::int32_t v) { return v >= 0; });
    };
    for (const std::int64_t e : elements) {
      add(of.elements[static_cast<std::size_t>(e)].rows);
      if (const auto bend = of.bend(e)) add(bend->stencil.rows);
    }
    sort_unique(needed);
    return piece_of(comm, elements, needed, owners_of_points(comm, needed, of.rest.size()));
  }

  StaticMembrane(const Comm& comm, const Ingredients<K>& of, const MeshPiece& piece)
      : comm_(comm),
        name_(of.name),
        rest_(of.rest),
        element_count_(of.elements.size()),
        forest_(comm, piece.owned, piece.originals),
        elements_(here(of, piece)) {
    row_of_point_ = rows_of(piece, rest_.size());
    points_ = Table::with<Id, Position, RestPosition, LastDisplacement>();
    points_.resize(piece.points.size(), piece.owned);
    for (std::size_t r = 0; r < piece.points.size(); ++r) {
      points_.get<Id>()[r] = static_cast<PointId>(piece.points[r]);
      points_.get<Position>()[r] = points_.get<RestPosition>()[r] = rest_[piece.points[r]];
    }
    sites_ = of.sites(of.all());
    for (const std::int64_t e : piece.elements)
      for (Sample& sample : on(piece, of.surface_samples({e, e + 1}))) surface_.push_back(std::move(sample));
    side_samples_ = on(piece, of.side_samples(of.all()));
  }

  static FreeElements<K> here(const Ingredients<K>& of, const MeshPiece& piece) {
    const std::vector<std::int32_t> row = rows_of(piece, of.rest.size());
    std::vector<ElementAtRest<K>> elements;
    for (const std::int64_t e : piece.elements) {
      elements.push_back(of.elements[e]);
      for (std::int32_t& r : elements.back().rows) r = row[r];
    }
    std::vector<typename BendsOf<K>::Stencil> bends;
    for (const std::int64_t e : piece.elements) {
      const auto bend = of.bend(e);
      if (!bend) continue;
      bends.push_back(bend->stencil);
      for (std::int32_t& r : bends.back().rows) r = r < 0 ? r : row[r];
    }
    return FreeElements<K>(of.law, std::move(elements), std::move(bends), piece.points.size());
  }

  /// Those of the elements of a piece, over rows.
  std::vector<Sample> on(const MeshPiece& piece, std::vector<Sample> samples) const {
    std::erase_if(samples, [&](const Sample& sample) {
      return !std::binary_search(piece.elements.begin(), piece.elements.end(), sample.face);
    });
    for (Sample& sample : samples)
      for (std::int32_t& row : sample.rows) row = row_of_point_[row];
    return samples;
  }

  Comm comm_;
  std::string name_;
  std::vector<Vec3> rest_;
  std::size_t element_count_;
  Forest forest_;
  FreeElements<K> elements_;
  Table points_;
};

}  // namespace

std::unique_ptr<StaticBody> make_static_membrane(const Comm& comm, const MembraneDescription& membrane) {
  return with_ingredients(membrane, [&](const auto& of) -> std::unique_ptr<StaticBody> {
    return std::make_unique<StaticMembrane<typename std::decay_t<decltype(of)>::Kind>>(comm, of);
  });
}

std::unique_ptr<StaticBody> make_static_fibers(const Comm& comm, const FiberDescription& fibers) {
  return std::make_unique<StaticMembrane<FiberKind>>(comm, ingredients_of(fibers));
}

}  // namespace weft
