// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind.h: contents page of the pybind11 variant: one function per noun,
// called by bind_module.cc in this order.
#pragma once

#include "casters.h"

namespace pkg::pybind {

using TensorClass = py::class_<TensorImpl, Held<TensorImpl>>;

/// Scope of the classes that users see: they say that they come from pkg.
inline py::module_ public_scope(const char* name = "pkg") {
  return py::module_::import("types").attr("ModuleType")(name);
}

void bind_hooks();                     // bind_hooks.cc: GIL, Ctrl-C, call sites
void bind_error(py::module_& m);       // bind_error.cc: exception classes
void bind_dtype(py::module_& m);       // bind_dtype.cc
void bind_device(py::module_& m);      // bind_device.cc
void bind_tensor(py::module_& m);      // bind_tensor.cc: the class and its life
void bind_property(TensorClass& cls);  // bind_property.cc: x.shape, x.grad ...
void bind_method(TensorClass& cls);    // bind_method.cc: x.item(), x.size() ...
void bind_number(TensorClass& cls);    // bind_number.cc: +, ==, float(x) ...
void bind_index(TensorClass& cls);     // bind_index.cc: x[key]
void bind_memory(py::module_& m);      // bind_memory.cc: arrays of others, both ways
void bind_dlpack(py::module_& m, TensorClass& cls);  // bind_dlpack.cc: the same by DLPack
void bind_new(py::module_& m);                       // bind_new.cc: tensor(data)
void bind_operator(py::module_& m);      // bind_operator.cc: the callable of an op
void bind_wrapper(py::module_& m);       // bind_wrapper.cc: OpWrapper
void bind_registration(py::module_& m);  // bind_registration.cc; called by the former
void bind_autograd(py::module_& m);      // bind_autograd.cc
void bind_node(py::module_& m);          // bind_node.cc: grad_fn; called by the former
void bind_graph(py::module_& m);         // bind_graph.cc
void bind_scheduler(py::module_& m);     // bind_scheduler.cc
void bind_fork(py::module_& m);          // bind_fork.cc: what waits before os.fork()
void bind_event(py::module_& m);         // bind_event.cc; called by the former
void bind_stream(py::module_& m);        // bind_stream.cc; called by the former
void bind_config(py::module_& m);
void bind_profiler(py::module_& m);  // bind_profiler.cc

}  // namespace pkg::pybind
