// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_module.cc: the module _pybind_core, a second binding of the whole
// core.  pkg/_binding.py imports it when PKG_BINDING=pybind11.
#include "bind.h"

#include "dispatcher/dispatcher.h"

namespace py = pybind11;

PYBIND11_MODULE(_pybind_core, m) {
  using namespace pkg::pybind;
  // Docstrings begin with "name(parameters)\n--\n\n", which CPython turns into
  // __text_signature__, instead of pybind11's prose.
  py::options options;
  options.disable_function_signatures();

  bind_hooks();
  bind_error(m);
  bind_dtype(m);
  bind_device(m);
  bind_tensor(m);
  bind_memory(m);
  bind_new(m);
  bind_operator(m);
  bind_wrapper(m);
  bind_autograd(m);
  bind_graph(m);
  bind_scheduler(m);
  bind_fork(m);
  bind_config(m);
  bind_profiler(m);
  pkg::Dispatcher::get();  // an error in a registration block ends the import
}
