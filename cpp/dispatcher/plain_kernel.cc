// SPDX-License-Identifier: Apache-2.0
// dispatcher/plain_kernel.cc: see plain_kernel.h.
#include "dispatcher/plain_kernel.h"

#include <algorithm>

#include "dispatcher/checks.h"
#include "dispatcher/library.h"
#include "tensor/copy.h"

namespace pkg::detail {
namespace {

// Whether a shape rule could describe the results.
bool could_have_rule(const Operator& op) {
  const auto& returns = op.schema.returns;
  return !writes(op) && !returns.empty() &&
         std::all_of(returns.begin(), returns.end(), [](const Argument& result) {
           return result.type == ArgType::Tensor && !result.list && !result.optional;
         });
}

// A write that autograd would not see is refused; others see by the version that there was
// one.
void note_writes(const Operator& op, std::span<const Value> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!op.schema.arguments[i].written) continue;
    for_each_tensor(args[i], [&](const Tensor& tensor) {
      if (grad_enabled()) {
        check_no_leaf_written(op.schema.name, tensor);
        check_no_bare_view_written(op.schema.name, tensor);
      }
      check_no_overlap(op.schema.name, tensor);
      tensor.bump_version();
    });
  }
}

void check_results(const Operator& op, const Stack& stack) {
  const auto& returns = op.schema.returns;
  PKG_CHECK(stack.results.size() == returns.size(), RuntimeError, "[", op.schema.name,
            "] expected a kernel that gives ", returns.size(), " results, got ",
            stack.results.size(), " (schema: ", op.schema.str(), ").");
}

// A fake kernel sees no values, so what it makes out of some is a mistake.
void check_without_data(const Operator& op, const Stack& stack) {
  for (size_t i = 0; i < stack.results.size(); ++i) {
    for_each_tensor(stack.results[i], [&](const Tensor& made) {
      PKG_CHECK(made.is_meta(), RuntimeError, "[", op.schema.name, "] expected result ", i,
                " of the fake (Meta) kernel to have no data, got one of shape ",
                made.sizes(), " on ", made.device(),
                ", which has data. Hint: make it like an argument: pkg.empty_like(x).");
    });
  }
}

// A kernel that switches grad mode on gets history, which is Autograd's to give.
void drop_history(ResultValues& results) {
  const auto drop = [](Tensor& made) {
    if (made.defined() && made.requires_grad()) made = share(made);
  };
  for (Value& value : results) {
    if (auto* made = std::get_if<Tensor>(&value)) drop(*made);
    auto* list = std::get_if<TensorList>(&value);
    for (size_t i = 0; list && i < list->size(); ++i) drop((*list)[i]);
  }
}

// An in-place form: what the kernel of its base makes is written to the first argument.
void write_result(const Operator& form, Stack& made, Stack& stack) {
  const Tensor& self = Unbox<Tensor>::from(stack.args[0]);
  const Tensor& result = Unbox<Tensor>::from(made.results[0]);
  PKG_CHECK(result.defined(), RuntimeError, "[", form.schema.name,
            "] expected a kernel that gives a tensor, got none.");
  check_in_place(form, self, result.spec());
  if (!self.is_meta()) copy_into(self, result.wait());
  stack.push(Value(self));
}

// The kernel itself, for the in-place form of its op: into the first argument.
void run_in_place(const Operator& form, const Kernel& kernel, KeySet keys, Stack& stack) {
  const PlainKernel& plain = PlainKernel::of(kernel);
  Stack made(stack.args);
  plain.call(*plain.op, kernel, keys, made);
  check_results(form, made);
  if (keys.highest() == DispatchKey::Meta) check_without_data(form, made);
  write_result(form, made, stack);
}

// The boxed entry at CPU and Meta.
void run_backend(const Operator& op, const Kernel& kernel, KeySet keys, Stack& stack) {
  try {
    if (op.restricted()) check_dtypes(op, stack.args);
    const PlainKernel& plain = PlainKernel::of(kernel);
    if (plain.writes || op.in_place()) note_writes(op, stack.args);
    ExcludeKeys below(DispatchKey::Autograd);
    if (op.in_place()) return run_in_place(op, kernel, keys, stack);
    plain.call(*plain.op, kernel, keys, stack);
    check_results(op, stack);
    if (keys.highest() == DispatchKey::Meta) check_without_data(op, stack);
    if (!plain.writes) drop_history(stack.results);
  } catch (Error& error) { rename_and_rethrow(op, error); }
}

// The boxed entry at Autograd, and of a composite.
void run_above(const Operator& op, const Kernel& kernel, KeySet keys, Stack& stack) {
  try {
    PlainKernel::of(kernel).call(op, kernel, keys, stack);
    check_results(op, stack);
  } catch (Error& error) { rename_and_rethrow(op, error); }
}

// Kernel::compute: into results that are there already.
void compute_by_call(void* function, const Value* args, Tensor* results) {
  const auto& plain = *static_cast<const PlainKernel*>(function);
  const Operator& op = *plain.op;
  std::vector<Value> values(args, args + op.schema.arguments.size());
  Stack stack(values);
  Kernel kernel;
  kernel.function = function;
  // It may use tensors beside its arguments, on which work is pending, so Async counts.
  UseKeys keys({t_local_keys.included.without(DispatchKey::Plan),
                KeySet(DispatchKey::Autograd) | DispatchKey::Graph | DispatchKey::Plan});
  plain.call(op, kernel, DispatchKey::CPU, stack);
  check_results(op, stack);
  for (size_t i = 0; i < stack.results.size(); ++i) {
    const Tensor& made = Unbox<Tensor>::from(stack.results[i]);
    const Tensor& wanted = results[i];
    PKG_CHECK(
        made.defined() && made.sizes() == wanted.sizes() && made.dtype() == wanted.dtype(),
        RuntimeError, "[", op.schema.name, "] expected result ", i,
        " as the kernel at Meta describes it, of shape ", wanted.sizes(), " and dtype ",
        wanted.dtype(), ", got ",
        made.defined() ? str("shape ", made.sizes(), " and dtype ", made.dtype())
                       : std::string("none"),
        ". Hint: the fake (Meta) kernel and the kernel have to agree.");
    copy_into(wanted, made.wait());
  }
}

// The same tensor without data.
Tensor without_data(const Tensor& tensor) {
  if (!tensor.defined() || tensor.is_meta()) return tensor;
  Tensor bare(Ref<TensorImpl>::make(
      Storage::meta(tensor.numel() * itemsize(tensor.dtype())), tensor.sizes(),
      tensor.strides(), 0, tensor.dtype(), Device{DeviceType::Meta}));
  bare.impl()->wrapped_number = tensor.impl()->wrapped_number;
  return bare;
}

// Operator::shape_boxed: Note [A rule from Meta].
void rule_from_meta(void* shape, const Value* args, Spec* specs) {
  const Operator& op = *static_cast<const Operator*>(shape);
  const std::span given(args, op.schema.arguments.size());
  const bool meta = keys_of(given).has(DispatchKey::Meta);
  std::vector<Value> values(given.begin(), given.end());
  for (Value& value : values) {
    if (auto* tensor = std::get_if<Tensor>(&value)) *tensor = without_data(*tensor);
    auto* list = std::get_if<TensorList>(&value);
    for (size_t i = 0; list && i < list->size(); ++i) (*list)[i] = without_data((*list)[i]);
  }
  Stack stack(values);
  UseKeys only({KeySet(), KeySet::all().without(kBackendKeys)});
  const Kernel& kernel = op.kernel(DispatchKey::Meta);
  kernel.boxed(op, kernel, DispatchKey::Meta, stack);
  for (size_t i = 0; i < stack.results.size(); ++i) {
    const Tensor& made = Unbox<Tensor>::from(stack.results[i]);
    PKG_CHECK(made.defined(), RuntimeError, "[", op.schema.name,
              "] expected a tensor as result ", i, " of the kernel at Meta, got none.");
    specs[i] = made.spec();
    specs[i].device = Device{meta ? DeviceType::Meta : DeviceType::CPU};
  }
}

Kernel kernel_of(const Operator& op, Kernel::Boxed boxed, Kernel::Boxed call,
                 void* function, void* unboxed, const char* where) {
  Kernel kernel;
  kernel.boxed = boxed;
  kernel.unboxed = writes(op) ? nullptr : unboxed;
  kernel.function = new PlainKernel{&op, call, function, boxed == run_backend, writes(op)};
  kernel.where = where;
  return kernel;
}

}  // namespace

bool writes(const Operator& op) {
  const auto& arguments = op.schema.arguments;
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.written; });
}

bool has_canonical_kernels(const Operator& op) {
  const Kernel& kernel = op.kernel(DispatchKey::CPU);
  return kernel.boxed == run_backend || kernel.boxed == run_above;
}

bool is_plain(const Kernel& kernel) { return kernel.boxed == run_backend; }

bool makes_results(const Kernel& kernel) { return kernel.compute == compute_by_call; }

void set_plain_kernel(Operator& op, DispatchKey key, Kernel::Boxed call, void* function,
                      void* unboxed, const char* where) {
  Dispatcher& dispatcher = Dispatcher::get();
  const bool backend = kBackendKeys.has(key);
  PKG_CHECK(backend || key == DispatchKey::Autograd, ValueError, "[register] ",
            op.qualified_name(), " at ", where,
            ": expected a kernel for CPU, Meta or Autograd, got ", name_of(key), ".");
  PKG_CHECK(op.kind != OpKind::Composite || !backend, ValueError, "[register] ",
            op.qualified_name(), " at ", where,
            ": expected an op without a kernel for all "
            "keys, got one with such a kernel from ",
            op.kernel(DispatchKey::CPU).where, ". Hint: register that one last.");
  Kernel kernel = kernel_of(op, backend ? run_backend : run_above, call, function, unboxed,
                            where);
  if (key == DispatchKey::CPU && could_have_rule(op)) kernel.compute = compute_by_call;
  dispatcher.set_kernel(op, key, kernel);
  if (key == DispatchKey::CPU && op.schema.returns.empty() &&
      !op.has_kernel(DispatchKey::Meta)) {
    // Without results there is nothing to describe.
    const auto nothing = [](const Operator&, const Kernel&, KeySet, Stack&) {};
    set_plain_kernel(op, DispatchKey::Meta, nothing, nullptr, nullptr, where);
  }
  if (key == DispatchKey::Meta && op.kind == OpKind::Function && could_have_rule(op)) {
    Conduct conduct(op);
    conduct.shape = &op;
    conduct.shape_boxed = rule_from_meta;
    conduct.kind = OpKind::Structured;
    set_conduct(op, conduct);
  }
}

// PyTorch's rule: a kernel of its own comes before one for all keys, whose gradient is then
// not the op's any more.
void set_composite_kernel(Operator& op, Kernel::Boxed call, void* function, void* unboxed,
                          const char* where) {
  Dispatcher& dispatcher = Dispatcher::get();
  const Kernel kernel = kernel_of(op, run_above, call, function, unboxed, where);
  // A second one takes the place of the first.
  const auto takes = [&](DispatchKey key) {
    return !op.has_kernel(key) || op.kernel(key).boxed == run_above;
  };
  if (!takes(DispatchKey::CPU)) {
    if (takes(DispatchKey::Meta)) dispatcher.set_kernel(op, DispatchKey::Meta, kernel);
    return;
  }
  Kernel none;
  none.fallthrough = true;
  none.where = where;
  if (op.kind == OpKind::Function) {
    Conduct conduct(op);
    conduct.kind = OpKind::Composite;
    set_conduct(op, conduct);
  }
  for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta}) {
    if (takes(key)) dispatcher.set_kernel(op, key, kernel);
  }
  for (DispatchKey key : {DispatchKey::Autograd, DispatchKey::Plan, DispatchKey::Async}) {
    if (!op.has_kernel(key)) dispatcher.set_kernel(op, key, none);
  }
}

}  // namespace pkg::detail
