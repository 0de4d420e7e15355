#pragma once
// Load stepping: balanced states of a static analysis, from load to load or along the load path.

#include "run/analysis.hpp"
#include "run/columns.hpp"
#include "run/own_system.hpp"
#include "run/path_state.hpp"
#include "run/record.hpp"
#include "weft/base/timer.hpp"
#include "weft/scene/scene.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace weft {

/// Displacement of the control points in the step before; the path goes on in its direction.
struct LastDisplacement : Field<Vec3> {
  static constexpr Label label{"last_displacement", "m"};
};

/// The same of elements that turn about themselves.
struct LastTurn : Field<Real> {
  static constexpr Label label{"last_turn", "m"};
};

/// How a state that is not stable moves, in frames of such states; its largest component is 1.
struct Mode : Field<Vec3> {
  static constexpr Label label{"mode", "1", Keep::shown};
};

/// The sources of a row of load_displacement.csv. Not owned.
struct LoadMoment {
  const PathState& state;
  const EquilibriumReport& last_step;
  Real elastic_energy;                               ///< [J].
  std::span<const std::vector<Vec3>> displacements;  ///< Of each body, its rows [m].
  std::span<const Reaction> reactions;               ///< Of each handle on its body.
};

class LoadStepping final : public Analysis {
 public:
  /// Collective, and so is the destructor.
  LoadStepping(const Comm& comm, const Deck& deck, const RunEnd& end, Timers& timers);

  std::string forecast() override;
  void heed(StopQuestion is_asked_to_stop) override { is_asked_to_stop_ = std::move(is_asked_to_stop); }

  void start() override;
  void resume(const CheckpointHeader& header, const std::filesystem::path& checkpoint) override;
  void open_frames(const std::filesystem::path& output, bool resumed) override;
  void get_ready() override;

  RunClock& clock() override { return state_; }
  bool has_ended() const override;
  void take_step(Real next_frame_time) override;
  std::string last_step_in_words(const Pace& pace) const override;
  std::string remark() const override;
  Real points() const override;
  std::string size_in_words() const override;
  bool advances_evenly() const override { return !follows_arc(); }

  std::vector<CheckpointPart> tables() override;
  std::string state_text() const override;
  std::vector<std::uint64_t> cuts() const override;

  const char* history_file() const override { return "load_displacement.csv"; }
  std::vector<HistoryColumn> history_columns() const override { return columns_.names(); }
  std::vector<Real> history_row(const Pace& pace) override;
  int history_every() const override { return 1; }
  bool frame_is_due(Real next_frame_time) const override;
  void draw() override { draw_into(*frames_, state_.next_frame); }
  void flush_frames() override { frames_->flush(); }
  void draw_crash(const Suspicions& broken) override;
  std::uint64_t frame_bytes() override;

 private:
  const LoadingDeck& loading() const { return scene_.deck.loading; }
  bool follows_arc() const { return loading().path == LoadPath::arc; }
  /// A step in time unless it is halved [s].
  Real full_step() const { return scene_.deck.time.end / loading().steps; }
  EquilibriumSettings settings() const;
  void set_up();
  void rehearse();
  EquilibriumReport step_in_time();
  EquilibriumReport step_along_arc();
  EquilibriumReport step_back_to_end();

  // In examine.cpp.
  bool examine(EquilibriumReport& report);
  void look();
  bool nudge(EquilibriumReport& report);
  void judge(const Motion& start);
  void say_how_stable(const std::string& words) const;
  void notice_jump(const Motion& start);
  std::string mechanisms(const Motion& at);
  void add_mode(std::size_t b, bool is_of_rows, Table& shown);

  void commit();
  [[noreturn]] void give_up(const EquilibriumReport& report);
  Reaction reaction_of(std::size_t handle) const;
  void draw_into(Frames& frames, std::int64_t frame);

  const Comm comm_;
  const RunEnd end_;
  Timers& timers_;
  Scene scene_;
  std::string size_in_words_;
  std::optional<OwnSystem> system_;
  std::optional<Equilibrium> equilibrium_;
  std::optional<Motion> motion_;
  std::optional<Increment> last_;
  PathState state_;
  EquilibriumReport last_report_;
  std::optional<Stability> stability_;  ///< Of the last state that was found by this process, ahead per second.
  std::optional<FreedomValues> ahead_;  ///< The velocity that the tangent of the last state foresees [m/s].
  bool was_nudged_ = false;             ///< The step that is being taken.
  Columns<LoadMoment> columns_;
  std::optional<Frames> frames_;
  StopQuestion is_asked_to_stop_;
  std::filesystem::path output_;
};

}  // namespace weft
