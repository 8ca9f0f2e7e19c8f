// SPDX-License-Identifier: Apache-2.0
// autograd/wanted.h: which nodes lead to the gradients that were asked for.  For the
// engine alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "autograd/node.h"

namespace pkg {

/// Of the graph behind some nodes: the targets, and the nodes with a path to one.
class WantedNodes {
 public:
  explicit WantedNodes(std::span<const Edge> targets) {
    for (const Edge& target : targets) {
      roles_[target.node.get()] |= kTarget;
      oldest_ = std::min(oldest_, target.node->sequence());
    }
  }

  /// Looks at everything behind `root`, which must stay alive while this is in use.
  void explore(const Node& root) {
    enter(&root);
    while (!path_.empty()) {
      Step& step = path_.back();
      const EdgeList& edges = step.node->edges();
      if (step.next == edges.size()) {
        const uint8_t role = *step.role;
        path_.pop_back();
        if (!path_.empty()) pass_on(role, *path_.back().role);
        continue;
      }
      const Node* before = edges[step.next++].node.get();
      // Nodes made before every target lead to none.
      if (!before || before->sequence() < oldest_) continue;
      uint8_t& role = *step.role;
      if (!enter(before)) pass_on(roles_[before], role);
    }
  }

  /// Whether `node` is a target or leads to one: its own gradient is wanted.
  bool receives(const Node& node) const { return role_of(node) & (kTarget | kLeads); }
  /// Whether gradients of its inputs are wanted.
  bool runs(const Node& node) const { return role_of(node) & kLeads; }

 private:
  enum : uint8_t { kTarget = 1, kLeads = 2, kSeen = 4 };
  struct Step {
    const Node* node;
    uint8_t* role;
    uint32_t next;  // edge to follow
  };

  static void pass_on(uint8_t from, uint8_t& to) {
    if (from & (kTarget | kLeads)) to |= kLeads;
  }
  bool enter(const Node* node) {
    uint8_t& role = roles_[node];
    if (role & kSeen) return false;
    role |= kSeen;
    path_.push_back({node, &role, 0});
    return true;
  }
  uint8_t role_of(const Node& node) const {
    const auto found = roles_.find(&node);
    return found == roles_.end() ? 0 : found->second;
  }

  // References into the map stay valid as it grows.
  std::unordered_map<const Node*, uint8_t, std::hash<const Node*>, std::equal_to<>,
                     PoolAllocator<std::pair<const Node* const, uint8_t>>>
      roles_;
  std::vector<Step, PoolAllocator<Step>> path_;  // instead of recursion
  uint64_t oldest_ = UINT64_MAX;
};

}  // namespace pkg
