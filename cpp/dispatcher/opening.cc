// SPDX-License-Identifier: Apache-2.0
// dispatcher/opening.cc: see opening.h.
#include "dispatcher/opening.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>

#include "dispatcher/abi.h"
#include "dispatcher/dispatcher.h"
#include "dispatcher/elf_file.h"
#include "dispatcher/probe.h"

namespace pkg::detail {
namespace {

// Of the file that was opened: the loader takes another one of the same name for it.
struct File {
  std::string path;
  dev_t device = 0;
  ino_t inode = 0;
};

struct Opened {
  std::recursive_mutex mutex;           // a constructor may load another library
  std::deque<OpenedLibrary> libraries;  // stable addresses
  std::vector<File> files;
};
Opened& opened() {
  static Opened* instance = new Opened;
  return *instance;
}

// 128 bits of all bytes; two libraries of a process do not have the same by accident.
std::string identity_of(std::string_view contents) {
  uint64_t a = 0x9e3779b97f4a7c15u ^ contents.size(), b = 0xd1b54a32d192ed03u;
  for (size_t at = 0; at < contents.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, contents.data() + at, std::min<size_t>(8, contents.size() - at));
    a = (a ^ word) * 0xff51afd7ed558ccdu;
    a ^= a >> 32;
    b = (b + word) * 0xc4ceb9fe1a85ec53u;
    b ^= b >> 29;
  }
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(a),
                static_cast<unsigned long long>(b));
  return text;
}

std::string readable(const std::string& symbol) {
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr);
  const std::string name = text ? text : symbol;
  std::free(text);
  return name;
}

// What the loader says, in readable names, and what would help.
[[noreturn]] void raise_loader_error(std::string said) {
  constexpr std::string_view kMissing = "undefined symbol: ";
  const size_t at = said.find(kMissing);
  if (at == said.npos) {
    raise<ImportError>("[load_library] ", said,
                       ". Compile it with the flags of pkg.sysconfig.");
  }
  const size_t begin = at + kMissing.size();
  const std::string symbol = said.substr(begin, said.find_first_of(" ,", begin) - begin);
  const std::string name = readable(symbol);
  const bool ours = name.find("pkg::") != name.npos || name.starts_with("pkg_");
  raise<ImportError>(
      "[load_library] ", said, name == symbol ? "" : str(" (", name, ")"), ". ",
      ours
          ? "It is of the core: the library was not linked with this one. "
          : "No library that it was linked with defines it: add its source file or -lNAME. ",
      "Compile it with the flags of pkg.sysconfig: g++ -fPIC -shared SOURCES -o LIBRARY.so "
      "$(python -m pkg --cflags --ldflags)");
}

// A library under a name of its own, which is gone when it is open.
class PrivateCopy {
 public:
  explicit PrivateCopy(const std::string& contents) {
    const char* folder = std::getenv("TMPDIR");
    path_ = str(folder && *folder ? folder : "/tmp", "/pkg-library-XXXXXX");
    const int file = mkstemp(path_.data());
    PKG_CHECK(file >= 0, ImportError, "[load_library] cannot write ", path_, ": ",
              strerror(errno), ". The library was replaced, so it is opened as a copy.");
    size_t at = 0;
    ssize_t n = 0;
    while (at < contents.size() && n >= 0) {
      n = write(file, contents.data() + at, contents.size() - at);
      at += n > 0 ? size_t(n) : 0;
    }
    close(file);
    if (n >= 0) return;
    unlink(path_.c_str());
    raise<ImportError>("[load_library] cannot write ", path_, ": ", strerror(errno), ".");
  }
  ~PrivateCopy() { unlink(path_.c_str()); }
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

OpenedLibrary* find(const std::string& identity) {
  for (OpenedLibrary& library : opened().libraries) {
    if (library.identity == identity) return &library;
  }
  return nullptr;
}

// Whether a library was opened under this name, which the loader would take for this one.
bool is_taken(const File& file) {
  bool taken = false;
  for (const File& other : opened().files) {
    PKG_CHECK(other.device != file.device || other.inode != file.inode, ImportError,
              "[load_library] ", file.path,
              ": expected the contents that the file had when it was loaded as ",
              other.path,
              ", got others: it was written to while this process uses it, which damages "
              "the library that is loaded. Write a new file and rename it.");
    taken |= other.path == file.path;
  }
  return taken;
}

void* open_here(const std::string& path) {
  const std::string fault = fault_of_constructors(path);
  PKG_CHECK(fault.empty(), ImportError, "[load_library] ", path, ": ", fault);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) raise_loader_error(dlerror());
  return handle;
}

void check(const std::string& path, const std::string& contents) {
  const uint64_t size = ElfFile(contents).loaded_size();
  PKG_CHECK(size <= contents.size(), ImportError, "[load_library] ", path,
            ": expected a whole library of at least ", size, " bytes, got ",
            contents.size(), ". It was cut off: compile or copy it again.");
  check_stamps_of(path, core_stamp());
}

OpenedLibrary& remember(std::string path, std::string identity, void* handle) {
  OpenedLibrary& made = opened().libraries.emplace_back();
  made.path = std::move(path);
  made.identity = std::move(identity);
  made.handle = handle;
  return made;
}

}  // namespace

OpenedLibrary& open_library(const std::string& path, bool* fresh) {
  std::lock_guard lock(opened().mutex);
  *fresh = true;
  std::string contents;
  if (path.find('/') == path.npos || !read_file(path, &contents)) {
    // The linker looks for it, or says why there is none.
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) raise_loader_error(dlerror());
    for (OpenedLibrary& library : opened().libraries) {
      if (library.handle != handle) continue;
      *fresh = false;
      return library;
    }
    read_file(file_of(handle), &contents);
    return remember(path, identity_of(contents), handle);
  }
  std::string identity = identity_of(contents);
  if (OpenedLibrary* known = find(identity)) {
    *fresh = false;
    return *known;
  }
  check(path, contents);
  struct stat found{};
  File file{path};
  if (stat(path.c_str(), &found) == 0)
    file.device = found.st_dev, file.inode = found.st_ino;
  void* handle = nullptr;
  if (is_taken(file)) {
    const PrivateCopy copy(contents);
    handle = open_here(copy.path());
  } else {
    handle = open_here(path);
    opened().files.push_back(file);
  }
  return remember(path, std::move(identity), handle);
}

void OpenedLibrary::add_ops_since(const std::vector<std::string>& before) {
  const std::vector<std::string> now = registered_ops();
  std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                      std::back_inserter(ops));
}

OpenedLibrary* opened_library(const std::string& identity) {
  std::lock_guard lock(opened().mutex);
  return find(identity);
}

std::string in_library(const void* address) {
  Dl_info found{}, core{};
  if (!dladdr(address, &found) || !found.dli_fname) return "";
  static const char here = 0;
  if (dladdr(&here, &core) && core.dli_fbase == found.dli_fbase) return "";
  return str(" of ", found.dli_fname);
}

std::vector<std::string> registered_ops() {
  std::vector<std::string> names;
  for (const Operator* op : Dispatcher::get().all()) names.push_back(op->qualified_name());
  return names;
}

}  // namespace pkg::detail
