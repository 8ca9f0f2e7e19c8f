// SPDX-License-Identifier: Apache-2.0
// graph/fusion.h: pointwise steps of a plan that are run together, chunk by chunk.
//
// Note [Fusion]
// A chain of pointwise steps goes over memory once for each of them.  As one fused step it
// goes once: the kernels are called one after the other on a chunk of the elements, then on
// the next chunk.  What one leaves to another lies in the first-level or second-level cache,
// and what no other step reads never gets memory of its own.  The kernels are those of the
// ops, called as ever, on tensors that show a chunk; so every pointwise op can be part of it,
// whatever its dtypes and attributes, and results have the same bits.
#pragma once

#include <memory>
#include <mutex>

#include "base/function_ref.h"
#include "graph/plan.h"

namespace pkg::graph {

/// How a tensor lies over the chunks of a fused step, whose elements are `outer` rows of
/// `inner` ones.
enum class Lies : uint8_t {
  Whole,   ///< the same for every chunk: one element, or one row
  Full,    ///< an element for each: a chunk has as many rows
  Column,  ///< an element for each row
  Local,   ///< Full, and seen by members alone: a place in the memory of a chunk
};

struct Member {
  Tensor tensor;  ///< of the plan
  Lies lies = Lies::Whole;
  int64_t place = 0;  ///< of a Local, in the memory of a chunk, in bytes
};

/// The steps that are one.
struct Fusion {
  std::vector<Step> steps;
  std::vector<Member> members;  ///< every tensor of theirs that lies in a buffer
  int64_t outer = 0;
  int64_t inner = 0;
  int64_t rows = 0;              ///< of a chunk
  int64_t nbytes = 0;            ///< of what is Local
  double chunk_nanoseconds = 0;  ///< roughly, on one core
};

/// Makes fused steps where that is worth while.  To come together a step may go before
/// others which it has nothing to do with.
void fuse(Plan& plan);

/// A fused step over the memory of a run.
class FusedRun {
 public:
  /// `place` gives the tensor of the run for one of the plan.
  FusedRun(const Fusion& fusion, FunctionRef<Tensor(const Tensor&)> place);
  ~FusedRun();

  /// Its errors have set_failed_node().
  void run();

 private:
  class Lane;
  std::unique_ptr<Lane> acquire();
  void give_back(std::unique_ptr<Lane> lane);

  const Fusion& fusion_;
  std::vector<Tensor> sources_;  // for each member; none of a Local
  std::mutex mutex_;             // guards the rest
  std::vector<std::unique_ptr<Lane>> free_;
  const Node* failed_ = nullptr;
};

}  // namespace pkg::graph
