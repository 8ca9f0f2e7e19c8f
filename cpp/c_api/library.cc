// SPDX-License-Identifier: Apache-2.0
// c_api/library.cc: loading shared libraries that bring ops.
#include "c_api/library.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "c_api/boundary.h"
#include "dispatcher/abi.h"
#include "dispatcher/library.h"
#include "dispatcher/opening.h"
#include "scheduler/patient_lock.h"

namespace pkg::c {
namespace {

using InitFn = bool (*)(pkg_status*);

// Registers what a library written in C brings: all of it or nothing.
void initialise(void* library) {
  const auto init = reinterpret_cast<InitFn>(dlsym(library, "pkg_library_init"));
  if (!init) return;
  Dispatcher& dispatcher = Dispatcher::get();
  pkg_status status;
  const auto alone = detail::registration_lock();
  dispatcher.begin_registration();
  bool done = false;
  try {
    done = init(&status);
  } catch (...) {
    dispatcher.end_registration(/*keep=*/false);
    throw;
  }
  dispatcher.end_registration(/*keep=*/done && status.code == PKG_OK);
  throw_reported(status);
  PKG_CHECK(done, RuntimeError, "pkg_library_init() returned false");
}

}  // namespace

std::string load_library(const std::string& path) {
  static std::recursive_mutex mutex;
  static bool loading = false;
  // By handle, which is the same for a second load; lives as long as the process.
  static auto* outcomes = new std::map<void*, pkg_status>;
  // Before the lock.  The one in load_opened() then has nothing to do.
  if (path.find('\0') == path.npos) detail::probe_ahead(path, pkg_c_stamp);
  const auto lock = detail::patient_lock(mutex);
  PKG_CHECK(!loading, RuntimeError, "[load_library] ", path,
            ": a pkg_library_init() cannot load another library. Load that one first.");
  // And its PKG_LIBRARY blocks.
  detail::OpenedLibrary& opened = detail::load_opened(path, pkg_c_stamp);
  void* library = opened.handle;
  // The linker has looked for a name without a folder.
  if (path.find('/') == path.npos) {
    detail::check_stamps_of(detail::file_of(library), pkg_c_stamp);
  }
  const auto [entry, fresh] = outcomes->try_emplace(library);
  pkg_status& outcome = entry->second;
  if (fresh) {
    loading = true;
    const detail::DefinedOps defined;
    guarded(&outcome, false, [&] {
      initialise(library);
      return true;
    });
    loading = false;
    if (outcome.code == PKG_OK) {
      opened.add(defined.names());
    } else {
      outcome.text = str("[pkg_load_library] ", path, ": ", outcome.text);
    }
  }
  throw_reported(outcome);
  return opened.identity;
}

std::vector<std::string> library_ops(const std::string& identity) {
  const detail::OpenedLibrary* library = detail::opened_library(identity);
  PKG_CHECK(library, LookupError,
            "[library_ops] expected what load_library() returned, got '", identity, "'.");
  return library->ops;
}

}  // namespace pkg::c

extern "C" bool pkg_load_library(const char* path, pkg_status* status) {
  return pkg::c::guarded(status, false, [&] {
    PKG_CHECK(path, TypeError, "[pkg_load_library] expected a path, got NULL.");
    pkg::c::load_library(path);
    return true;
  });
}
