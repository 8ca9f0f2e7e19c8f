// SPDX-License-Identifier: Apache-2.0
// graph/plan.h: a graph for given shapes: the kernels to run, one after the other, and where
// in memory each of their tensors lies.
#pragma once

#include <functional>
#include <vector>

#include "dispatcher/row_major.h"
#include "framework/node_kernels.h"
#include "graph/graph.h"

namespace pkg::graph {

/// A piece of memory that tensors of a plan lie in.
struct Buffer {
  enum class Kind : uint8_t {
    Feed,       ///< of the caller, another one at each run
    Capture,    ///< of a tensor that the graph refers to
    Variable,   ///< of a variable, as it was when the run began
    Temporary,  ///< a place in the slab of the run
    Local,      ///< of a chunk of a fused step: fusion.h
    Made,       ///< by a step that makes its results itself: Note [Steps that go on]
    Result,     ///< given away: what is fetched, new values of variables, and what a kernel
                ///< gets that may keep it, as Python's
  };
  Kind kind = Kind::Temporary;
  int64_t nbytes = 0;
  size_t index = 0;    ///< which feed, captured tensor or variable
  size_t first = 0;    ///< step that writes it first
  size_t last = 0;     ///< step that uses it last
  int64_t offset = 0;  ///< of a Temporary: in the slab
  bool given = false;  ///< a Made one that is a result of the run as well
};

struct Fusion;

// Note [Steps that go on]
// A collective goes on when its call returns (dispatcher/outside_work.h), and its results are
// pending.  So such a step makes them itself, in each run, in memory of their own; the first
// step that uses one waits for it, and what it reads stays as it is until then, or to the end
// of the run, where all are waited for.  Other ranks may have their steps in another order:
// a step that needs no result of a collective comes before those that wait for one
// (begin_early), so that all that can be begun is begun before anything is waited for.

/// One kernel with its arguments.  Tensors lie in buffers, or have memory of their own.
struct Step {
  const Operator* op = nullptr;
  const Kernel* kernel = nullptr;
  const Node* node = nullptr;  ///< that it is made for
  bool computes = true;        ///< else: a function that writes to its arguments only
  bool goes_on = false;        ///< else: its results are there when it returns
  bool may_keep = false;       ///< tensors that it gets: its kernel is not one of ours
  std::vector<size_t> awaits;  ///< buffers of steps that go on, which nobody awaited before
  std::vector<size_t> writes;  ///< captured tensors that it writes to
  std::vector<Value> args;
  std::vector<Tensor> results;
  detail::ResultTypes dtypes{};
  double nanoseconds = 0;                ///< roughly, on one core
  std::shared_ptr<const Fusion> fusion;  ///< of a fused step
};

/// What a run needs: see Note [Two ways to hold a call] in graph.h.
struct Plan {
  std::vector<Step> steps;
  std::vector<Buffer> buffers;
  std::vector<Tensor> captures;        ///< tensors that the graph refers to
  std::vector<Tensor> capture_places;  ///< their twins in buffers, as they lay when planned
  int64_t slab_bytes = 0;
  double nanoseconds = 0;  ///< roughly, of one run
  std::vector<Tensor> fetches;
  std::vector<std::pair<Node*, Tensor>> written;  ///< new values of variables
};

/// The buffer of a tensor of a plan; -1 for a tensor with memory of its own.
int buffer_of(const Tensor& tensor);

/// In the place of the spec of a variable without a value.
inline const Spec kNoValue{Shape{-1}, DType::Bool, {}};
inline bool has_value(const Spec& spec) {
  return spec.sizes.size() != 1 || spec.sizes[0] >= 0;
}

/// What is fed and what variables are, by shape and dtype.
struct PlanInputs {
  std::span<const Edge> feeds;
  std::span<const Spec> feed_specs;
  std::span<Node* const> variables;
  std::span<const Spec> variable_specs;  ///< `kNoValue` where there is none yet
  std::span<const Node* const> asked;    ///< to be run whatever becomes of their results
  framework::NodeKernels* kernels;       ///< of the session
};

/// Makes the plan of `nodes`.  Errors mean that there is none: the nodes can only be called
/// one after the other, as some shape depends on values, or some call is wrong.
Plan make_plan(std::span<Node* const> nodes, std::span<const Edge> fetches,
               const PlanInputs& inputs);

/// Leaves out the steps whose results nobody uses, but for those of nodes that were asked for.
void prune(Plan& plan, std::span<const Node* const> asked);

/// Brings steps that go on before all that waits for another one.
void begin_early(Plan& plan);
/// Which step waits for which; after find_lifetimes(), which it corrects.
void find_waits(Plan& plan);

/// Gives every Temporary its place in the slab: none that are used at the same time
/// overlap.  The result of a pointwise step may lie where an argument lay that no later step
/// uses.
void place_buffers(Plan& plan);

}  // namespace pkg::graph
