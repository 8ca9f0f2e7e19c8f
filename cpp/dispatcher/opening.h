// SPDX-License-Identifier: Apache-2.0
// dispatcher/opening.h: shared libraries of ops, each of which is opened once.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace pkg::detail {

/// A library that was opened, for as long as the process lives: nothing closes one, as other
/// threads may be inside of its kernels.
struct OpenedLibrary {
  std::string path;        ///< as it was given first
  std::string identity;    ///< a number of its contents, in hexadecimal digits
  void* handle = nullptr;  ///< of dlopen(3)
  std::vector<std::string>
      ops;              ///< that it declared: "mine::squash", in alphabetical order
  std::string failure;  ///< of its registration; empty if there was none

  void add(std::vector<std::string> names);  ///< to its ops
};

/// The names of the ops that this thread defines while this lives, but for those that an
/// inner one has: what another thread defines meanwhile is not of the same library.
class DefinedOps {
 public:
  DefinedOps();
  ~DefinedOps();
  DefinedOps(const DefinedOps&) = delete;
  DefinedOps& operator=(const DefinedOps&) = delete;
  const std::vector<std::string>& names() const { return names_; }
  /// Called for each op that is defined.
  static void note(const std::string& name);

 private:
  DefinedOps* outer_;
  std::vector<std::string> names_;
};

/// The library of this path, loaded: it is opened and its registration blocks are run, as
/// load_library() of dispatcher/library.h says.
///
/// stamp: as core_stamp() of abi.h, of another kind, which the file must fit too.
OpenedLibrary& load_opened(const std::string& path, std::string_view stamp = {});

/// Held by who registers beside PKG_LIBRARY blocks: each undoes what is its own.
std::unique_lock<std::recursive_mutex> registration_lock();

/// Tries the constructors of the library in another process, if they are to run: without a
/// lock, the interpreter's included, so that other threads go on meanwhile.  What else is
/// wrong with the file is left to open_library().
void probe_ahead(const std::string& path, std::string_view stamp);

/// The library of this path, opened unless one with the same contents is.
///
/// What tells libraries apart is what they contain: links and copies are one library, and a
/// file that was replaced is another one.  ImportError where it cannot be opened, was
/// compiled for another core, or would end the process; nothing of it has run here then.
OpenedLibrary& open_library(const std::string& path, std::string_view stamp, bool* fresh);

/// The library of this identity, or null.
OpenedLibrary* opened_library(const std::string& identity);

/// " of PATH" for a text that lies in an opened library, such as a place of a source: which
/// file it is in.  Empty for one of the core.  It waits for the loader, and so is not called
/// under a lock that a constructor of a library may take.
std::string in_library(const void* address);

}  // namespace pkg::detail
