// SPDX-License-Identifier: Apache-2.0
// Definitions without kernels, which is enough for wrappers: table ops as a parameter server
// has them, and one of every sort of attribute.
#include "framework/op.h"
#include "framework/shape_inference.h"

namespace {

using namespace pkg::framework;
using shape_inference::InferenceContext;

REGISTER_OP("SparseTablePull")
    .Doc(R"doc(
Rows of a table for each value.

values: keys.
)doc")
    .Input("resources: N * resource")
    .Input("values: N * int64")
    .Output("mapped_values: N * int64")
    .Attr("table_handle: int")
    .Attr("N: int")
    .SetShapeFn([](InferenceContext* c) {
      int n = 0;
      Status status = c->GetAttr("N", &n);
      for (int i = 0; status.ok() && i < n; ++i) {
        shape_inference::ShapeHandle row;
        status = c->WithRank(c->input(n + i), 1, &row);
        if (status.ok()) c->set_output(i, row);
      }
      return status;
    });

REGISTER_OP("DenseTablePushPull")
    .Input("vars: N * resource")
    .Input("grads: N * float")
    .Input("learning_rate: float")
    .Attr("table_handle: int")
    .Attr("N: int");

REGISTER_OP("EveryAttr")
    .Input("x: float")
    .Output("y: float")
    .Output("count: N * float")
    .Attr("N: int >= 0 = 2")
    .Attr("s: string = 'a\"b'")
    .Attr("f: float = 1.5")
    .Attr("b: bool = true")
    .Attr("t: type = DT_FLOAT")
    .Attr("shape: shape = { dim { size: 2 } dim { size: -1 } }")
    .Attr("strings: list(string) = ['a', 'b']")
    .Attr("ints: list(int) = [2, 3]")
    .Attr("types: list(type) >= 1 = [DT_INT32]")
    .Attr("fruit: {'apple', 'orange'} = 'apple'")
    .Attr("lambda: int = 3")
    .Attr("name: int = 3");

REGISTER_OP("Conv2DBackpropThing")
    .Input("l: float")
    .Output("print: float")
    .Output("index: T")
    .Attr("T: {float, double} = DT_FLOAT");

REGISTER_OP("Print")
    .Input("x: T")
    .Input("data: Targs")
    .Output("y: T")
    .Attr("T: type")
    .Attr("Targs: list(type) >= 0");

REGISTER_OP("_Hidden").Input("x: float");

}  // namespace
