// swigkit/directors.i: C++ classes whose virtual methods Python may override.
%define %overridable(Class_...)
%feature("director") Class_;
%enddef
// What an override raises goes through C++ and comes out as the very exception.
%feature("director:except") {
  if ($error) swigkit::throw_python_error();
}
