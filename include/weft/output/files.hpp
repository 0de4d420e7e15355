#pragma once
// Files and folders handled so that a crash or a full disk leaves either the old or the new, never a torn one.

#include "weft/parallel/comm.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft {

/// When a change must have reached the disk: before the call returns, so that it survives a failing machine; or
/// whenever the system likes, which survives a failing program and costs nothing.
enum class Flush { at_once, later };

/// Afterwards the file holds `text`; a reader sees the old or the new content, never a part. Throws
/// Error(file_system).
void write_text_atomically(const std::filesystem::path& file, const std::string& text, Flush flush = Flush::at_once);

/// Deletes a file that was not finished; anything but a plain file stays. Not collective.
void discard_unfinished(const std::filesystem::path& file);

/// XXH3-64 of the content of a file, as 16 hexadecimal digits. Throws Error(file_system). Not collective.
std::string digest_of_file(const std::filesystem::path& file);

/// Forces the content of a file, or the entries of a folder, to the disk. Throws Error(file_system).
void flush_to_disk(const std::filesystem::path& file_or_folder);

/// Afterwards `to` is what `from` was, and `from` is gone. Replaces files, and folders by exchange, so that there is
/// no moment without `to`. Throws Error(file_system).
void put_in_place(const std::filesystem::path& from, const std::filesystem::path& to, Flush flush = Flush::at_once);

/// Bytes that this user may still write on the file system that holds `folder`. Throws Error(file_system).
std::uint64_t free_bytes(const std::filesystem::path& folder);

/// Throws Error(file_system) unless `folder` has room for `bytes` [byte]; `what` names them in the message
/// ("a checkpoint"). Collective.
void require_free_space(const Comm& comm, const std::filesystem::path& folder, std::uint64_t bytes,
                        const std::string& what);

/// Afterwards the folder exists. Throws Error(file_system). Collective.
void make_folder(const Comm& comm, const std::filesystem::path& folder);

/// Afterwards the folder exists; returns it and the folders around it that were made, the innermost first. Throws
/// Error(file_system) with the cure. Not collective.
std::vector<std::filesystem::path> make_output_folder(const std::filesystem::path& folder);

/// What to do with a run that an output folder already holds.
enum class ExistingRun { refuse, resume, replace };

/// True if the folder holds what a run leaves there.
bool holds_run(const std::filesystem::path& folder);

/// Afterwards `folder` exists, can be written to, and has the folders `frames` and `checkpoints`. An existing run is
/// refused, kept, or deleted: what has the names that a run gives, and only if run.json says that there was a run.
/// Throws Error(file_system) with the cure. Collective.
void prepare_output_folder(const Comm& comm, const std::filesystem::path& folder, ExistingRun policy);

}  // namespace weft
