// SPDX-License-Identifier: Apache-2.0
// swig/python/py_symbols.cc: the table of exported names (symbol.h): the entries of what is
// hand-written, and the table as a Python list.
#include <string_view>

#include "py_error.h"
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
PKG_ENTRY(dtype, "enum class pkg::DType", "kept", "value");
PKG_ENTRY(device, "struct pkg::Device", "kept", "value");
PKG_ENTRY(OpLookupError, "class pkg::LookupError", "kept", "value");
PKG_ENTRY(OutOfMemoryError, "class pkg::OutOfMemoryError", "kept", "value");
PKG_ENTRY(CancelledError, "class pkg::CancelledError", "kept", "value");
PKG_ENTRY(InternalError, "class pkg::InternalError", "kept", "value");

#define PKG_ENTRY_OF_DTYPE(variable, name, Name) \
  PKG_SYMBOL(variable, name, "const pkg::DType pkg::DType::" Name, "kept", "value")
PKG_ENTRY_OF_DTYPE(symbol_bool, "bool", "Bool");
PKG_ENTRY_OF_DTYPE(symbol_uint8, "uint8", "UInt8");
PKG_ENTRY_OF_DTYPE(symbol_int8, "int8", "Int8");
PKG_ENTRY_OF_DTYPE(symbol_int32, "int32", "Int32");
PKG_ENTRY_OF_DTYPE(symbol_int64, "int64", "Int64");
PKG_ENTRY_OF_DTYPE(symbol_float16, "float16", "Float16");
PKG_ENTRY_OF_DTYPE(symbol_bfloat16, "bfloat16", "BFloat16");
PKG_ENTRY_OF_DTYPE(symbol_float32, "float32", "Float32");
PKG_ENTRY_OF_DTYPE(symbol_float64, "float64", "Float64");

PKG_ENTRY(tensor,
          "pkg::Tensor pkg::python::tensor_from_data(PyObject*, std::optional<pkg::DType>)",
          "waits", "value");
PKG_ENTRY(from_numpy,
          "pkg::Tensor pkg::from_blob(void*, pkg::Shape const&, pkg::Shape const&, "
          "pkg::DType, std::function<void ()>)",
          "kept", "memory");
PKG_ENTRY(_memory, "PyObject* pkg::python::memory_of(PyObject*, PyObject*)", "waits",
          "memory");
PKG_ENTRY(_from_dlpack,
          "pkg::Tensor pkg::dlpack::from_dlpack(pkg::dlpack::Versioned*, "
          "std::optional<bool>)",
          "kept", "memory");
PKG_ENTRY(register_tensor_class,
          "PyObject* pkg::python::register_tensor_class(PyObject*, PyObject*)", "kept",
          "none");
PKG_ENTRY(operator_names, "PyObject* pkg::python::operator_names(PyObject*, PyObject*)",
          "kept", "value");
PKG_ENTRY(operator_namespaces,
          "PyObject* pkg::python::operator_namespaces(PyObject*, PyObject*)", "kept",
          "value");
PKG_ENTRY(_before_fork, "PyObject* pkg::python::before_fork(PyObject*, PyObject*)", "waits",
          "none");
PKG_ENTRY(_symbols, "PyObject* pkg::python::symbols(PyObject*, PyObject*)", "kept",
          "value");

// Where the linker put the table.
extern "C" {
[[gnu::visibility("hidden")]] extern const Symbol __start_pkg_symbols[];
[[gnu::visibility("hidden")]] extern const Symbol __stop_pkg_symbols[];
}

PyObject* symbols(PyObject*, PyObject*) {
  PyRef list(PyList_New(0));
  if (!list) return nullptr;
  for (const Symbol* s = __start_pkg_symbols; s != __stop_pkg_symbols; ++s) {
    const bool nothing = std::string_view(s->signature).starts_with("void ");
    PyRef row(Py_BuildValue("(ssss)", s->name, s->signature, s->gil,
                            nothing ? "none" : s->result));
    if (!row || PyList_Append(list.get(), row.get()) < 0) return nullptr;
  }
  return list.release();
}

PyMethodDef g_functions[] = {
    {"_symbols", symbols, METH_NOARGS,
     "_symbols()\n--\n\n(name, C++ signature, GIL, result) of each exported name."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int add_symbols(PyObject* module) { return PyModule_AddFunctions(module, g_functions); }

}  // namespace pkg::python
