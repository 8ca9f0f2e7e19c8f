// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_hooks.cc: Python's part in the scheduler (scheduler/hooks.h): the
// GIL, Ctrl-C, and where in Python a call was made.
#include <unordered_map>

#include "bind.h"
#include "kept.h"
#include "scheduler/hooks.h"

namespace pkg::pybind {
namespace {

void* enter_blocking() {
  // A thread without the GIL (a worker, or an outer region) has nothing to give up.
  if (!interpreter_alive() || !PyGILState_Check()) return nullptr;
  return new WithoutGil;
}

void leave_blocking(void* released) { delete static_cast<WithoutGil*>(released); }

void check_interrupt() {
  if (!interpreter_alive()) return;
  WithGil gil;
  // An error of the core, so that a kernel that it ends lets it through as it is.
  if (call_python(PyErr_CheckSignals) != 0) {
    throw PythonFailure(py::error_already_set(), true);
  }
}

/// Code objects by number, kept for ever: as many as functions that call ops.
class Codes {
 public:
  /// The code's number; 0 when it belongs to the package, whose lines nobody asks for.
  uint32_t number_of(const py::object& frame) {
    const py::object code = frame.attr("f_code");
    const auto [place, fresh] = numbers_.try_emplace(code.ptr(), 0);
    if (fresh) {
      codes_.push_back(code);
      if (!in_package(frame, code)) place->second = uint32_t(codes_.size());
    }
    return place->second;
  }
  py::object code(uint32_t number) const { return codes_[number - 1]; }

 private:
  static bool in_package(const py::object& frame, const py::object& code) {
    const py::list path = py::module_::import("pkg").attr("__path__");
    const auto package = py::str("{}/").format(path[0]).cast<std::string>();
    const auto name = code.attr("co_filename").cast<std::string>();
    const py::object module = frame.attr("f_globals").attr("get")("__name__");
    return name.starts_with(package) ||
           py::str(module).cast<std::string>().starts_with("pkg.op_libraries.");
  }

  std::vector<py::object> codes_;
  std::unordered_map<PyObject*, uint32_t> numbers_;
};

Codes& codes() {  // guarded by the GIL
  static Codes* instance = new Codes;
  return *instance;
}

uint64_t mark_site() {
  if (!interpreter_alive() || !PyGILState_Check()) return 0;
  auto frame = py::reinterpret_borrow<py::object>(
      reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (; frame && !frame.is_none(); frame = frame.attr("f_back")) {
    const uint32_t number = codes().number_of(frame);
    if (number) return uint64_t{number} << 32 | frame.attr("f_lineno").cast<uint32_t>();
  }
  return 0;
}

std::string site_text(uint64_t site) {
  if (!site || !interpreter_alive()) return "";
  WithGil gil;
  const py::object code = codes().code(uint32_t(site >> 32));
  return code.attr("co_filename").cast<std::string>() + ":" +
         std::to_string(uint32_t(site));
}

}  // namespace

void bind_hooks() {
  set_hooks({enter_blocking, leave_blocking, check_interrupt, mark_site, site_text,
             WorkerState::give_back});
}

}  // namespace pkg::pybind
