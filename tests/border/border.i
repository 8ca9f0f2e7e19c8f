// SPDX-License-Identifier: Apache-2.0
// tests/border/border.i: border.h by SWIG, with the package's typemaps.
%module border

%include "errors.i"
%include "types.i"
%include "classes.i"

%{
#include "border.h"
#include "python/containers.h"
#include "python/function.h"
%}

PKG_VALUE(int32_t)
PKG_VALUE(uint8_t)
PKG_VALUE(uint64_t)
PKG_VALUE(float)
PKG_VALUE(std::vector<std::byte>)
PKG_VALUE(border::Doubles)
PKG_VALUE(border::Table)
PKG_VALUE(border::Prices)
PKG_VALUE(border::Groups)
PKG_VALUE(std::vector<std::string>)
PKG_VALUE(%arg(std::pair<int64_t, std::string>))
PKG_VALUE(%arg(std::pair<std::string, int64_t>))
PKG_VALUE(%arg(std::tuple<std::string, bool, double>))
PKG_VALUE(%arg(std::tuple<bool, double, std::string>))
PKG_VALUE(std::optional<double>)
PKG_VALUE(std::vector<border::Color>)
PKG_VALUE(std::function<double(double)>)
PKG_VALUE(std::function<double(int64_t)>)
PKG_VALUE(std::function<void(const std::string &)>)
PKG_ENUM(border::Color, "Color", {"RED", border::Color::Red},
         {"GREEN", border::Color::Green}, {"BLUE", border::Color::Blue})

// Threads that wait for the GIL must get it while the caller waits for them.
PKG_RELEASES_GIL(border::sum_on_threads)
PKG_RELEASES_GIL(border::forget)

%apply SWIGTYPE *OPTIONAL { const border::Account *maybe };
PKG_SHARED(border::Node)
%ignore border::Color;
%ignore border::g_listener;
%ignore border::Account::alive;
%ignore border::Node::alive;
%include "border.h"

PKG_REPAIR_CLASSES

%init %{
  try {
    pkg::python::init_errors(m);
  } catch (...) {
    pkg::python::translate();
    return -1;
  }
%}
