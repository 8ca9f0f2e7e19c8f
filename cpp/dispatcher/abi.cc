// SPDX-License-Identifier: Apache-2.0
// dispatcher/abi.cc: reading and comparing the stamps of libraries of ops.
#include "dispatcher/abi.h"

#include <dlfcn.h>
#include <link.h>

#include "dispatcher/elf_file.h"
#include "dispatcher/stamps.h"

namespace pkg::detail {
namespace {

// The first part of `text`, up to `end`, which is taken from it with what separates.
std::string_view take(std::string_view& text, std::string_view end) {
  const size_t at = text.find(end);
  const std::string_view first = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + end.size());
  return first;
}

// A part without its number: "dispatch keys 6" is of "dispatch keys".
std::string_view name_of(std::string_view part) { return part.substr(0, part.rfind(' ')); }

// The parts of `one` that `other` does not have alike, behind the first, which is shown.
std::string parts_not_in(std::string_view other, std::string_view one) {
  const std::string begins(take(one, ", "));
  std::string text;
  while (!one.empty()) {
    const std::string_view part = take(one, ", ");
    bool alike = false;
    for (std::string_view rest = other; !rest.empty() && !alike;) {
      alike = take(rest, ", ") == part;
    }
    if (!alike) text += str(text.empty() ? "" : ", ", part);
  }
  return text.empty() ? begins : str(begins, " (", text, ")");
}

}  // namespace

std::string_view core_stamp() {
  static constexpr AbiStamp stamp = abi_stamp();
  return stamp.data();
}

std::string difference(std::string_view ours, std::string_view theirs) {
  if (ours == theirs) return "";
  return str("expected a library compiled for ", parts_not_in(theirs, ours),
             ", got one for ", parts_not_in(ours, theirs),
             ". Compile it again with the flags of pkg.sysconfig.");
}

std::string file_of(void* library) {
  const link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "";
}

void check_stamps_of(const std::string& path, std::string_view ours) {
  if (path.find('/') == path.npos) return;  // no file of this name: the linker looks for it
  std::string contents;
  if (!read_file(path, &contents)) return;  // dlopen(3) says why
  check_stamps_in(contents, path, ours);
}

void check_stamps_in(std::string_view contents, const std::string& path,
                     std::string_view ours) {
  const std::string stamps = ElfFile(contents).section(PKG_STAMP_SECTION);
  const std::string_view kind = name_of(ours.substr(0, ours.find(", ")));
  for (std::string_view rest = stamps; !rest.empty();) {
    const std::string_view theirs = take(rest, std::string_view("\0", 1));
    if (name_of(theirs.substr(0, theirs.find(", "))) != kind) continue;
    const std::string what = difference(ours, theirs);
    if (!what.empty()) raise<ImportError>("[load_library] ", path, ": ", what);
  }
}

}  // namespace pkg::detail
