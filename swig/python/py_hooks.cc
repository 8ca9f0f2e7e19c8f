// SPDX-License-Identifier: Apache-2.0
// swig/python/py_hooks.cc: what the scheduler asks of Python (scheduler/hooks.h): the GIL,
// Ctrl-C, call sites; and the wait before os.fork(), which pkg/__init__.py registers.
#include "swigkit/later.h"
#include "swigkit/sites.h"

#include "py_error.h"
#include "py_module.h"
#include "scheduler/hooks.h"
#include "scheduler/scheduler.h"

namespace pkg::python {
namespace {

void check_interrupt() {
  if (!interpreter_alive()) return;
  GilAcquire gil;
  if (call_python(PyErr_CheckSignals) < 0) throw PyError::fetch(true);
}

// The extension lies in the package's folder.  Generated wrappers of ops belong to it,
// wherever pkg/framework/loading.py has written them: it names their modules so.
bool in_package(std::string_view file, std::string_view module) {
  static const std::string package = module_folder();
  return (!package.empty() && file.starts_with(package)) ||
         module.starts_with("pkg.op_libraries.");
}

CallSites& sites() {
  static auto* instance = new CallSites(in_package);
  return *instance;
}

}  // namespace

void init_hooks() {
  WorkerState::on_worker = [] { return on_worker(); };
  set_hooks({give_gil_up, take_gil_back, check_interrupt, [] { return sites().mark(); },
             [](uint64_t site) { return sites().text(site); }, WorkerState::give_back});
}

void _before_fork() {
  try {
    quiesce();
  } catch (const PyError& error) {
    if (!LateError::raise(error.held())) throw;
  }
}

}  // namespace pkg::python
