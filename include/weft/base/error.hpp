#pragma once
// Errors that reach the user: what went wrong, where, what to do; each family has its own exit code.

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace weft {

/// Exit codes of the program; job scripts branch on them.
enum class ExitCode : int {
  done = 0,         ///< Finished, or stopped on request (run.json says which).
  failure = 1,      ///< `weft compare` found a difference; anything unforeseen.
  deck = 2,         ///< The deck or the command line is wrong.
  geometry = 3,     ///< A mesh or shape cannot be used.
  numerics = 4,     ///< The simulation became unusable; the last good state was kept.
  file_system = 5,  ///< A file could not be written or read.
  checkpoint = 6,   ///< A checkpoint is damaged or does not fit.
};

/// An error the user can act on. The text is complete: location, what is wrong, what was expected.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// An exception that nobody foresaw, for the user.
inline const char* words_of(const std::exception& surprise) {
  if (dynamic_cast<const std::bad_alloc*>(&surprise) == nullptr) return surprise.what();
  return "out of memory: the scene is too large for this machine. A larger domain.dx or spacing, or more machines, may "
         "help.";
}

}  // namespace weft
