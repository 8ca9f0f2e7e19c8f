// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/classes.i: classes.h by the kit.
%module classes
%include "swigkit.i"
%{
#include "classes.h"
%}
%value(classes::Numbers)
%value(classes::Point)
%value(classes::Line)
%value(classes::Counter)
%value(classes::Fixed)
%value(classes::Hidden)
%value(classes::Tree)
%value(classes::Tree::Leaf)
%value(classes::Tree::Leaf::Vein)
%value(classes::Stack<int>)
%value(classes::Stack<classes::Point>)
%property(classes::Point, double, length, get_length, set_length)
%property(classes::Point, double, sum, get_sum)
%pickled(classes::Point, classes::to_state, classes::from_state)
%pickled(classes::Line, state, restored)
%pickled(classes::Seed, state, from)
%include "classes.h"
%template(IntStack) classes::Stack<int>;
%template(PointStack) classes::Stack<classes::Point>;
%template(larger) classes::larger<double>;
%template(larger_text) classes::larger<std::string>;
