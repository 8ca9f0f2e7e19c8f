// SPDX-License-Identifier: Apache-2.0
// framework/resource_op_kernel.cc: names of the resources of kernels.
#include "framework/resource_op_kernel.h"

#include <atomic>

namespace pkg::framework {

Status ContainerInfo::Init(ResourceMgr* manager, const NodeDef& node,
                           bool node_name_by_default) {
  manager_ = manager;
  private_ = false;
  std::string container;
  PKG_RETURN_IF_ERROR(GetNodeAttr(node, "container", &container));
  container_ = container.empty() ? manager->default_container() : container;
  PKG_RETURN_IF_ERROR(GetNodeAttr(node, "shared_name", &name_));
  if (name_.starts_with('_')) {
    return errors::InvalidArgument("shared_name cannot start with '_': ", name_);
  }
  if (!name_.empty()) return Status();
  name_ = node.name();
  if (node_name_by_default) return Status();
  static std::atomic<int64_t> next{0};
  private_ = true;
  name_ = str("_", next.fetch_add(1), "_", node.name());
  return Status();
}

std::string ContainerInfo::DebugString() const {
  return str("[", container_, ",", name_, ",", private_ ? "private" : "public", "]");
}

}  // namespace pkg::framework
