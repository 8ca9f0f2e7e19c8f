// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/errors.i: errors.h by the kit.
%module errors
%include "swigkit.i"
%{
#include "errors.h"
%}
%value(errors::Fragile)
%value(errors::Worker)
%exceptions(errors::Error, "GeometryError", PyExc_ValueError)
%exceptions(errors::DeepError, "DeepError", "GeometryError")
%raised_as(errors::End, PyExc_StopIteration)
%raised_as(errors::Missing, PyExc_AttributeError)
%ignore errors::Faulty::refuse;
%buffer(errors::Faulty, data, size)
%property(errors::Countdown, int, weight, weight)
%property(errors::Fragile, int, value, get_value, set_value)
%releases_gil(errors::meet)
%releases_gil(errors::wait)
%releases_gil(errors::Worker::meet)
%releases_gil(errors::sum_on_threads)
%releases_gil(errors::join)
%releases_gil(errors::fail_on_thread)
%ignore errors::UnknownError;
%ignore errors::Odd;
%ignore errors::background;
%include "errors.h"
