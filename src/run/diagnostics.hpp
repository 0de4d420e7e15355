#pragma once
// diagnostics.csv: conserved quantities, energies, what colliders and handles do, probes.

#include "run/analysis.hpp"
#include "run/columns.hpp"
#include "run/step.hpp"
#include "run/totals.hpp"
#include "weft/output/probe.hpp"

#include <vector>

namespace weft {

/// The sources of a row of the diagnostics. Not owned.
struct DiagnosticsMoment {
  const Scene& scene;
  const RunState& state;
  const StepReport& last_step;
  const Totals& totals;
  const Pace& pace;
};

/// Throws Error(deck) if a probe names a field that its body does not have. Not collective.
Columns<DiagnosticsMoment> diagnostics_columns(const Comm& comm, const Scene& scene);

/// Throws Error(deck) if output.fields or a probe names a field that no body, or not that body, has. Not collective.
void check_field_names(const Comm& comm, const Scene& scene);

/// Finds the point that each `nearest` probe follows, among the points at rest at the start. Collective.
std::vector<NearestRow> find_probe_points(const Comm& comm, const Scene& scene);

}  // namespace weft
