// Forest over PetscSF: roots are owned rows, leaves are ghost rows, and both live in the same array.

#include "weft/parallel/forest.hpp"

#include "parallel/call.hpp"
#include "parallel/sparse_exchange.hpp"
#include "weft/parallel/traffic.hpp"

#include <petscsf.h>

#include <algorithm>
#include <map>
#include <memory>
#include <ranges>
#include <set>

namespace weft {

struct Forest::Graph {
  PetscSF sf = nullptr;
  std::size_t owned = 0, ghosts = 0;
  std::size_t copies = 0;                     ///< Ghosts of this rank's rows on others.
  int owners = 0, holders = 0;                ///< Other ranks with originals of its ghosts, with ghosts of its rows.
  int neighbours = 0;                         ///< Ranks that are one of these.
  bool has_ghosts = true;                     ///< On any rank; each counts the tags of all exchanges.
  std::vector<std::size_t> lent;              ///< Owned rows with ghosts, each once, ascending.
  std::map<std::size_t, FlatType> row_types;  ///< By number of reals in a row.

  ~Graph() { check_petsc(PetscSFDestroy(&sf)); }

  MPI_Datatype row_type(const ColumnView& column) {
    WEFT_ENSURE(column.rows == owned + ghosts);
    WEFT_ENSURE(column.row_bytes > 0 && column.row_bytes % sizeof(Real) == 0);
    const std::size_t reals = column.row_bytes / sizeof(Real);
    if (reals == 1) return MPI_DOUBLE;  // PetscSF cannot add a contiguous type of one
    return row_types.try_emplace(reals, reals, MPI_DOUBLE).first->second;
  }
};

Forest::Forest() = default;
Forest::~Forest() = default;
Forest::Forest(Forest&&) noexcept = default;
Forest& Forest::operator=(Forest&&) noexcept = default;

Forest::Forest(const Comm& comm, std::size_t owned, std::span<const RemoteRow> originals)
    : graph_(std::make_unique<Graph>()) {
  graph_->owned = owned;
  graph_->ghosts = originals.size();
  int_count(owned + originals.size());
  std::vector<PetscInt> leaves(originals.size());
  std::vector<PetscSFNode> roots(originals.size());
  for (std::size_t g = 0; g < originals.size(); ++g) {
    leaves[g] = static_cast<PetscInt>(owned + g);
    roots[g] = {.rank = originals[g].rank, .index = originals[g].row};
  }
  check_petsc(PetscSFCreate(comm.handle(), &graph_->sf));
  check_petsc(PetscSFSetGraph(graph_->sf, static_cast<PetscInt>(owned), static_cast<PetscInt>(leaves.size()),
                              leaves.data(), PETSC_COPY_VALUES, roots.data(), PETSC_COPY_VALUES));
  check_petsc(PetscSFSetUp(graph_->sf));

  PetscMPIInt count = 0;
  const PetscMPIInt* rank = nullptr;
  const PetscInt *begin = nullptr, *row = nullptr;
  std::set<PetscMPIInt> neighbours;
  check_petsc(PetscSFGetRootRanks(graph_->sf, &count, &rank, nullptr, nullptr, nullptr));
  for (int k = 0; k < count; ++k) graph_->owners += rank[k] == comm.rank() ? 0 : 1;
  neighbours.insert(rank, rank + count);
  check_petsc(PetscSFGetLeafRanks(graph_->sf, &count, &rank, &begin, &row));
  if (count > 0) graph_->lent.assign(row, row + begin[count]);
  std::ranges::sort(graph_->lent);
  const auto repeated = std::ranges::unique(graph_->lent);
  graph_->lent.erase(repeated.begin(), repeated.end());
  for (int k = 0; k < count; ++k)
    if (rank[k] != comm.rank()) {
      ++graph_->holders;
      graph_->copies += static_cast<std::size_t>(begin[k + 1] - begin[k]);
    }
  neighbours.insert(rank, rank + count);
  neighbours.erase(comm.rank());
  graph_->neighbours = static_cast<int>(neighbours.size());
  graph_->has_ghosts = comm.size() > 1 || graph_->ghosts > 0;
}

std::size_t Forest::owned() const { return graph_ ? graph_->owned : 0; }
std::size_t Forest::ghosts() const { return graph_ ? graph_->ghosts : 0; }
int Forest::neighbours() const { return graph_ ? graph_->neighbours : 0; }
std::span<const std::size_t> Forest::lent() const { return graph_ ? graph_->lent : std::span<const std::size_t>(); }

void Forest::update_ghosts(const ColumnView& column) const {
  WEFT_ENSURE(graph_ != nullptr);
  const MPI_Datatype row = graph_->row_type(column);
  if (!graph_->has_ghosts) return;
  check_petsc(PetscSFBcastBegin(graph_->sf, row, column.data, column.data, MPI_REPLACE));
  check_petsc(PetscSFBcastEnd(graph_->sf, row, column.data, column.data, MPI_REPLACE));
  traffic().ghosts.add(graph_->holders, static_cast<std::int64_t>(graph_->copies * column.row_bytes));
}

void Forest::sum_to_owners(const ColumnView& column) const {
  WEFT_ENSURE(graph_ != nullptr);
  WEFT_ENSURE(column.shape.kind == ScalarKind::real);
  const MPI_Datatype row = graph_->row_type(column);
  if (!graph_->has_ghosts) return;
  check_petsc(PetscSFReduceBegin(graph_->sf, row, column.data, column.data, MPI_SUM));
  check_petsc(PetscSFReduceEnd(graph_->sf, row, column.data, column.data, MPI_SUM));
  traffic().ghosts.add(graph_->owners, static_cast<std::int64_t>(graph_->ghosts * column.row_bytes));
  std::fill_n(column.data + graph_->owned * column.row_bytes, graph_->ghosts * column.row_bytes, std::byte{0});
}

namespace {

/// The rows of several columns side by side; only those that are taken have their numbers.
class JoinedRows {
 public:
  explicit JoinedRows(std::span<const ColumnView> columns) : columns_(columns) {
    for (const ColumnView& column : columns) row_bytes_ += column.row_bytes;
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(row_bytes_ * columns.front().rows);
  }

  ColumnView view() {
    const ColumnView& first = columns_.front();
    const auto reals = static_cast<int>(row_bytes_ / sizeof(Real));
    return {first.label, {ScalarKind::real, reals, 1}, row_bytes_, first.rows, bytes_.get()};
  }
  template <class Rows>
  void take(const Rows& rows) {
    for_each(rows, [](std::byte* joined, std::byte* row, std::size_t bytes) { std::memcpy(joined, row, bytes); });
  }
  template <class Rows>
  void give(const Rows& rows) {
    for_each(rows, [](std::byte* joined, std::byte* row, std::size_t bytes) { std::memcpy(row, joined, bytes); });
  }

 private:
  template <class Rows, class F>
  void for_each(const Rows& rows, F&& f) {
    for (const std::size_t r : rows) {
      std::byte* joined = bytes_.get() + r * row_bytes_;
      for (const ColumnView& column : columns_) {
        f(joined, column.row(r), column.row_bytes);
        joined += column.row_bytes;
      }
    }
  }

  std::span<const ColumnView> columns_;
  std::size_t row_bytes_ = 0;
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace

void Forest::update_ghosts(std::span<const ColumnView> columns) const {
  if (columns.size() == 1) return update_ghosts(columns.front());
  for (const ColumnView& column : columns) WEFT_ENSURE(column.rows == owned() + ghosts());
  JoinedRows rows(columns);
  rows.take(graph_->lent);
  update_ghosts(rows.view());
  rows.give(std::views::iota(owned(), owned() + ghosts()));
}

void Forest::sum_to_owners(std::span<const ColumnView> columns) const {
  if (columns.size() == 1) return sum_to_owners(columns.front());
  for (const ColumnView& column : columns)
    WEFT_ENSURE(column.rows == owned() + ghosts() && column.shape.kind == ScalarKind::real);
  JoinedRows rows(columns);
  const auto of_ghosts = std::views::iota(owned(), owned() + ghosts());
  rows.take(graph_->lent);
  rows.take(of_ghosts);
  sum_to_owners(rows.view());
  rows.give(graph_->lent);
  rows.give(of_ghosts);
}

std::vector<std::int32_t> ask_rows(const Comm& comm, std::span<const int> owner, std::span<const std::uint64_t> key,
                                   const std::function<std::int32_t(std::uint64_t)>& row_of) {
  WEFT_ENSURE(owner.size() == key.size());
  const std::vector<std::uint32_t> abroad = order_by_rank(owner, comm.rank());

  Parcels questions = parcels_for(owner, abroad);
  questions.bytes.resize(abroad.size() * sizeof(std::uint64_t));
  for (std::size_t q = 0; q < abroad.size(); ++q)
    std::memcpy(questions.bytes.data() + q * sizeof(std::uint64_t), &key[abroad[q]], sizeof(std::uint64_t));
  Parcels questions_here = announce(comm, questions);
  transfer(comm, questions, questions_here, sizeof(std::uint64_t));
  traffic().asked.add(static_cast<std::int64_t>(questions.rank.size()),
                      static_cast<std::int64_t>(questions.bytes.size()));

  Parcels answers_here{questions_here.rank, questions_here.begin, {}};
  answers_here.bytes.resize(answers_here.rows() * sizeof(std::int32_t));
  for (std::size_t q = 0; q < answers_here.rows(); ++q) {
    std::uint64_t asked = 0;
    std::memcpy(&asked, questions_here.bytes.data() + q * sizeof(std::uint64_t), sizeof(std::uint64_t));
    const std::int32_t row = row_of(asked);
    std::memcpy(answers_here.bytes.data() + q * sizeof(std::int32_t), &row, sizeof(std::int32_t));
  }
  Parcels answers{questions.rank, questions.begin, {}};
  transfer(comm, answers_here, answers, sizeof(std::int32_t));
  traffic().asked.add(static_cast<std::int64_t>(answers_here.rank.size()),
                      static_cast<std::int64_t>(answers_here.bytes.size()));

  std::vector<std::int32_t> rows(owner.size());
  for (std::size_t i = 0; i < owner.size(); ++i)
    if (owner[i] == comm.rank()) rows[i] = row_of(key[i]);
  for (std::size_t q = 0; q < abroad.size(); ++q)
    std::memcpy(&rows[abroad[q]], answers.bytes.data() + q * sizeof(std::int32_t), sizeof(std::int32_t));
  return rows;
}

}  // namespace weft
