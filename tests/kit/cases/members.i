// SPDX-License-Identifier: Apache-2.0
%module(directors="1") members
%include "swigkit.i"
%{
#include "members.h"

template <>
struct swigkit::Convert<members::Code> {
  static std::string expected() { return "4 letters"; }
  static bool load(PyObject *object, std::optional<members::Code> &code,
                   const Argument &where) {
    std::string text;
    if (!PyUnicode_Check(object)) return refuse(where, expected(), object);
    if (!to_cpp(object, text, where)) return false;
    code = members::Code::parse(text);
    return true;
  }
  static PyObject *cast(const members::Code &code) { return to_python(code.text()); }
};
%}
%ignore members::Code;
%overridable(members::Grove)
%shared(members::Branch)
%shared(members::Bough)
%ignore members::forest;
%ignore members::sawn;
%class_attribute(members::Clock, PRIMES, std::vector<int>{2, 3, 5})
%inline %{
// In the C API's way: an error is set, and something comes back.
inline int length(PyObject *list) { return int(PyObject_Length(list)); }
// Has an object of Python's, whatever it is.
struct Shelf {
  PyObject *object = nullptr;
  std::vector<PyObject *> several;
  static Shelf &the() {
    static Shelf shelf;
    return shelf;
  }
};
%}
%include "members.h"
%template(Vector2d) members::Vector2<double>;
%template(__add__) members::operator+<double>;
%template(__mul__) members::operator*<double>;
