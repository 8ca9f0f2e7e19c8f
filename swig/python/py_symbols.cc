// SPDX-License-Identifier: Apache-2.0
// swig/python/py_symbols.cc: the table of exported names (symbol.h): the entries of what is
// hand-written, and the table as a Python list.
#include <string_view>

#include "base/dtype.h"
#include "py_module.h"
#include "symbol.h"

namespace pkg::python {
namespace {

// What no wrapper of SWIG enters by itself.  The C++ name is that of the class or of the
// function that does the work.
#define PKG_ENTRY(name, signature, gil, result) \
  PKG_SYMBOL(symbol_##name, #name, signature, gil, result)

PKG_ENTRY(Tensor, "class pkg::Tensor", "waits", "shared");
PKG_ENTRY(Operator, "class pkg::Operator", "waits", "shared");
PKG_ENTRY(Node, "class pkg::Node", "kept", "shared");
PKG_ENTRY(HookHandle, "class pkg::HookHandle", "kept", "shared");
PKG_ENTRY(Event, "class pkg::Event", "waits", "shared");
PKG_ENTRY(ManualEvent, "class pkg::ManualEvent", "waits", "shared");
PKG_ENTRY(Stream, "class pkg::Stream", "waits", "shared");
PKG_ENTRY(OperationHandle, "class pkg::c::OperationHandle", "kept", "shared");
PKG_ENTRY(GraphHandle, "class pkg::c::GraphHandle", "kept", "shared");
PKG_ENTRY(BodyHandle, "class pkg::c::BodyHandle", "kept", "shared");
PKG_ENTRY(SessionHandle, "class pkg::c::SessionHandle", "kept", "shared");
PKG_ENTRY(CallableHandle, "class pkg::c::CallableHandle", "kept", "shared");
PKG_ENTRY(dtype, "enum class pkg::DType", "kept", "value");
PKG_ENTRY(device, "struct pkg::Device", "kept", "value");
PKG_ENTRY(OpLookupError, "class pkg::LookupError", "kept", "value");
PKG_ENTRY(OutOfMemoryError, "class pkg::OutOfMemoryError", "kept", "value");
PKG_ENTRY(CancelledError, "class pkg::CancelledError", "kept", "value");
PKG_ENTRY(InternalError, "class pkg::InternalError", "kept", "value");
PKG_ENTRY(HorovodInternalError, "class pkg::CollectiveError", "kept", "value");

#define PKG_ENTRY_OF_DTYPE(T, Name, py, np) \
  PKG_SYMBOL(symbol_##Name, py, "const pkg::DType pkg::DType::" #Name, "kept", "value");
PKG_FORALL_DTYPES(PKG_ENTRY_OF_DTYPE)

// Where the linker put the table.
extern "C" {
[[gnu::visibility("hidden")]] extern const Symbol __start_pkg_symbols[];
[[gnu::visibility("hidden")]] extern const Symbol __stop_pkg_symbols[];
}

}  // namespace

std::vector<std::array<std::string, 4>> _symbols() {
  std::vector<std::array<std::string, 4>> rows;
  for (const Symbol* s = __start_pkg_symbols; s != __stop_pkg_symbols; ++s) {
    const bool nothing = std::string_view(s->signature).starts_with("void ");
    rows.push_back({s->name, s->signature, s->gil, nothing ? "none" : s->result});
  }
  return rows;
}

}  // namespace pkg::python
