// SPDX-License-Identifier: Apache-2.0
// autograd/pending.h: the nodes of one pass that have received a gradient and have not
// run yet.  For the engine alone.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "autograd/node.h"

namespace pkg {

/// A priority queue by sequence number whose entries are also found by node.  There are
/// few at a time, so all memory is reused and comes from the caching allocator.
class PendingNodes {
 public:
  PendingNodes() { table_.resize(16); }

  bool empty() const { return heap_.empty(); }

  template <class F>
  void for_each(F f) const {
    for (const auto& [number, index] : heap_) f(*entries_[index].node);
  }

  /// The gradients collected so far for the outputs of `node`, which joins the queue.
  TensorList& gradients(const Ref<Node>& node) {
    size_t at = home(node.get());
    while (table_[at]) {
      Entry& entry = entries_[table_[at] - 1];
      if (entry.node == node) return entry.grads;
      at = (at + 1) & mask();
    }
    const uint32_t index = make_entry(node);
    table_[at] = index + 1;
    // The node of a leaf is made by its first use, so it may be younger than its
    // consumers; having no inputs itself, it comes last.
    heap_.push_back({node->edges().empty() ? 0 : node->sequence(), index});
    std::push_heap(heap_.begin(), heap_.end());
    if (2 * heap_.size() > table_.size()) grow();
    return entries_[index].grads;
  }

  /// The same of a node that is in the queue; null for another one.
  TensorList* find(const Node& node) {
    for (size_t at = home(&node); table_[at]; at = (at + 1) & mask()) {
      Entry& entry = entries_[table_[at] - 1];
      if (entry.node.get() == &node) return &entry.grads;
    }
    return nullptr;
  }

  /// Removes the node with the largest number; its gradients are complete.
  std::pair<Ref<Node>, TensorList> take_latest() {
    std::pop_heap(heap_.begin(), heap_.end());
    const uint32_t index = heap_.back().second;
    heap_.pop_back();
    forget(index);
    Entry& entry = entries_[index];
    free_.push_back(index);
    return {std::move(entry.node), std::move(entry.grads)};
  }

 private:
  template <class T>
  using List = std::vector<T, PoolAllocator<T>>;
  struct Entry {
    Ref<Node> node;
    TensorList grads;
  };

  size_t mask() const { return table_.size() - 1; }
  size_t home(const Node* node) const {
    return (reinterpret_cast<uintptr_t>(node) >> 6) * 0x9E3779B97F4A7C15u >> 32 & mask();
  }
  uint32_t make_entry(const Ref<Node>& node) {
    uint32_t index = uint32_t(entries_.size());
    if (free_.empty()) {
      entries_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    entries_[index].node = node;
    entries_[index].grads.resize(node->n_outputs());
    return index;
  }
  // Linear probing: entries behind the hole move up where that keeps them reachable.
  void forget(uint32_t index) {
    size_t hole = home(entries_[index].node.get());
    while (table_[hole] != index + 1) hole = (hole + 1) & mask();
    for (size_t at = (hole + 1) & mask(); table_[at]; at = (at + 1) & mask()) {
      const size_t wanted = home(entries_[table_[at] - 1].node.get());
      if (((at - wanted) & mask()) < ((at - hole) & mask())) continue;
      table_[hole] = table_[at];
      hole = at;
    }
    table_[hole] = 0;
  }
  void grow() {
    List<uint32_t> old(table_.size() * 2);
    old.swap(table_);
    for (uint32_t entry : old) {
      if (!entry) continue;
      size_t at = home(entries_[entry - 1].node.get());
      while (table_[at]) at = (at + 1) & mask();
      table_[at] = entry;
    }
  }

  List<Entry> entries_;
  List<uint32_t> free_;                       // unused places of entries_
  List<std::pair<uint64_t, uint32_t>> heap_;  // sequence number, place
  List<uint32_t> table_;                      // place + 1 by hash of the node; 0: none
};

}  // namespace pkg
