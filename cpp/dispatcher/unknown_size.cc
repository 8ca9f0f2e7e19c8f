// SPDX-License-Identifier: Apache-2.0
// dispatcher/unknown_size.cc: see unknown_size.h.
#include "dispatcher/unknown_size.h"

#include <utility>

#include "base/error.h"

namespace pkg {
namespace {
thread_local UnknownSizes* t_sizes = nullptr;
}

UnknownSizes::UnknownSizes(int64_t number)
    : before_(std::exchange(t_sizes, this)), number_(number) {}
UnknownSizes::~UnknownSizes() { t_sizes = before_; }

int64_t unknown_size(const char* op) {
  if (!t_sizes) {
    detail::raise<NotImplementedError>(
        "[", op, "] has a result whose shape is known when it has run, not before: ",
        "it cannot get tensors without data.");
  }
  t_sizes->asked_ = true;
  return t_sizes->number_;
}

}  // namespace pkg
