// SPDX-License-Identifier: Apache-2.0
// swig/python/py_module.cc: the order in which the hand-written parts are added, and the table
// of exported names, which pkg.symbols() reads: they and what the kit lists.
#include "py_module.h"

#include <string_view>

#include "base/dtype.h"
#include "dispatcher/dispatcher.h"
#include "python/op/py_operator.h"
#include "python/tensor/py_tensor.h"
#include "swigkit/listed.h"

namespace pkg::python {

int init_module(PyObject* module) noexcept {
  const auto fill = [module] {
    init_hooks();
    init_errors(module);
    init_dtype(module);
    add_tensor_type(module);
    add_operator_type(module);
    add_wrapper_type(module);
    Dispatcher::get();  // an error in a registration block is an ImportError's cause
    return 0;
  };
  return guarded(fill, -1);
}

std::vector<std::array<std::string, 4>> _symbols() {
  // The C++ name is that of the class.
  std::vector<std::array<std::string, 4>> rows = {
      {"Tensor", "class pkg::Tensor", "waits", "shared"},
      {"Operator", "class pkg::Operator", "waits", "shared"},
      {"OpWrapper", "class pkg::Operator", "waits", "shared"},
      {"OpLookupError", "class pkg::LookupError", "kept", "value"},
      {"OutOfMemoryError", "class pkg::OutOfMemoryError", "kept", "value"},
      {"CancelledError", "class pkg::CancelledError", "kept", "value"},
      {"InternalError", "class pkg::InternalError", "kept", "value"},
      {"HorovodInternalError", "class pkg::CollectiveError", "kept", "value"}};
#define PKG_ENTRY(T, Name, py, np) \
  rows.push_back({py, "const pkg::DType pkg::DType::" #Name, "kept", "value"});
  PKG_FORALL_DTYPES(PKG_ENTRY)
  for (const auto& [name, declaration, remark] : swigkit::listed()) {
    const std::string_view cpp = declaration;
    std::string said = *remark                     ? remark
                       : cpp.starts_with("class ") ? "kept shared"
                                                   : "kept value";
    const size_t space = said.find(' ');
    rows.push_back({name, declaration, said.substr(0, space),
                    cpp.starts_with("void ") ? "none" : said.substr(space + 1)});
  }
  return rows;
}

}  // namespace pkg::python
