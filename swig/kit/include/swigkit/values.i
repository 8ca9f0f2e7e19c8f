// swigkit/values.i: how C++ values cross the border.  Which conversion a type has is
// chosen by C++ (swigkit::Convert), so that the typemaps are the same for all.
%{
#include "swigkit/buffers.h"
#include "swigkit/classes.h"
#include "swigkit/containers.h"
#include "swigkit/enumeration.h"
#include "swigkit/function.h"
#include "swigkit/members.h"
#include "swigkit/outputs.h"
#include "swigkit/plain.h"
#include "swigkit/pointers.h"
#include "swigkit/results.h"
#include "swigkit/standard.h"
%}

// One function for all default values, which has keywords.
%feature("compactdefaultargs");
// The kit chooses among overloads when they are called: none shadows another.
// Nothing can be done about assignment, and of text that is assigned no more than C does.
// Exceptions say `using std::runtime_error::runtime_error`.
#pragma SWIG nowarn=SWIGWARN_PARSE_USING_UNDEF
// std::hash and the like, of which SWIG need not know the templates.
#pragma SWIG nowarn=SWIGWARN_PARSE_TEMPLATE_SP_UNDEF
// A word of Python's gets an underscore behind it (tree.py).
#pragma SWIG nowarn=SWIGWARN_PARSE_KEYWORD
// Of comments in a library's headers nothing can be done.
#pragma SWIG nowarn=560,561,562,563,564,565,566,567
#pragma SWIG nowarn=SWIGWARN_TYPEMAP_DIRECTOROUT_PTR
#pragma SWIG nowarn=SWIGWARN_IGNORE_OPERATOR_EQ,SWIGWARN_TYPEMAP_CHARLEAK
#pragma SWIG nowarn=SWIGWARN_LANG_OVERLOAD_SHADOW,SWIGWARN_LANG_OVERLOAD_IGNORED
#pragma SWIG nowarn=SWIGWARN_LANG_OVERLOAD_CONST,SWIGWARN_LANG_OVERLOAD_DECL

%include <stdint.i>
namespace std {
  // For `using namespace std::chrono` and the like.
  namespace chrono {
  class nanoseconds;
  class microseconds;
  class milliseconds;
  class seconds;
  class minutes;
  class hours;
  class days;
  class weeks;
  class months;
  class years;
  class sys_days;
  class sys_seconds;
  class system_clock;
  class steady_clock;
  template <class Rep, class Period>
  class duration;
  template <class Clock, class Duration>
  class time_point;
  }
  namespace filesystem {
  class path;
  }
  namespace literals {
  namespace chrono_literals {}
  namespace complex_literals {}
  namespace string_literals {}
  namespace string_view_literals {}
  }
  namespace chrono_literals {}
  namespace complex_literals {}
  namespace string_literals {}
  namespace string_view_literals {}
  namespace placeholders {}
  namespace this_thread {}
  class string;
  class string_view;
  // Of items that cannot be made of nothing.
  %feature("valuewrapper") array;
  template <class T, size_t N>
  class array;
  %feature("valuewrapper") reference_wrapper;
  template <class T>
  class reference_wrapper;
  %feature("valuewrapper") span;
  template <class T, size_t N>
  class span;
}

%define SWIGKIT_PLAIN(Types_...)
%typemap(in) Types_ {
  if (!swigkit::to_cpp<$1_ltype>($input, $1, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
}
%typemap(out) Types_ { $result = swigkit::Convert<$1_ltype>::cast($1); }
// By reference, as templates take them.
%typemap(in) const Types_ & ($*1_ltype held) {
  if (!swigkit::to_cpp<$*1_ltype>($input, held,
                       swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  $1 = &held;
}
%typemap(out) const Types_ & { $result = swigkit::Convert<$*1_ltype>::cast(*$1); }
%typemap(directorin) const Types_ & {
  $input = swigkit::Convert<$*1_ltype>::cast($1);
}
%typemap(varin) Types_ {
  if (!swigkit::set_variable($input, $1, "$symname")) SWIG_fail;
}
%typemap(varout) Types_ { $result = swigkit::Convert<$1_ltype>::cast($1); }
%typemap(directorin) Types_ { $input = swigkit::Convert<$1_ltype>::cast($1); }
%typemap(directorout) Types_ {
  if (!swigkit::to_cpp<$1_ltype>($input, $result, swigkit::Argument{"$symname", "result"})) {
    swigkit::throw_python_error();
  }
}
%enddef
// These fit where they go: no copy in between.
SWIGKIT_PLAIN(bool)
SWIGKIT_PLAIN(char)
SWIGKIT_PLAIN(wchar_t)
SWIGKIT_PLAIN(signed char)
SWIGKIT_PLAIN(unsigned char)
SWIGKIT_PLAIN(short)
SWIGKIT_PLAIN(unsigned short)
SWIGKIT_PLAIN(int)
SWIGKIT_PLAIN(unsigned int)
SWIGKIT_PLAIN(long)
SWIGKIT_PLAIN(unsigned long)
SWIGKIT_PLAIN(long long)
SWIGKIT_PLAIN(unsigned long long)
SWIGKIT_PLAIN(float)
SWIGKIT_PLAIN(double)
SWIGKIT_PLAIN(size_t)
SWIGKIT_PLAIN(ptrdiff_t)
// Which SWIG knows by themselves.
SWIGKIT_PLAIN(std::size_t)
SWIGKIT_PLAIN(std::ptrdiff_t)

// Everything else by value: classes, enums, the standard library's types.
%define SWIGKIT_VALUE(Types_...)
%typemap(in) Types_ (swigkit::In< $1_basetype > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  if (!swigkit::assign($1, held.take())) SWIG_fail;
  held.watch(&$1);
}
%typemap(out) Types_ { $result = swigkit::give(std::move(*(&$1)), SWIGKIT_ARGUMENTS); }
%typemap(varin) Types_ {
  if (!swigkit::set_variable($input, $1, "$symname")) SWIG_fail;
}
%typemap(varout) Types_ { $result = swigkit::get_variable($1); }
%typemap(directorin) Types_ {
  $input = swigkit::Convert< $1_basetype >::cast(std::move($1));
}
%typemap(directorout) Types_ (swigkit::In< $1_basetype > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "result"}.lasting())) {
    swigkit::throw_python_error();
  }
  swigkit::keep_view< $1_basetype >($input);
  static const char method = 0;
  swigkit::keep_results(swig_get_self(), held, &method);
  $result = held.take();
}
%enddef
SWIGKIT_VALUE(SWIGTYPE)
SWIGKIT_VALUE(enum SWIGTYPE)

// SWIG has typemaps of its own for these, which pass nothing.
namespace std {
%typemap(in) initializer_list<T> (swigkit::In< $1_basetype > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  $1 = held.take();
}
%typemap(typecheck, precedence=SWIG_TYPECHECK_POINTER) initializer_list<T> "$1 = 1;"
}

// References and pointers to one: an object of a wrapped class itself, else a copy.
%typemap(in)
    SWIGTYPE & (swigkit::In< std::remove_pointer_t< $1_ltype > > held),
    SWIGTYPE && (swigkit::In< std::remove_pointer_t< $1_ltype > > held),
    const SWIGTYPE & (swigkit::In< std::remove_pointer_t< $1_ltype > > held),
    const SWIGTYPE && (swigkit::In< std::remove_pointer_t< $1_ltype > > held),
    enum SWIGTYPE & (swigkit::In< std::remove_pointer_t< $1_ltype > > held),
    const enum SWIGTYPE & (swigkit::In< std::remove_pointer_t< $1_ltype > > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  $1 = held.get();
}
%typemap(in) SWIGTYPE * (swigkit::InPointer< $*1_ltype > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"}, $1)) SWIG_fail;
}
%typemap(in) SWIGTYPE *const & (
    $*1_ltype pointer, swigkit::InPointer< std::remove_pointer_t< $*1_ltype > > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"}, pointer)) SWIG_fail;
  $1 = &pointer;
}
%typemap(in) SWIGTYPE *const = SWIGTYPE *;
// C++ takes the object over: %apply SWIGTYPE *DISOWN { geo::Shape *shape };
%typemap(in) SWIGTYPE *DISOWN (swigkit::InOwned< std::remove_pointer_t< $1_type > > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"}, $1)) SWIG_fail;
}
// After the conversion of all arguments.
%typemap(check) SWIGTYPE *DISOWN { held$argnum.release(); }
// `swig_obj` are the arguments: a reference keeps those alive that it may be a part of.
%typemap(out) SWIGTYPE *, SWIGTYPE &, const SWIGTYPE &, enum SWIGTYPE &,
              const enum SWIGTYPE & {
  $result = swigkit::refer< $owner >($1, SWIGKIT_ARGUMENTS);
}
%typemap(out) SWIGTYPE *const { $result = swigkit::refer< $owner >($1, SWIGKIT_ARGUMENTS); }
%typemap(out) SWIGTYPE && { $result = swigkit::to_python(std::move(*$1)); }
%typemap(out) SWIGTYPE *const & {
  $result = swigkit::refer< $owner >(*$1, SWIGKIT_ARGUMENTS);
}
%typemap(varin) SWIGTYPE &, const SWIGTYPE & {
  swigkit::In< $*1_ltype > held;
  if (!held.load($input, swigkit::Argument{"cvar", "$symname"})) SWIG_fail;
  $1 = held.take();
}
%typemap(varout) SWIGTYPE *, SWIGTYPE *const {
  $result = swigkit::refer(&*$1, nullptr, 0);
}
%typemap(varout) SWIGTYPE &, const SWIGTYPE & {
  $result = swigkit::refer(&$1, nullptr, 0);
}
// step.py declares the one that holds it, as these typemaps have no variables.
%typemap(directorin) SWIGTYPE *, SWIGTYPE &&, SWIGTYPE &, const SWIGTYPE &,
                     enum SWIGTYPE &, const enum SWIGTYPE & {
  $input = swigkit_lent_##$1_name.hold(swigkit::pass(&$1_name));
}
%typemap(directorin) SWIGTYPE * { $input = swigkit::pass($1_name); }

// What an override returns by reference: an object lives as long as the one that the method
// was called on, a value until eight more calls of the method on the thread.
%typemap(directorout) SWIGTYPE &, const SWIGTYPE &, enum SWIGTYPE &,
                      const enum SWIGTYPE & {
  static thread_local swigkit::Lasting< swigkit::In< $*1_ltype > > last;
  auto fresh = std::make_unique< swigkit::In< $*1_ltype > >();
  if (!fresh->load($input, swigkit::Argument{"$symname", "result"})) swigkit::throw_python_error();
  swigkit::keep_result(swig_get_self(), $input);
  $result = last.keep(std::move(fresh)).get();
}
%typemap(directorout) SWIGTYPE * {
  static thread_local swigkit::Lasting< swigkit::InPointer< $*1_ltype > > last;
  auto fresh = std::make_unique< swigkit::InPointer< $*1_ltype > >();
  $*1_ltype *pointer = nullptr;
  if (!fresh->load($input, swigkit::Argument{"$symname", "result", true}, pointer)) {
    swigkit::throw_python_error();
  }
  last.keep(std::move(fresh));
  swigkit::keep_result(swig_get_self(), $input);
  $result = pointer;
}

// Arrays of one dimension, and of two.
%typemap(in) SWIGTYPE [ANY] (
    swigkit::In< std::array< std::remove_cv_t< $1_basetype >, $1_dim0 > > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  $1 = ($1_ltype)held.get()->data();
}
%typemap(in) SWIGTYPE [] (
    swigkit::In< std::vector< std::remove_cv_t< $1_basetype > > > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  $1 = ($1_ltype)held.get()->data();
}
// A std::vector of bool has none.
%typemap(in) bool [] (
    swigkit::In< std::vector< bool > > held, std::unique_ptr< bool[] > flags) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  flags.reset(new bool[held.get()->size()]);
  std::ranges::copy(*held.get(), flags.get());
  $1 = flags.get();
}
%typemap(memberin) SWIGTYPE [ANY] {
  std::copy_n($input, $1_dim0, $1);
}
%typemap(out) SWIGTYPE [ANY] {
  $result = swigkit::to_python(
      std::vector< std::remove_cv_t< $1_basetype > >($1, $1 + $1_dim0));
}

%typemap(in) SWIGTYPE [ANY][ANY] (
    swigkit::In< std::array< std::array< std::remove_cv_t< $1_basetype >, $1_dim1 >,
                             $1_dim0 > > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  $1 = reinterpret_cast< $1_ltype >(held.get()->data());
}
%typemap(in) SWIGTYPE [][ANY] (
    swigkit::In< std::vector< std::array< std::remove_cv_t< $1_basetype >, $1_dim1 > > > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  $1 = reinterpret_cast< $1_ltype >(held.get()->data());
}
%typemap(memberin) SWIGTYPE [ANY][ANY] {
  std::copy_n(&$input[0][0], $1_dim0 * $1_dim1, &$1[0][0]);
}
%typemap(out) SWIGTYPE [ANY][ANY] {
  std::vector< std::vector< std::remove_cv_t< $1_basetype > > > rows;
  for (size_t i = 0; i < $1_dim0; ++i) rows.emplace_back($1[i], $1[i] + $1_dim1);
  $result = swigkit::to_python(std::move(rows));
}

%typemap(directorin) SWIGTYPE [ANY] {
  $input = swigkit::list_of< std::remove_cv_t< $1_basetype > >($1_name, $1_dim0);
}
%typemap(directorin) SWIGTYPE [ANY][ANY] {
  $input = swigkit::list_of_rows< std::remove_cv_t< $1_basetype > >($1_name, $1_dim0);
}

%typemap(varin) SWIGTYPE [ANY] {
  swigkit::In< std::array< std::remove_cv_t< $1_basetype >, $1_dim0 > > held;
  if (!held.load($input, swigkit::Argument{"cvar", "$symname"})) SWIG_fail;
  std::copy_n(held.get()->data(), $1_dim0, $1);
}
%typemap(varin) SWIGTYPE [ANY][ANY] {
  swigkit::In< std::array< std::array< std::remove_cv_t< $1_basetype >, $1_dim1 >,
                           $1_dim0 > > held;
  if (!held.load($input, swigkit::Argument{"cvar", "$symname"})) SWIG_fail;
  std::copy_n(held.get()->front().data(), $1_dim0 * $1_dim1, &$1[0][0]);
}
%typemap(varin) char [ANY] {
  const char *text = nullptr;
  if (!swigkit::to_cpp<const char *>($input, text,
                       swigkit::Argument{"cvar", "$symname"})) SWIG_fail;
  if (!swigkit::copy_text($1, $1_dim0, text, swigkit::Argument{"cvar", "$symname"})) SWIG_fail;
}
%typemap(varin) SWIGTYPE * {
  static PyObject *kept = nullptr;  // what the variable points to
  if (!swigkit::set_pointer($input, $1,
                       swigkit::Argument{"cvar", "$symname", true}, kept)) SWIG_fail;
}
%typemap(varout) SWIGTYPE [ANY][ANY], SWIGTYPE [][ANY] {
  std::vector< std::vector< std::remove_cv_t< $1_basetype > > > rows;
  for (const auto &row : $1) rows.emplace_back(std::begin(row), std::end(row));
  $result = swigkit::to_python(std::move(rows));
}
%typemap(varout) SWIGTYPE [ANY], SWIGTYPE [] {
  $result = swigkit::to_python(
      std::vector< std::remove_cv_t< $1_basetype > >(std::begin($1), std::end($1)));
}

// Functions of C++'s, as callables.
%typemap(in) SWIGTYPE ((*)(ANY)) {
  if (!swigkit::to_cpp< $1_ltype >($input, $1, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
}
%typemap(in) SWIGTYPE ((*const)(ANY)) = SWIGTYPE ((*)(ANY));
%typemap(constcode, noblock=1) SWIGTYPE ((*)(ANY)) {
  SWIG_Python_SetConstant(d, "$symname", swigkit::Convert< $1_ltype >::cast($value));
}
%typemap(out) SWIGTYPE ((*)(ANY)) { $result = swigkit::Convert< $1_ltype >::cast($1); }
%typemap(varin) SWIGTYPE ((*)(ANY)) {
  if (!swigkit::set_variable($input, $1, "$symname")) SWIG_fail;
}
%typemap(varout) SWIGTYPE ((*)(ANY)) { $result = swigkit::Convert< $1_ltype >::cast($1); }
%typemap(directorin) SWIGTYPE ((*)(ANY)) {
  $input = swigkit::Convert< $1_ltype >::cast($1);
}
%typemap(directorout) SWIGTYPE ((*)(ANY)) {
  if (!swigkit::to_cpp< $1_ltype >($input, $result, swigkit::Argument{"$symname", "result"})) {
    swigkit::throw_python_error();
  }
}

%typemap(in, numinputs=0) swigkit::Self "$1.object = swig_obj[0];"

// An address that only C++ knows what to do with: a capsule.
// SWIG takes what `using F = void(int);` points to for one.
%typemap(in) void * {
  if (!swigkit::take_address($input, $1, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
}
%typemap(out) void * { $result = swigkit::give_address($1); }
%typemap(varin) void * {
  if (!swigkit::set_variable($input, $1, "$symname")) SWIG_fail;
}
%typemap(varout) void * { $result = swigkit::give_address($1); }
%typemap(directorin) void * { $input = swigkit::give_address($1); }

// C's text.
%define SWIGKIT_TEXT(Types_...)
%typemap(in) Types_ {
  const char *text = nullptr;
  if (!swigkit::to_cpp<const char *>($input, text,
                       swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  $1 = ($1_ltype)text;
}
%typemap(out) Types_ { $result = swigkit::Convert<const char *>::cast($1); }
%typemap(varout) Types_ { $result = swigkit::Convert<const char *>::cast($1); }
%typemap(directorin) Types_ { $input = swigkit::Convert<const char *>::cast($1); }
%typemap(directorout) Types_ {
  const char *text = nullptr;
  if (!swigkit::to_cpp<const char *>($input, text, swigkit::Argument{"$symname", "result", true})) {
    swigkit::throw_python_error();
  }
  swigkit::keep_viewed($input);
  $result = ($1_ltype)text;
}
%enddef
%typemap(typecheck, precedence=SWIG_TYPECHECK_STRING) const char * "$1 = 1;"
%typemap(freearg) const char *, char *, const char [ANY], char [ANY] ""
SWIGKIT_TEXT(const char *)
SWIGKIT_TEXT(char *)
SWIGKIT_TEXT(const char [ANY])
SWIGKIT_TEXT(char [ANY])
// Python's own text is not to be written to.
%typemap(in) char * (swigkit::WritableText held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"}, $1)) SWIG_fail;
}
%typemap(in) char [ANY] (swigkit::WritableText held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"}, $1, $1_dim0)) SWIG_fail;
}

// The same in C++'s wide encodings, and in char8_t.
%define SWIGKIT_WIDE_TEXT(Character_)
%typemap(in) const Character_ * (swigkit::InText< Character_ > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"}, $1)) SWIG_fail;
}
%typemap(out) const Character_ *, const Character_ *const {
  $result = swigkit::text_or_none($1);
}
%typemap(varout) const Character_ *, const Character_ *const {
  $result = swigkit::constant_text($1);
}
%typemap(constcode, noblock=1) const Character_ *, Character_ * {
  SWIG_Python_SetConstant(d, "$symname", swigkit::constant_text($value));
}
%typemap(directorin) const Character_ * { $input = swigkit::text_or_none($1); }
%typemap(memberin) const Character_ * {
  PyErr_SetString(PyExc_AttributeError,
                  "C++ has the text of this member: assign to it in C++ (%extend)");
  SWIG_fail;
}
// An array of them, as one of char.
%typemap(in) Character_ [ANY] (Character_ held[$1_dim0]) {
  if (!swigkit::copy_text(held, $1_dim0, $input,
                          swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  $1 = held;
}
%typemap(out) Character_ [ANY] { $result = swigkit::to_python(swigkit::text_of($1, $1_dim0)); }
%typemap(directorin) Character_ [ANY] { $input = swigkit::text_or_none($1_name, $1_dim0); }
%typemap(varin) Character_ [ANY], Character_ [] {
  if (!swigkit::copy_text($1, std::size($1), $input,
                          swigkit::Argument{"cvar", "$symname"})) SWIG_fail;
}
%typemap(varout) Character_ [ANY], Character_ [] {
  $result = swigkit::constant_text(swigkit::text_of($1, std::size($1)));
}
%enddef
SWIGKIT_WIDE_TEXT(wchar_t)
// As those of char; of the others pointers that are not const are to numbers as a rule.
%typemap(in) wchar_t * (swigkit::InText< wchar_t > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"}, $1)) SWIG_fail;
}
%typemap(out) wchar_t *, wchar_t *const { $result = swigkit::text_or_none($1); }
%typemap(varout) wchar_t *, wchar_t *const { $result = swigkit::text_or_none($1); }
%typemap(newfree) const wchar_t *, wchar_t * "delete[] $1;"
SWIGKIT_WIDE_TEXT(char8_t)
SWIGKIT_WIDE_TEXT(char16_t)
SWIGKIT_WIDE_TEXT(char32_t)

// A member that points to a text, of which copies of its struct may be anywhere.
%typemap(memberin) const char * {
  if (arg1 && !swigkit::keep_text($input, $1)) SWIG_fail;
}

// Nobody says who keeps the texts of such an array.
%typemap(memberin) const char *[ANY], char *[ANY] {
  PyErr_SetString(PyExc_AttributeError,
                  "C++ has the texts of this array: assign to it in C++ (%extend)");
  SWIG_fail;
}

// A member that is an array of them holds a text and the zero behind it.
%typemap(memberin) char [ANY] {
  if (!swigkit::copy_text($1, $1_dim0, $input, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
}
%typemap(out) char [ANY] { $result = swigkit::to_python(swigkit::text_of($1, $1_dim0)); }

%typemap(out) void { $result = swigkit::new_ref(Py_None); }

// Every overload is tried when it is called (swigkit/call.h); SWIG only wants to know.
%typemap(typecheck, precedence=SWIG_TYPECHECK_POINTER) SWIGTYPE, SWIGTYPE *, SWIGTYPE &,
    SWIGTYPE &&, const SWIGTYPE &, SWIGTYPE *const &, enum SWIGTYPE, const enum SWIGTYPE &,
    SWIGTYPE ((*)(ANY)), wchar_t, const wchar_t &
    "$1 = 1;"
