// SPDX-License-Identifier: Apache-2.0
// tests/cpp/framework_test.cc: the attr language, shapes that are known in part, and an op
// that is linked to the program, without Python.
#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"
#include "dispatcher/dispatcher.h"
#include "framework/common.h"
#include "framework/kernel_set.h"

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
  for (const char* name : {"no name", "", "2", "A>", ">A", "A>2", "A>>B", "A::B"}) {
    CHECK(has(error_of([&] { OpDefBuilder(name).Finalize(); }), "expected a name"));
  }
  for (const char* name : {"_A2", "A>B_>_2"}) {
    CHECK(OpDefBuilder(name).Finalize().op_def.name == name);
  }
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

TEST(texts_that_contradict_themselves_are_refused) {
  const auto attr = [](const char* spec) {
    return error_of([&] { OpDefBuilder("X").Attr(spec).Finalize(); });
  };
  CHECK(has(attr("a: int = +-5"), "expected an int, got '+-5'"));
  CHECK(attr("a: int = +5").empty() && attr("a: int = -5").empty());
  CHECK(has(attr("a: shape = { unknown_rank: true dim { size: 2 } }"), "got both"));
  CHECK(attr("a: shape = { unknown_rank: true }").empty());
}

TEST(an_attr_does_not_decide_how_much_memory_is_taken) {
  const OpDef def =
      OpDefBuilder("X").Output("o: N * float").Attr("N: int").Finalize().op_def;
  DataTypeVector types;
  append_types(def, def.outputs[0], {int64_t{3}}, &types);
  CHECK(types.size() == 3);
  const AttrValues many{int64_t{1} << 31};
  CHECK(has(error_of([&] { append_types(def, def.outputs[0], many, &types); }),
            "passed 2147483648, which is more than the 65536"));
  CHECK(has(error_of([&] { shape_inference::InferenceContext(NodeAttrs(def, many), {}); }),
            "passed 2147483648"));
}

TEST(empty_maps_and_null_pointers) {
  const int64_t large = int64_t{1} << 40;
  CHECK((TensorMap<float, 3>(nullptr, {large, large, 0}).size() == 0));
  int number = 1;
  CHECK(CHECK_NOTNULL(&number) == &number);
  int* none = nullptr;
  CHECK(has(error_of([&] { CHECK_NOTNULL(none); }), "Check failed: none != nullptr"));
}

TEST(places_in_a_list_of_outputs_are_checked) {
  OpDef def;
  def.name = "X";
  def.outputs = {{.name = "a", .type = DT_FLOAT}, {.name = "b", .type = DT_FLOAT}};
  CallForm form;
  form.name = "X";
  form.def = &def;
  form.output_types = {DT_FLOAT, DT_FLOAT};
  form.output_counts = {1, 1};
  OpKernelContext context(form, {}, {});
  OpOutputList a;
  CHECK(context.output_list("a", &a).ok() && a.size() == 1);
  a.set(0, Tensor(2.0f));
  CHECK(a[0]->scalar<float>()() == 2.0f);
  CHECK(has(error_of([&] { a.set(1, Tensor(2.0f)); }), "an index below 1, got 1"));
  CHECK(has(error_of([&] { a[-1]; }), "an index below 1, got -1"));
}

struct Held : ResourceBase {
  explicit Held(int number_in) : number(number_in) {}
  ~Held() override {
    if (inner) inner->Unref();
  }
  std::string DebugString() const override {
    // Asks the manager, as foreign code may.
    Held* found = nullptr;
    const bool there = ResourceMgr::Global()->Lookup("test", "held", &found).ok();
    if (there) found->Unref();
    return pkg::str("number ", number, there ? " there" : "");
  }
  int number;
  Held* inner = nullptr;
};

TEST(handles_are_kept_apart_from_the_numbers_in_memory) {
  const auto with_name = [](const char* name) {
    Tensor made(DT_RESOURCE, {});
    made.scalar<ResourceHandle>()() = ResourceHandle{"", "", name, "", {}};
    return made;
  };
  const Tensor a = with_name("a");
  {
    const Tensor b = with_name("b");
    *b.value().data<int64_t>() = *a.value().data<int64_t>();
    CHECK(handle_in(b.value()).name == "a");
  }
  CHECK(handle_in(a.value()).name == "a");
  const pkg::Tensor copy = copy_handles(a.value());
  set_handle(a.value(), ResourceHandle{"", "", "c", "", {}});
  CHECK(handle_in(copy).name == "a" && handle_in(a.value()).name == "c");
}

// Threads read a handle while another replaces it; each reader's copy stays whole.
TEST(handles_are_read_while_they_are_replaced) {
  Tensor place(DT_RESOURCE, {});
  const auto put = [&](int i) {
    place.scalar<ResourceHandle>()() = ResourceHandle{
        "", "", std::string(40, char('a' + i % 26)), "",
        pkg::Ref<pkg::Intrusive>::adopt(new Held(i))};
  };
  put(0);
  std::atomic<bool> stop{false}, torn{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        const ResourceHandle read = place.scalar<ResourceHandle>()();
        if (read.name != std::string(40, read.name[0]) || !read.resource) torn = true;
      }
    });
  }
  for (int i = 1; i < 5000; ++i) put(i);
  stop = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(!torn);
}

TEST(the_last_reference_is_known_once) {
  for (int round = 0; round < 200; ++round) {
    Held* held = new Held(round);
    held->inner = new Held(-1);
    for (int t = 0; t < 3; ++t) held->Ref();
    std::atomic<int> last{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([&] { last += held->Unref(); });
    for (std::thread& thread : threads) thread.join();
    CHECK(last == 1);
  }
}

TEST(a_resource_is_made_once_or_taken_from_who_came_first) {
  ResourceMgr& all = *ResourceMgr::Global();
  std::atomic<int> made{0}, wrong{0};
  const auto ask = [&] {
    Held* found = nullptr;
    const Status status = all.LookupOrCreate<Held>("test", "held", &found, [&](Held** out) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      *out = new Held(++made);
      return Status();
    });
    if (!status.ok() || found->number != 1) return void(++wrong);
    found->Unref();
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(ask);
  for (std::thread& thread : threads) thread.join();
  CHECK(made == 1 && wrong == 0);
  CHECK(has(all.DebugString(), "number 1 there"));

  Held* found = nullptr;  // another Create while it is made
  CHECK(all.LookupOrCreate<Held>("test", "other", &found,
                                 [&](Held** out) {
                                   *out = new Held(2);
                                   return all.Create("test", "other", new Held(3));
                                 })
            .ok());
  CHECK(found->number == 3 && !found->Unref());
  CHECK(
      has(all.LookupOrCreate<Held>("test", "none", &found, [](Held**) { return Status(); })
              .ToString(),
          "has made none"));
  CHECK(all.Cleanup("test").ok());
}

// Two that need each other's to make their own: neither waits for ever.
TEST(makers_that_need_each_other_end) {
  ResourceMgr& all = *ResourceMgr::Global();
  std::atomic<int> begun{0};
  const auto ask = [&](const char* mine, const char* others) {
    Held* found = nullptr;
    const Status status = all.LookupOrCreate<Held>("test", mine, &found, [&](Held** out) {
      for (++begun; begun < 2;) std::this_thread::yield();
      Held* other = nullptr;
      const Status had = all.LookupOrCreate<Held>("test", others, &other, [](Held** inner) {
        *inner = new Held(5);
        return Status();
      });
      if (had.ok()) other->Unref();
      *out = new Held(4);
      return had;
    });
    CHECK(status.ok());
    if (status.ok()) found->Unref();
  };
  std::thread second([&] { ask("b", "a"); });
  ask("a", "b");
  second.join();
  CHECK(all.Cleanup("test").ok());
}

TEST(a_class_of_an_unnamed_namespace_is_of_its_library) {
  CHECK(has(type_name<Held>(), "_GLOBAL__N_") && has(type_name<Held>(), " at "));
  CHECK(type_name<ResourceBase>() == typeid(ResourceBase).name());
}

REGISTER_OP("Counted").Input("x: T").Output("calls: int64").Attr("T: {float, int32}");

class CountedOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override { c->set_output(0, Tensor(int64_t(++calls_))); }

 private:
  std::atomic<int64_t> calls_{0};
};
REGISTER_KERNEL_BUILDER(Name("Counted").Device(DEVICE_CPU).TypeConstraint<float>("T"),
                        CountedOp);

int64_t counted(pkg::DType dtype) {
  const pkg::Operator& op = pkg::Dispatcher::get().find("Counted", "tf");
  pkg::Value args[] = {pkg::empty({1}, dtype)};
  pkg::Stack stack(args);
  pkg::Dispatcher::get().call_boxed(op, stack);
  return *std::get<pkg::Tensor>(stack.results[0]).data<int64_t>();
}

TEST(what_a_kernel_keeps_stays_when_another_is_registered) {
  CHECK(counted(pkg::DType::Float32) == 1 && counted(pkg::DType::Float32) == 2);
  CHECK(has(error_of([] { counted(pkg::DType::Int32); }), "No OpKernel was registered"));
  REGISTER_KERNEL_BUILDER(Name("Counted").Device(DEVICE_CPU).TypeConstraint<int32>("T"),
                          CountedOp);
  CHECK(counted(pkg::DType::Int32) == 1);
  CHECK(counted(pkg::DType::Float32) == 3);
}

TEST(kernels_are_not_added_to_what_has_taken_their_place) {
  auto& op = const_cast<pkg::Operator&>(pkg::Dispatcher::get().find("Counted", "tf"));
  const pkg::Kernel ours = op.kernel(pkg::DispatchKey::CPU);
  CHECK(kernel_set_of(op).data().op_def.name == "Counted");
  pkg::Kernel other = op.kernel(pkg::DispatchKey::Meta);
  other.where = "elsewhere";
  pkg::Dispatcher::get().set_kernel(op, pkg::DispatchKey::CPU, other);
  CHECK(
      has(error_of([&] { kernel_set_of(op); }), "another kernel for the key CPU, of else"));
  pkg::Dispatcher::get().set_kernel(op, pkg::DispatchKey::CPU, ours);
}

}  // namespace
