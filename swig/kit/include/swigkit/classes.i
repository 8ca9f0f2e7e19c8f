// swigkit/classes.i: what an interface may say of classes, a line each, before their
// declarations.  The classes themselves are made by swig/kit/build/step.py.

// Copied in and out: each Python object has its own.
%define %value(Class_...)
%feature("swigkit:value") Class_ "1";
%enddef
// In a std::shared_ptr: one Python object for a C++ object while it lives.
%define %shared(Class_...)
%feature("swigkit:tracked") Class_ "1";
%enddef
// C++ owns the objects: Python never deletes one.
%define %borrowed(Class_...)
%feature("swigkit:tracked") Class_ "1";
%feature("swigkit:borrowed") Class_ "1";
%nodefaultctor Class_;
%nodefaultdtor Class_;
%enddef

// The object numbered `holder` keeps `kept` alive: 0 is the result, 1 the first argument,
// which of a method or constructor is the object itself.
%define %keeps_alive(Function_, Holder_, Kept_)
%feature(swigkit_keeps_##Holder_##_##Kept_) Function_ "1";
%enddef

// Pickling, copy and deepcopy by two functions: state of the object, object of a state.
// Methods and a static method, or functions of the module.
%define %pickled(Class_, State_, FromState_)
%feature("swigkit:state") Class_ #State_;
%feature("swigkit:from_state") Class_ #FromState_;
%enddef

// copy.copy() and copy.deepcopy() by the copy constructor.
%define %copyable(Class_...)
%feature("swigkit:copyable") Class_ "1";
%enddef

// hash() by a method of the object.
%define %hash(Class_, Method_)
%feature("swigkit:hash") Class_ #Method_;
%enddef

// Where an object of the class is an argument, what one of its constructors takes will do.
%define %implicit(Class_...)
%{
template <>
inline constexpr bool swigkit::kImplicit< Class_ > = true;
%}
%feature("swigkit:implicit") Class_ "1";
%enddef

// Its C++ objects refer to Python objects, and may be part of a cycle of such: the class has
//   int traverse(visitproc visit, void *arg) const;   // Py_VISIT() of each
//   void clear();                                     // lets go of them
%define %collected(Class_...)
%feature("swigkit:collected") Class_ "1";
%ignore Class_::traverse;
%ignore Class_::clear;
%enddef

// C++ iterates over it by begin() and end(), which the kit sees where SWIG can read them.
%define %iterable(Class_...)
%feature("swigkit:iterable") Class_ "1";
%enddef

// Python may give its objects attributes that C++ knows nothing of.
%define %dynamic(Class_...)
%feature("swigkit:dynamic") Class_ "1";
%enddef

// Python may not derive classes from it.
%define %final(Class_...)
%feature("swigkit:final") Class_ "1";
%enddef

// Class(...) calls this static method, which gives the object: one that is there already,
// perhaps.
%define %made_by(Class_, Function_)
%feature("swigkit:made_by") Class_ #Function_;
%nodefaultctor Class_;
%enddef

// The class says that it is from this module of a package, which imports it from here.
%define %public_module(Class_, Module_)
%feature("swigkit:public_module") Class_ Module_;
%enddef

// The first parameters cannot be named: f(x, /).
%define %positional_only(Function_, Count_)
%feature("swigkit:positional_only") Function_ #Count_;
%enddef
// No parameter can be named, of all functions that follow until the other line.
%define %without_names
%feature("swigkit:positional_only", "99");
%enddef
%define %with_names
%feature("swigkit:positional_only", "0");
%enddef
// The parameters from this one on must be named: f(*, deps).
%define %keyword_only(Function_, First_)
%feature("swigkit:keyword_only") Function_ #First_;
%enddef

// What errors call a function: where those who call it know it by another name, since only a
// Python layer calls this one.
%define %error_name(Function_, Name_)
%feature("swigkit:error_name") Function_ Name_;
%enddef

// A word on a function or class for the program's own use, which swigkit/listed.h has.
%define %remark(Name_, Text_)
%feature("swigkit:remark") Name_ Text_;
%enddef

// Counts by itself who has a share in it, with pointers such as boost::intrusive_ptr<Class>.
// What Pointer(plain pointer) means, swigkit::Counted says.
%define %intrusive(Class_, Pointer_...)
%feature("swigkit:tracked") Class_ "1";
%feature("swigkit:intrusive") Class_ #Pointer_;
%{
template <>
inline constexpr bool swigkit::kCounts< Pointer_ > = true;
%}
%enddef

// A property by methods; without a setter it cannot be assigned to.
%define SWIGKIT_NAMED(Feature_, Class_, Value_...)
%feature(#Feature_) Class_ Value_
%enddef
%define %property(Class_, Type_, Name_, Getter_, Setter_...)
SWIGKIT_NAMED(swigkit:property_##Name_, Class_, #Getter_;)
%extend Class_ {
  Type_ swigkit_get_##Name_() { return $self->Getter_(); }
}
#if #Setter_ != ""
%extend Class_ {
  void swigkit_set_##Name_(Type_ value) { $self->Setter_(std::move(value)); }
}
#endif
%enddef

// Methods without parameters that are properties by their own names.
//   %properties(geo::Circle, radius, area)
%define %properties(Class_, First_, Others_...)
SWIGKIT_NAMED(swigkit:properties_##First_, Class_, #First_;)
#if #Others_ != ""
%properties(Class_, Others_)
#endif
%enddef

// The object's memory for memoryview(), numpy.asarray() and the like, without a copy: what
// gives the address, and the lengths of its dimensions, the last one's items side by side.
//   %buffer(geo::Matrix, data, rows, cols)
// One method alone gives all of it, a swigkit::Buffer.
%define %buffer(Class_, Methods_...)
%feature("swigkit:buffer") Class_ #Methods_;
%enddef

// An attribute of the class itself: a C++ value, or a new reference to a Python object.
%define %class_attribute(Class_, Name_, Value_...)
SWIGKIT_NAMED(swigkit:attribute_##Name_, Class_, { Value_ })
%enddef

// Members of an enum that are or-ed together: enum.IntFlag.
%define %flags(Enum_...)
%feature("swigkit:flags") Enum_ "1";
%enddef

// A pointer parameter that takes None, such as %optional(const geo::Point *origin).
%define %optional(Parameter_...)
%typemap(in) Parameter_ (swigkit::InPointer< $*1_ltype > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name", true}, $1)) SWIG_fail;
}
%enddef

%define SWIGKIT_OUTPUT(Parameter_...)
%typemap(argout) Parameter_ {
  PyObject *output = swigkit::to_python(std::move(made$argnum.value));
  $result = swigkit_outputs.add($result, output, $isvoid);
  if (!$result) SWIG_fail;
}
%typemap(directorargout) Parameter_ {
  if (!swigkit::to_cpp($result, swigkit::written($1), swigkit::Argument{"$symname", "result"})) {
    swigkit::throw_python_error();
  }
}
%enddef
// SWIG takes what is constant for the same.  First: of a pointer to const it is the same.
%define SWIGKIT_NO_OUTPUT(Parameter_...)
%typemap(in) const Parameter_ (swigkit::In< swigkit::Pointee< $1_type > > held) {
  if (!held.load($input, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  $1 = ($1_ltype)held.get();
}
%typemap(argout) const Parameter_ ""
%typemap(directorargout) const Parameter_ ""
%enddef
// What a function writes into, such as %output(double &remainder): Python does not pass it,
// and gets it after the result; a tuple where there are several.
%define %output(Parameter_...)
SWIGKIT_NO_OUTPUT(Parameter_)
%typemap(in, numinputs=0) Parameter_ (swigkit::Output< $1_type > made)
    "$1 = ($1_ltype)made.pointer();"
SWIGKIT_OUTPUT(Parameter_)
%enddef
// What it reads and then changes: Python passes it as well.
%define %in_out(Parameter_...)
SWIGKIT_NO_OUTPUT(Parameter_)
%typemap(in) Parameter_ (swigkit::Output< $1_type > made) {
  if (!swigkit::to_cpp($input, made.value, swigkit::Argument{"$symname", "$1_name"})) SWIG_fail;
  $1 = ($1_ltype)made.pointer();
}
SWIGKIT_OUTPUT(Parameter_)
%enddef
%{
// SWIG's typemaps called OUTPUT and INOUT do the same.  step.py declares the variable.
#define SWIG_Python_AppendOutput swigkit_outputs.add
%}

// Words of Python's get an underscore behind them, but where %template gives a name (step.py):
// SWIG would put one before the name of the template.
%namewarn("") None;
%namewarn("") as;
%namewarn("") assert;
%namewarn("") async;
%namewarn("") await;
%namewarn("") def;
%namewarn("") del;
%namewarn("") elif;
%namewarn("") except;
%namewarn("") finally;
%namewarn("") from;
%namewarn("") global;
%namewarn("") import;
%namewarn("") in;
%namewarn("") is;
%namewarn("") lambda;
%namewarn("") nonlocal;
%namewarn("") pass;
%namewarn("") raise;
%namewarn("") with;
%namewarn("") yield;

// Classes in classes are attributes of theirs (step.py).
%feature("flatnested");

// Free operators of the global namespace, as those of others: their classes' (step.py).
%rename("__add__") operator+;
%rename("__sub__") operator-;
%rename("__mul__") operator*;
%rename("__truediv__") operator/;
%rename("__mod__") operator%;
%rename("__lshift__") operator<<;
%rename("__rshift__") operator>>;
%rename("__and__") operator&;
%rename("__or__") operator|;
%rename("__xor__") operator^;
%rename("__invert__") operator~;
%rename("__iadd__") operator+=;
%rename("__isub__") operator-=;
%rename("__imul__") operator*=;
%rename("__eq__") operator==;
%rename("__ne__") operator!=;
%rename("__lt__") operator<;
%rename("__le__") operator<=;
%rename("__gt__") operator>;
%rename("__ge__") operator>=;

%rename("__order__") operator<=>;
%rename("__order__") *::operator<=>;

// Of a smart pointer SWIG would take the methods of what it points to away from their class.
// Python asks for them by name (slots.py).
%ignore *::operator->;

// What Python reads as x[i], and assigns to where C++ gives a reference; an interface may
// %extend __getitem__ and __setitem__ instead.
%rename("__getitem__") *::operator[];
%rename("__bool__") *::operator bool;
%rename("__int__") *::operator int;
%rename("__int__") *::operator long;
%rename("__int__") *::operator long long;
%rename("__int__") *::operator short;
%rename("__int__") *::operator unsigned short;
%rename("__int__") *::operator unsigned int;
%rename("__int__") *::operator unsigned;
%rename("__int__") *::operator unsigned long;
%rename("__int__") *::operator unsigned long long;
%rename("__int__") *::operator size_t;
%rename("__int__") *::operator std::size_t;
%rename("__int__") *::operator std::ptrdiff_t;
%rename("__int__") *::operator std::int16_t;
%rename("__int__") *::operator std::int32_t;
%rename("__int__") *::operator std::int64_t;
%rename("__int__") *::operator std::uint16_t;
%rename("__int__") *::operator std::uint32_t;
%rename("__int__") *::operator std::uint64_t;
%rename("__int__") *::operator int16_t;
%rename("__int__") *::operator int32_t;
%rename("__int__") *::operator int64_t;
%rename("__int__") *::operator uint16_t;
%rename("__int__") *::operator uint32_t;
%rename("__int__") *::operator uint64_t;
%rename("__float__") *::operator float;
%rename("__float__") *::operator double;
%rename("__str__") *::operator std::string;
