// SPDX-License-Identifier: Apache-2.0
// swig/python/py_module.h: the module as a whole.  swig/pywrap_core.i wraps what Python may
// call.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <array>
#include <string>
#include <vector>

namespace pkg::python {

/// Waits until nothing runs, for at most 5 s; what Ctrl-C raises comes after the fork.
void _before_fork();
/// [name, C++ signature, GIL, result] of each exported name.
std::vector<std::array<std::string, 4>> _symbols();

#ifndef SWIG
/// Adds the hand-written types; -1 with an error set on failure.
int init_module(PyObject* module) noexcept;
/// Installs the scheduler's hooks; py_hooks.cc.
void init_hooks();
#endif

}  // namespace pkg::python
