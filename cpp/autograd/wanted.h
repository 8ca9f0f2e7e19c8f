// SPDX-License-Identifier: Apache-2.0
// autograd/wanted.h: which nodes lead to the gradients that were asked for.  For the
// engine alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "autograd/node.h"

namespace pkg {

/// Of the graph behind some nodes: the targets, and the nodes with a path to one.
class WantedNodes {
 public:
  explicit WantedNodes(std::span<const Edge> targets) : table_(64) {
    for (const Edge& target : targets) {
      add_role(*target.node, kTarget);
      oldest_ = std::min(oldest_, target.node->sequence());
    }
  }

  /// Looks at everything behind `root`, which must stay alive while this is in use.
  void explore(const Node& root) {
    enter(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      const EdgeList& edges = step.node->edges();
      if (step.next == edges.size()) {
        const Step done = step;
        path_.pop_back();
        if (done.leads) add_role(*done.node, kLeads);
        if (!path_.empty()) path_.back().leads |= done.leads || done.target;
        continue;
      }
      const Node* before = edges[step.next++].node.get();
      // Nodes made before every target lead to none.
      if (before && before->sequence() >= oldest_) enter(*before);
    }
  }

  /// Whether `node` is a target or leads to one: its own gradient is wanted.
  bool receives(const Node& node) const { return role_of(node) & (kTarget | kLeads); }
  /// Whether gradients of its inputs are wanted.
  bool runs(const Node& node) const { return role_of(node) & kLeads; }

 private:
  // Kept in the low bits of the node's address, which are 0.
  enum Role : uintptr_t { kTarget = 1, kLeads = 2, kSeen = 4, kRoles = 7 };
  static_assert(alignof(Node) > kRoles);
  struct Step {
    const Node* node;
    uint32_t next;  // edge to follow
    bool target, leads;
  };
  template <class T>
  using List = std::vector<T, PoolAllocator<T>>;

  // Goes to `node`, or where that was done before, tells the step before what it is.
  void enter(const Node& node) {
    const uintptr_t role = add_role(node, kSeen);
    const bool target = role & kTarget;
    if (!(role & kSeen)) path_.push_back({&node, 0, target, false});
    else if (!path_.empty()) path_.back().leads |= target || (role & kLeads);
  }
  // What the role was.
  uintptr_t add_role(const Node& node, Role role) {
    const size_t at = place(node);
    const uintptr_t before = table_[at];
    table_[at] = reinterpret_cast<uintptr_t>(&node) | (before & kRoles) | role;
    if (!before && 2 * ++used_ > table_.size()) grow();
    return before & kRoles;
  }
  uintptr_t role_of(const Node& node) const { return table_[place(node)] & kRoles; }

  // Where the node is, or would be: open addressing.
  size_t place(const Node& node) const {
    const auto key = reinterpret_cast<uintptr_t>(&node);
    const size_t mask = table_.size() - 1;
    size_t at = key * 0x9E3779B97F4A7C15u >> 32 & mask;
    while (table_[at] && (table_[at] & ~uintptr_t(kRoles)) != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    List<uintptr_t> old(table_.size() * 2);
    old.swap(table_);
    for (const uintptr_t entry : old) {
      if (!entry) continue;
      table_[place(*reinterpret_cast<const Node*>(entry & ~uintptr_t(kRoles)))] = entry;
    }
  }

  List<uintptr_t> table_;  // 0: none
  size_t used_ = 0;
  List<Step> path_;  // instead of recursion
  uint64_t oldest_ = UINT64_MAX;
};

}  // namespace pkg
