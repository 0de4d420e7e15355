#include "app/layouts.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace weft {
namespace {

/// The environment as the system handed it over: MPI has added to ours since, and its children must not see that.
std::vector<std::string> first_environment() {
  std::ifstream file("/proc/self/environ", std::ios::binary);
  std::vector<std::string> variables;
  for (std::string variable; std::getline(file, variable, '\0');)
    if (!variable.starts_with("OMP_NUM_THREADS=")) variables.push_back(variable);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::vector<Layout> layouts_of(int cores) {
  std::vector<Layout> layouts;
  for (int ranks = 1; ranks <= cores; ++ranks)
    if (cores % ranks == 0) layouts.push_back({ranks, cores / ranks});
  return layouts;
}

std::string output_of(const Layout& layout, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"mpiexec", "-n", std::to_string(layout.ranks),
                                 std::filesystem::read_symlink("/proc/self/exe").string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = first_environment();
  environment.push_back("OMP_NUM_THREADS=" + std::to_string(layout.threads));
  // Else each rank is bound to one core, which its threads would share.
  environment.push_back("OMPI_MCA_hwloc_base_binding_policy=none");
  // Open MPI counts cores, layouts what they run at once, which may be twice as many.
  environment.push_back("OMPI_MCA_rmaps_base_oversubscribe=1");

  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t child = 0;
  const bool started = posix_spawnp(&child, "mpiexec", &actions, nullptr, pointers_to(words).data(),
                                    pointers_to(environment).data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  std::string output;
  std::array<char, 4096> piece;
  if (started)
    for (ssize_t length; (length = read(pipe_ends[0], piece.data(), piece.size())) > 0;)
      output.append(piece.data(), static_cast<std::size_t>(length));
  close(pipe_ends[0]);
  int status = 0;
  if (!started || waitpid(child, &status, 0) != child || status != 0) return "";
  return output;
}

}  // namespace weft
