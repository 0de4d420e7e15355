#pragma once
// The columns of a table that grows with a run, each declared once with how its numbers are found.

#include "run/declared.hpp"
#include "weft/output/history.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Moment: all that a row is made of.
template <class Moment>
class Columns {
 public:
  /// find(moment) returns a Real, or a Vec3, which takes three columns: name_x, name_y, name_z. It may be collective.
  template <class Find>
  void add(const std::string& name, const std::string& unit, Find find) {
    using Value = std::remove_cvref_t<std::invoke_result_t<Find, const Moment&>>;
    if constexpr (std::is_same_v<Value, Vec3>) {
      for (const char* axis : {"_x", "_y", "_z"}) names_.push_back({name + axis, unit});
      parts_.push_back([find = std::move(find)](const Moment& moment, std::vector<Real>& row) {
        const Vec3 v = find(moment);
        row.insert(row.end(), {v.x(), v.y(), v.z()});
      });
    } else {
      names_.push_back({name, unit});
      parts_.push_back([find = std::move(find)](const Moment& moment, std::vector<Real>& row) {
        row.push_back(static_cast<Real>(find(moment)));
      });
    }
  }
  /// A declared member of a struct that get(moment) returns.
  template <class S, class T, class Get>
  void add(const Member<S, T>& member, Get get) {
    add(member.name, member.unit,
        [at = member.at, get = std::move(get)](const Moment& moment) { return get(moment).*at; });
  }
  /// All declared members of such a struct.
  template <Declared S, class Get>
  void add_all(Get get) {
    for_each_member<S>([&](const auto& member) { add(member, get); });
  }

  const std::vector<HistoryColumn>& names() const& { return names_; }
  void names() const&& = delete;  // they would not outlive it
  /// A number for each column. Collective.
  std::vector<Real> row(const Moment& moment) const {
    std::vector<Real> row;
    for (const auto& part : parts_) part(moment, row);
    return row;
  }

 private:
  std::vector<HistoryColumn> names_;
  std::vector<std::function<void(const Moment&, std::vector<Real>&)>> parts_;
};

}  // namespace weft
