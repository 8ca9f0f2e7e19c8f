// SPDX-License-Identifier: Apache-2.0
// collectives/mpi_library.cc: finding MPI's functions.
#include "collectives/mpi_library.h"

#include <dlfcn.h>

#include <memory>
#include <mutex>

#include "collectives/error.h"

namespace pkg::collectives::mpi {
namespace {

// What is wrong with it, or nothing, and then `library` is filled.
std::string open_one(const std::string& path, Library& library) {
  void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) return dlerror();
  std::string missing;
#define PKG_MPI_FIND(name, parameters)                                                  \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(opened, "MPI_" #name)); \
  if (!library.name && missing.empty()) missing = "MPI_" #name;
  PKG_MPI_FUNCTIONS(PKG_MPI_FIND)
#undef PKG_MPI_FIND
  if (!missing.empty()) {
    dlclose(opened);
    return path + ": has no " + missing +
           ", so it is no MPI library with the standard ABI of MPI 5";
  }
  int major = 0, minor = 0;
  const int code = library.Abi_get_version(&major, &minor);
  if (code != kSuccess || major != kAbiVersion) {
    dlclose(opened);
    return str(path, ": expected version ", kAbiVersion, " of MPI's standard ABI, got ",
               major, ".", minor);
  }
  library.path = path;
  return {};
}

}  // namespace

void Library::check(const char* function, int code) const {
  if (code == kSuccess) return;
  char text[kMaxErrorString + 1] = "";
  int length = 0;
  if (Error_string(code, text, &length) != kSuccess) length = 0;
  detail::raise<CollectiveError>("[MPI_", function, "] ",
                                 std::string_view(text, size_t(length)));
}

const Library& open_library(const std::string& paths) {
  static std::mutex mutex;
  static const Library* opened = nullptr;
  std::lock_guard lock(mutex);
  if (opened) return *opened;
  auto library = std::make_unique<Library>();
  std::string faults;
  for (size_t at = 0; at <= paths.size();) {
    const size_t end = std::min(paths.find(':', at), paths.size());
    const std::string path = paths.substr(at, end - at);
    at = end + 1;
    if (path.empty()) continue;
    const std::string fault = open_one(path, *library);
    if (fault.empty()) return *(opened = library.release());
    faults += "\n  " + fault;
  }
  detail::raise<ImportError>(
      "[init] expected an MPI library with the standard ABI (libmpi_abi.so: MPICH 5 or "
      "later), found none. pip install mpich, or name one in PKG_MPI_LIBRARY. Tried:",
      faults);
}

}  // namespace pkg::collectives::mpi
