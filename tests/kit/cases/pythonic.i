// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/pythonic.i: pythonic.h by the kit.
%module pythonic
%include "swigkit.i"
%{
#include <thread>

#include "pythonic.h"
%}
%positional_only(pythonic::text_of, 1)
%keyword_only(pythonic::text_of, width)
%value(pythonic::Length)
%implicit(pythonic::Length)
%shared(pythonic::Profile)
%shared(pythonic::Special)
%property(pythonic::Profile, std::vector<Length>, marks, marks, set_marks)
%property(pythonic::Profile, std::shared_ptr<Profile>, parent, parent, set_parent)
%property(pythonic::Profile, Length, highest, highest)
%property(pythonic::Profile, std::string, title, title, title)
%properties(pythonic::Tank, gauge, depth)
%properties(pythonic::Tank, gauge, litres)
%intrusive(pythonic::Counted, pythonic::Pointer<pythonic::Counted>)
%ignore pythonic::Counted::retain;
%ignore pythonic::Counted::release;
%ignore pythonic::Pointer;
%ignore pythonic::g_shelf;
%dynamic(pythonic::Note)
%collected(pythonic::Basket)
%public_module(pythonic::Basket, "shop.baskets")
%value(pythonic::Base)
%value(pythonic::Name)
%property(pythonic::Name, Base, Getter, Type)
%exceptions(pythonic::Function, "Function", PyExc_KeyError)
%include "pythonic.h"
%extend pythonic::Basket {
  /// The basket itself.
  swigkit::PyRef itself(swigkit::Self self_object) {
    return swigkit::PyRef::borrow(self_object.object);
  }
  /// Puts all of them in; how many there are.
  int put_all(swigkit::Args things) {
    for (Py_ssize_t i = 0; i < things.size(); ++i) $self->put(things[i]);
    return $self->size();
  }
  /// Any object, or its iterator.
  swigkit::PyRef __await__() {
    return swigkit::PyRef(PyObject_GetIter(swigkit::check(PyTuple_New(0)).get()));
  }
}
%without_names
%inline %{
inline int added(int a, int b = 2) { return a + b; }
inline int negated(int number) { return -number; }
%}
%with_names
%inline %{
/// All arguments beside the first, as they came.
swigkit::PyRef rest_of_all(int first, swigkit::Args rest) {
  return swigkit::PyRef::borrow(rest.tuple);
}
/// Keeps it, and ends what was kept before on another thread.
void keep_callable(const swigkit::PyCallable &callable) {
  static swigkit::PyCallable kept;
  std::thread([old = std::exchange(kept, callable)]() mutable { old = {}; }).detach();
}
/// Calls it with its own number of calls, n times.
swigkit::PyRef call_often(const swigkit::PyCallable &callable, int n = 1) {
  swigkit::PyRef result = swigkit::PyRef::borrow(Py_None);
  for (int i = 0; i < n; ++i) {
    result = callable(swigkit::PyRef(swigkit::to_python(i)).get());
  }
  return result;
}
%}
%made_by(Suit, of)
%final(Suit)
%inline %{
/// One of four.
class Suit {
 public:
  explicit Suit(int number) : number(number) {}
  /// By its first letter; always the same object.
  static swigkit::PyRef of(const std::string &letter) {
    static PyObject *made[4] = {};
    const size_t number = std::string("cdhs").find(letter);
    if (number > 3) throw std::invalid_argument("expected c, d, h or s");
    if (!made[number]) made[number] = swigkit::to_python(Suit(int(number)));
    return swigkit::PyRef::borrow(made[number]);
  }
  const int number;
  long __hash__() const { return -1L - (number == 3) * (1L << 62); }
  bool operator==(const Suit &other) const { return number == other.number; }
};
%}
