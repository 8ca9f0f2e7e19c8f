// SPDX-License-Identifier: Apache-2.0
// c_api/graph_handles.h: the C functions of graphs and sessions as classes with one handle
// each, which the bindings wrap.  What C reports as a status is thrown.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "c_api/c_api.h"
#include "tensor/tensor.h"

namespace pkg::c {

/// An operation of a graph, which it keeps alive.
class OperationHandle {
 public:
  /// The operation that a symbol is an output of; ValueError for a tensor with values.
  static OperationHandle of(const pkg::Tensor& symbol);
  /// Which output of it a symbol is.
  static int64_t index_of(const pkg::Tensor& symbol);

  /// Unique in its graph.
  std::string name() const;
  /// "Placeholder", "Const", ..., or the name of the op that it calls.
  std::string type() const;
  /// As it was given to set_scope().
  std::string device() const;
  /// "file:line" of the Python line that made it; "" when unknown.
  std::string call_site() const;
  /// How many symbols it gives.
  int64_t n_outputs() const;
  /// The symbol of an output.
  pkg::Tensor output(int64_t index) const;
  /// Sizes of an output, -1 for unknown ones; None where their number is unknown.
  std::optional<std::vector<int64_t>> shape(int64_t index) const;
  /// Symbols that it takes.
  std::vector<pkg::Tensor> inputs() const;
  /// Operations that run before it.
  std::vector<OperationHandle> controls() const;
  /// Its arguments as JSON: a list of [name, value]; see cpp/graph/describe.h.
  std::string arguments() const;
  /// The tensors with values that the arguments speak of.
  std::vector<pkg::Tensor> tensors() const;
  /// A number that operations of one graph share.
  uint64_t graph_id() const;
  /// Whether it writes to tensors with values.
  bool writes() const;
  /// Whether it was added under no_grad(): no gradient flows through it.
  bool no_grad() const;
  /// A number that differs between operations.
  uint64_t id() const { return reinterpret_cast<uintptr_t>(handle_); }

  explicit OperationHandle(pkg_operation* handle);

#ifndef SWIG
  pkg_operation* get() const { return handle_; }

 private:
  pkg_operation* handle_;
  Ref<Intrusive> graph_;
#endif
};

class GraphHandle;

/// A graph as a part of another one: it takes the inputs, which are placeholders, gives
/// the outputs, and runs the targets besides.
class BodyHandle {
 public:
  BodyHandle(const GraphHandle& graph, const std::vector<pkg::Tensor>& inputs,
             const std::vector<pkg::Tensor>& outputs,
             const std::vector<OperationHandle>& targets);

#ifndef SWIG
  /// Good for as long as this object.
  pkg_body get() const;

 private:
  Ref<Intrusive> graph_;
  std::vector<pkg::Tensor> inputs_, outputs_;
  std::vector<OperationHandle> targets_;
  std::vector<pkg_tensor*> input_handles_, output_handles_;
  std::vector<pkg_operation*> target_handles_;
#endif
};

/// A graph, which ends with this object and its sessions and symbols.
class GraphHandle {
 public:
  GraphHandle();
  ~GraphHandle();
  /// What is fed; a value counts where nothing is.
  OperationHandle placeholder(const std::string& name, pkg::DType dtype,
                              const std::optional<std::vector<int64_t>>& sizes,
                              const std::optional<pkg::Tensor>& value = std::nullopt);
  /// A tensor, which must not change later.
  OperationHandle constant(const std::string& name, const pkg::Tensor& value);
  /// A tensor that sessions keep.
  OperationHandle variable(const std::string& name, pkg::DType dtype,
                           const std::optional<std::vector<int64_t>>& sizes);
  /// Gives a variable a value, which is also its output.
  OperationHandle assign(const std::string& name, const OperationHandle& variable,
                         const pkg::Tensor& value);
  /// Of the sum of ys, each times its gradient if one is given, with respect to xs; none
  /// flows on behind the stops.
  OperationHandle gradients(const std::string& name, const std::vector<pkg::Tensor>& ys,
                            const std::vector<std::optional<pkg::Tensor>>& grad_ys,
                            const std::vector<pkg::Tensor>& xs,
                            const std::vector<pkg::Tensor>& stops);
  /// Runs what is before it; without an output.
  OperationHandle group(const std::string& name,
                        const std::vector<OperationHandle>& before);
  /// What this thread adds from now on has in common: the beginning of names, what it
  /// waits for, the device.
  void set_scope(const std::string& prefix, const std::vector<OperationHandle>& controls,
                 const std::string& device);
  /// From here to end_trace() every call of this thread becomes an operation of this
  /// graph; the first one gets the name, if there is one.
  void begin_trace(const std::string& name);
  /// Ends what begin_trace() began last.
  void end_trace();
  /// The same for a graph that will be a body of a loop or a choice: symbols of the graph
  /// around it are captured.
  void begin_body();
  /// What stands in a body for a symbol of the graph around it.
  pkg::Tensor capture(const pkg::Tensor& symbol);
  /// While the condition gives true, the body gives the next values from the ones before.
  OperationHandle while_loop(const std::string& name, const BodyHandle& condition,
                             const BodyHandle& body,
                             const std::vector<pkg::Tensor>& values);
  /// What the one body gives, or the other one.
  OperationHandle cond(const std::string& name, const pkg::Tensor& predicate,
                       const BodyHandle& if_true, const BodyHandle& if_false);
  /// Calls a function with the values of the inputs; its results have these dtypes.
  OperationHandle function(
      const std::string& name,
      const std::function<std::vector<pkg::Tensor>(std::vector<pkg::Tensor>)>& run,
      const std::vector<pkg::Tensor>& inputs, const std::vector<pkg::DType>& dtypes);
  /// From now on adding operations is a RuntimeError.
  void finalize();
  /// Whether it was finalized.
  bool finalized() const;
  /// Counts the changes of the graph.
  int64_t version() const;
  /// The operation of a name, or None.
  std::optional<OperationHandle> find(const std::string& name) const;
  /// All operations, in the order in which they were added.
  std::vector<OperationHandle> operations() const;
  /// A name that no operation has; taken from now on if marked.
  std::string unique_name(const std::string& name, bool mark = true);
  /// Whether y may have a gradient with respect to x, if none flows on behind the stops.
  bool connected(const pkg::Tensor& y, const pkg::Tensor& x,
                 const std::vector<pkg::Tensor>& stops) const;
  /// A number that differs between graphs.
  uint64_t id() const { return reinterpret_cast<uintptr_t>(handle_); }

#ifndef SWIG
  GraphHandle(const GraphHandle&) = delete;
  GraphHandle& operator=(const GraphHandle&) = delete;
  pkg_graph* get() const { return handle_; }

 private:
  pkg_graph* handle_;
#endif
};

/// What to feed and to fetch, looked up once.
class CallableHandle {
 public:
  ~CallableHandle();
  /// The fetched tensors; a timeout in seconds, or 0.
  std::vector<pkg::Tensor> run(const std::vector<pkg::Tensor>& feeds,
                               double timeout = 0) const;
  /// The same, operation by operation, with a history for gradients.
  std::vector<pkg::Tensor> run_recorded(const std::vector<pkg::Tensor>& feeds) const;
  /// Why the last run called the operations one by one; "" where it had a plan.
  std::string unplanned() const;
  /// The plan of the last run as rows of words; see cpp/graph/plan_rows.h.
  std::vector<std::vector<std::string>> plan() const;

  CallableHandle(pkg_callable* handle, size_t n_fetches)
      : handle_(handle), n_fetches_(n_fetches) {}

#ifndef SWIG
  CallableHandle(CallableHandle&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), n_fetches_(other.n_fetches_) {}
  CallableHandle& operator=(CallableHandle&&) = delete;

 private:
  pkg_callable* handle_;
  size_t n_fetches_;
#endif
};

/// A session: one handle.
class SessionHandle {
 public:
  explicit SessionHandle(const GraphHandle& graph);
  ~SessionHandle();
  /// Looks up what to feed, what to fetch and what to run besides.
  CallableHandle make_callable(const std::vector<pkg::Tensor>& feeds,
                               const std::vector<pkg::Tensor>& fetches,
                               const std::vector<OperationHandle>& targets);
  /// Stops what runs and ends the session; again, nothing happens.
  void close();
  /// The value of a variable, or None.
  std::optional<pkg::Tensor> variable(const OperationHandle& variable) const;
  /// Gives all of these variables new values at once.
  void set_variables(const std::vector<OperationHandle>& variables,
                     const std::vector<pkg::Tensor>& values);

#ifndef SWIG
  SessionHandle(const SessionHandle&) = delete;
  SessionHandle& operator=(const SessionHandle&) = delete;

 private:
  pkg_session* handle_;
#endif
};

/// The operation whose call failed in the last run of this thread, or None; asking
/// forgets it.
std::optional<OperationHandle> failed_operation();

}  // namespace pkg::c
