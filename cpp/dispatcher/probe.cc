// SPDX-License-Identifier: Apache-2.0
// dispatcher/probe.cc: see probe.h.
//
// Note [Probe]
// An exception that leaves a constructor ends the process: the loader, which called it, lets
// nothing through.  So the constructors run elsewhere first, in the smallest program there is,
// into which the loader puts the library before it begins.  That takes some milliseconds.  It
// is a new program and no fork(), as fork() would have to wait for all work of this process.
// What only this process could say stays unsaid: where the program cannot be started, or does
// not have the symbols that the library takes from its host, the library is simply opened.
#include "dispatcher/probe.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "base/text.h"

extern char** environ;

namespace pkg::detail {
namespace {

constexpr const char* kProgram = "/bin/true";

// Those of this process, but with the library in front of the program's own.
std::vector<std::string> environment_with(const std::string& path) {
  std::vector<std::string> variables{"LD_PRELOAD=" + path, "LD_BIND_NOW=1"};
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("LD_BIND_NOW=")) {
      variables.emplace_back(text);
    }
  }
  return variables;
}

// Starts the program with stdin and stdout closed to it; its number, or -1.
pid_t start(const std::string& path, int to_stderr) {
  std::vector<std::string> texts = environment_with(path);
  std::vector<char*> variables;
  for (std::string& text : texts) variables.push_back(text.data());
  variables.push_back(nullptr);
  std::string name = kProgram;
  char* const arguments[] = {name.data(), nullptr};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return -1;
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, to_stderr, 2);
  pid_t child = -1;
  if (posix_spawn(&child, kProgram, &actions, nullptr, arguments, variables.data()) != 0) {
    child = -1;
  }
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

// What comes before everybody has closed the other end, cut off where it is long.
std::string read_all(int from) {
  constexpr size_t kMost = 2000;
  std::string text;
  char part[512];
  for (;;) {
    const ssize_t n = read(from, part, sizeof part);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (text.size() < kMost) text.append(part, size_t(n));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

std::string fault_of_constructors(const std::string& path) {
  // The loader takes both for the end of a name.
  if (path.find_first_of(": \t\n") != path.npos) return "";
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  const pid_t child = start(path, ends[1]);
  close(ends[1]);
  const std::string said = child < 0 ? "" : read_all(ends[0]);
  close(ends[0]);
  if (child < 0) return "";
  int status = 0;
  pid_t ended;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended != child || !WIFSIGNALED(status)) return "";
  return str("its constructors end the process by signal ", WTERMSIG(status), " (",
             strsignal(WTERMSIG(status)), ")", said.empty() ? "" : ": ", said);
}

}  // namespace pkg::detail
