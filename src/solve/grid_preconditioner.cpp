#include "solve/grid_preconditioner.hpp"

#include <cmath>

namespace weft {
namespace {

/// A preconditioner made from the matrix of nodes is kept within a step until a linear system takes more steps than
/// this.
constexpr PetscInt most_steps_with_old_matrix = 15;

}  // namespace

GridPreconditioner::GridPreconditioner(const Comm& comm, const BlockMap& map, GridProblem& problem,
                                       const ImplicitSettings& settings)
    : comm_(comm),
      map_(map),
      problem_(problem),
      settings_(settings),
      inverse_blocks_(problem.nodes()),
      before_(problem.nodes(), Vec3::Zero()) {
  if (settings.preconditioner != Preconditioner::multigrid && settings.preconditioner != Preconditioner::direct) return;
  matrix_.emplace(comm, problem.unknowns(), problem.points());
  of_matrix_.emplace(comm, settings.preconditioner, settings.minimise);
}

GridPreconditioner::~GridPreconditioner() { check_petsc(VecDestroy(&momentum_)); }

void GridPreconditioner::begin_step() {
  before_.assign(problem_.nodes(), Vec3::Zero());
  if (matrix_) matrix_->begin_step();
}

PetscErrorCode GridPreconditioner::set_up(bool definite, PetscInt last) {
  if (settings_.preconditioner == Preconditioner::blocks ||
      (matrix_ && problem_.holds().any() && !holds_are_in_matrix()))
    invert_blocks();
  if (!matrix_ || !is_matrix_old(definite, last)) return 0;
  matrix_is_definite_ = definite;
  return renew_matrix();
}

/// Lets `change` change what nodes with mass have in the vector, in `before_`.
template <class F>
void GridPreconditioner::with_nodes_of(Vec vector, F&& change) {
  const NodeWriting values(vector);
  problem_.inertia().for_each_node([&](std::size_t n) { before_[n] = values[n]; });
  change();
  problem_.inertia().for_each_node([&](std::size_t n) { values[n] = before_[n]; });
}

void GridPreconditioner::apply(Vec in, Vec out) {
  if (!matrix_) return apply_blocks(in, out);
  if (!is_multigrid()) return of_matrix_->apply(in, out);
  if (momentum_ == nullptr) check_petsc(VecDuplicate(in, &momentum_));
  const bool has_holds = problem_.holds().any();
  const auto scale = [&] {
    problem_.inertia().for_each_node([&](std::size_t n) { before_[n] *= problem_.inertia().root_mass(n); });
  };
  check_petsc(VecCopy(in, momentum_));
  with_nodes_of(momentum_, [&] {
    if (has_holds) problem_.holds().release(hold_blocks_, before_);
    scale();
  });
  of_matrix_->apply(momentum_, out);
  with_nodes_of(out, [&] {
    scale();
    if (has_holds) problem_.holds().restore(hold_blocks_, before_);
  });
}

// --- Blocks ----------------------------------------------------------------------------------------------------------

void GridPreconditioner::invert_blocks() {
  problem_.find_blocks();
  problem_.inertia().for_each_node([&](std::size_t n) { inverse_blocks_[n] = problem_.block(n); });
  for (const WallNode& node : problem_.wall_nodes())
    inverse_blocks_[node.node] = problem_.wall_block(node, inverse_blocks_[node.node]);
  problem_.inertia().for_each_node([&](std::size_t n) { inverse_blocks_[n] = Mat3(inverse_blocks_[n].inverse()); });
  if (!problem_.holds().any()) return;
  hold_blocks_ = inverse_blocks_;
  for (const WallNode& node : problem_.wall_nodes())
    hold_blocks_[node.node] = inverse_blocks_[node.node] * problem_.left_by_walls(node);
  problem_.holds().factor(hold_blocks_, settings_.minimise);
}

void GridPreconditioner::apply_blocks(Vec in_vector, Vec out_vector) {
  check_petsc(VecCopy(in_vector, out_vector));  // nodes without mass
  const NodeReading in(in_vector);
  const NodeWriting out(out_vector);
  problem_.inertia().for_each_node([&](std::size_t n) { out[n] = inverse_blocks_[n] * in[n]; });
  if (!problem_.holds().any()) return;
  problem_.inertia().for_each_node([&](std::size_t n) { before_[n] = out[n]; });
  if (settings_.minimise)
    for (const WallNode& node : problem_.wall_nodes()) before_[node.node] = node.free * before_[node.node];
  after_.assign(problem_.nodes(), Vec3::Zero());
  problem_.holds().correct(hold_blocks_, before_, after_);
  problem_.inertia().for_each_node([&](std::size_t n) { out[n] += after_[n]; });
}

// --- What is made from the matrix ------------------------------------------------------------------------------------

/// Within a step the matrix changes little; but steps are judged by that of their start.
bool GridPreconditioner::is_matrix_old(bool definite, PetscInt last) const {
  return !matrix_->is_filled() || definite != matrix_is_definite_ || last > most_steps_with_old_matrix ||
         settings_.judges_by_preconditioner();
}

PetscErrorCode GridPreconditioner::renew_matrix() {
  matrix_->begin_adding();
  problem_.add_tangent(*matrix_);
  if (holds_are_in_matrix()) problem_.holds().add_tangent(*matrix_);
  if (matrix_->list([&](std::size_t n) { return problem_.inertia().root_mass(n) > 0; })) {
    const PetscErrorCode code = begin_pattern();
    if (code != 0) return code;
  }
  wall_at_.assign(problem_.nodes(), nullptr);
  for (const WallNode& node : problem_.wall_nodes()) wall_at_[node.node] = &node;
  const Mat3 I = Mat3::Identity();
  matrix_->fill([&](std::size_t n) -> NodeMatrix::Node {
    const Real root = problem_.inertia().root_mass(n);
    if (!(root > 0)) return {Mat3::Zero(), Mat3::Zero(), I};
    const Real scale = problem_.step().dt / (is_multigrid() ? 1 : root), mass = is_multigrid() ? root * root : 1;
    const Mat3 inertia = problem_.least_diagonal() * I;
    if (wall_at_[n] == nullptr) return {scale * I, scale * I, mass * inertia};
    const WallNode& wall = *wall_at_[n];
    const Mat3& left = problem_.left_by_walls(wall);
    return {scale * left, settings_.minimise ? scale * left : Mat3(scale * I),
            mass * problem_.wall_block(wall, inertia)};
  });
  note_symmetry();
  return of_matrix_->set_up();
}

/// Of the values that the matrix has now.
void GridPreconditioner::note_symmetry() {
  if (settings_.minimise) check_petsc(MatSetOption(matrix_->matrix(), MAT_SYMMETRIC, PETSC_TRUE));
}

/// The matrix has other entries: what multigrid keeps comes from them, and not from values.
PetscErrorCode GridPreconditioner::begin_pattern() {
  const auto place = [&](std::size_t n) -> Vec3i {
    const int block = static_cast<int>(n) / nodes_per_block, its = static_cast<int>(n) % nodes_per_block;
    return map_.first_node(block) + node_at_place(its);
  };
  if (is_multigrid()) {
    matrix_->fill_with_springs(place);
    note_symmetry();
    set_rigid_motions();
  }
  check_petsc(of_matrix_->create());
  of_matrix_->set_matrix(matrix_->matrix());
  return is_multigrid() ? of_matrix_->set_up() : 0;
}

/// Tells multigrid the six motions that cost no energy.
void GridPreconditioner::set_rigid_motions() {
  std::vector<Vec> modes(6);
  for (std::size_t mode = 0; mode < modes.size(); ++mode) {
    check_petsc(MatCreateVecs(matrix_->matrix(), &modes[mode], nullptr));
    check_petsc(VecSet(modes[mode], 0));
    const NodeWriting to(modes[mode]);
    const Vec3 e = Vec3::Unit(static_cast<Eigen::Index>(mode % 3));
    problem_.inertia().for_each_node([&](std::size_t n) {
      const int block = static_cast<int>(n) / nodes_per_block, place = static_cast<int>(n) % nodes_per_block;
      const Vec3 X = (map_.first_node(block) + node_at_place(place)).cast<Real>();
      to[n] = mode < 3 ? e : Vec3(e.cross(X));
    });
  }
  set_near_null_space(matrix_->matrix(), std::move(modes));
}

}  // namespace weft
