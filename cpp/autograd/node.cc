// SPDX-License-Identifier: Apache-2.0
// autograd/node.cc: counting and iterative destruction of nodes.
#include "autograd/node.h"

#include <atomic>

#include "base/thread_local.h"
#include "scheduler/hooks.h"

namespace pkg {
namespace {

std::atomic<uint64_t> g_sequence{1};  // 0 is the number of all leaves: they come last

// Nodes waiting to be deleted by the outermost dispose() of this thread.
thread_local constinit Node* t_trash = nullptr;
thread_local constinit bool t_draining = false;

}  // namespace

Node::Node()
    : sequence_(g_sequence.fetch_add(1, std::memory_order_relaxed)), site_(mark_site()) {
  count_live(Live::Nodes, 1);
}

Node::Node(LeafTag) : sequence_(0), site_(0) { count_live(Live::Nodes, 1); }

Node::~Node() {
  if (HookList* hooks = hooks_.load(std::memory_order_relaxed)) hooks->release();
  count_live(Live::Nodes, -1);
}

std::string Node::call_site() const { return site_text(site_); }

void Node::raise_changed(const Tensor& saved, uint32_t expected, int64_t output) const {
  std::string made;
  if (output >= 0) {
    made = str(", which is output ", output, " of ", name(), ",");
  } else if (const Ref<Node> node = grad_fn(saved)) {
    made = str(", which is output ", saved.autograd()->output_nr, " of ", node->name(),
               ",");
  }
  throw RuntimeError(
      str("one of the variables needed for gradient computation has been modified by an "
          "inplace operation: [",
          saved.dtype(), " ", saved.sizes(), "]", made, " is at version ", saved.version(),
          "; expected version ", expected, " instead. It was saved by ", name(),
          ": clone it before modifying it."));
}

void Node::raise_released() const {
  throw RuntimeError(
      "Trying to backward through the graph a second time (or directly access saved tensors "
      "after they have already been freed), at " +
      name() +
      ". Specify retain_graph=True if "
      "you need to backward through the graph a second time.");
}

HookList& Node::hooks() {
  HookList* list = hooks_.load(std::memory_order_acquire);
  if (list) return *list;
  HookList* fresh = Ref<HookList>::make().detach();
  if (hooks_.compare_exchange_strong(list, fresh)) return *fresh;
  fresh->release();
  return *list;
}

// Deleting a node releases its edges and saved tensors, which may dispose of further
// nodes: those only join the list.
void Node::dispose() noexcept {
  next_trash_ = t_trash;
  t_trash = this;
  if (t_draining) return;
  t_draining = true;
  while (Node* node = t_trash) {
    t_trash = node->next_trash_;
    delete node;
  }
  t_draining = false;
}

void set_history(const Tensor& tensor, Ref<Node> node, uint32_t output_nr) {
  AutogradMeta& meta = tensor.make_autograd();
  if (meta.retained) move_retained(meta, *node, output_nr);
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
  tensor.impl()->keys |= DispatchKey::Autograd;
  // Last: another thread that sees it must find the rest written.
  std::atomic_ref(meta.version).store(tensor.version(), std::memory_order_release);
}

Ref<Node> grad_fn(const Tensor& tensor) {
  if (!tensor.autograd() || !tensor.autograd()->grad_fn) return {};
  return Ref<Node>::share(static_cast<Node*>(tensor.autograd()->grad_fn.get()));
}

}  // namespace pkg
