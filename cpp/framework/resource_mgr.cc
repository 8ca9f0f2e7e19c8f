// SPDX-License-Identifier: Apache-2.0
// framework/resource_mgr.cc: the table of resources.
#include "framework/resource_mgr.h"

#include <mutex>

#include "base/thread_local.h"
#include "scheduler/fork_locks.h"

namespace pkg::framework {
namespace {

constinit std::mutex g_managers_lock;  // of the tables of all managers
const pkg::detail::HeldOverFork g_managers_held{pkg::detail::ForkLock::Resources,
                                                g_managers_lock};
ResourceMgr& g_manager = *new ResourceMgr;  // kernels use it until the process ends

// Whether release() has come to the end of an object, on this thread.
PKG_FAST_TLS constinit thread_local bool t_disposed = false;

}  // namespace

bool core::RefCounted::Unref() const {
  t_disposed = false;
  release();
  return std::exchange(t_disposed, false);
}

void core::RefCounted::dispose() noexcept {
  delete this;
  t_disposed = true;  // now: what it held may have come to its end, too
}

ResourceMgr* ResourceMgr::Global() { return &g_manager; }

Status ResourceMgr::create(const std::string& container, const std::string& type,
                           const std::string& name, pkg::Ref<ResourceBase> resource) {
  std::lock_guard lock(g_managers_lock);
  const bool fresh =
      containers_[container].try_emplace({type, name}, std::move(resource)).second;
  if (fresh) return Status();
  return errors::AlreadyExists("Resource ", container, "/", name, " of type ", type,
                               " exists");
}

Status ResourceMgr::lookup(const std::string& container, const std::string& type,
                           const std::string& name, pkg::Ref<ResourceBase>* out) const {
  std::lock_guard lock(g_managers_lock);
  const auto place = containers_.find(container);
  if (place == containers_.end()) {
    return errors::NotFound("Container ", container, " does not exist. (Could not find ",
                            "resource: ", container, "/", name, ")");
  }
  const auto found = place->second.find({type, name});
  if (found == place->second.end()) {
    return errors::NotFound("Resource ", container, "/", name, " of type ", type,
                            " does not exist");
  }
  *out = found->second;
  return Status();
}

Status ResourceMgr::remove(const std::string& container, const std::string& type,
                           const std::string& name) {
  pkg::Ref<ResourceBase> gone;  // dies after the lock is given back
  std::lock_guard lock(g_managers_lock);
  const auto place = containers_.find(container);
  const auto found = place == containers_.end() ? decltype(place->second.end()){}
                                                : place->second.find({type, name});
  if (place == containers_.end() || found == place->second.end()) {
    return errors::NotFound("Resource ", container, "/", name, " of type ", type,
                            " does not exist");
  }
  gone = std::move(found->second);
  place->second.erase(found);
  return Status();
}

Status ResourceMgr::Cleanup(const std::string& container) {
  decltype(containers_)::node_type gone;
  std::lock_guard lock(g_managers_lock);
  gone = containers_.extract(container);
  return Status();
}

std::string ResourceMgr::DebugString() const {
  decltype(containers_) all;
  {
    std::lock_guard lock(g_managers_lock);
    all = containers_;
  }
  std::string text;
  for (const auto& [container, resources] : all) {
    for (const auto& [key, resource] : resources) {
      text += str(container, " | ", key.first, " | ", key.second, " | ",
                  resource->DebugString(), "\n");
    }
  }
  return text;
}

Status HandleFromInput(OpKernelContext* context, std::string_view input,
                       ResourceHandle* handle) {
  const Tensor* tensor = nullptr;
  PKG_RETURN_IF_ERROR(context->input(input, &tensor));
  try {
    *handle = handle_in(tensor->value());
  } catch (...) { return status_of_exception(); }
  return Status();
}

}  // namespace pkg::framework
