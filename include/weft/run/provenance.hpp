#pragma once
// Where a result comes from: versions of the program and of what it stands on, and the files that the deck names.

#include "weft/deck/deck.hpp"
#include "weft/parallel/comm.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// "0.1.0".
std::string version();
/// Version with the commit it was built from, compiler and flags; one line each when `verbose`.
std::string version_text(bool verbose);

/// A file that a deck names: the key, the file, and the digest of its content (digest_of_file).
struct DeckFile {
  std::string key, path, digest;
};
/// All files of a deck, in its order. Throws Error(file_system). Collective.
std::vector<DeckFile> files_of(const Comm& comm, const Deck& deck);

/// What results come from, as a JSON object: the version, the number of ranks and threads, and files of the deck, whose
/// paths are told from the output folder, so that both may move together.
std::string provenance_json(int ranks, std::span<const DeckFile> files, const std::filesystem::path& output);

/// The files that a provenance tells of, as it has them. None from a text that is no provenance.
std::vector<DeckFile> files_in(const std::string& provenance);
/// The files that run.json of an output folder tells of; none if there is no such file. Throws Error(file_system).
std::vector<DeckFile> files_of_run(const std::filesystem::path& output);

/// Gives the deck of a run the paths that its files have now: from the output folder as they were, or as the deck has
/// them. A file that is at neither path as the run had it, as run.json tells, gets no path. Throws Error(file_system).
void find_files_again(Deck& deck, const std::filesystem::path& output);

}  // namespace weft
