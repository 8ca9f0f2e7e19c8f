// SPDX-License-Identifier: Apache-2.0
// swig/python/py_sites.cc: remembering where in Python a call was made.
//
// Every recorded op does this, so it only notes which code object runs and how far it
// is; the line is looked up when somebody asks.  Code objects that were noted are kept
// for ever: there are as many as functions that call ops.
#include "py_sites.h"

#include "swigkit/ref.h"

#include <dlfcn.h>
#include <frameobject.h>

#include <cstring>
#include <unordered_map>
#include <vector>

namespace pkg::python {
namespace {

// Programs that make code at run time must not grow the table without end.
constexpr size_t kMaxCodes = 1 << 16;

struct Code {
  PyCodeObject* object;
  bool inside;  // of the package: not what the user wants to see
};

struct Sites {
  std::vector<Code> codes{{nullptr, true}};  // 0 is "unknown"
  std::unordered_map<PyCodeObject*, uint32_t> numbers;
  uint32_t last = 0;
};
Sites& sites() {  // guarded by the GIL
  static Sites* instance = new Sites;
  return *instance;
}

// Folder of the package, with a slash: the extension lies in it.
const std::string& package_folder() {
  static const std::string folder = [] {
    Dl_info info;
    if (!dladdr(reinterpret_cast<const void*>(&mark_site), &info)) return std::string();
    const std::string path = info.dli_fname;
    return path.substr(0, path.rfind('/') + 1);
  }();
  return folder;
}

// The name of the module that the frame runs code of; "" where it has none.
std::string module_of(PyFrameObject* frame) {
  const PyRef globals(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(frame), "f_globals"));
  PyObject* name = globals ? PyDict_GetItemString(globals.get(), "__name__") : nullptr;
  const char* text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  if (!text) return PyErr_Clear(), "";
  return text;
}

// Generated wrappers of ops belong to it, wherever pkg/framework/loading.py has written
// them: it names their modules so.
bool in_package(PyFrameObject* frame, PyCodeObject* code) {
  const std::string& package = package_folder();
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (!file) return PyErr_Clear(), false;
  return (!package.empty() && std::string_view(file).starts_with(package)) ||
         module_of(frame).starts_with("pkg.op_libraries.");
}

uint32_t number_of(PyFrameObject* frame, PyCodeObject* code) {
  Sites& s = sites();
  if (s.codes[s.last].object == code) return s.last;
  const auto found = s.numbers.find(code);
  if (found != s.numbers.end()) return s.last = found->second;
  if (s.codes.size() >= kMaxCodes) return 0;
  Py_INCREF(code);
  s.codes.push_back({code, in_package(frame, code)});
  return s.last = s.numbers[code] = uint32_t(s.codes.size() - 1);
}

}  // namespace

uint64_t mark_site() {
  if (!interpreter_alive() || !PyGILState_Check()) return 0;
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  PyRef owner;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const uint32_t number = number_of(frame, code);
    Py_DECREF(code);
    if (!sites().codes[number].inside) {
      return uint64_t{number} << 32 | uint32_t(PyFrame_GetLasti(frame));
    }
    frame = PyFrame_GetBack(frame);
    owner = PyRef(reinterpret_cast<PyObject*>(frame));
  }
  return 0;
}

std::string site_text(uint64_t site) {
  if (!interpreter_alive()) return "";
  GilAcquire gil;
  const Code& code = sites().codes[size_t(site >> 32)];
  if (!code.object) return "";
  const char* file = PyUnicode_AsUTF8(code.object->co_filename);
  if (!file) {
    PyErr_Clear();
    return "";
  }
  return file + (":" + std::to_string(PyCode_Addr2Line(code.object, int(uint32_t(site)))));
}

}  // namespace pkg::python
