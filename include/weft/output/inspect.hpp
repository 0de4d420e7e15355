#pragma once
// Looking into files that a run left: what a checkpoint or frame holds, and how two checkpoints differ.

#include "weft/base/types.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft {

/// How one field of one body differs between two checkpoints, over the ids that both have.
struct FieldDifference {
  std::string body, field, unit;
  Real absolute;   ///< Largest difference of a component [unit]; infinity where only one of the two is finite.
  Real magnitude;  ///< Of the largest component in either checkpoint [unit].
  Real relative;   ///< absolute over magnitude, or over 1e-6 of what the unit measures here, if that is more: fields
                   ///< that hold round-off alone do not differ by it. 0 if absolute is.
};

struct BodyDifference {
  std::string body;
  std::int64_t only_in_a, only_in_b;  ///< Rows whose id the other does not have.
};

struct Comparison {
  std::vector<FieldDifference> fields;
  std::vector<BodyDifference> bodies;
  std::vector<std::string> unmatched;  ///< Bodies and fields that only one of the two has: a sentence for each.

  /// The largest relative difference; infinity if ids, fields or bodies are missing anywhere.
  Real largest() const;
  /// A table for people; lines whose relative difference exceeds `tolerance` say so.
  std::string text(Real tolerance) const;
};

/// Compares two checkpoints by body and id. Not collective: reads both with this process alone. Throws
/// Error(checkpoint).
Comparison compare_checkpoints(const std::filesystem::path& a, const std::filesystem::path& b);

/// What a checkpoint folder (or a file in it) or a frame file holds: bodies, fields, units, shapes, counts, time,
/// provenance. Not collective. Throws Error(file_system) or Error(checkpoint).
std::string describe(const std::filesystem::path& path);

}  // namespace weft
