// SPDX-License-Identifier: Apache-2.0
// graph/session.h: running parts of a graph, and the values of its variables.
//
// Note [Variables]
// A variable's tensor never changes: to assign is to put another tensor in its place, when
// the whole run has gone well.  So a run sees the values of one moment, other runs may go on
// meanwhile, and a run that fails has assigned nothing.  Runs that assign are one after the
// other, so that no step of training is lost.  Within a run the order is the program's: who
// uses a variable gets what was assigned before, by nodes that were made before it and that
// this run needs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/function_ref.h"
#include "graph/executable.h"

namespace pkg::graph {

class Segments;
class Session;

/// What to feed, to fetch and to run, looked up once.
class Callable final : public Intrusive {
 public:
  Callable(Ref<Session> session, std::vector<Edge> feeds, std::vector<Edge> fetches,
           std::vector<Node*> targets);

  /// Feeds in the order given to make_callable(); ValueError for one of another shape or
  /// dtype than its symbol.  `timeout` in seconds, 0: none.
  TensorList run(const TensorList& feeds, double timeout = 0);
  /// Calls the nodes one by one, with a history for gradients; the results are as the calls
  /// give them.
  TensorList run_recorded(const TensorList& feeds);
  /// The same as run() within another run, with feeds that were checked.
  TensorList run_as_part(TensorList feeds, const RunControl& control);
  size_t n_feeds() const { return feeds_.size(); }
  size_t n_fetches() const { return fetches_.size(); }
  Session& session() const { return *session_; }
  /// The same for these nodes, whatever else they would need; `asked` are targets, and what
  /// others wait for.
  struct Given {
    std::vector<Node*> nodes;
    std::vector<const Node*> asked;
  };
  Callable(Ref<Session> session, std::vector<Edge> feeds, std::vector<Edge> fetches,
           Given given);
  /// How often a plan was made, and why the nodes are called one by one if they are.
  size_t plans_made() const { return plans_made_; }
  std::string why_unplanned() const;
  /// The plan of the last run, as rows_of() has it (plan_rows.h); empty without one.
  std::vector<std::vector<std::string>> plan_rows() const;

 private:
  ~Callable() override;
  void look_at_nodes();
  struct Variant;  // for feeds of certain shapes
  std::shared_ptr<Variant> variant_for(const TensorList& feeds,
                                       const TensorList& variables);
  RunResults in_segments(const TensorList& feeds, const TensorList& variables,
                         const RunControl& control);
  /// Of a variable that this reads, in the order of all.
  const Tensor& value_of(const Node& variable, const TensorList& variables) const;
  RunResults interpret(const TensorList& feeds, const TensorList& variables,
                       const RunControl& control, bool recorded = false) const;
  void divide();
  TensorList checked(const TensorList& feeds, bool contiguous) const;
  TensorList run_once(const TensorList& feeds, const RunControl& control);

  Ref<Session> session_;
  std::vector<Edge> feeds_;
  std::vector<Edge> fetches_;
  std::vector<Node*> nodes_;        // needed, in order
  std::vector<Node*> variables_;    // that nodes_ read
  std::vector<const Node*> asked_;  // targets, and what others wait for
  bool assigns_ = false;
  const Variant* last_used() const;  // under mutex_
  mutable std::mutex mutex_;         // guards the next two
  std::vector<std::shared_ptr<Variant>> variants_;
  const Variant* last_used_ = nullptr;  // of those
  std::atomic<size_t> plans_made_{0};
  std::mutex dividing_;  // guards the making of segments_
  std::atomic<bool> divided_{false};
  std::unique_ptr<Segments> segments_;  // null where there is a plan, or can be none
};

class Session final : public Intrusive {
 public:
  explicit Session(Ref<Graph> graph) : graph_(std::move(graph)) {}

  Graph& graph() const { return *graph_; }
  /// ValueError for what is not of this graph, is fed twice, or cannot be fed.
  Ref<Callable> make_callable(std::vector<Edge> feeds, std::vector<Edge> fetches,
                              std::vector<Node*> targets);
  /// Stops what runs, at the next step, and ends the session; again, nothing happens.
  void close();
  bool closed() const { return closed_.load(); }

  /// Whether a variable has a value.
  bool initialized(const Node& variable) const;
  /// Its value, which must not be written to; RuntimeError where there is none.
  Tensor variable(const Node& variable) const;
  /// Gives all of these variables new values at once.
  void set_variables(const std::vector<std::pair<Node*, Tensor>>& values);
  /// What kernels keep for its nodes.
  framework::NodeKernels& kernels() { return kernels_; }
  /// What runs a part of a function of its graph, made when it is first asked for.
  Ref<Callable> kept_body(const void* part, FunctionRef<Ref<Callable>()> make);

 private:
  friend class Callable;
  ~Session() override;
  class Writing;  // the turn of a run that assigns

  Ref<Graph> graph_;
  std::atomic<bool> closed_{false};
  framework::NodeKernels kernels_;
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable turn_;
  bool writing_ = false;
  std::thread::id writer_;
  std::unordered_map<const Node*, Tensor> values_;
  std::unordered_map<const void*, Ref<Callable>> bodies_;
};

}  // namespace pkg::graph
