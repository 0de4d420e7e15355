#pragma once
// Key tables of probes and output.

#include "deck/table.hpp"
#include "weft/deck/deck.hpp"

namespace weft::deck {

template <>
inline constexpr std::array words<FileWriter> = {
    Word{FileWriter::direct, "direct", "each rank writes its own rows to their places and waits for nobody"},
    Word{FileWriter::collective, "collective", "few ranks write for all, by collective transfers of HDF5 over MPI-IO"}};

template <>
inline constexpr std::array words<OnIoError> = {
    Word{OnIoError::stop, "stop", "end with exit code 5; earlier checkpoints stay"},
    Word{OnIoError::go_on, "continue", "warn, compute on, and try again when the next file is due"}};

template <>
inline constexpr auto keys<CentreOfMassProbe> = table("centre_of_mass", "The centre of mass; written as {}.");

template <>
inline constexpr auto keys<BoundingBoxProbe> = table("bounding_box", "Lowest and highest corner; written as {}.");

template <>
inline constexpr auto keys<QuantileProbe> =
    table("quantile",
          "The value that a share of the particles, or of vertices or corners as for `nearest`, stay below: a front, a "
          "depth.",
          Key{"field", a_name, required,
              "A scalar field of points, or of cells of solids; or position_x, velocity_y, ...", &QuantileProbe::field},
          Key{"q", "1", at_least(0).at_most(1), required, "The share.", &QuantileProbe::q});

template <>
inline constexpr auto keys<NearestProbe> =
    table("nearest",
          "A field at the point of the body that started nearest to a point: a particle, a vertex, or a corner of a "
          "face that shells and rigid bodies are drawn by; `nan` when it is gone. In a static analysis "
          "displacement or position of the point of the body that is nearest at rest.",
          Key{"point", "m", anything, required, "The point.", &NearestProbe::point},
          Key{"field", a_name, required, "A field, or position_x, velocity_y, ...", &NearestProbe::field});

template <>
inline constexpr auto keys<ProbeDeck> = table("probe", "A number or a few to follow over time, in diagnostics.csv.",
                                              Key{"name", a_name, required, "Names the columns.", &ProbeDeck::name},
                                              Key{"body", a_name, required, "Name of the body.", &ProbeDeck::body},
                                              OneOf{"What is measured.", &ProbeDeck::measure});

template <>
inline constexpr auto keys<CheckpointDeck> =
    table("checkpoint", "When the whole state is saved.",
          Key{"every_steps", "1", at_least(0), "0", "Steps between checkpoints; 0: not by steps.",
              &CheckpointDeck::every_steps},
          Key{"every_wall", "s", above(0).or_none(), "30 min", "Wall-clock time between checkpoints.",
              &CheckpointDeck::every_wall},
          Key{"keep", "1", at_least(1), "3", "How many of the newest are kept.", &CheckpointDeck::keep});

template <>
inline constexpr auto keys<WriteHintsDeck> =
    table("hints", "How files are laid on disks; 0 leaves it to the libraries.",
          Key{"cb_nodes", "1", at_least(0), "0", "Ranks that write for all, with the collective writer.",
              &WriteHintsDeck::cb_nodes},
          Key{"cb_buffer_size", "byte", at_least(0).at_most(1 << 30), "0", "Buffer of each of these ranks.",
              &WriteHintsDeck::cb_buffer_size},
          Key{"alignment", "byte", at_least(0).at_most(1 << 30), "0",
              "Data sets of at least this size begin at multiples of it, such as the size of stripes.",
              &WriteHintsDeck::alignment});

template <>
inline constexpr auto keys<OutputDeck> =
    table("output", "What is written.",
          Key{"fields", a_name, "[default]",
              "Fields in frames; a body shows those that it has. The word `default` stands for what its kind is looked "
              "at for; see the table of fields below.",
              &OutputDeck::fields},
          Key{"grid", "false", "Also write mass and velocity of the active grid nodes.", &OutputDeck::grid},
          Key{"contact_points", "false",
              "Also write contact points of bodies with freedoms of their own, with what acts on them.",
              &OutputDeck::contact_points},
          Key{"double_precision", "false", "Frames in double precision.", &OutputDeck::double_precision},
          Key{"diagnostics_every", "1", at_least(1), "10", "Steps between rows of diagnostics.csv.",
              &OutputDeck::diagnostics_every},
          Key{"checkpoint", "{}", "Checkpoints.", &OutputDeck::checkpoint},
          Key{"on_io_error", "stop", "When a file cannot be written while the run goes on.", &OutputDeck::on_io_error},
          Key{"writer", "direct", "Who writes checkpoints and frames.", &OutputDeck::writer},
          Key{"hints", "{}", "Hints to file systems of clusters.", &OutputDeck::hints});

}  // namespace weft::deck
