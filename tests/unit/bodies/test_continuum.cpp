// Continuum bodies of every law: what they answer to the step, and that the table is all they know.

#include "weft/bodies/continuum.hpp"

#include "weft/math/dual.hpp"

#include "support/random_matrices.hpp"
#include "support/some_constants.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <Eigen/LU>

#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

namespace weft::test {
namespace {

constexpr Real density = 700;

/// A body of this law with `count` points at rest in random places.
template <class L>
std::unique_ptr<PointBody> resting_body(std::size_t count, std::uint32_t seed = 1) {
  auto body = make_continuum("lump", Chosen<L>{some_constants<L>()}, density);
  MatrixSource source(seed);
  Table& points = body->points();
  points.resize(count);
  for (std::size_t p = 0; p < count; ++p) {
    points.get<Id>()[p] = p;
    points.get<Position>()[p] = source.vector();
    points.get<Velocity>()[p] = source.vector();
    points.get<Affine>()[p] = source.matrix();
  }
  body->rest(0, 1e-3);
  for (Real& m : points.get<Mass>()) m *= source.uniform(1, 2);
  return body;
}

Real rest_volume(const Table& points, std::size_t p) { return points.get<Mass>()[p] / density; }

/// As the body shows them.
std::vector<Real> volume_ratios(const Body& body) {
  const Table shown = body.observe();
  const auto J = shown.get<VolumeRatio>();
  return {J.begin(), J.end()};
}

/// What the grid gives to all points of a body, and what they answer.
struct Gathered {
  std::vector<Vec3> v;
  std::vector<Mat3> C;

  /// At random: velocity gradients of this size [1/s].
  Gathered(const Body& body, Real size, MatrixSource& source) : v(body.points().rows()), C(body.points().rows()) {
    for (std::size_t p = 0; p < v.size(); ++p) {
      v[p] = source.vector();
      C[p] = size * source.matrix();
    }
  }
  Gathered(const Body& body, const Vec3& velocity, const Mat3& gradient)
      : v(body.points().rows(), velocity), C(body.points().rows(), gradient) {}
};

/// Calls visit(rows, first) for all rows of a body, in chunks of different sizes, threads side by side; `first` counts
/// from the start of the table.
template <class F>
void for_each_chunk(const Body& body, F&& visit) {
  const std::size_t count = body.points().rows();
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0u);
  std::vector<std::size_t> begins;
  for (std::size_t begin = 0, size = most_rows_in_chunk; begin < count; begin += size) {
    begins.push_back(begin);
    size = size > 9 ? size - 9 : most_rows_in_chunk;
  }
  begins.push_back(count);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t c = 0; c < begins.size() - 1; ++c)
    visit(ChunkRows(rows).subspan(begins[c], begins[c + 1] - begins[c]), begins[c]);
}

std::vector<Mat3> respond(const Body& body) {
  std::vector<Mat3> A(body.points().rows());
  for_each_chunk(
      body, [&](ChunkRows rows, std::size_t first) { body.respond(rows, {std::span(A).subspan(first, rows.size())}); });
  return A;
}

void commit(Body& body, Real dt, const Gathered& all) {
  std::copy(all.v.begin(), all.v.end(), body.points().get<Velocity>().begin());
  std::copy(all.C.begin(), all.C.end(), body.points().get<Affine>().begin());
  for_each_chunk(body, [&](ChunkRows rows, std::size_t first) {
    body.commit(rows, dt, {std::span(all.v).subspan(first, rows.size()), std::span(all.C).subspan(first, rows.size())});
  });
}

/// A body some steps later: deformed, and with memories where the law has any.
template <class L>
std::unique_ptr<PointBody> deformed_body(std::size_t count, std::uint32_t seed = 1) {
  std::unique_ptr<PointBody> body = resting_body<L>(count, seed);
  MatrixSource source(seed + 100);
  for (int step = 0; step < 5; ++step) {
    commit(*body, 1e-3, Gathered(*body, 60, source));  // strains of 0.06 in each step
  }
  return body;
}

template <class L>
typename L::Memory memory_of(const Table& points, std::size_t p) {
  typename L::Memory q{};
  L::Remembered::each([&](auto item) {
    using Item = decltype(item);
    q.*Item::pointer = points.template get<typename Item::Key>()[p];
  });
  return q;
}

std::vector<std::byte> bytes_of(Table& table, std::initializer_list<Keep> keeps) {
  std::vector<std::byte> bytes;
  for (const Keep keep : keeps)
    for (const ColumnView& column : table.columns(keep))
      bytes.insert(bytes.end(), column.data, column.data + column.rows * column.row_bytes);
  return bytes;
}

template <class L>
class ContinuumTest : public ::testing::Test {};
TYPED_TEST_SUITE(ContinuumTest, AllLaws::In<::testing::Types>);

TYPED_TEST(ContinuumTest, RestHasMassButNeitherStressNorEnergy) {
  using L = TypeParam;
  std::unique_ptr<PointBody> body = resting_body<L>(50);
  Table& points = body->points();
  if constexpr (L::viscous) std::ranges::fill(points.get<Affine>(), Mat3::Zero());
  const std::vector<Mat3> A = respond(*body);
  const std::vector<Real> J = volume_ratios(*body);
  const Real modulus = density * std::pow(body->limit_from(0).wave_speed, 2);
  for (std::size_t p = 0; p < points.rows(); ++p) {
    const Real V0 = rest_volume(points, p);
    EXPECT_EQ(J[p], 1);
    EXPECT_EQ(L::deformation(points.get<typename L::Kept>()[p]), Mat3::Identity());
    EXPECT_LE(A[p].norm(), 1e-14 * modulus * V0);
  }
  EXPECT_LE(std::abs(body->elastic_energy()), 1e-14 * modulus * 50 * 2e-3);
}

TYPED_TEST(ContinuumTest, NewRowsRestWhileOlderOnesStayAsTheyAre) {
  using L = TypeParam;
  std::unique_ptr<PointBody> body = deformed_body<L>(20), alone = deformed_body<L>(20), fresh = resting_body<L>(1);
  body->points().resize(30);
  body->rest(20, 1e-3);
  fresh->rest(0, 1e-3);
  EXPECT_DOUBLE_EQ(fresh->points().get<Mass>()[0], density * 1e-3);
  for (const ColumnView& column : alone->points().columns(Keep::state)) {
    const ColumnView now = body->points().column(column.label.name);
    EXPECT_EQ(std::memcmp(now.data, column.data, 20 * column.row_bytes), 0) << column.label.name;
    const bool set_by_rest =
        !std::set<std::string_view>{"id", "position", "velocity", "velocity_gradient"}.contains(column.label.name);
    const ColumnView rest = fresh->points().column(column.label.name);
    for (std::size_t p = 20; set_by_rest && p < 30; ++p)
      EXPECT_EQ(std::memcmp(now.row(p), rest.row(0), column.row_bytes), 0) << column.label.name;
  }
}

TYPED_TEST(ContinuumTest, RespondsWithTheDerivativeOfItsEnergyByTheDisplacementGradient) {
  using L = TypeParam;
  const auto k = some_constants<L>();
  std::unique_ptr<PointBody> body = deformed_body<L>(100);
  Table& points = body->points();
  const std::vector<std::byte> before = bytes_of(points, {Keep::state});
  const std::vector<Mat3> forces = respond(*body);
  EXPECT_EQ(bytes_of(points, {Keep::state}), before);
  const std::vector<Real> J = volume_ratios(*body);
  MatrixSource source(2);
  for (std::size_t p = 0; p < points.rows(); ++p) {
    const auto q = memory_of<L>(points, p);
    const Mat3 F = L::deformation(points.get<typename L::Kept>()[p]);
    const Real V0 = rest_volume(points, p);
    Mat3 A = forces[p];
    EXPECT_LE((A - A.transpose()).norm(), 1e-13 * A.norm());
    // Viscous stress has no energy; it is what sym(L) is resisted with, in the volume as it is now.
    if constexpr (L::viscous) {
      const Mat3& velocity_gradient = points.get<Affine>()[p];
      A -= V0 * J[p] * L::viscosity(k) * (velocity_gradient + velocity_gradient.transpose());
    }
    const Mat3 H = source.matrix();
    const Real expected = V0 * L::energy(k, q, along(F, H * F)).slope;
    EXPECT_NEAR(A.cwiseProduct(H).sum(), expected, 1e-12 * V0 * L::stiffness(k, q, F)) << F;
  }
}

TYPED_TEST(ContinuumTest, UniformVelocityGradientGivesThePowerOfOneStep) {
  using L = TypeParam;
  const Real dt = 1e-3;
  const int steps = 40;
  Mat3 gradient;
  gradient << 1, -2, 0.5, 3, -1, 1, 0.2, 2, 1.5;
  const Vec3 drift(1, 2, -3);
  std::unique_ptr<PointBody> body = resting_body<L>(10);
  Table& points = body->points();
  const std::vector<Vec3> x0(points.get<Position>().begin(), points.get<Position>().end());
  const Mat3 growth = Mat3::Identity() + dt * gradient;
  Mat3 F = Mat3::Identity();
  for (int step = 0; step < steps; ++step) {
    commit(*body, dt, Gathered(*body, drift, gradient));
    F = growth * F;
  }
  const std::vector<Real> J = volume_ratios(*body);
  for (std::size_t p = 0; p < points.rows(); ++p) {
    EXPECT_LE((points.get<Position>()[p] - (x0[p] + steps * dt * drift)).norm(), 1e-14);
    EXPECT_EQ(points.get<Velocity>()[p], drift);
    EXPECT_EQ(points.get<Affine>()[p], gradient);
    EXPECT_NEAR(J[p], F.determinant(), 1e-13);
    if constexpr (!L::yields) {
      const auto kept = points.get<typename L::Kept>()[p];
      EXPECT_LE((L::deformation(kept) - L::deformation(L::kept(F))).norm(), 1e-13);
    }
  }
}

TYPED_TEST(ContinuumTest, FlowsAndRemembersByTheReturnMapOfItsLaw) {
  using L = TypeParam;
  const auto k = some_constants<L>();
  const Real dt = 1e-3;
  std::unique_ptr<PointBody> body = resting_body<L>(40);
  Table& points = body->points();
  std::vector<Returned<typename L::Memory>> expected(40, {Mat3::Identity(), {}});
  MatrixSource source(3);
  for (int step = 0; step < 6; ++step) {
    const Gathered gathered(*body, 60, source);
    for (std::size_t p = 0; p < 40; ++p) {
      const Mat3 trial = (Mat3::Identity() + dt * gathered.C[p]) * expected[p].F;
      expected[p] = L::return_map(k, expected[p].q, trial, dt);
    }
    commit(*body, dt, gathered);
  }
  int remembered = 0;
  for (std::size_t p = 0; p < 40; ++p) {
    const Mat3 elastic = L::deformation(points.get<typename L::Kept>()[p]);
    EXPECT_LE((elastic * elastic.transpose() - expected[p].F * expected[p].F.transpose()).norm(), 1e-13);
    const auto q = memory_of<L>(points, p);
    const typename L::Memory fresh{};
    L::Remembered::each([&](auto item) {
      constexpr auto member = decltype(item)::pointer;
      EXPECT_NEAR(q.*member, expected[p].q.*member, 1e-13);
      remembered += q.*member != fresh.*member;
    });
  }
  EXPECT_EQ(remembered > 0, L::Remembered::count > 0);
}

TYPED_TEST(ContinuumTest, StateColumnsAreAllThatABodyKnows) {
  using L = TypeParam;
  std::unique_ptr<PointBody> body = deformed_body<L>(60), twin = resting_body<L>(60, 9);
  for (const ColumnView& column : body->points().columns(Keep::state))
    std::memcpy(twin->points().column(column.label.name).data, column.data, column.rows * column.row_bytes);
  EXPECT_EQ(twin->elastic_energy(), body->elastic_energy());
  EXPECT_EQ(twin->limit_from(0).wave_speed, body->limit_from(0).wave_speed);
  EXPECT_EQ(twin->limit_from(0).viscosity, body->limit_from(0).viscosity);
  EXPECT_EQ(twin->limit_from(0).speed, body->limit_from(0).speed);
  Table shown = body->observe(), twin_shown = twin->observe();
  EXPECT_EQ(bytes_of(twin_shown, {Keep::shown}), bytes_of(shown, {Keep::shown}));
  EXPECT_EQ(respond(*twin), respond(*body));
  for (Body* b : {body.get(), twin.get()}) {
    MatrixSource source(4);
    commit(*b, 1e-3, Gathered(*b, 60, source));
  }
  EXPECT_EQ(bytes_of(twin->points(), {Keep::state}), bytes_of(body->points(), {Keep::state}));
}

TYPED_TEST(ContinuumTest, LimitsNameTheFastestWaveAndPoint) {
  using L = TypeParam;
  const auto k = some_constants<L>();
  std::unique_ptr<PointBody> body = deformed_body<L>(60);
  Table& points = body->points();
  const std::vector<Real> J = volume_ratios(*body);
  Real stiffness = 0, speed = 0, volume = 0;
  for (std::size_t p = 0; p < points.rows(); ++p) {
    stiffness = std::max(stiffness, L::stiffness(k, memory_of<L>(points, p), points.get<typename L::Kept>()[p]));
    speed = std::max(speed, points.get<Velocity>()[p].norm());
    volume = std::max(volume, J[p]);
  }
  const StepLimit limit = body->limit_from(0);
  EXPECT_GT(limit.wave_speed, 0);
  EXPECT_NEAR(limit.wave_speed, std::sqrt(stiffness / density), 1e-12 * limit.wave_speed);
  EXPECT_NEAR(limit.speed, speed, 1e-14);
  // Kinematic viscosity where the material is thinnest.
  EXPECT_NEAR(limit.viscosity, L::viscosity(k) / (density / volume), 1e-14 * volume);
  EXPECT_EQ(limit.viscosity > 0, L::viscous);
}

TYPED_TEST(ContinuumTest, ALimitHasTheSameBitsHoweverThePointsAreCutIntoChunks) {
  using L = TypeParam;
  std::unique_ptr<PointBody> body = deformed_body<L>(200);
  const StepLimit whole = body->limit_from(0), later = body->limit_from(77);
  StepLimit joined, from_77;
  for (std::uint32_t p = 0; p < 200; ++p) {
    const StepLimit one = body->limit(ChunkRows(&p, 1));
    joined.include(one);
    if (p >= 77) from_77.include(one);
  }
  for (const auto& [a, b] : {std::pair(whole, joined), std::pair(later, from_77)}) {
    EXPECT_EQ(a.wave_speed, b.wave_speed);
    EXPECT_EQ(a.viscosity, b.viscosity);
    EXPECT_EQ(a.speed, b.speed);
  }
}

TYPED_TEST(ContinuumTest, EnergyIsSummedOverThePoints) {
  using L = TypeParam;
  const auto k = some_constants<L>();
  std::unique_ptr<PointBody> body = deformed_body<L>(60);
  const Table& points = body->points();
  Real sum = 0;
  for (std::size_t p = 0; p < points.rows(); ++p)
    sum += rest_volume(points, p) * L::energy(k, memory_of<L>(points, p), points.get<typename L::Kept>()[p]);
  EXPECT_GT(sum, 0);
  EXPECT_NEAR(body->elastic_energy(), sum, 1e-12 * sum);
}

TYPED_TEST(ContinuumTest, SomeRowsShowWhatTheyShowAmongAll) {
  const std::unique_ptr<Body> body = deformed_body<TypeParam>(60);
  Table all = body->observe();
  constexpr std::size_t first = 13, count = 30;
  Table some = body->observe(first, count);
  ASSERT_EQ(some.rows(), count);
  for (const ColumnView& column : some.columns())
    EXPECT_EQ(std::memcmp(column.data, all.column(column.label.name).row(first), count * column.row_bytes), 0)
        << column.label.name;
  EXPECT_EQ(body->observe(0, 0).columns().size(), all.columns().size());
}

TYPED_TEST(ContinuumTest, ShownStressesAreThoseOfTheResponse) {
  using L = TypeParam;
  std::unique_ptr<PointBody> body = deformed_body<L>(60);
  const std::vector<Mat3> A = respond(*body);
  const Table& points = body->points();
  const Table shown = body->observe();
  const std::vector<Real> J = volume_ratios(*body);
  ASSERT_EQ(shown.rows(), points.rows());
  for (std::size_t p = 0; p < points.rows(); ++p) {
    const Real volume = rest_volume(points, p) * J[p];
    const Mat3& sigma = shown.get<CauchyStress>()[p];
    const Real round_off = 1e-13 * density * std::pow(body->limit_from(0).wave_speed, 2);
    EXPECT_LE((sigma - A[p] / volume).norm(), round_off);
    EXPECT_NEAR(shown.get<Pressure>()[p], -sigma.trace() / 3, round_off);
    const auto square = [](Real a) { return a * a; };
    const Real von_mises = std::sqrt(0.5 * (square(sigma(0, 0) - sigma(1, 1)) + square(sigma(1, 1) - sigma(2, 2)) +
                                            square(sigma(2, 2) - sigma(0, 0))) +
                                     3 * (square(sigma(0, 1)) + square(sigma(1, 2)) + square(sigma(2, 0))));
    EXPECT_NEAR(shown.get<VonMisesStress>()[p], von_mises, round_off);
    EXPECT_NEAR(shown.get<Density>()[p], points.get<Mass>()[p] / volume, 1e-12 * density);
    EXPECT_EQ(shown.get<PlasticMeasure>()[p], L::plastic_measure(some_constants<L>(), memory_of<L>(points, p)));
  }
}

TYPED_TEST(ContinuumTest, ThreadsChangeNoBit) {
  using L = TypeParam;
  const int threads_before = omp_get_max_threads();
  std::vector<std::byte> first;
  std::vector<Mat3> forces;
  Real energy = 0;
  StepLimit limit;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    std::unique_ptr<PointBody> body = deformed_body<L>(9000);  // several chunks of the ordered sum
    const std::vector<Mat3> A = respond(*body);
    const auto bytes = bytes_of(body->points(), {Keep::state});
    if (threads == 1) {
      first = bytes;
      forces = A;
      energy = body->elastic_energy();
      limit = body->limit_from(0);
    }
    EXPECT_TRUE(bytes == first) << threads << " threads";
    EXPECT_TRUE(A == forces) << threads << " threads";
    EXPECT_EQ(body->elastic_energy(), energy);
    EXPECT_EQ(body->limit_from(0).wave_speed, limit.wave_speed);
    EXPECT_EQ(body->limit_from(0).speed, limit.speed);
  }
  omp_set_num_threads(threads_before);
}

TYPED_TEST(ContinuumTest, ABodyWithoutPointsLimitsNothing) {
  using L = TypeParam;
  std::unique_ptr<PointBody> body = resting_body<L>(0);
  body->respond({}, {});
  body->commit({}, 1e-3, {});
  EXPECT_EQ(body->name(), "lump");
  EXPECT_EQ(body->limit_from(0).wave_speed, 0);
  EXPECT_EQ(body->limit_from(0).speed, 0);
  EXPECT_EQ(body->elastic_energy(), 0);
  EXPECT_EQ(body->observe().rows(), 0u);
}

// --- By hand --------------------------------------------------------------------------------------------------------

/// A body whose single point has this deformation.
template <class L>
std::unique_ptr<Body> strained(const Mat3& F) {
  std::unique_ptr<PointBody> body = resting_body<L>(1);
  std::ranges::fill(body->points().template get<typename L::Kept>(), L::kept(F));
  std::ranges::fill(body->points().template get<Affine>(), Mat3::Zero());
  return body;
}

TEST(ContinuumStressTest, UniaxialStretchOfFixedCorotatedMaterial) {
  const Real l = 1.2, J = l;
  const auto body = strained<FixedCorotated>(Vec3(l, 1, 1).asDiagonal());
  const Table shown = body->observe();
  // sigma = (2 mu (F - I) F^T + lambda (J - 1) J I) / J
  const Real along = 2 * soft.mu * (l - 1) * l / J + soft.lambda * (J - 1), across = soft.lambda * (J - 1);
  EXPECT_NEAR(shown.get<CauchyStress>()[0](0, 0), along, 1e-9 * along);
  EXPECT_NEAR(shown.get<CauchyStress>()[0](1, 1), across, 1e-9 * along);
  EXPECT_NEAR(shown.get<Pressure>()[0], -(along + 2 * across) / 3, 1e-9 * along);
  EXPECT_NEAR(shown.get<VonMisesStress>()[0], along - across, 1e-9 * along);
  EXPECT_NEAR(shown.get<Density>()[0], density / 1.2, 1e-9 * density);
  EXPECT_EQ(shown.get<PlasticMeasure>()[0], 0);
}

TEST(ContinuumStressTest, CompressedLiquidCarriesPressureAlone) {
  const Real stretch = 0.98, J = stretch * stretch * stretch;
  const Table shown = strained<Tait>(stretch * Mat3::Identity())->observe();
  const Real pressure = 1e5 / 7 * (std::pow(J, -7) - 1);
  EXPECT_NEAR(shown.get<Pressure>()[0], pressure, 1e-9 * pressure);
  EXPECT_NEAR(shown.get<VonMisesStress>()[0], 0, 1e-9 * pressure);
}

TEST(ContinuumStressTest, ShearedLiquidCarriesViscosityTimesRate) {
  auto body = strained<Tait>(Mat3::Identity());
  Mat3 shear = Mat3::Zero();
  shear(0, 1) = 20;
  body->points().get<Affine>()[0] = shear;
  const Table shown = body->observe();
  EXPECT_NEAR(shown.get<CauchyStress>()[0](0, 1), 3 * 20, 1e-9);
  EXPECT_NEAR(shown.get<CauchyStress>()[0](1, 0), 3 * 20, 1e-9);
  EXPECT_NEAR(shown.get<VonMisesStress>()[0], std::sqrt(3.0) * 60, 1e-9);
  EXPECT_NEAR(shown.get<Pressure>()[0], 0, 1e-9);
}

TEST(ContinuumStressTest, MetalYieldsAtItsStressInUniaxialTension) {
  auto body = resting_body<VonMises>(1);
  Table& points = body->points();
  const Real dt = 1e-3, rate = 50;
  // Isochoric stretching leaves no pressure: von Mises' stress is the flow stress once it flows.
  for (int step = 0; step < 20; ++step) {
    const Mat3 stretching = Vec3(rate, -rate / 2, -rate / 2).asDiagonal();
    commit(*body, dt, Gathered(*body, Vec3::Zero(), stretching));
  }
  const Real plastic = points.get<PlasticStrain>()[0];
  EXPECT_GT(plastic, 0.5);
  const Table shown = body->observe();
  EXPECT_EQ(shown.get<PlasticMeasure>()[0], plastic);
  const Real J = shown.get<VolumeRatio>()[0];
  EXPECT_NEAR(shown.get<VonMisesStress>()[0] * J, 2e3 + 5e4 * plastic, 1e-6);
}

TEST(ContinuumMemoryTest, MemoriesAreColumnsOfState) {
  const auto has = [](Body& body, std::string_view name) {
    const ColumnView column = body.points().column(name);
    return column.row_bytes > 0 && column.label.keep == Keep::state;
  };
  EXPECT_TRUE(has(*resting_body<DruckerPrager>(1), "plastic_strain"));
  EXPECT_TRUE(has(*resting_body<DruckerPrager>(1), "volume_gain"));
  EXPECT_TRUE(has(*resting_body<Snow>(1), "plastic_volume"));
  EXPECT_EQ(resting_body<Snow>(1)->points().get<PlasticVolume>()[0], 1);
  EXPECT_TRUE(has(*resting_body<VonMises>(1), "plastic_strain"));
  EXPECT_FALSE(has(*resting_body<FixedCorotated>(1), "plastic_strain"));
}

}  // namespace
}  // namespace weft::test
