// SPDX-License-Identifier: Apache-2.0
// c_api/status.cc: the table of error classes and codes, and the status object.
#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "c_api/boundary.h"
#include "tensor/storage.h"

namespace pkg::c {
namespace {

struct Row {
  pkg_code code;
  const char* name;
  bool (*matches)(const Error&);
  void (*raise)(const std::string&);
};

template <class E>
bool matches([[maybe_unused]] const Error& error) {
  if constexpr (std::is_same_v<E, Error>) return true;
  else return dynamic_cast<const E*>(&error) != nullptr;
}
template <class E>
void raise(const std::string& text) {
  throw E(text);
}

// The root class comes last: it matches all.
#define PKG_ROW(CODE, Name) {CODE, #Name, &matches<Name>, &raise<Name>}
constexpr Row kRows[] = {
    PKG_ROW(PKG_VALUE_ERROR, ValueError),
    PKG_ROW(PKG_TYPE_ERROR, TypeError),
    PKG_ROW(PKG_INDEX_ERROR, IndexError),
    PKG_ROW(PKG_KEY_ERROR, KeyError),
    PKG_ROW(PKG_LOOKUP_ERROR, LookupError),
    PKG_ROW(PKG_RUNTIME_ERROR, RuntimeError),
    PKG_ROW(PKG_NOT_IMPLEMENTED_ERROR, NotImplementedError),
    PKG_ROW(PKG_OVERFLOW_ERROR, OverflowError),
    PKG_ROW(PKG_BUFFER_ERROR, BufferError),
    PKG_ROW(PKG_IMPORT_ERROR, ImportError),
    PKG_ROW(PKG_OUT_OF_MEMORY_ERROR, OutOfMemoryError),
    PKG_ROW(PKG_CANCELLED_ERROR, CancelledError),
    PKG_ROW(PKG_INTERNAL_ERROR, InternalError),
    PKG_ROW(PKG_ERROR, Error),
};
#undef PKG_ROW

const Row* row_of(int32_t code) {
  const Row* row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& r) { return r.code == code; });
  return row == std::end(kRows) ? nullptr : row;
}

// Assigning the text may fail in turn; the code is what must arrive.
void store(pkg_status* status, pkg_code code, const char* text) noexcept {
  if (!status) return;
  status->code = code;
  try {
    status->text = text ? text : "";
  } catch (...) { status->text.clear(); }
}

// An error met in a wait: which work it comes from.
void add_origin(pkg_status* status) noexcept {
  try {
    const std::string origin = take_async_origin();
    if (status && !origin.empty()) status->text += " [scheduled as " + origin + "]";
  } catch (...) {  // the error itself is stored
  }
}

}  // namespace

void record_exception(pkg_status* status) noexcept {
  if (status && status->keeps) status->thrown = std::current_exception();
  try {
    throw;
  } catch (const Error& error) {
    const Row* row = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const Row& r) { return r.matches(error); });
    store(status, row->code, error.what());
    add_origin(status);
  } catch (const std::bad_alloc&) {
    store(status, PKG_OUT_OF_MEMORY_ERROR, "out of memory");
  } catch (const std::invalid_argument& error) {
    store(status, PKG_VALUE_ERROR, error.what());
  } catch (const std::out_of_range& error) {
    store(status, PKG_INDEX_ERROR, error.what());
  } catch (const std::exception& error) {
    store(status, PKG_RUNTIME_ERROR, error.what());
  } catch (...) { store(status, PKG_RUNTIME_ERROR, "unknown C++ exception"); }
}

void throw_reported(const pkg_status& status) {
  if (status.code == PKG_OK) return;
  if (status.thrown) std::rethrow_exception(status.thrown);
  const Row* row = row_of(status.code);
  if (row) row->raise(status.text);
  detail::raise<InternalError>("a callback reported the unknown code ", int(status.code),
                               ": ", status.text);
}

size_t copy_text(const std::string& from, char* text, size_t capacity) noexcept {
  if (text && capacity) {
    const size_t n = std::min(from.size(), capacity - 1);
    std::memcpy(text, from.data(), n);
    text[n] = '\0';
  }
  return from.size();
}

}  // namespace pkg::c

extern "C" {

pkg_status* pkg_status_new(void) { return new (std::nothrow) pkg_status; }
void pkg_status_delete(pkg_status* status) { delete status; }
pkg_code pkg_status_code(const pkg_status* status) {
  return status ? status->code : PKG_OK;
}
const char* pkg_status_text(const pkg_status* status) {
  return status ? status->text.c_str() : "";
}
void pkg_status_set(pkg_status* status, pkg_code code, const char* text) {
  pkg::c::store(status, code, text);
}
const char* pkg_code_name(int32_t code) {
  if (code == PKG_OK) return "OK";
  const pkg::c::Row* row = pkg::c::row_of(code);
  return row ? row->name : nullptr;
}

}  // extern "C"
