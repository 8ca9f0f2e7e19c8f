// SPDX-License-Identifier: Apache-2.0
// framework/calling.cc: the boxed kernels of ops of REGISTER_OP.
//
// Note [Definitions]
// The record of such an op has `rule` as its shape rule and its definition as what the rule
// works with, whether it is structured or not: so the definition lives with the record, and
// no second table has to agree with the registry.
#include "framework/calling.h"

#include <algorithm>

#include "dispatcher/pending.h"
#include "framework/kernel_set.h"
#include "framework/node_kernels.h"
#include "scheduler/event.h"
#include "scheduler/hooks.h"

namespace pkg::framework {
namespace {

size_t number_of_parameters(const OpDef& def) {
  size_t n = def.inputs.size();
  for (const AttrDef& attr : def.attrs) n += !def.is_inferred(attr.name);
  return n;
}

std::vector<KnownOutput> infer(const OpRegistrationData& data,
                               std::span<const Value> args) {
  const CallTypes types(data.op_def, args);
  const AttrValues attrs = attrs_of_call(data.op_def, args, types);
  std::vector<KnownInput> inputs;
  for (size_t i = 0; i < data.op_def.inputs.size(); ++i) {
    for_each_tensor(args[i], [&](const pkg::Tensor& tensor) {
      inputs.push_back(
          {types.types[inputs.size()], PartialShape::of(tensor.sizes()), nullptr});
    });
  }
  return infer_outputs(data, attrs, inputs);
}

bool is_handle(DataType type) { return type == DT_RESOURCE || type == DT_VARIANT; }

// NotImplementedError where the sizes depend on values: then there is no allocating first.
// Nor is there of handles, since memory alone is no slot.
Spec spec_of(const OpDef& def, const KnownOutput& output, Device device) {
  const auto dtype = dtype_of_data_type(output.type);
  PKG_CHECK(dtype, NotImplementedError, "[", def.name, "] there are no tensors of ",
            dtype_name(output.type), ".");
  PKG_CHECK(!is_handle(output.type), NotImplementedError, "[", def.name,
            "] gives handles, which there are none of before it runs.");
  PKG_CHECK(
      PartialTensorShape(output.shape).IsFullyDefined(), NotImplementedError, "[", def.name,
      "] has results whose shapes are not known before it runs: ", output.shape.str(), ".");
  return {output.shape.sizes, *dtype, device};
}

void rule(void* shape, const Value* values, Spec* specs) {
  const auto& data = *static_cast<const OpRegistrationData*>(shape);
  const std::span args(values, number_of_parameters(data.op_def));
  const bool meta = keys_of(args.first(data.op_def.inputs.size())).has(DispatchKey::Meta);
  for (const KnownOutput& output : infer(data, args)) {
    *specs++ = spec_of(data.op_def, output,
                       Device{meta ? pkg::DeviceType::Meta : pkg::DeviceType::CPU});
  }
}

void run_meta(const Operator& op, const Kernel&, KeySet, Stack& stack) {
  const OpRegistrationData& data = *definition_of(op);
  PKG_CHECK(data.shape_inference_fn || data.op_def.outputs.empty(), NotImplementedError,
            "[", data.op_def.name,
            "] has no shape function: there is no call without values. "
            "Give it one with .SetShapeFn(...).");
  TensorList results;
  for (const KnownOutput& output : infer(data, stack.args)) {
    results.push_back(empty(spec_of(data.op_def, output, Device{pkg::DeviceType::Meta})));
  }
  if (data.op_def.outputs_in_one_list()) return stack.push(std::move(results));
  for (pkg::Tensor& result : results) stack.push(std::move(result));
}

// A call that goes on after ComputeAsync has returned.  It keeps what the kernel sees, also
// when who waits gives up; a plan leaves its memory to such a call (graph/executable.cc).
struct AsyncCall final : Intrusive {
  AsyncCall(const Choice& made, std::span<const Value> given,
            std::span<pkg::Tensor> given_results)
      : choice(Ref<const Choice>::share(&made)),
        args(given.begin(), given.end()),
        results(given_results.begin(), given_results.end()),
        context(made.form, args, results) {}
  const Ref<const Choice> choice;  // the kernel and what it is told of itself
  std::vector<Value> args;
  std::vector<pkg::Tensor> results;
  OpKernelContext context;
  // A thread that has called `done` may keep its copy for longer than the caller waits.
  void let_go() {
    context.release();
    args.clear();
    results.clear();
  }
  const Ref<ManualEvent> event = Ref<ManualEvent>::make("AsyncOpKernel");
};

// What all copies of a callback share: where the last one goes without a call, nobody will.
struct Done {
  explicit Done(Ref<AsyncCall> of) : call(std::move(of)) {}
  ~Done() {
    if (called.load()) return;
    call->context.SetStatus(
        errors::Internal("the kernel has dropped its callback `done` without calling it"));
    report();
  }
  // The first time counts.
  void report() {
    if (!called.exchange(true)) call->event->set();
  }
  const Ref<AsyncCall> call;
  std::atomic<bool> called{false};
};

void begin(AsyncOpKernel& kernel, const Ref<AsyncCall>& call) {
  auto done = std::make_shared<Done>(call);
  kernel.ComputeAsync(&call->context, [done = std::move(done)] { done->report(); });
}

// What ends the wait early, such as Ctrl-C, is no error of the kernel, whatever it is.
void wait_for(const Ref<AsyncCall>& call) {
  try {
    call->event->wait();
  } catch (...) {
    if (!call->event->done()) {
      BlockingRegion others_may_run;  // whom a callback may wait for
      call->context.cancellation_manager()->StartCancel();
    }
    throw;
  }
}

// Runs the kernel in `context`, in the name of the op.
template <class F>
void guarded(const CallForm& form, F f) {
  try {
    f();
  } catch (const Error&) { throw; } catch (const std::bad_alloc&) {
    throw;
  } catch (const Status& status) {
    throw_status(status, str("[Op:", form.def->name, "]"));
  } catch (const std::exception& error) {
    pkg::detail::raise<InternalError>("the kernel threw: ", error.what(),
                                      " [Op:", form.def->name, "]");
  }
}

// At the end of a wait, however it ended.  A kernel that goes on needs its arguments.
struct LetGo {
  ~LetGo() {
    if (call.event->done()) call.let_go();
  }
  AsyncCall& call;
};

// Calls use(context) after the kernel has run.
template <class Use>
void run_kernel(const KernelSet& set, std::span<const Value> args,
                std::span<pkg::Tensor> results, Use use) {
  const KernelSet& mine = AtNode::choice(set);
  const AtNode of_no_node(nullptr, nullptr, nullptr);
  mine.choose(args, [&](const Choice& choice) {
    if (AsyncOpKernel* kernel = choice.kernel->AsAsync()) {
      const auto call = Ref<AsyncCall>::make(choice, args, results);
      const LetGo at_end{*call};
      guarded(choice.form, [&] { begin(*kernel, call); });
      wait_for(call);
      call->context.check_outputs();
      return use(call->context);
    }
    OpKernelContext context(choice.form, args, results);
    guarded(choice.form, [&] { choice.kernel->Compute(&context); });
    context.check_outputs();
    use(context);
  });
}

// Not inlined: GCC 12 would take the parts of a variant that are not there for used.
[[gnu::noinline]] void push(Stack& stack, pkg::Tensor&& tensor) {
  stack.push(Value(std::move(tensor)));
}

// The CPU key: the kernel makes its results itself.
void run(const Operator&, const Kernel& kernel, KeySet, Stack& stack) {
  const auto& set = *static_cast<const KernelSet*>(kernel.function);
  run_kernel(set, stack.args, {}, [&](OpKernelContext& context) {
    const auto n = size_t(context.num_outputs());
    if (!set.outputs_in_one_list()) {
      for (size_t i = 0; i < n; ++i) { push(stack, context.take_output(i)); }
      return;
    }
    TensorList all;
    for (size_t i = 0; i < n; ++i) all.push_back(context.take_output(i));
    stack.push(std::move(all));
  });
}

// Of a task or a plan: the results are there, as the shape function said.
void compute(void* function, const Value* values, pkg::Tensor* results) {
  const auto& set = *static_cast<const KernelSet*>(function);
  const OpDef& def = set.data().op_def;
  run_kernel(set, {values, number_of_parameters(def)}, {results, def.outputs.size()},
             [](OpKernelContext&) {});
}

Kernel kernel_with(const KernelSet* set, const char* where) {
  Kernel kernel;
  kernel.boxed = run;
  kernel.compute = compute;
  kernel.function = const_cast<KernelSet*>(set);
  kernel.where = where;
  return kernel;
}

void add_kernel(const KernelDef& def) {
  const Operator* op = Dispatcher::get().find_or_null(def.op, kNamespace);
  PKG_CHECK(op && definition_of(*op), ValueError, "[REGISTER_KERNEL_BUILDER] ",
            def.class_name, ": expected an op that REGISTER_OP has registered, got '",
            def.op, "'. Hint: load the library with its REGISTER_OP first.");
  const OpDef& op_def = definition_of(*op)->op_def;
  PKG_CHECK(!def.device.empty(), ValueError, "[REGISTER_KERNEL_BUILDER] ", def.class_name,
            ": expected .Device(DEVICE_CPU) for the Op '", def.op, "'.");
  for (const KernelDef::Constraint& constraint : def.constraints) {
    const AttrDef* attr = op_def.attr(constraint.attr);
    PKG_CHECK(attr && attr->type == "type", ValueError, "[REGISTER_KERNEL_BUILDER] ",
              def.class_name, ": OpKernel '", def.op, "' has constraint on attr '",
              constraint.attr, "', which is no attr of type `type`: ", op_def.str());
  }
  const KernelSet* set = kernel_set_of(*op).with(def);
  Dispatcher::get().set_kernel(const_cast<Operator&>(*op), DispatchKey::CPU,
                               kernel_with(set, def.where));
}

}  // namespace

KernelRegistrar::KernelRegistrar(const KernelDefBuilder& builder, const char* class_name,
                                 KernelDef::Factory factory, Origin origin,
                                 const char* stamp) {
  KernelDef def = builder.def();
  def.class_name = class_name;
  def.factory = factory;
  def.where = origin.where;
  add_registration_block(
      Library::Kind::Implementation, kNamespace, "CPU", origin,
      [def = std::move(def)](Library&) { add_kernel(def); }, stamp);
}

const KernelSet* find_kernel_set(const Operator& op) {
  const Kernel& kernel = op.kernel(DispatchKey::CPU);
  return kernel.boxed == run ? static_cast<const KernelSet*>(kernel.function) : nullptr;
}

const KernelSet& kernel_set_of(const Operator& op) {
  const Kernel& kernel = op.kernel(DispatchKey::CPU);
  PKG_CHECK(kernel.boxed == run, ValueError, "[REGISTER_KERNEL_BUILDER] the op '",
            op.schema.name, "' has another kernel for the key CPU, of ",
            kernel.where ? kernel.where : "an unknown place",
            ", which its kernels cannot be added to. Hint: PKG_LIBRARY_IMPL replaces them "
            "all; leave it out, or register there only.");
  return *static_cast<const KernelSet*>(kernel.function);
}

const OpRegistrationData* definition_of(const Operator& op) {
  return op.shape_boxed == rule ? static_cast<const OpRegistrationData*>(op.shape)
                                : nullptr;
}

void set_up_calls(Operator& op, const OpRegistrationData* data) {
  const OpDef& def = data->op_def;
  op.shape = const_cast<OpRegistrationData*>(data);
  op.shape_boxed = rule;
  // Its results are allocated before it runs.
  const bool structured = data->shape_inference_fn && !def.outputs.empty() &&
                          !def.outputs_in_one_list() &&
                          std::ranges::none_of(def.outputs, [](const ArgDef& output) {
                            return is_handle(output.type);
                          });
  op.kind = structured ? OpKind::Structured : OpKind::Function;
  Kernel meta;
  meta.boxed = run_meta;
  meta.where = op.where;
  Dispatcher::get().set_kernel(op, DispatchKey::Meta, meta);
  const KernelSet* none = new KernelSet(*data, {});
  Dispatcher::get().set_kernel(op, DispatchKey::CPU, kernel_with(none, op.where));
}

}  // namespace pkg::framework
