// SPDX-License-Identifier: Apache-2.0
// graph/ahead.h: functions of a run that begin before their turn, as one before them waits.
//
// Note [Functions that wait]
// The nodes of a run come one after the other, on the thread that runs it.  A callback may
// wait for what another one of the same run does, which would never begin.  So where a
// function takes longer than some ten milliseconds, the others that need nothing of what is
// not there yet begin on threads of their own; what lies between is computed for them once
// more, and what must be computed once, such as random numbers, is left alone.  When it is
// the turn of one that has begun, the run takes what it gives, or waits for it.  A run
// without such waits never has another thread: one for the process looks at those which
// there are, while there are some.
#pragma once

#include <functional>
#include <vector>

#include "graph/function.h"
#include "graph/graph.h"

namespace pkg::graph {

class AheadState;

class Ahead {
 public:
  /// What an output is in this run; null where it is not there.  Called while a function
  /// runs, by another thread.
  using Made = std::function<const Tensor*(Edge edge)>;

  /// Of these functions those that neither read nor assign variables may begin.
  Ahead(std::vector<Node*> functions, Made made, const RunControl& control,
        Session* session);
  /// What has begun is asked to end, and nobody waits for it.
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  /// What the function of a node gives, at its turn.
  TensorList run(Node& node, const TensorList& inputs, const FunctionRun& run);

 private:
  Ref<AheadState> state_;
};

}  // namespace pkg::graph
