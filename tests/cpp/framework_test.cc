// SPDX-License-Identifier: Apache-2.0
// tests/cpp/framework_test.cc: the attr language, shapes that are known in part, and an op
// that is linked to the program, without Python.
#include "check.h"
#include "dispatcher/dispatcher.h"
#include "framework/common.h"

namespace {

using namespace pkg::framework;

REGISTER_OP("Linked")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {float, int32}")
    .Attr("by: int = 2");

template <class T>
class LinkedOp : public OpKernel {
 public:
  explicit LinkedOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("by", &by_));
  }
  void Compute(OpKernelContext* c) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &y));
    const auto from = c->input(0).flat<T>();
    auto to = y->flat<T>();
    for (int64 i = 0; i < from.size(); ++i) to(i) = from(i) * T(by_);
  }

 private:
  int by_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("Linked").Device(DEVICE_CPU).TypeConstraint<float>("T"),
                        LinkedOp<float>);
REGISTER_KERNEL_BUILDER(Name("Linked").Device(DEVICE_CPU).TypeConstraint<int32>("T"),
                        LinkedOp<int32>);

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const std::exception& error) { return error.what(); }
  return "";
}
bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST(a_linked_op_is_found_and_runs) {
  const OpRegistrationData* data = nullptr;
  CHECK(OpRegistry::Global()->LookUp("Linked", &data).ok());
  CHECK(has(OpRegistry::Global()->DebugString(false),
            "Op<name=Linked; signature=x:T -> y:T; attr=T:type,allowed=[DT_FLOAT, "
            "DT_INT32]; attr=by:int,default=2>"));
  CHECK(!OpRegistry::Global()->LookUp("NotLinked", &data).ok());
  const pkg::Operator& op = pkg::Dispatcher::get().find("Linked", "tf");
  for (const double by : {2, 3}) {
    pkg::Tensor x = pkg::empty({3}, pkg::DType::Float32);
    for (int i = 0; i < 3; ++i) x.data<float>()[i] = float(i);
    pkg::Value args[] = {x, pkg::Scalar(int64_t(by))};
    pkg::Stack stack(args);
    pkg::Dispatcher::get().call_boxed(op, stack);
    const auto& y = std::get<pkg::Tensor>(stack.results[0]);
    CHECK(y.data<float>()[2] == float(2 * by));
  }
}

TEST(the_order_of_attrs_and_inputs_does_not_matter) {
  const OpDef def = OpDefBuilder("X")
                        .Input("a: N * T")
                        .Output("o: T")
                        .Attr("T: type = DT_FLOAT")
                        .Attr("N: int")
                        .Attr("s: shape = { dim { size: 1 } dim { size: -1 } }")
                        .Attr("l: list(int) = [2, 3, 5, 7]")
                        .Finalize()
                        .op_def;
  CHECK(def.inputs[0].number_attr == "N" && def.inputs[0].type_attr == "T");
  CHECK(def.attr("N")->has_minimum && def.attr("N")->minimum == 1);
  CHECK(def.is_inferred("N") && !def.is_inferred("s"));
  CHECK(schema_of(def).str() ==
        "X(Tensor[] a, *, str s='[1,?]', int[] l=[2, 3, 5, 7]) -> Tensor");
}

TEST(mistakes_are_shown_at_their_place) {
  const auto attr = [](const char* spec) {
    return error_of([&] { OpDefBuilder("X").Attr(spec).Finalize(); });
  };
  CHECK(has(attr("a: itn"), "<--- HERE"));
  CHECK(has(attr("a: {int32, flaot}"), "not 'flaot'"));
  CHECK(has(attr("a int"), "expected ':'"));
  CHECK(has(attr("a: int = 2 3"), "expected an int, got '2 3'"));
  CHECK(has(attr("a: int >= 3 = 2"), "less than minimum 3"));
  CHECK(has(error_of([] { OpDefBuilder("X").Input("a: N * int32").Finalize(); }),
            "an attr of type int"));
  CHECK(has(error_of([] { OpDefBuilder("no name").Finalize(); }), "expected a name"));
}

TEST(shapes_known_in_part) {
  OpDef def;
  def.name = "X";
  def.inputs = {{.name = "a", .type = DT_FLOAT}, {.name = "b", .type = DT_FLOAT}};
  def.outputs = {{.name = "o", .type = DT_FLOAT}};
  const AttrValues none;
  shape_inference::InferenceContext c(NodeAttrs(def, none),
                                      {{true, {2, -1}}, {true, {-1, 3}}});
  shape_inference::ShapeHandle merged, both, tail;
  CHECK(c.Merge(c.input(0), c.input(1), &merged).ok());
  CHECK(c.DebugString(merged) == "[2,3]" && c.FullyDefined(merged));
  CHECK(c.Concatenate(c.input(0), c.input(1), &both).ok() && c.Rank(both) == 4);
  CHECK(c.Subshape(both, -2, &tail).ok() && c.DebugString(tail) == "[?,3]");
  CHECK(c.WithRank(c.input(0), 1, &tail).message() == "Shape must be rank 1 but is rank 2");
  shape_inference::DimensionHandle sum;
  CHECK(c.Add(c.Dim(merged, 0), c.Dim(merged, 1), &sum).ok() && c.Value(sum) == 5);
  CHECK(!c.Subtract(c.Dim(merged, 0), 3, &sum).ok());
  CHECK(has(error_of([&] { c.input(2); }), "asked for input 2 of 2"));
}

TEST(maps_refuse_what_does_not_fit) {
  Tensor t(DT_FLOAT, {2, 3, 4});
  CHECK(t.flat_inner_dims<float>().dimension(0) == 6);
  CHECK((t.flat_outer_dims<float, 2>().dimension(1) == 12));
  CHECK((t.shaped<float, 2>({4, 6}).size() == 24));
  CHECK(has(error_of([&] { t.flat<int32>(); }), "expected a tensor of int32"));
  CHECK(has(error_of([&] { t.matrix<float>(); }), "expected a tensor of 2 dimensions"));
  CHECK(has(error_of([&] { t.shaped<float, 2>({5, 5}); }), "with 24 elements"));
  CHECK(has(error_of([] { Tensor(DT_STRING, {}); }), "there are no tensors of string"));
  const TensorMap<float, 1, true> checked(t.flat<float>().data(), {24});
  CHECK(has(error_of([&] { checked(24) = 1; }), "an index from 0 to 23"));
}

}  // namespace
