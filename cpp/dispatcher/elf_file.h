// SPDX-License-Identifier: Apache-2.0
// dispatcher/elf_file.h: what a library's file says of itself, read as bytes.  Nothing of the
// file is run, and a damaged one gives less, never a crash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pkg::detail {

class ElfFile {
 public:
  /// Of the contents of a file, which outlive it.
  explicit ElfFile(std::string_view contents) : contents_(contents) {}
  /// The bytes of all sections of this name, 16 MB of them at most; empty where there is
  /// none.
  std::string section(std::string_view name) const;
  /// How many bytes the file has to have for what the loader maps; 0 if it is no ELF file of
  /// this machine's kind.  A shorter one ends the process when the loader reads it.
  uint64_t loaded_size() const;

 private:
  template <class T>
  bool read(uint64_t at, T* to) const;
  std::string_view bytes(uint64_t at, uint64_t size) const;
  std::string_view contents_;
};

/// Which file a path names, and in which state; zeros where there is none.
struct FileState {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t modified = 0;  ///< nanoseconds since 1970
  bool operator==(const FileState&) const = default;
};
FileState state_of_file(const std::string& path);

/// The contents of a file, and its state before they were read; false if it cannot be read.
/// ImportError for what is no file with an end, such as a pipe, and for one of more than 2
/// GB, which would take the memory.
bool read_file(const std::string& path, std::string* contents, FileState* state = nullptr);

}  // namespace pkg::detail
