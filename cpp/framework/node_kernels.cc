// SPDX-License-Identifier: Apache-2.0
// framework/node_kernels.cc: see node_kernels.h.
#include "framework/node_kernels.h"

#include <utility>

#include "base/thread_local.h"
#include "framework/kernel_set.h"

namespace pkg::framework {

namespace {
PKG_FAST_TLS constinit thread_local const AtNode* t_at = nullptr;
}  // namespace

struct NodeKernels::Own {
  const KernelSet* shared;  // that it was made of
  std::unique_ptr<KernelSet> set;
  Kernel kernel{};  // with the set; for plans
};

NodeKernels::NodeKernels() = default;
NodeKernels::~NodeKernels() = default;

// Under mutex_.
NodeKernels::Own& NodeKernels::own(const void* node, const std::string& name,
                                   const KernelSet& shared) {
  Owns& all = owns_[{node, &shared.data()}];
  // A kernel may have been registered since.
  if (all.empty() || all.back()->shared != &shared) {
    const KernelSet* before = all.empty() ? nullptr : all.back()->set.get();
    all.push_back(std::make_unique<Own>(Own{&shared, shared.for_node(name, before)}));
  }
  return *all.back();
}

const Kernel* NodeKernels::of(const void* node, const std::string& name,
                              const Operator& op) {
  const KernelSet* shared = find_kernel_set(op);
  if (!shared) return nullptr;
  std::lock_guard lock(mutex_);
  Own& found = own(node, name, *shared);
  if (!found.kernel.function) {
    found.kernel = op.kernel(DispatchKey::CPU);
    found.kernel.function = found.set.get();
  }
  return &found.kernel;
}

const KernelSet& NodeKernels::of(const void* node, const std::string& name,
                                 const KernelSet& shared) {
  std::lock_guard lock(mutex_);
  return *own(node, name, shared).set;
}

AtNode::AtNode(NodeKernels* kernels, const void* node, const std::string* name) noexcept
    : kernels_(kernels), node_(node), name_(name), around_(std::exchange(t_at, this)) {}
AtNode::~AtNode() { t_at = around_; }

const KernelSet& AtNode::choice(const KernelSet& set) {
  const AtNode* at = t_at;
  if (!at || !at->kernels_ || set.of_node()) return set;
  return at->kernels_->of(at->node_, *at->name_, set);
}

}  // namespace pkg::framework
