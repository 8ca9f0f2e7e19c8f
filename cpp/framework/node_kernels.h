// SPDX-License-Identifier: Apache-2.0
// framework/node_kernels.h: the kernels of the nodes of a session.
//
// Note [Kernels of nodes]
// What a kernel keeps between calls belongs to one node of one session: two nodes with the
// same types and attributes have two kernels, and runs of a session go on with what the runs
// before have left, whatever plans they have.  So a session keeps the choices of its nodes
// (kernel_set.h), apart from those of the record, which calls outside of graphs share.  A
// step of a plan has the node's kernel instead of the record's.  A call that is made because
// a node is evaluated arrives with the record's, by way of the dispatcher: there the thread
// knows whose call it is.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dispatcher/operator.h"

namespace pkg::framework {

class KernelSet;
struct OpRegistrationData;

/// Used by several threads at once.
class NodeKernels {
 public:
  NodeKernels();
  ~NodeKernels();
  NodeKernels(const NodeKernels&) = delete;
  NodeKernels& operator=(const NodeKernels&) = delete;

  /// The kernel for calls of `op` that are made for `node`, as long as this lives; null for
  /// an op that is none of REGISTER_OP.
  const Kernel* of(const void* node, const std::string& name, const Operator& op);
  /// The node's choice in the place of `shared`, that of the record.
  const KernelSet& of(const void* node, const std::string& name, const KernelSet& shared);

 private:
  struct Own;
  Own& own(const void* node, const std::string& name, const KernelSet& shared);

  std::mutex mutex_;
  // The latest last: plans have the others.
  using Owns = std::vector<std::unique_ptr<Own>>;
  std::map<std::pair<const void*, const OpRegistrationData*>, Owns> owns_;
};

/// While it lives, this thread calls ops for `node`.  With null for no node: what a kernel
/// calls is its own affair.
class AtNode {
 public:
  AtNode(NodeKernels* kernels, const void* node, const std::string* name) noexcept;
  ~AtNode();
  AtNode(const AtNode&) = delete;
  AtNode& operator=(const AtNode&) = delete;

  /// What this thread is to use in the place of `set`.
  static const KernelSet& choice(const KernelSet& set);

 private:
  NodeKernels* const kernels_;
  const void* const node_;
  const std::string* const name_;
  const AtNode* const around_;
};

}  // namespace pkg::framework
