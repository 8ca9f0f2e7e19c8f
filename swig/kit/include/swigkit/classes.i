// swigkit/classes.i: what an interface may say of classes, a line each, before their
// declarations.  The classes themselves are made by swig/kit/build/step.py.

// Copied in and out: each Python object has its own.
%define %value(Class...)
%feature("swigkit:value") Class "1";
%enddef
// In a std::shared_ptr: one Python object for a C++ object while it lives.
%define %shared(Class...)
%feature("swigkit:tracked") Class "1";
%enddef
// C++ owns the objects: Python never deletes one.
%define %borrowed(Class...)
%feature("swigkit:tracked") Class "1";
%feature("swigkit:borrowed") Class "1";
%nodefaultctor Class;
%nodefaultdtor Class;
%enddef

// The object numbered `holder` keeps `kept` alive: 0 is the result, 1 the first argument,
// which of a method or constructor is the object itself.
%define %keeps_alive(Function, Holder, Kept)
%feature("swigkit:holder") Function #Holder;
%feature("swigkit:kept") Function #Kept;
%enddef

// Pickling, copy and deepcopy by two functions: state of the object, object of a state.
// Methods and a static method, or functions of the module.
%define %pickled(Class, State, FromState)
%feature("swigkit:state") Class #State;
%feature("swigkit:from_state") Class #FromState;
%enddef

// hash() by a method of the object.
%define %hash(Class, Method)
%feature("swigkit:hash") Class #Method;
%enddef

// A property by methods; without a setter it cannot be assigned to.
%define %property(Class, Type, Name, Getter, Setter...)
%{
#define %mangle(Class) ##_## Name ## _get(self) (self)->Getter()
%}
#if #Setter != ""
%{
#define %mangle(Class) ##_## Name ## _set(self, value) (self)->Setter(value)
%}
#else
%immutable Class::Name;
#endif
%extend Class { Type Name; }
%enddef

// Members of an enum that are or-ed together: enum.IntFlag.
%define %flags(Enum...)
%feature("swigkit:flags") Enum "1";
%enddef

// A pointer parameter that takes None, such as %optional(const geo::Point *origin).
%define %optional(Parameter...)
%typemap(in) Parameter (swigkit::InPointer< $*1_ltype > held) {
  if (!held.load($input, {"$symname", "$1_name", true}, $1)) SWIG_fail;
}
%enddef

// Classes in classes are attributes of theirs (step.py).
%feature("flatnested");

// Free operators of the global namespace, as those of others: their classes' (step.py).
%rename("__add__") operator+;
%rename("__sub__") operator-;
%rename("__mul__") operator*;
%rename("__truediv__") operator/;
%rename("__mod__") operator%;
%rename("__eq__") operator==;
%rename("__ne__") operator!=;
%rename("__lt__") operator<;
%rename("__le__") operator<=;
%rename("__gt__") operator>;
%rename("__ge__") operator>=;

// What Python reads as x[i]; for assignment an interface %extends __setitem__.
%rename("__getitem__") *::operator[];
%rename("__bool__") *::operator bool;
%rename("__int__") *::operator int;
%rename("__float__") *::operator double;
%rename("__str__") *::operator std::string;
