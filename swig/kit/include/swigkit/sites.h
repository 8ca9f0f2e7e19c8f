// SPDX-License-Identifier: Apache-2.0
// swigkit/sites.h: places in Python programs, for errors and records: who called C++.
#pragma once

#include "ref.h"

#include <dlfcn.h>
#include <frameobject.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace [[gnu::visibility("hidden")]] swigkit {

/// The folder of the extension module, with a slash; "" where nobody knows it.
inline std::string module_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&module_folder), &info)) return "";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

/// Remembers where in Python calls were made, as numbers.  mark() only notes which code
/// object runs and how far it is: the line is looked up when somebody asks.  Code objects
/// that were noted are kept for ever: there are as many as functions that call C++.
class CallSites {
 public:
  /// `is_inside`: whether a file or the module of that name is the library's own, whose
  /// lines nobody asks for.
  using Inside = bool(std::string_view file, std::string_view module);
  explicit CallSites(Inside* is_inside) : is_inside_(is_inside) {}

  /// The innermost running line that is not inside; 0 without the GIL or such a line.
  uint64_t mark() {
    if (!interpreter_alive() || !PyGILState_Check()) return 0;
    PyFrameObject* frame = PyEval_GetFrame();  // borrowed
    PyRef owner;
    while (frame) {
      PyCodeObject* code = PyFrame_GetCode(frame);
      const uint32_t number = number_of(frame, code);
      Py_DECREF(code);
      if (!codes_[number].inside) {
        return uint64_t{number} << 32 | uint32_t(PyFrame_GetLasti(frame));
      }
      frame = PyFrame_GetBack(frame);
      owner = PyRef(reinterpret_cast<PyObject*>(frame));
    }
    return 0;
  }
  /// "file:line" of such a number, "" of 0; takes the GIL.
  std::string text(uint64_t site) const {
    if (!interpreter_alive()) return "";
    GilAcquire gil;
    PyCodeObject* code = codes_[size_t(site >> 32)].object;
    if (!code) return "";
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    if (!file) return PyErr_Clear(), "";
    return file + (":" + std::to_string(PyCode_Addr2Line(code, int(uint32_t(site)))));
  }

 private:
  struct Code {
    PyCodeObject* object;
    bool inside;
  };
  // Programs that make code at run time must not grow the table without end.
  static constexpr size_t kMaxCodes = 1 << 16;

  // The name of the module that the frame runs code of; "" where it has none.
  static std::string module_of(PyFrameObject* frame) {
    const PyRef globals(PyFrame_GetGlobals(frame));
    PyObject* name = PyDict_GetItemString(globals.get(), "__name__");
    const char* text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
    if (!text) return PyErr_Clear(), "";
    return text;
  }

  uint32_t number_of(PyFrameObject* frame, PyCodeObject* code) {
    if (codes_[last_].object == code) return last_;
    const auto found = numbers_.find(code);
    if (found != numbers_.end()) return last_ = found->second;
    if (codes_.size() >= kMaxCodes) return 0;
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    if (!file) PyErr_Clear();
    Py_INCREF(code);
    codes_.push_back({code, file && is_inside_(file, module_of(frame))});
    return last_ = numbers_[code] = uint32_t(codes_.size() - 1);
  }

  // All of it is guarded by the GIL.
  Inside* is_inside_;
  std::vector<Code> codes_{{nullptr, true}};  // 0 is "unknown"
  std::unordered_map<PyCodeObject*, uint32_t> numbers_;
  uint32_t last_ = 0;
};

}  // namespace swigkit
