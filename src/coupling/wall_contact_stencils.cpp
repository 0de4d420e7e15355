// The nodes or vertices on which contacts with walls act, and their weights there.

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "weft/coupling/wall_contacts.hpp"
#include "weft/math/kernels.hpp"
#include "weft/math/real4.hpp"
#include "weft/transfer/dispatch.hpp"

namespace weft {

/// The rows of the forest that contacts of this rank reach (each as often as it is), and those by which others may.
void WallContacts::reach(const Forest& forest, std::vector<std::int32_t> rows) {
  const auto owned = static_cast<std::int32_t>(forest.owned());
  for (const std::size_t row : forest.lent()) rows.push_back(static_cast<std::int32_t>(row));
  for (std::size_t g = 0; g < forest.ghosts(); ++g) rows.push_back(owned + static_cast<std::int32_t>(g));
  std::ranges::sort(rows);
  const auto repeated = std::ranges::unique(rows);
  rows.erase(repeated.begin(), repeated.end());
  reached_ = std::move(rows);
  reached_owned_ = static_cast<std::size_t>(std::ranges::lower_bound(reached_, owned) - reached_.begin());
}

void WallContacts::act_on(const std::function<ContactStencil(std::uint32_t)>& of_row, const Forest& forest, int width) {
  width_ = width;
  constexpr std::size_t n = std::tuple_size_v<decltype(ContactStencil::rows)>;
  each_ = n;
  nodes_.resize(contacts_.size() * n);
  weights_.resize(contacts_.size() * n);
  std::vector<std::int32_t> reached;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    const ContactStencil stencil = of_row(contacts_[c].row);
    for (std::size_t k = 0; k < n; ++k) {
      nodes_[c * n + k] = stencil.rows[k] * width;
      weights_[c * n + k] = stencil.weights[k];
      reached.push_back(stencil.rows[k]);
    }
  }
  reach(forest, std::move(reached));
  points_of_row_ = 1;
  turns_.assign(1, {{0, contacts_.size()}});  // neighbours share vertices, wherever their bins are
}

namespace {

using Int4 = std::int32_t __attribute__((vector_size(4 * sizeof(std::int32_t))));

/// Weights of (6.3) on the nodes of a point, and where these lie, line by line. scaled, offset: the position of the
/// point and from there to x_c [dx]; block: of its bin, the numbers of whose octants are known.
template <class Kernel>
void find_weights(const Vec3& scaled, const Vec3& offset, const Vec3i& block, const std::array<int, 8>& numbers,
                  std::int32_t* nodes, Real* weights) {
  constexpr int n = Kernel::nodes;
  Vec3i base;                // in the tile of the bin
  Real4 t{}, w[n], tilt[n];  // by axis; tilt: G . offset, where D is known over the weights
  const Real4 along{offset[0], offset[1], offset[2], 0};
  for (int axis = 0; axis < 3; ++axis) {
    const int first = Kernel::base(scaled[axis]);
    base[axis] = first - block[axis] * block_width;
    t[axis] = scaled[axis] - first;
  }
  Kernel::weights(t, w);
  if constexpr (Kernel::inverse_inertia == 0) Kernel::gradients(t, tilt);
  else
    for (int i = 0; i < n; ++i) tilt[i] = Kernel::inverse_inertia * (i - t);
  Real4 line{}, line_tilt{};
  for (int i = 0; i < n; ++i) {
    tilt[i] *= along;
    line[i] = w[i][2];
    line_tilt[i] = tilt[i][2];
  }
  const Int4 z = base[2] + Int4{0, 1, 2, 3}, is_above = z >> 2, place = z & (block_width - 1);
  // Each line of nodes is written with what is beyond it, before the next; the last one alone.
  constexpr int last = n * n * n - n;
  std::int32_t line_of_nodes[4];
  Real line_of_weights[4];
  for (int i = 0, k = 0; i < n; ++i)
    for (int j = 0; j < n; ++j, k += n) {
      const int x = base[0] + i, y = base[1] + j, octant = (x >> 2) << 2 | (y >> 2) << 1;
      const int lower = numbers[static_cast<std::size_t>(octant)] * nodes_per_block;
      const int upper = numbers[static_cast<std::size_t>(octant | 1)] * nodes_per_block;
      const Int4 node = lower + is_above * (upper - lower) + ((x & 3) * block_width + (y & 3)) * block_width + place;
      const Int4 first_reals = node * NodeField::width;
      std::memcpy(k == last ? line_of_nodes : nodes + k, &first_reals, sizeof first_reals);
      Real* const W = k == last ? line_of_weights : weights + k;
      const Real across = w[i][0] * w[j][1];
      if constexpr (Kernel::inverse_inertia != 0) {
        store4(W, across * line * ((1 + tilt[i][0] + tilt[j][1]) + line_tilt));
      } else {
        const Real across_tilt = tilt[i][0] * w[j][1] + w[i][0] * tilt[j][1];
        store4(W, (across + across_tilt) * line + across * line_tilt);
      }
    }
  std::copy_n(line_of_nodes, n, nodes + last);
  std::copy_n(line_of_weights, n, weights + last);
}

}  // namespace

void WallContacts::act_on(const BlockMap& map) {
  std::vector<std::array<int, 8>> numbers;
  std::vector<std::int32_t> reached;
  for (const BinContacts& bin : bins_) {
    numbers.push_back(map.octants(bin.block));
    for (const int block : numbers.back())
      if (block >= 0) reached.push_back(block);
  }
  reach(map.forest(), std::move(reached));
  points_of_row_ = nodes_per_block;
  with_kernel(transfer_.kernel, [&](auto kernel) {
    using Kernel = decltype(kernel);
    each_ = static_cast<std::size_t>(Kernel::nodes) * Kernel::nodes * Kernel::nodes;
    nodes_.resize(contacts_.size() * each_);
    weights_.resize(contacts_.size() * each_);
#pragma omp parallel for schedule(dynamic)
    for (std::size_t b = 0; b < bins_.size(); ++b)
      for (std::size_t c = bins_[b].contacts.begin; c < bins_[b].contacts.end; ++c) {
        const Contact& contact = contacts_[c];
        const Vec3& point = std::as_const(*sets_[contact.set].points).points().template get<Position>()[contact.row];
        find_weights<Kernel>(point / transfer_.dx, (contact.x - point) / transfer_.dx, bins_[b].block, numbers[b],
                             &nodes_[c * each_], &weights_[c * each_]);
      }
  });
}

}  // namespace weft
