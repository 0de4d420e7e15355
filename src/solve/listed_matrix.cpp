#include "solve/listed_matrix.hpp"

#include "parallel/call.hpp"
#include "weft/base/check.hpp"

#include <algorithm>
#include <utility>

namespace weft {

ListedMatrix::ListedMatrix(const Comm& comm, PetscInt begin, std::size_t unknowns)
    : begin_(begin), unknowns_(unknowns) {
  const auto n = static_cast<PetscInt>(unknowns);
  check_petsc(MatCreate(comm.handle(), &matrix_));
  check_petsc(MatSetType(matrix_, MATAIJ));
  check_petsc(MatSetSizes(matrix_, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
}

ListedMatrix::~ListedMatrix() { check_petsc(MatDestroy(&matrix_)); }

Mat ListedMatrix::release() { return std::exchange(matrix_, nullptr); }

void ListedMatrix::find_runs(std::span<const PetscInt> columns) {
  runs_.clear();
  for (const PetscInt j : columns)
    if (!runs_.empty() && runs_.back().end == j) ++runs_.back().end;
    else runs_.push_back({j, j + 1});
}

void ListedMatrix::add(std::span<const PetscInt> rows, std::span<const PetscInt> columns,
                       std::span<const PetscScalar> k) {
  if (!is_laid_out_) {
    listed_.insert(listed_.end(), {static_cast<PetscInt>(rows.size()), static_cast<PetscInt>(columns.size())});
    listed_.insert(listed_.end(), rows.begin(), rows.end());
    listed_.insert(listed_.end(), columns.begin(), columns.end());
    return;
  }
  find_runs(columns);
  WEFT_ENSURE(next_ + rows.size() * runs_.size() <= place_.size());
  const PetscScalar* value = k.data();
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const Run& run : runs_) {
      PetscScalar* sum = values_.data() + place_[next_++];
      for (PetscInt j = run.begin; j < run.end; ++j) *sum++ += *value++;
    }
}

/// f(rows), with the runs of columns at hand.
template <class F>
void ListedMatrix::for_each_listed(F&& f) {
  for (std::size_t at = 0; at < listed_.size();) {
    const auto rows = static_cast<std::size_t>(listed_[at]), columns = static_cast<std::size_t>(listed_[at + 1]);
    find_runs(std::span(listed_).subspan(at + 2 + rows, columns));
    f(std::span(listed_).subspan(at + 2, rows));
    at += 2 + rows + columns;
  }
}

std::size_t ListedMatrix::row_of(const Rows& rows, PetscInt number) const {
  const auto own = static_cast<std::size_t>(number - begin_);
  if (number >= begin_ && own < unknowns_) return own;
  const auto found = std::ranges::lower_bound(rows.number, number);
  return unknowns_ + static_cast<std::size_t>(found - rows.number.begin());
}

ListedMatrix::Rows ListedMatrix::list_rows() {
  Rows rows;
  for_each_listed([&](std::span<const PetscInt> numbers) {
    for (const PetscInt i : numbers)
      if (i < begin_ || i >= begin_ + static_cast<PetscInt>(unknowns_)) rows.number.push_back(i);
  });
  std::ranges::sort(rows.number);
  rows.number.erase(std::ranges::unique(rows.number).begin(), rows.number.end());
  rows.columns.resize(unknowns_ + rows.number.size());
  for_each_listed([&](std::span<const PetscInt> numbers) {
    for (const PetscInt i : numbers) {
      std::vector<PetscInt>& columns = rows.columns[row_of(rows, i)];
      for (const Run& run : runs_) {
        auto at = std::ranges::lower_bound(columns, run.begin);
        for (PetscInt j = run.begin; j < run.end; ++j, ++at)
          if (at == columns.end() || *at != j) at = columns.insert(at, j);
      }
    }
  });
  return rows;
}

void ListedMatrix::find_places(const Rows& rows) {
  std::vector<PetscInt> first{0};
  for (const auto& columns : rows.columns) first.push_back(first.back() + static_cast<PetscInt>(columns.size()));
  for_each_listed([&](std::span<const PetscInt> numbers) {
    for (const PetscInt i : numbers) {
      const std::size_t row = row_of(rows, i);
      const auto& columns = rows.columns[row];
      for (const Run& run : runs_)
        place_.push_back(first[row] +
                         static_cast<PetscInt>(std::ranges::lower_bound(columns, run.begin) - columns.begin()));
    }
  });
  values_.resize(static_cast<std::size_t>(first.back()));
}

void ListedMatrix::tell_petsc(const Rows& rows) {
  std::vector<PetscInt> row, column;
  row.reserve(values_.size());
  column.reserve(values_.size());
  for (std::size_t r = 0; r < rows.columns.size(); ++r) {
    const PetscInt number = r < unknowns_ ? begin_ + static_cast<PetscInt>(r) : rows.number[r - unknowns_];
    row.insert(row.end(), rows.columns[r].size(), number);
    column.insert(column.end(), rows.columns[r].begin(), rows.columns[r].end());
  }
  check_petsc(MatSetPreallocationCOO(matrix_, static_cast<PetscCount>(row.size()), row.data(), column.data()));
}

void ListedMatrix::lay_out() {
  const Rows rows = list_rows();
  find_places(rows);
  tell_petsc(rows);
  std::exchange(listed_, {});
  is_laid_out_ = true;
}

void ListedMatrix::begin() {
  std::ranges::fill(values_, 0);
  next_ = 0;
}

void ListedMatrix::finish() {
  WEFT_ENSURE(next_ == place_.size());
  check_petsc(MatSetValuesCOO(matrix_, values_.data(), INSERT_VALUES));
}

}  // namespace weft
