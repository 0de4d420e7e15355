#pragma once
// Groups of mesh files: faces and points under a name.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace weft {

/// What belongs to a group.
struct GroupMembers {
  std::set<std::int64_t> faces;   ///< Those of the group, and those all of whose corners it lists.
  std::set<std::int32_t> points;  ///< Those that it lists, and corners of its faces.
};

using MeshGroups = std::map<std::string, GroupMembers>;

/// The groups of a mesh with members `groups`, `group` and `group_points`, such as a SurfaceMesh; corners_of(f) are the
/// points of its face f < faces.
template <class Mesh, class CornersOf>
MeshGroups groups_of(const Mesh& mesh, std::int64_t faces, CornersOf&& corners_of) {
  MeshGroups groups;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    GroupMembers& members = groups[mesh.groups[g]];
    if (!mesh.group_points.empty()) members.points.insert(mesh.group_points[g].begin(), mesh.group_points[g].end());
    const std::set<std::int32_t> listed = members.points;
    for (std::int64_t f = 0; f < faces; ++f) {
      const auto& corners = corners_of(f);
      const bool in_group = !mesh.group.empty() && mesh.group[static_cast<std::size_t>(f)] == static_cast<int>(g);
      if (in_group) members.points.insert(corners.begin(), corners.end());
      if (in_group || std::all_of(corners.begin(), corners.end(), [&](std::int32_t p) { return listed.contains(p); }))
        members.faces.insert(f);
    }
  }
  return groups;
}

}  // namespace weft
