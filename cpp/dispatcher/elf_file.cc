// SPDX-License-Identifier: Apache-2.0
// dispatcher/elf_file.cc: see elf_file.h.
#include "dispatcher/elf_file.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace pkg::detail {

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
    found += bytes(one.sh_offset, one.sh_size);
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

bool read_file(const std::string& path, std::string* contents) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = std::streamoff(file.tellg());
  constexpr std::streamoff kMost = std::streamoff(1) << 40;  // a folder claims to be large
  if (!file || size < 0 || size > kMost) return false;
  contents->resize(size_t(size));
  file.seekg(0);
  file.read(contents->data(), size);
  return bool(file);
}

}  // namespace pkg::detail
