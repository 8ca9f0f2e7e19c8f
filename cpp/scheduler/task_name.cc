// SPDX-License-Identifier: Apache-2.0
// scheduler/task_name.cc: the table of names.
#include "scheduler/task_name.h"

#include <mutex>
#include <set>

namespace pkg {

const char* lasting_name(const std::string& text, const char* other) {
  constexpr size_t kMost = 4096;
  static auto* names = new std::set<std::string>;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  const auto found = names->find(text);
  if (found != names->end()) return found->c_str();
  if (names->size() >= kMost) return other;
  return names->insert(text).first->c_str();
}

}  // namespace pkg
