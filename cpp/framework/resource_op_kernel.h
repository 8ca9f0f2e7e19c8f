// SPDX-License-Identifier: Apache-2.0
// framework/resource_op_kernel.h: kernels that make a resource and give a handle of it.
#pragma once

#include "framework/mutex.h"
#include "framework/resource_mgr.h"

namespace pkg::framework {

/// Where a kernel's resource is kept, by the attributes `container` and `shared_name`.
class ContainerInfo {
 public:
  /// Without a shared_name the node's name is the resource's, or, unless
  /// `node_name_by_default`, one that no other kernel has.
  Status Init(ResourceMgr* manager, const NodeDef& node, bool node_name_by_default = false);
  ResourceMgr* resource_manager() const { return manager_; }
  const std::string& container() const { return container_; }
  const std::string& name() const { return name_; }
  bool resource_is_private_to_kernel() const { return private_; }
  std::string DebugString() const;

 private:
  ResourceMgr* manager_ = nullptr;
  std::string container_, name_;
  bool private_ = false;
};

/// Its op has the attributes `container` and `shared_name`, texts, and one output of type
/// resource.  The resource is found or made in the first call; one that no other kernel can
/// name goes with the kernel.
template <class T>
class ResourceOpKernel : public OpKernel {
 public:
  explicit ResourceOpKernel(OpKernelConstruction* context) : OpKernel(context) {}
  ~ResourceOpKernel() override {
    if (!resource_) return;
    resource_->Unref();
    DeleteIfPrivate();
  }

  void Compute(OpKernelContext* context) override {
    {
      mutex_lock lock(mu_);
      if (!resource_) {
        OP_REQUIRES_OK(context, cinfo_.Init(context->resource_manager(), def()));
        T* found = nullptr;
        OP_REQUIRES_OK(context,
                       cinfo_.resource_manager()->template LookupOrCreate<T>(
                           cinfo_.container(), cinfo_.name(), &found,
                           [this](T** made) { return this->CreateResource(made); }));
        const Status fits = VerifyResource(found);
        if (!fits.ok()) {
          found->Unref();
          DeleteIfPrivate();  // nobody else could
          return context->SetStatus(fits);
        }
        resource_ = found;
      }
    }
    Tensor* handle = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &handle));
    handle->scalar<ResourceHandle>()() = MakeResourceHandle<T>(context, cinfo_.container(),
                                                               cinfo_.name());
  }

 protected:
  mutex mu_;
  ContainerInfo cinfo_;    // under mu_
  T* resource_ = nullptr;  // under mu_; a reference of it is the kernel's

  T* get_resource() {
    mutex_lock lock(mu_);
    return resource_;
  }

 private:
  void DeleteIfPrivate() {
    if (!cinfo_.resource_is_private_to_kernel()) return;
    // It may be gone already.
    cinfo_.resource_manager()
        ->template Delete<T>(cinfo_.container(), cinfo_.name())
        .IgnoreError();
  }
  /// Makes it: one reference, the manager's.
  virtual Status CreateResource(T** made) = 0;
  /// Whether one that was there already is what this kernel needs.
  virtual Status VerifyResource(T*) { return Status(); }
};

}  // namespace pkg::framework
