// SPDX-License-Identifier: Apache-2.0
// c_api/registration.cc: ops and kernels whose code is a C callback.  Such an op is a
// structured op like any other: shape rule, allocation, kernel.
#include "c_api/boundary.h"
#include "dispatcher/library.h"

/// Where a shape callback puts its answers.
struct pkg_specs {
  std::array<pkg::Spec, PKG_MAX_RESULTS> items;
  std::array<bool, PKG_MAX_RESULTS> set{};
  size_t n = 0;
};

namespace pkg::c {
namespace {

// What the dispatcher's function pointers get as `shape` and `function`.  Never freed:
// ops and calls in flight outlive every owner.
struct CallbackOp {
  const Operator* op = nullptr;
  pkg_op_definition definition{};
  Domain domain;

  size_t n_args() const { return op->schema.arguments.size(); }
  size_t n_results() const { return op->schema.returns.size(); }
  std::string name() const { return op->qualified_name(); }
};

bool is_meta_call(std::span<const Value> args) {
  return keys_of(args).has(DispatchKey::Meta);
}

// The default rule; the schema was checked to have a tensor, which may yet be None.
Spec like_first_tensor(const CallbackOp& self, std::span<const Value> args) {
  for (const Value& value : args) {
    const Tensor* tensor = std::get_if<Tensor>(&value);
    if (tensor && tensor->defined()) return tensor->spec();
  }
  detail::raise<ValueError>("[", self.name(),
                            "] expected a tensor to take the result's shape from, got "
                            "None. Hint: register the op with a shape callback.");
}

void infer_shapes(void* shape, const Value* values, Spec* specs) {
  const auto& self = *static_cast<const CallbackOp*>(shape);
  const std::span args(values, self.n_args());
  pkg_specs found;
  found.n = self.n_results();
  if (self.definition.shape) {
    pkg_status status;
    const LentValues lent(args);
    self.definition.shape(self.definition.user_data, lent.data(), lent.size(), &found,
                          &status);
    throw_reported(status);
  } else {
    found.items.fill(like_first_tensor(self, args));
    found.set.fill(true);
  }
  const Device device{is_meta_call(args) ? DeviceType::Meta : DeviceType::CPU};
  for (size_t i = 0; i < found.n; ++i) {
    PKG_CHECK(found.set[i], RuntimeError, "[", self.name(),
              "] the shape callback did not set result ", i, " of ", found.n, ".");
    specs[i] = std::move(found.items[i]);
    specs[i].device = device;
  }
}

void compute(void* function, const Value* values, Tensor* results) {
  const auto& self = *static_cast<const CallbackOp*>(function);
  const std::span args(values, self.n_args());
  const std::span outputs(results, self.n_results());
  std::array<pkg_tensor*, PKG_MAX_RESULTS> handles{};
  std::transform(outputs.begin(), outputs.end(), handles.begin(), lend);
  const KernelFrame frame(args, outputs);
  const LentValues lent(args);
  pkg_status status;
  self.definition.compute(self.definition.user_data, lent.data(), lent.size(),
                          handles.data(), int32_t(outputs.size()), &status);
  throw_reported(status);
}

constexpr const char* kWhere = "pkg_register_op";

void check_definition(const Schema& schema, const pkg_op_definition& definition) {
  const auto check = [&](bool ok, auto... what) {
    PKG_CHECK(ok, ValueError, "[pkg_register_op] ", what..., " (schema: ", schema.str(),
              ").");
  };
  check(definition.compute, "expected a compute callback, got NULL");
  check(!schema.returns.empty() && schema.returns.size() <= PKG_MAX_RESULTS,
        "expected 1 to ", PKG_MAX_RESULTS, " results, got ", schema.returns.size());
  for (const Argument& result : schema.returns) {
    check(result.type == ArgType::Tensor && !result.list && !result.optional,
          "expected each result to be a Tensor, got ", result.type_str());
  }
  bool has_tensor = false;
  for (const Argument& argument : schema.arguments) {
    check(!argument.written, "expected no parameter that is written to, got ",
          argument.type_str(), " ", argument.name);
    has_tensor |= argument.type == ArgType::Tensor && !argument.list;
  }
  check(definition.shape || has_tensor,
        "expected a Tensor parameter to take the result's shape from, or a shape "
        "callback");
}

// The dtypes of one word.
DTypeSet dtypes_of(std::string_view word, std::string_view text) {
  if (word == "integer") return kIntegerDTypes;
  if (word == "floating") return kFloatDTypes;
  if (word == "any") return kAllDTypes;
  const std::optional<DType> dtype = dtype_from_name(word);
  PKG_CHECK(dtype, ValueError, "[pkg_register_op] expected names of dtypes in '", text,
            "', got '", word,
            "'. Hint: \"float32\", \"float32 float64, index: int64\" or "
            "\"any\".");
  return *dtype;
}

// "float32 float64, index: int64"
Domain parse_domain(const char* given, const Schema& schema) {
  PKG_CHECK(given && *given, ValueError,
            "[pkg_register_op] expected the dtypes that "
            "compute takes, got ",
            given ? "none" : "NULL", " (schema: ", schema.str(),
            "). Hint: \"float32\", or \"any\" if it looks at pkg_tensor_dtype() itself.");
  const std::string_view text = given;
  Domain domain;
  DTypeSet common;
  size_t at = 0;
  DTypeSet* into = &common;
  while (at < text.size()) {
    const size_t end = std::min(text.find_first_of(" ,:", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const char after = end < text.size() ? text[end] : ' ';
    if (after == ':') {
      const int index = schema.index_of(word);
      PKG_CHECK(index >= 0, ValueError, "[pkg_register_op] expected a parameter of ",
                schema.str(), " before ':' in '", text, "', got '", word, "'.");
      into = &domain.own[size_t(index)];
    } else if (!word.empty()) {
      *into = *into | dtypes_of(word, text);
    }
    if (after == ',') into = &common;
    at = end + 1;
  }
  if (!common.empty()) domain.common = common;
  domain.declared = true;
  return domain;
}

Kernel kernel_of(CallbackOp* callback) {
  Kernel kernel;
  kernel.boxed = detail::run_structured;
  kernel.function = callback;
  kernel.compute = compute;
  kernel.strided = callback->definition.strided;
  kernel.converts = false;
  kernel.domain = &callback->domain;
  return kernel;
}

}  // namespace
}  // namespace pkg::c

using namespace pkg;
using namespace pkg::c;

extern "C" {

bool pkg_specs_set(pkg_specs* specs, int32_t index, const int64_t* sizes, int32_t ndim,
                   pkg_dtype dtype, pkg_status* status) {
  return guarded(status, false, [&] {
    const char* me = "pkg_specs_set";
    PKG_CHECK(specs, TypeError, "[", me, "] expected specs, got NULL.");
    PKG_CHECK(index >= 0 && size_t(index) < specs->n, IndexError, "[", me,
              "] expected an index from 0 to ", specs->n - 1, ", got ", index, ".");
    specs->items[size_t(index)] = {shape_of(me, sizes, ndim), dtype_of_code(me, dtype),
                                   Device{}};
    specs->set[size_t(index)] = true;
    return true;
  });
}

const pkg_op* pkg_register_op(const char* ns, const pkg_op_definition* definition,
                              pkg_status* status) {
  return guarded<const pkg_op*>(status, nullptr, [&] {
    PKG_CHECK(ns && *ns, ValueError, "[pkg_register_op] expected a namespace, got ",
              ns ? "an empty one." : "NULL.");
    PKG_CHECK(definition && definition->schema, TypeError,
              "[pkg_register_op] expected a definition with a schema, got NULL.");
    Schema schema = parse_schema(definition->schema);
    check_definition(schema, *definition);
    Domain domain = parse_domain(definition->dtypes, schema);
    auto callback = std::make_unique<CallbackOp>(CallbackOp{nullptr, *definition, domain});
    Operator& op = Dispatcher::get().define(ns, std::move(schema), kWhere);
    CallbackOp* self = callback.release();
    self->op = &op;
    op.doc = definition->doc ? definition->doc : "";
    op.domain = domain;
    op.kind = OpKind::Structured;
    op.shape = self;
    op.shape_boxed = infer_shapes;
    if (definition->gradient) {
      give_gradient(op, definition->gradient, definition->user_data, kWhere);
    }
    for (DispatchKey key : {DispatchKey::CPU, DispatchKey::Meta}) {
      OpBuilder(op).kernel(key, kernel_of(self));
    }
    return handle_of(op);
  });
}

bool pkg_register_kernel(const pkg_op* handle, const pkg_op_definition* definition,
                         pkg_status* status) {
  return guarded(status, false, [&] {
    const char* me = "pkg_register_kernel";
    const Operator& op = required(me, handle);
    PKG_CHECK(definition && definition->compute, TypeError, "[", me,
              "] expected a definition with a compute callback, got NULL.");
    PKG_CHECK(op.shape_boxed && !op.in_place(), ValueError, "[", me,
              "] expected an op with a shape rule of its own, got ", op.qualified_name(),
              ".");
    Domain domain = parse_domain(definition->dtypes, op.schema);
    Kernel kernel = kernel_of(new CallbackOp{&op, *definition, domain});
    kernel.where = me;
    Dispatcher::get().set_kernel(const_cast<Operator&>(op), DispatchKey::CPU, kernel);
    return true;
  });
}

}  // extern "C"
