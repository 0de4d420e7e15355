#include "solve/unknowns.hpp"

#include "parallel/call.hpp"
#include "weft/base/check.hpp"

namespace weft {
namespace {

/// Calls visit(b, first freedom) for each point of rows [0, rows(b)) of each block.
template <class Rows, class Visit>
void for_each_point_of(const Freedoms& freedoms, const Rows& rows, const Visit& visit) {
  for (std::size_t b = 0; b < freedoms.block_count(); ++b)
    for (std::size_t row = 0; row < rows(b); ++row)
      for (std::size_t p = 0; p < freedoms.points_per_row(b); ++p)
        visit(b, freedoms.at(b, row) + static_cast<std::int32_t>(p) * freedoms.stride(b));
}

}  // namespace

Unknowns::Unknowns(const Comm& comm, const Freedoms& freedoms, std::size_t others)
    : comm_(comm), freedoms_(freedoms), others_(others) {
  for_each_point_of(
      freedoms, [&](std::size_t b) { return freedoms.block(b).forest->owned(); },
      [&](std::size_t b, std::int32_t first) {
        for (int c = 0; c < freedoms.used(b); ++c) owned_.push_back(first + c);
      });
  begin_ = static_cast<PetscInt>(comm.offset(static_cast<std::int64_t>(count())));
  FreedomValues numbers(freedoms);  // whole numbers below 2^53 travel exactly
  for (std::size_t i = 0; i < owned_.size(); ++i)
    numbers.all()[static_cast<std::size_t>(owned_[i])] = static_cast<Real>(begin_ + static_cast<PetscInt>(i));
  numbers.update_ghosts();
  number_.reserve(freedoms.size());
  for (const Real number : numbers.all()) number_.push_back(static_cast<PetscInt>(number));
}

Vec Unknowns::create_vector() const {
  Vec vector = nullptr;
  check_petsc(VecCreateMPI(comm_.handle(), static_cast<PetscInt>(count()), PETSC_DETERMINE, &vector));
  return vector;
}

Points3::Points3(const Unknowns& unknowns) : point_of_(unknowns.freedoms().size(), -1) {
  const Freedoms& freedoms = unknowns.freedoms();
  for_each_point_of(
      freedoms, [&](std::size_t b) { return freedoms.rows(b); },
      [&](std::size_t b, std::int32_t first) {
        if (freedoms.used(b) != 3) return;
        WEFT_ENSURE(b == 0 || freedoms.used(b - 1) == 3);
        for (std::size_t c = 0; c < static_cast<std::size_t>(freedoms.stride(b)); ++c)
          point_of_[static_cast<std::size_t>(first) + c] = static_cast<std::int32_t>(first_freedom_.size());
        first_freedom_.push_back(first);
      });
  for (std::size_t i = 0; i < unknowns.owned().size() && point_of(unknowns.owned()[i]) >= 0; i += 3)
    owned_.push_back(point_of(unknowns.owned()[i]));
}

}  // namespace weft
