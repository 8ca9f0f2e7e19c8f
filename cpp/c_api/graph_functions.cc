// SPDX-License-Identifier: Apache-2.0
// c_api/graph_functions.cc: loops, choices and callbacks in graphs, for C.
#include "c_api/graph_convert.h"
#include "dispatcher/profile.h"
#include "graph/control_flow.h"
#include "graph/record.h"

using namespace pkg;
using namespace pkg::c;

namespace pkg::c {
namespace {

graph::Body body_of(const char* function, const pkg_body* body) {
  PKG_CHECK(body, TypeError, "[", function, "] expected a body, got NULL.");
  graph::Graph& graph = graph_of(function, body->graph);
  return {Ref<graph::Graph>::share(&graph),
          edges_of(function, "inputs", graph, body->inputs, body->n_inputs),
          edges_of(function, "outputs", graph, body->outputs, body->n_outputs),
          nodes_of(function, body->targets, body->n_targets)};
}

class CallbackFunction final : public graph::Function {
 public:
  CallbackFunction(pkg_function_fn run, void* user_data, void (*destroy)(void*),
                   std::vector<DType> dtypes)
      : Function("PyFunc"),
        run_(run),
        user_data_(user_data),
        destroy_(destroy),
        dtypes_(std::move(dtypes)) {}

  bool differentiable() const override { return false; }
  TensorList run(const TensorList& inputs, const graph::FunctionRun&) override {
    TensorList given;
    std::vector<pkg_tensor*> handles;
    for (const Tensor& tensor : inputs) given.push_back(share(tensor));
    for (const Tensor& tensor : given) handles.push_back(lend(tensor));
    std::vector<pkg_tensor*> made(dtypes_.size());
    pkg_status status;
    status.keeps = true;
    UseKeys plain(plain_keys());  // what it calls is no part of this run
    const bool good = run_(user_data_, handles.data(), handles.size(), made.data(),
                           made.size(), &status);
    TensorList outputs;
    for (pkg_tensor* tensor : made) {
      outputs.push_back(Tensor(Ref<TensorImpl>::adopt(impl_of(tensor))));
    }
    if (!good) {
      throw_reported(status);
      detail::raise<RuntimeError>("[function] failed without saying why.");
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      PKG_CHECK(outputs[i].defined() && outputs[i].dtype() == dtypes_[i], ValueError,
                "[function] expected a result ", i, " of ", dtypes_[i], ", got ",
                outputs[i].defined() ? str(outputs[i].dtype()) : "none", ".");
    }
    return outputs;
  }

 private:
  ~CallbackFunction() override {
    if (destroy_) destroy_(user_data_);
  }
  pkg_function_fn run_;
  void* user_data_;
  void (*destroy_)(void*);
  std::vector<DType> dtypes_;
};

}  // namespace
}  // namespace pkg::c

extern "C" {

bool pkg_callable_run_recorded(pkg_callable* handle, pkg_tensor* const* feeds,
                               size_t n_feeds, pkg_tensor** results, pkg_status* status) {
  constexpr const char* function = "pkg_callable_run_recorded";
  return guarded(status, false, [&] {
    graph::Callable& callable = callable_of(function, handle);
    PKG_CHECK(results || callable.n_fetches() == 0, TypeError, "[", function,
              "] expected room for ", callable.n_fetches(), " results, got NULL.");
    TensorList made = callable.run_recorded(tensors_of(function, "feeds", feeds, n_feeds));
    for (size_t i = 0; i < made.size(); ++i) results[i] = own(std::move(made[i]));
    return true;
  });
}

bool pkg_operation_no_grad(const pkg_operation* operation) {
  return guarded(nullptr, false,
                 [&] { return node_of("pkg_operation_no_grad", operation).no_grad; });
}

bool pkg_operation_writes(const pkg_operation* operation) {
  return guarded(nullptr, false,
                 [&] { return graph::writes(node_of("pkg_operation_writes", operation)); });
}

bool pkg_graph_begin_body(pkg_graph* body, pkg_status* status) {
  return guarded(status, false, [&] {
    graph::begin_trace(graph_of("pkg_graph_begin_body", body), "", graph::TraceKind::Body);
    return true;
  });
}

pkg_tensor* pkg_graph_capture(pkg_graph* body, pkg_tensor* symbol, pkg_status* status) {
  return guarded<pkg_tensor*>(status, nullptr, [&] {
    return own(graph::capture(graph_of("pkg_graph_capture", body),
                              required("pkg_graph_capture", "symbol", symbol)));
  });
}

pkg_operation* pkg_graph_while(pkg_graph* handle, const char* name,
                               const pkg_body* condition, const pkg_body* body,
                               pkg_tensor* const* values, size_t n_values,
                               pkg_status* status) {
  constexpr const char* function = "pkg_graph_while";
  return guarded<pkg_operation*>(status, nullptr, [&] {
    return handle_of(&graph::add_while(
        graph_of(function, handle), text_or_empty(name), body_of(function, condition),
        body_of(function, body), tensors_of(function, "values", values, n_values)));
  });
}

pkg_operation* pkg_graph_cond(pkg_graph* handle, const char* name, pkg_tensor* predicate,
                              const pkg_body* if_true, const pkg_body* if_false,
                              pkg_status* status) {
  constexpr const char* function = "pkg_graph_cond";
  return guarded<pkg_operation*>(status, nullptr, [&] {
    return handle_of(&graph::add_cond(graph_of(function, handle), text_or_empty(name),
                                      required(function, "predicate", predicate),
                                      body_of(function, if_true),
                                      body_of(function, if_false)));
  });
}

pkg_operation* pkg_graph_function(pkg_graph* handle, const char* name, pkg_function_fn run,
                                  void* user_data, void (*destroy)(void*),
                                  pkg_tensor* const* inputs, size_t n_inputs,
                                  const pkg_dtype* dtypes, size_t n_outputs,
                                  pkg_status* status) {
  constexpr const char* function = "pkg_graph_function";
  return guarded<pkg_operation*>(status, nullptr, [&] {
    std::vector<DType> kinds;
    // Owns the user's data from here on, also when what follows fails.
    for (size_t i = 0; dtypes && i < n_outputs; ++i) {
      kinds.push_back(dtype_of_code(function, dtypes[i]));
    }
    const auto made = Ref<CallbackFunction>::make(run, user_data, destroy, kinds);
    graph::Graph& graph = graph_of(function, handle);
    PKG_CHECK(run && (dtypes || n_outputs == 0), TypeError, "[", function,
              "] expected a function and the dtypes of its results, got NULL.");
    std::vector<graph::OutputSpec> specs;
    for (DType dtype : kinds) specs.push_back({dtype, false, {}});
    return handle_of(&graph.function(text_or_empty(name), made,
                                     tensors_of(function, "inputs", inputs, n_inputs),
                                     std::move(specs)));
  });
}

}  // extern "C"
