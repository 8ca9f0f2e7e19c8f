// SPDX-License-Identifier: Apache-2.0
// framework/resource_mgr.h: things that kernels share by name, with counted references.
#pragma once

#include <map>
#include <typeinfo>

#include "framework/making.h"
#include "framework/op_kernel.h"
#include "framework/resource_handle.h"

namespace pkg::framework {

namespace core {

/// Counts who needs it; the one that drops the last reference deletes it.
class RefCounted : public Intrusive {
 public:
  void Ref() const { retain(); }
  /// Whether this was the last one.
  bool Unref() const;
  bool RefCountIsOne() const { return sole_owner(); }

 protected:
  void dispose() noexcept override;
};

/// One reference, dropped at the end.
template <class T>
class RefCountPtr {
 public:
  RefCountPtr() = default;
  explicit RefCountPtr(T* owned) : ref_(pkg::Ref<T>::adopt(owned)) {}
  T* get() const { return ref_.get(); }
  T* operator->() const { return ref_.get(); }
  T& operator*() const { return *ref_; }
  explicit operator bool() const { return bool(ref_); }
  void reset(T* owned = nullptr) { ref_ = pkg::Ref<T>::adopt(owned); }
  T* release() { return ref_.detach(); }

 private:
  pkg::Ref<T> ref_;
};

/// Drops a reference that somebody else took, at the end of a block.
class ScopedUnref {
 public:
  explicit ScopedUnref(const RefCounted* object) : object_(object) {}
  ~ScopedUnref() {
    if (object_) object_->Unref();
  }
  ScopedUnref(const ScopedUnref&) = delete;
  ScopedUnref& operator=(const ScopedUnref&) = delete;

 private:
  const RefCounted* object_;
};

}  // namespace core

class ResourceBase : public core::RefCounted {
 public:
  virtual std::string DebugString() const { return "resource"; }
  virtual int64_t MemoryUsed() const { return 0; }
};

/// The name of a type, the same in every library: no address of a static decides.  But one of
/// an unnamed namespace is of its library alone, where another may have one of its name.
template <class T>
std::string type_name() {
  static_assert(std::is_base_of_v<ResourceBase, T>,
                "a resource is of a class that derives from ResourceBase");
  const std::string name = typeid(T).name();
  return name.find("_GLOBAL__N_") == name.npos ? name
                                               : str(name, " at ", (const void*)&typeid(T));
}

class ResourceMgr {
 public:
  /// That of the process.
  static ResourceMgr* Global();
  const std::string& default_container() const { return default_; }

  /// Takes over the caller's reference, also where it fails: AlreadyExists.
  template <class T>
  Status Create(const std::string& container, const std::string& name, T* resource) {
    return create(container, type_name<T>(), name, pkg::Ref<ResourceBase>::adopt(resource));
  }
  /// Adds a reference for the caller, to be dropped with Unref().
  template <class T>
  Status Lookup(const std::string& container, const std::string& name, T** out) const {
    core::RefCountPtr<T> found;
    PKG_RETURN_IF_ERROR(Lookup(container, name, &found));
    *out = found.release();
    return Status();
  }
  template <class T>
  Status Lookup(const std::string& container, const std::string& name,
                core::RefCountPtr<T>* out) const {
    pkg::Ref<ResourceBase> found;
    PKG_RETURN_IF_ERROR(lookup(container, type_name<T>(), name, &found));
    out->reset(static_cast<T*>(found.detach()));
    return Status();
  }
  /// Finds it, or makes it with `make(T**)`, which one thread at a time does for a name
  /// (Note [Making]).  Internal where `make` is OK and gives none.
  template <class T, class Make>
  Status LookupOrCreate(const std::string& container, const std::string& name, T** out,
                        Make make) {
    while (!Lookup(container, name, out).ok()) {
      const Making making(this, str(type_name<T>(), " ", container, "/", name));
      if (Lookup(container, name, out).ok()) break;
      T* made = nullptr;
      PKG_RETURN_IF_ERROR(make(&made));
      if (!made) {
        return errors::Internal("the maker of the resource ", container, "/", name,
                                " was OK and has made none");
      }
      made->Ref();
      const Status status = Create(container, name, made);
      if (status.ok()) return *out = made, status;
      made->Unref();
      if (status.code() != error::ALREADY_EXISTS) return status;
      // Somebody else's Create came first: that one counts, unless it is gone already.
    }
    return Status();
  }
  template <class T>
  Status Delete(const std::string& container, const std::string& name) {
    return remove(container, type_name<T>(), name);
  }
  Status Delete(const ResourceHandle& handle) {
    return remove(handle.container, handle.type_name, handle.name);
  }
  Status Cleanup(const std::string& container);
  std::string DebugString() const;

 private:
  template <class T>
  friend Status lookup_resource(OpKernelContext*, const ResourceHandle&,
                                core::RefCountPtr<T>*);
  Status create(const std::string& container, const std::string& type,
                const std::string& name, pkg::Ref<ResourceBase> resource);
  Status lookup(const std::string& container, const std::string& type,
                const std::string& name, pkg::Ref<ResourceBase>* out) const;
  Status remove(const std::string& container, const std::string& type,
                const std::string& name);

  std::string default_ = "localhost";
  std::map<std::string,
           std::map<std::pair<std::string, std::string>, pkg::Ref<ResourceBase>>>
      containers_;  // by type and name; under a lock of the process
};

/// A handle that the manager's name stands behind.
template <class T>
ResourceHandle MakeResourceHandle(OpKernelContext* context, const std::string& container,
                                  const std::string& name) {
  const std::string& place = container.empty()
                                 ? context->resource_manager()->default_container()
                                 : container;
  return {context->device()->name(), place, name, type_name<T>(), {}};
}
/// A handle that keeps the resource itself, which then needs no name: it goes with the last
/// tensor that holds the handle.  Takes over the caller's reference.
template <class T>
ResourceHandle MakeRefCountingHandle(OpKernelContext* context, const std::string& name,
                                     T* resource) {
  return {context->device()->name(), "", name, type_name<T>(),
          pkg::Ref<Intrusive>::adopt(resource)};
}

/// The handle in an input, as long as the context is valid.  ValueError for a tensor that
/// holds none.  A template, so that a function of this name that a source declares itself is
/// preferred (resource_var.cc).
template <class Context>
  requires std::is_same_v<Context, OpKernelContext>
const ResourceHandle& HandleFromInput(Context* context, int input) {
  return context->input_handle(input);
}
Status HandleFromInput(OpKernelContext* context, std::string_view input,
                       ResourceHandle* handle);

/// The resource of a handle, with a reference that `out` drops.  InvalidArgument for one of
/// another type, NotFound where it is gone.
template <class T>
Status lookup_resource(OpKernelContext* context, const ResourceHandle& handle,
                       core::RefCountPtr<T>* out) {
  if (handle.type_name != type_name<T>()) {
    return errors::InvalidArgument("Trying to access resource '", handle.name, "' of type ",
                                   handle.type_name, " as ", type_name<T>());
  }
  if (handle.resource) {
    auto* resource = static_cast<T*>(static_cast<ResourceBase*>(handle.resource.get()));
    resource->Ref();
    out->reset(resource);
    return Status();
  }
  return context->resource_manager()->Lookup(handle.container, handle.name, out);
}
template <class T>
Status LookupResource(OpKernelContext* context, const ResourceHandle& handle,
                      core::RefCountPtr<T>* out) {
  return lookup_resource(context, handle, out);
}
/// The same with a reference that the caller has to drop with Unref().
template <class T>
Status LookupResource(OpKernelContext* context, const ResourceHandle& handle, T** out) {
  core::RefCountPtr<T> found;
  PKG_RETURN_IF_ERROR(lookup_resource(context, handle, &found));
  *out = found.release();
  return Status();
}
template <class T>
Status CreateResource(OpKernelContext* context, const ResourceHandle& handle, T* resource) {
  return context->resource_manager()->Create(handle.container, handle.name, resource);
}
template <class T>
Status DeleteResource(OpKernelContext* context, const ResourceHandle& handle) {
  return context->resource_manager()->Delete<T>(handle.container, handle.name);
}

}  // namespace pkg::framework
