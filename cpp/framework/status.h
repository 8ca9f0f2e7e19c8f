// SPDX-License-Identifier: Apache-2.0
// framework/status.h: what a kernel or a shape function says of its outcome, with
// TensorFlow's codes.  At the border of the op it becomes an exception of base/error.h.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "base/error.h"

namespace pkg::framework {

namespace error {
enum Code : int {
  OK = 0,
  CANCELLED = 1,
  UNKNOWN = 2,
  INVALID_ARGUMENT = 3,
  DEADLINE_EXCEEDED = 4,
  NOT_FOUND = 5,
  ALREADY_EXISTS = 6,
  PERMISSION_DENIED = 7,
  RESOURCE_EXHAUSTED = 8,
  FAILED_PRECONDITION = 9,
  ABORTED = 10,
  OUT_OF_RANGE = 11,
  UNIMPLEMENTED = 12,
  INTERNAL = 13,
  UNAVAILABLE = 14,
  DATA_LOSS = 15,
  UNAUTHENTICATED = 16,
};
/// "INVALID_ARGUMENT"
const char* name_of(Code code);
}  // namespace error

/// Well, or a code with a text.  One pointer, null when all is well.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(error::Code code, std::string_view message) {
    if (code != error::OK)
      state_ = std::make_shared<const State>(State{code, std::string(message)});
  }
  static Status OK() { return {}; }

  bool ok() const { return !state_; }
  error::Code code() const { return state_ ? state_->code : error::OK; }
  /// Empty when all is well.
  std::string_view message() const { return state_ ? state_->message : std::string_view(); }
  const std::string& error_message() const;
  /// "OK", or "INVALID_ARGUMENT: text".
  std::string ToString() const;
  /// Takes over the error of the other, if this has none.
  void Update(const Status& other) {
    if (ok()) state_ = other.state_;
  }
  void IgnoreError() const {}
  friend bool operator==(const Status& a, const Status& b) {
    return a.code() == b.code() && a.message() == b.message();
  }
  friend std::ostream& operator<<(std::ostream& out, const Status& status) {
    return out << status.ToString();
  }

 private:
  struct State {
    error::Code code;
    std::string message;
  };
  std::shared_ptr<const State> state_;
};

inline Status OkStatus() { return {}; }

/// An error of an op: the class that says most of the code is thrown, with the text.
/// ValueError for INVALID_ARGUMENT, IndexError for OUT_OF_RANGE, NotImplementedError for
/// UNIMPLEMENTED, InternalError, CancelledError, OutOfMemoryError; RuntimeError for the
/// others, with the code in front of the text.
[[noreturn]] void throw_status(const Status& status, std::string_view where = {});
/// The error in flight as a status, for handlers; a ForeignError, such as Ctrl-C, is thrown on.
Status status_of_exception();

namespace errors {
// The parts may be of any type that prints.
#define PKG_STATUS_ERROR(Name, CODE)                  \
  template <class... Parts>                           \
  Status Name(const Parts&... parts) {                \
    return Status(error::CODE, ::pkg::str(parts...)); \
  }                                                   \
  inline bool Is##Name(const Status& status) { return status.code() == error::CODE; }
PKG_STATUS_ERROR(Cancelled, CANCELLED)
PKG_STATUS_ERROR(Unknown, UNKNOWN)
PKG_STATUS_ERROR(InvalidArgument, INVALID_ARGUMENT)
PKG_STATUS_ERROR(DeadlineExceeded, DEADLINE_EXCEEDED)
PKG_STATUS_ERROR(NotFound, NOT_FOUND)
PKG_STATUS_ERROR(AlreadyExists, ALREADY_EXISTS)
PKG_STATUS_ERROR(PermissionDenied, PERMISSION_DENIED)
PKG_STATUS_ERROR(ResourceExhausted, RESOURCE_EXHAUSTED)
PKG_STATUS_ERROR(FailedPrecondition, FAILED_PRECONDITION)
PKG_STATUS_ERROR(Aborted, ABORTED)
PKG_STATUS_ERROR(OutOfRange, OUT_OF_RANGE)
PKG_STATUS_ERROR(Unimplemented, UNIMPLEMENTED)
PKG_STATUS_ERROR(Internal, INTERNAL)
PKG_STATUS_ERROR(Unavailable, UNAVAILABLE)
PKG_STATUS_ERROR(DataLoss, DATA_LOSS)
PKG_STATUS_ERROR(Unauthenticated, UNAUTHENTICATED)
#undef PKG_STATUS_ERROR
}  // namespace errors

}  // namespace pkg::framework

/// Returns from the function with the status, unless it is well.
#define PKG_RETURN_IF_ERROR(...)                                    \
  do {                                                              \
    const ::pkg::framework::Status pkg_status_ = (__VA_ARGS__);     \
    if (__builtin_expect(!pkg_status_.ok(), 0)) return pkg_status_; \
  } while (0)
