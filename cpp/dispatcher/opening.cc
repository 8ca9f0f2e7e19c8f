// SPDX-License-Identifier: Apache-2.0
// dispatcher/opening.cc: see opening.h.
#include "dispatcher/opening.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "dispatcher/abi.h"
#include "dispatcher/elf_file.h"
#include "dispatcher/probe.h"
#include "dispatcher/stamps.h"
#include "scheduler/patient_lock.h"

namespace pkg::detail {
namespace {

// Of the file that was opened: the loader takes another one of the same name for it.
struct File {
  std::string path;
  FileState state;
};

struct Opened {
  std::recursive_mutex mutex;           // a constructor may load another library
  std::deque<OpenedLibrary> libraries;  // stable addresses
  std::vector<File> files;
  std::mutex names_mutex;                    // innermost; guards the rest
  std::map<std::string, std::string> names;  // of copies: what was given
  std::set<std::string> probed;              // identities that are about to be opened
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
          ? "It is of the core: the library was not linked with this one, or was compiled for "
            "another version. "
          : "No library that it was linked with defines it: add its source file or -lNAME. ",
      "Compile it with the flags of pkg.sysconfig: g++ -fPIC -shared SOURCES -o LIBRARY.so "
      "$(python -m pkg --cflags --ldflags)");
}

// A library under a name of its own, which is gone when it is open.  It stands beside the
// file that was given, so that $ORIGIN means the same; else in TMPDIR.
class PrivateCopy {
 public:
  PrivateCopy(const std::string& given, const std::string& contents) {
    const char* folder = std::getenv("TMPDIR");
    const size_t slash = given.rfind('/');
    int error = create(given.substr(0, slash + 1) + "." + given.substr(slash + 1),
                       contents);
    if (error)
      error = create(str(folder && *folder ? folder : "/tmp", "/pkg-library"), contents);
    PKG_CHECK(!error, ImportError, "[load_library] cannot write ", path_, ": ",
              strerror(error), ". The library ", given,
              " was replaced, so it is opened as a copy.");
    std::lock_guard lock(opened().names_mutex);
    opened().names[path_] = given;
  }
  ~PrivateCopy() { unlink(path_.c_str()); }
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;
  const std::string& path() const { return path_; }

 private:
  // errno of what went wrong; 0 where nothing did.
  int create(const std::string& begin, const std::string& contents) {
    path_ = begin + ".XXXXXX";
    const int file = mkostemp(path_.data(), O_CLOEXEC);
    if (file < 0) return errno;
    int error = 0;
    for (size_t at = 0; at < contents.size() && !error;) {
      const ssize_t n = write(file, contents.data() + at, contents.size() - at);
      if (n > 0) at += size_t(n);
      if (n <= 0 && errno != EINTR) error = n < 0 ? errno : EIO;
    }
    close(file);
    if (error) unlink(path_.c_str());
    return error;
  }

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
    const bool same = other.state.device == file.state.device &&
                      other.state.inode == file.state.inode;
    PKG_CHECK(!same, ImportError, "[load_library] ", file.path,
              ": expected the contents that the file had when it was loaded as ",
              other.path,
              ", got others: it was written to while this process uses it, which damages "
              "the library that is loaded. Write a new file and rename it.");
    taken |= other.path == file.path;
  }
  return taken;
}

// Opens the file, or its copy, whose constructors have returned in another process.
void* open_here(const std::string& file, const std::string& path) {
  if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  std::string said = dlerror();
  for (size_t at; file != path && (at = said.find(file)) != said.npos;) {
    said.replace(at, file.size(), path);
  }
  raise_loader_error(said);
}

// Whether this thread is in open_library().
thread_local int t_opening = 0;

void probe(const std::string& file, const std::string& path, const std::string& identity) {
  {
    std::lock_guard lock(opened().names_mutex);
    if (opened().probed.erase(identity) != 0) return;
  }
  const std::string fault = fault_of_constructors(file);
  PKG_CHECK(fault.empty(), ImportError, "[load_library] ", path, ": ", fault);
}

void check(const std::string& path, const std::string& contents) {
  const uint64_t size = ElfFile(contents).loaded_size();
  PKG_CHECK(size <= contents.size(), ImportError, "[load_library] ", path,
            ": expected a whole library of at least ", size, " bytes, got ",
            contents.size(), ". It was cut off: compile or copy it again.");
  check_stamps_in(contents, path, core_stamp());
}

OpenedLibrary& remember(std::string path, std::string identity, void* handle) {
  OpenedLibrary& made = opened().libraries.emplace_back();
  made.path = std::move(path);
  made.identity = std::move(identity);
  made.handle = handle;
  return made;
}

}  // namespace

void probe_ahead(const std::string& path, std::string_view stamp) {
  std::string contents;
  // A constructor that loads another library is inside of locks.
  if (t_opening != 0 || path.find('/') == path.npos) return;
  try {
    if (!read_file(path, &contents)) return;
    if (!stamp.empty()) check_stamps_in(contents, path, stamp);
    check(path, contents);
  } catch (const Error&) { return; }  // open_library() says so
  const std::string identity = identity_of(contents);
  if (opened_library(identity)) return;
  {
    std::lock_guard lock(opened().names_mutex);
    if (opened().probed.contains(identity)) return;
  }
  std::string fault;
  {
    BlockingRegion others_may_run;
    fault = fault_of_constructors(path);
  }
  PKG_CHECK(fault.empty(), ImportError, "[load_library] ", path, ": ", fault);
  std::lock_guard lock(opened().names_mutex);
  opened().probed.insert(identity);
}

OpenedLibrary& open_library(const std::string& path, std::string_view stamp, bool* fresh) {
  const auto lock = patient_lock(opened().mutex);
  struct Opening {
    Opening() { ++t_opening; }
    ~Opening() { --t_opening; }
  } const inside;
  *fresh = true;
  constexpr int kMostAttempts = 5;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::string contents;
    File file{path, {}};
    if (path.find('/') == path.npos || !read_file(path, &contents, &file.state)) {
      // The linker looks for it, or says why there is none.
      void* handle = open_here(path, path);
      for (OpenedLibrary& library : opened().libraries) {
        if (library.handle != handle) continue;
        *fresh = false;
        return library;
      }
      read_file(file_of(handle), &contents);
      return remember(path, identity_of(contents), handle);
    }
    std::string identity = identity_of(contents);
    if (!stamp.empty()) check_stamps_in(contents, path, stamp);
    if (OpenedLibrary* known = find(identity)) {
      *fresh = false;
      return *known;
    }
    check(path, contents);
    if (is_taken(file)) {
      const PrivateCopy copy(path, contents);
      probe(copy.path(), path, identity);
      return remember(path, std::move(identity), open_here(copy.path(), path));
    }
    probe(path, path, identity);
    // That took a while.  What is opened is to be what was read, nothing else has run.
    if (state_of_file(path) != file.state) continue;
    void* handle = open_here(path, path);
    opened().files.push_back(file);
    if (state_of_file(path) == file.state)
      return remember(path, std::move(identity), handle);
    // It was replaced while it was opened, perhaps after that: its identity must be that of
    // no file, so that both are other libraries.
    return remember(path, identity_of(contents + "replaced"), handle);
  }
  raise<ImportError>("[load_library] ", path,
                     ": expected a file that nobody writes to, got another one at each of ",
                     kMostAttempts, " attempts. Load it when it is whole.");
}

void OpenedLibrary::add(std::vector<std::string> names) {
  ops.insert(ops.end(), names.begin(), names.end());
  std::sort(ops.begin(), ops.end());
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
}

namespace {
thread_local DefinedOps* t_defined = nullptr;
}

DefinedOps::DefinedOps() : outer_(t_defined) { t_defined = this; }
DefinedOps::~DefinedOps() { t_defined = outer_; }
void DefinedOps::note(const std::string& name) {
  if (t_defined) t_defined->names_.push_back(name);
}

OpenedLibrary* opened_library(const std::string& identity) {
  const auto lock = patient_lock(opened().mutex);
  return find(identity);
}

std::string in_library(const void* address) {
  Dl_info found{}, core{};
  if (!dladdr(address, &found) || !found.dli_fname) return "";
  static const char here = 0;
  if (dladdr(&here, &core) && core.dli_fbase == found.dli_fbase) return "";
  std::lock_guard lock(opened().names_mutex);
  const auto given = opened().names.find(found.dli_fname);
  return str(" of ", given == opened().names.end() ? found.dli_fname : given->second);
}

}  // namespace pkg::detail
