// SPDX-License-Identifier: Apache-2.0
// framework/status.cc: codes and exceptions.
#include "framework/status.h"

#include <new>

#include "base/foreign_error.h"

namespace pkg::framework {

const char* error::name_of(Code code) {
  static constexpr const char* names[] = {"OK",
                                          "CANCELLED",
                                          "UNKNOWN",
                                          "INVALID_ARGUMENT",
                                          "DEADLINE_EXCEEDED",
                                          "NOT_FOUND",
                                          "ALREADY_EXISTS",
                                          "PERMISSION_DENIED",
                                          "RESOURCE_EXHAUSTED",
                                          "FAILED_PRECONDITION",
                                          "ABORTED",
                                          "OUT_OF_RANGE",
                                          "UNIMPLEMENTED",
                                          "INTERNAL",
                                          "UNAVAILABLE",
                                          "DATA_LOSS",
                                          "UNAUTHENTICATED"};
  return code >= OK && code <= UNAUTHENTICATED ? names[code] : "UNKNOWN";
}

namespace {
const std::string g_none;
}  // namespace

const std::string& Status::error_message() const {
  return state_ ? state_->message : g_none;
}

std::string Status::ToString() const {
  return ok() ? "OK" : str(error::name_of(code()), ": ", message());
}

void throw_status(const Status& status, std::string_view where) {
  const std::string text = where.empty() ? status.error_message()
                                         : str(status.message(), " ", where);
  switch (status.code()) {
    case error::INVALID_ARGUMENT: throw ValueError(text);
    case error::OUT_OF_RANGE: throw IndexError(text);
    case error::UNIMPLEMENTED: throw NotImplementedError(text);
    case error::INTERNAL: throw InternalError(text);
    case error::CANCELLED: throw CancelledError(text);
    case error::RESOURCE_EXHAUSTED: throw OutOfMemoryError(text);
    default: throw RuntimeError(str(error::name_of(status.code()), ": ", text));
  }
}

Status status_of_exception() {
  try {
    throw;
  } catch (const ForeignError&) {
    throw;  // a status has no place for it
  } catch (const CancelledError& error) {
    return errors::Cancelled(error.message());
  } catch (const NotImplementedError& error) {
    return errors::Unimplemented(error.message());
  } catch (const OutOfMemoryError& error) {
    return errors::ResourceExhausted(error.message());
  } catch (const std::bad_alloc&) {
    return errors::ResourceExhausted("out of memory");
  } catch (const IndexError& error) {
    return errors::OutOfRange(error.message());
  } catch (const InternalError& error) {
    return errors::Internal(error.message());
  } catch (const Error& error) {
    return errors::InvalidArgument(error.message());
  } catch (const std::exception& error) {
    return errors::Internal(error.what());
  } catch (...) { return errors::Internal("an exception that is no std::exception"); }
}

}  // namespace pkg::framework
