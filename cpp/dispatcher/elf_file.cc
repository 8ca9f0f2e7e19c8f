// SPDX-License-Identifier: Apache-2.0
// dispatcher/elf_file.cc: see elf_file.h.
#include "dispatcher/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace pkg::detail {

namespace {

// Each of 60000 headers of a damaged file may claim the whole of it.
constexpr size_t kMostOfSections = size_t(16) << 20;
constexpr uint64_t kMostOfFile = uint64_t(2) << 30;

FileState state_of(const struct stat& found) {
  constexpr int64_t kSecond = 1'000'000'000;
  return {uint64_t(found.st_dev), uint64_t(found.st_ino), uint64_t(found.st_size),
          found.st_mtim.tv_sec * kSecond + found.st_mtim.tv_nsec};
}

// A descriptor, for as long as this lives.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

}  // namespace

std::string_view ElfFile::bytes(uint64_t at, uint64_t size) const {
  if (at > contents_.size() || size > contents_.size() - at) return {};
  return contents_.substr(at, size);
}

template <class T>
bool ElfFile::read(uint64_t at, T* to) const {
  const std::string_view found = bytes(at, sizeof(T));
  if (found.empty()) return false;
  std::memcpy(to, found.data(), sizeof(T));
  return true;
}

std::string ElfFile::section(std::string_view name) const {
  ElfW(Ehdr) header{};
  ElfW(Shdr) names{};
  if (!loaded_size() || !read(0, &header) || header.e_shentsize != sizeof(ElfW(Shdr)) ||
      !read(header.e_shoff + uint64_t(header.e_shstrndx) * sizeof names, &names)) {
    return "";
  }
  const std::string_view texts = bytes(names.sh_offset, names.sh_size);
  std::string found;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    ElfW(Shdr) one{};
    if (!read(header.e_shoff + i * sizeof one, &one) || one.sh_name >= texts.size())
      continue;
    const std::string_view text = texts.substr(one.sh_name);
    if (text.substr(0, text.find('\0')) != name) continue;
    const std::string_view part = bytes(one.sh_offset, one.sh_size);
    if (part.size() > kMostOfSections - found.size()) break;
    found += part;
  }
  return found;
}

uint64_t ElfFile::loaded_size() const {
  ElfW(Ehdr) header{};
  if (!read(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      header.e_phentsize != sizeof(ElfW(Phdr))) {
    return 0;
  }
  uint64_t size = header.e_phoff + uint64_t(header.e_phnum) * sizeof(ElfW(Phdr));
  for (size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) part{};
    if (!read(header.e_phoff + i * sizeof part, &part)) break;
    if (part.p_type == PT_LOAD) size = std::max(size, part.p_offset + part.p_filesz);
  }
  return size;
}

FileState state_of_file(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) == 0 ? state_of(found) : FileState{};
}

bool read_file(const std::string& path, std::string* contents, FileState* state) {
  // Opening a pipe would wait for somebody who writes to it.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat found{};
  if (file.number < 0 || fstat(file.number, &found) != 0 || S_ISDIR(found.st_mode)) {
    return false;
  }
  PKG_CHECK(S_ISREG(found.st_mode), ImportError, "[load_library] ", path,
            ": expected a file, got a pipe, socket or device. Write it to a file first.");
  const auto size = uint64_t(found.st_size);
  PKG_CHECK(size <= kMostOfFile, ImportError, "[load_library] ", path,
            ": expected a library of at most ", kMostOfFile, " bytes, got ", size,
            ". Link it without its debug information.");
  if (state) *state = state_of(found);
  contents->resize(size);
  for (size_t at = 0; at < size;) {
    const ssize_t n = read(file.number, contents->data() + at, size - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) contents->resize(at);  // it was cut off meanwhile
    if (n == 0) break;
    at += size_t(n);
  }
  return true;
}

}  // namespace pkg::detail
