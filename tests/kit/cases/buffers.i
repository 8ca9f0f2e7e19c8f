// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/buffers.i: buffers.h by the kit.
%module buffers
%include "swigkit.i"
%{
#include "buffers.h"
%}
%buffer(buffers::Matrix, data, rows, cols)
%buffer(buffers::Samples, begin, count)
%ignore buffers::Matrix::data;
%ignore buffers::Samples::begin;
%ignore buffers::Plane::items;
%{
// A function tells more than an address and lengths: 3 by 4, with steps in bytes.
static swigkit::Buffer describe(buffers::Plane &plane) {
  return {plane.items(), {3, 4}, {32, 96}};
}
%}
%buffer(buffers::Plane, describe)
%include "buffers.h"
