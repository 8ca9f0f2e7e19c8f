// SPDX-License-Identifier: Apache-2.0
// c_api/graph_handles.cc: see graph_handles.h.
#include "c_api/graph_handles.h"

#include "c_api/boundary.h"
#include "c_api/c_calls.h"
#include "graph/session.h"

namespace pkg::c {
namespace {

// The status of one call.
class Outcome {
 public:
  Outcome() { status_.keeps = true; }
  operator pkg_status*() { return &status_; }
  template <class T>
  T check(T result) const {
    throw_reported(status_);
    return result;
  }

 private:
  pkg_status status_;
};

std::vector<pkg_tensor*> lent(const std::vector<Tensor>& tensors) {
  std::vector<pkg_tensor*> handles;
  handles.reserve(tensors.size());
  for (const Tensor& tensor : tensors) handles.push_back(lend(tensor));
  return handles;
}
std::vector<pkg_operation*> lent(const std::vector<OperationHandle>& operations) {
  std::vector<pkg_operation*> handles;
  for (const OperationHandle& operation : operations) handles.push_back(operation.get());
  return handles;
}
Tensor taken(pkg_tensor* handle) { return Tensor(Ref<TensorImpl>::adopt(impl_of(handle))); }

// Sizes for C, with -1 as the number of dimensions that are not known.
struct Sizes {
  explicit Sizes(const std::optional<std::vector<int64_t>>& sizes)
      : data(sizes ? sizes->data() : nullptr), ndim(sizes ? int32_t(sizes->size()) : -1) {}
  const int64_t* data;
  int32_t ndim;
};

using Callback = std::function<std::vector<Tensor>(std::vector<Tensor>)>;
bool call_back(void* data, pkg_tensor* const* inputs, size_t n_inputs, pkg_tensor** outputs,
               size_t n_outputs, pkg_status* status) {
  try {
    std::vector<Tensor> given;
    for (size_t i = 0; i < n_inputs; ++i) given.push_back(borrow(inputs[i]));
    std::vector<Tensor> made = (*static_cast<Callback*>(data))(std::move(given));
    PKG_CHECK(made.size() == n_outputs, ValueError, "[function] expected ", n_outputs,
              " results, got ", made.size(), ".");
    for (size_t i = 0; i < n_outputs; ++i) outputs[i] = own(std::move(made[i]));
    return true;
  } catch (...) {
    record_exception(status);
    return false;
  }
}

// A text that a C function writes: asked for its length first.
template <class F>
std::string text_of(F write) {
  std::string text(write(nullptr, 0), '\0');
  write(text.data(), text.size() + 1);
  return text;
}

}  // namespace

OperationHandle::OperationHandle(pkg_operation* handle)
    : handle_(handle),
      graph_(Ref<graph::Graph>::share(
          reinterpret_cast<graph::Graph*>(PKG_C(pkg_operation_graph)(handle)))) {}

OperationHandle OperationHandle::of(const Tensor& symbol) {
  pkg_operation* found = PKG_C(pkg_tensor_operation)(lend(symbol), nullptr);
  PKG_CHECK(found, ValueError,
            "expected a symbol of a graph, got a tensor with values, which no operation "
            "of a graph makes.");
  return OperationHandle(found);
}
int64_t OperationHandle::index_of(const Tensor& symbol) {
  size_t index = 0;
  return PKG_C(pkg_tensor_operation)(lend(symbol), &index) ? int64_t(index) : -1;
}
std::string OperationHandle::name() const {
  return text_of(
      [&](char* text, size_t n) { return PKG_C(pkg_operation_name)(handle_, text, n); });
}
std::string OperationHandle::type() const {
  return text_of(
      [&](char* text, size_t n) { return PKG_C(pkg_operation_type)(handle_, text, n); });
}
std::string OperationHandle::device() const {
  return text_of(
      [&](char* text, size_t n) { return PKG_C(pkg_operation_device)(handle_, text, n); });
}
std::string OperationHandle::call_site() const {
  return text_of(
      [&](char* text, size_t n) { return PKG_C(pkg_operation_site)(handle_, text, n); });
}
int64_t OperationHandle::n_outputs() const {
  return int64_t(PKG_C(pkg_operation_n_outputs)(handle_));
}
Tensor OperationHandle::output(int64_t index) const {
  Outcome outcome;
  pkg_tensor* made = PKG_C(pkg_operation_output)(handle_, size_t(index), outcome);
  return taken(outcome.check(made));
}
std::optional<std::vector<int64_t>> OperationHandle::shape(int64_t index) const {
  Outcome outcome;
  const int32_t n = PKG_C(pkg_operation_output_shape)(handle_, size_t(index), nullptr, 0,
                                                      outcome);
  if (outcome.check(n) < 0) return std::nullopt;
  std::vector<int64_t> sizes{};
  sizes.resize(size_t(n));
  PKG_C(pkg_operation_output_shape)(handle_, size_t(index), sizes.data(), sizes.size(),
                                    nullptr);
  return sizes;
}
std::vector<Tensor> OperationHandle::inputs() const {
  std::vector<pkg_tensor*> handles(PKG_C(pkg_operation_inputs)(handle_, nullptr, 0));
  PKG_C(pkg_operation_inputs)(handle_, handles.data(), handles.size());
  std::vector<Tensor> tensors;
  for (pkg_tensor* handle : handles) tensors.push_back(taken(handle));
  return tensors;
}
std::vector<OperationHandle> OperationHandle::controls() const {
  std::vector<pkg_operation*> handles(PKG_C(pkg_operation_controls)(handle_, nullptr, 0));
  PKG_C(pkg_operation_controls)(handle_, handles.data(), handles.size());
  return {handles.begin(), handles.end()};
}
std::string OperationHandle::arguments() const {
  return text_of([&](char* text, size_t n) {
    return PKG_C(pkg_operation_arguments)(handle_, text, n);
  });
}
std::vector<Tensor> OperationHandle::tensors() const {
  std::vector<pkg_tensor*> handles(PKG_C(pkg_operation_tensors)(handle_, nullptr, 0));
  PKG_C(pkg_operation_tensors)(handle_, handles.data(), handles.size());
  std::vector<Tensor> tensors;
  for (pkg_tensor* handle : handles) tensors.push_back(taken(handle));
  return tensors;
}
uint64_t OperationHandle::graph_id() const {
  return reinterpret_cast<uintptr_t>(PKG_C(pkg_operation_graph)(handle_));
}

BodyHandle::BodyHandle(const GraphHandle& graph, const std::vector<Tensor>& inputs,
                       const std::vector<Tensor>& outputs,
                       const std::vector<OperationHandle>& targets)
    : graph_(Ref<graph::Graph>::share(reinterpret_cast<graph::Graph*>(graph.get()))),
      inputs_(inputs),
      outputs_(outputs),
      targets_(targets),
      input_handles_(lent(inputs_)),
      output_handles_(lent(outputs_)),
      target_handles_(lent(targets_)) {}

pkg_body BodyHandle::get() const {
  return {reinterpret_cast<pkg_graph*>(static_cast<graph::Graph*>(graph_.get())),
          input_handles_.data(),
          input_handles_.size(),
          output_handles_.data(),
          output_handles_.size(),
          target_handles_.data(),
          target_handles_.size()};
}

bool OperationHandle::no_grad() const { return PKG_C(pkg_operation_no_grad)(handle_); }
bool OperationHandle::writes() const { return PKG_C(pkg_operation_writes)(handle_); }

GraphHandle::GraphHandle() {
  Outcome outcome;
  handle_ = PKG_C(pkg_graph_new)(outcome);
  outcome.check(handle_);
}
GraphHandle::~GraphHandle() { PKG_C(pkg_graph_delete)(handle_); }

OperationHandle GraphHandle::placeholder(const std::string& name, DType dtype,
                                         const std::optional<std::vector<int64_t>>& sizes,
                                         const std::optional<Tensor>& value) {
  Outcome outcome;
  const Sizes given(sizes);
  return OperationHandle(outcome.check(
      PKG_C(pkg_graph_placeholder)(handle_, name.c_str(), pkg_dtype(int(dtype)), given.data,
                                   given.ndim, value ? lend(*value) : nullptr, outcome)));
}
OperationHandle GraphHandle::constant(const std::string& name, const Tensor& value) {
  Outcome outcome;
  pkg_operation* made = PKG_C(pkg_graph_constant)(handle_, name.c_str(), lend(value),
                                                  outcome);
  return OperationHandle(outcome.check(made));
}
OperationHandle GraphHandle::variable(const std::string& name, DType dtype,
                                      const std::optional<std::vector<int64_t>>& sizes) {
  Outcome outcome;
  const Sizes given(sizes);
  pkg_operation* made = PKG_C(pkg_graph_variable)(
      handle_, name.c_str(), pkg_dtype(int(dtype)), given.data, given.ndim, outcome);
  return OperationHandle(outcome.check(made));
}
OperationHandle GraphHandle::assign(const std::string& name,
                                    const OperationHandle& variable, const Tensor& value) {
  Outcome outcome;
  pkg_operation* made = PKG_C(pkg_graph_assign)(handle_, name.c_str(), variable.get(),
                                                lend(value), outcome);
  return OperationHandle(outcome.check(made));
}
OperationHandle GraphHandle::gradients(const std::string& name,
                                       const std::vector<Tensor>& ys,
                                       const std::vector<std::optional<Tensor>>& grad_ys,
                                       const std::vector<Tensor>& xs,
                                       const std::vector<Tensor>& stops) {
  PKG_CHECK(grad_ys.empty() || grad_ys.size() == ys.size(), ValueError,
            "[gradients] expected one gradient for each of ", ys.size(), " ys, got ",
            grad_ys.size(), ".");
  std::vector<pkg_tensor*> grads;
  for (const auto& grad : grad_ys) grads.push_back(grad ? lend(*grad) : nullptr);
  Outcome outcome;
  pkg_operation* made = PKG_C(pkg_graph_gradients)(
      handle_, name.c_str(), lent(ys).data(), grads.empty() ? nullptr : grads.data(),
      ys.size(), lent(xs).data(), xs.size(), lent(stops).data(), stops.size(), outcome);
  return OperationHandle(outcome.check(made));
}
OperationHandle GraphHandle::group(const std::string& name,
                                   const std::vector<OperationHandle>& before) {
  Outcome outcome;
  pkg_operation* made = PKG_C(pkg_graph_group)(handle_, name.c_str(), lent(before).data(),
                                               before.size(), outcome);
  return OperationHandle(outcome.check(made));
}
void GraphHandle::set_scope(const std::string& prefix,
                            const std::vector<OperationHandle>& controls,
                            const std::string& device) {
  Outcome outcome;
  outcome.check(PKG_C(pkg_graph_set_scope)(handle_, prefix.c_str(), lent(controls).data(),
                                           controls.size(), device.c_str(), outcome));
}
void GraphHandle::begin_trace(const std::string& name) {
  Outcome outcome;
  outcome.check(PKG_C(pkg_graph_begin_trace)(handle_, name.c_str(), outcome));
}
void GraphHandle::begin_body() {
  Outcome outcome;
  outcome.check(PKG_C(pkg_graph_begin_body)(handle_, outcome));
}
Tensor GraphHandle::capture(const Tensor& symbol) {
  Outcome outcome;
  pkg_tensor* made = PKG_C(pkg_graph_capture)(handle_, lend(symbol), outcome);
  return taken(outcome.check(made));
}
OperationHandle GraphHandle::while_loop(const std::string& name,
                                        const BodyHandle& condition, const BodyHandle& body,
                                        const std::vector<Tensor>& values) {
  Outcome outcome;
  const pkg_body first = condition.get(), second = body.get();
  pkg_operation* made = PKG_C(pkg_graph_while)(handle_, name.c_str(), &first, &second,
                                               lent(values).data(), values.size(), outcome);
  return OperationHandle(outcome.check(made));
}
OperationHandle GraphHandle::cond(const std::string& name, const Tensor& predicate,
                                  const BodyHandle& if_true, const BodyHandle& if_false) {
  Outcome outcome;
  const pkg_body first = if_true.get(), second = if_false.get();
  pkg_operation* made = PKG_C(pkg_graph_cond)(handle_, name.c_str(), lend(predicate),
                                              &first, &second, outcome);
  return OperationHandle(outcome.check(made));
}
OperationHandle GraphHandle::function(const std::string& name, const Callback& run,
                                      const std::vector<Tensor>& inputs,
                                      const std::vector<DType>& dtypes) {
  PKG_CHECK(run, TypeError, "[function] expected a callable, got None.");
  std::vector<pkg_dtype> codes;
  for (DType dtype : dtypes) codes.push_back(pkg_dtype(int(dtype)));
  Outcome outcome;
  pkg_operation* made = PKG_C(pkg_graph_function)(
      handle_, name.c_str(), &call_back, new Callback(run),
      [](void* data) { delete static_cast<Callback*>(data); }, lent(inputs).data(),
      inputs.size(), codes.data(), codes.size(), outcome);
  return OperationHandle(outcome.check(made));
}
void GraphHandle::end_trace() {
  Outcome outcome;
  outcome.check(PKG_C(pkg_graph_end_trace)(handle_, outcome));
}
void GraphHandle::finalize() {
  Outcome outcome;
  outcome.check(PKG_C(pkg_graph_finalize)(handle_, outcome));
}
bool GraphHandle::finalized() const { return PKG_C(pkg_graph_is_finalized)(handle_); }
int64_t GraphHandle::version() const { return PKG_C(pkg_graph_version)(handle_); }
std::optional<OperationHandle> GraphHandle::find(const std::string& name) const {
  pkg_operation* found = PKG_C(pkg_graph_find)(handle_, name.c_str());
  if (!found) return std::nullopt;
  return OperationHandle(found);
}
std::vector<OperationHandle> GraphHandle::operations() const {
  std::vector<pkg_operation*> handles(PKG_C(pkg_graph_operations)(handle_, nullptr, 0));
  handles.resize(std::min(handles.size(), PKG_C(pkg_graph_operations)(
                                              handle_, handles.data(), handles.size())));
  return {handles.begin(), handles.end()};
}
std::string GraphHandle::unique_name(const std::string& name, bool mark) {
  // Marked at the second asking only, which gets the same answer.
  const size_t n = PKG_C(pkg_graph_unique_name)(handle_, name.c_str(), false, nullptr, 0);
  std::string text(n + 24, '\0');
  text.resize(
      PKG_C(pkg_graph_unique_name)(handle_, name.c_str(), mark, text.data(), text.size()));
  return text;
}
bool GraphHandle::connected(const Tensor& y, const Tensor& x,
                            const std::vector<Tensor>& stops) const {
  Outcome outcome;
  const bool found = PKG_C(pkg_graph_connected)(handle_, lend(y), lend(x),
                                                lent(stops).data(), stops.size(), outcome);
  return outcome.check(found);
}

SessionHandle::SessionHandle(const GraphHandle& graph) {
  Outcome outcome;
  handle_ = PKG_C(pkg_session_new)(graph.get(), outcome);
  outcome.check(handle_);
}
SessionHandle::~SessionHandle() { PKG_C(pkg_session_delete)(handle_); }

CallableHandle SessionHandle::make_callable(const std::vector<Tensor>& feeds,
                                            const std::vector<Tensor>& fetches,
                                            const std::vector<OperationHandle>& targets) {
  Outcome outcome;
  pkg_callable* made = PKG_C(pkg_session_make_callable)(
      handle_, lent(feeds).data(), feeds.size(), lent(fetches).data(), fetches.size(),
      lent(targets).data(), targets.size(), outcome);
  return {outcome.check(made), fetches.size()};
}
void SessionHandle::close() {
  Outcome outcome;
  outcome.check(PKG_C(pkg_session_close)(handle_, outcome));
}
std::optional<Tensor> SessionHandle::variable(const OperationHandle& variable) const {
  Outcome outcome;
  pkg_tensor* found = PKG_C(pkg_session_variable)(handle_, variable.get(), outcome);
  if (!outcome.check(found)) return std::nullopt;
  return taken(found);
}
void SessionHandle::set_variables(const std::vector<OperationHandle>& variables,
                                  const std::vector<Tensor>& values) {
  PKG_CHECK(variables.size() == values.size(), ValueError,
            "[set_variables] expected one value for each of ", variables.size(),
            " variables, got ", values.size(), ".");
  Outcome outcome;
  outcome.check(PKG_C(pkg_session_set_variables)(
      handle_, lent(variables).data(), lent(values).data(), values.size(), outcome));
}

CallableHandle::~CallableHandle() { PKG_C(pkg_callable_delete)(handle_); }

std::vector<Tensor> CallableHandle::run(const std::vector<Tensor>& feeds,
                                        double timeout) const {
  Outcome outcome;
  std::vector<pkg_tensor*> handles = lent(feeds);
  std::vector<pkg_tensor*> results(n_fetches_);
  outcome.check(PKG_C(pkg_callable_run)(handle_, handles.data(), handles.size(), timeout,
                                        results.data(), outcome));
  std::vector<Tensor> tensors;
  tensors.reserve(results.size());
  for (pkg_tensor* result : results) tensors.push_back(taken(result));
  return tensors;
}
std::vector<Tensor> CallableHandle::run_recorded(const std::vector<Tensor>& feeds) const {
  Outcome outcome;
  std::vector<pkg_tensor*> handles = lent(feeds);
  std::vector<pkg_tensor*> results(n_fetches_);
  outcome.check(PKG_C(pkg_callable_run_recorded)(handle_, handles.data(), handles.size(),
                                                 results.data(), outcome));
  std::vector<Tensor> tensors;
  for (pkg_tensor* result : results) tensors.push_back(taken(result));
  return tensors;
}
std::string CallableHandle::unplanned() const {
  return text_of([&](char* text, size_t n) {
    return PKG_C(pkg_callable_unplanned)(handle_, text, n);
  });
}

std::vector<std::vector<std::string>> CallableHandle::plan() const {
  return reinterpret_cast<const graph::Callable*>(handle_)->plan_rows();
}

std::optional<OperationHandle> failed_operation() {
  pkg_operation* failed = PKG_C(pkg_failed_operation)();
  if (!failed) return std::nullopt;
  OperationHandle operation(failed);
  graph::set_failed_node(nullptr);  // the handle keeps the graph from here on
  return operation;
}

}  // namespace pkg::c
