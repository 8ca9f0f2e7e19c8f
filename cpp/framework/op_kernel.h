// SPDX-License-Identifier: Apache-2.0
// framework/op_kernel.h: the classes that a kernel of REGISTER_KERNEL_BUILDER is written
// with.
//
// Note [Errors of kernels]
// A kernel says what is wrong by a status (OP_REQUIRES), or throws.  Either becomes the
// exception of the call, and later calls are not affected.  After an error what it has set
// as outputs does not count.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "base/function_ref.h"
#include "framework/cancellation.h"
#include "framework/device.h"
#include "framework/node_attrs.h"
#include "framework/tensor.h"

namespace pkg::framework {

class AsyncOpKernel;
class OpKernelContext;
class ResourceMgr;
struct ResourceHandle;

/// How a call is made up: what a kernel was chosen for.
struct CallForm {
  std::string name;  ///< of the node; of the op where there is none
  const OpDef* def = nullptr;
  AttrValues attrs;
  DataTypeVector input_types, output_types;
  std::vector<size_t> input_counts, output_counts;  ///< tensors of each argument
};

/// What TensorFlow's kernels read of the node that they belong to.
class NodeDef {
 public:
  explicit NodeDef(const CallForm& form) : form_(&form) {}
  const std::string& name() const { return form_->name; }
  const std::string& op() const { return form_->def->name; }
  NodeAttrs attrs() const { return NodeAttrs(*form_->def, form_->attrs); }

 private:
  const CallForm* form_;
};
template <class T>
Status GetNodeAttr(const NodeDef& node, std::string_view name, T* value) {
  return node.attrs().get(name, value);
}
inline bool HasNodeAttr(const NodeDef& node, std::string_view name) {
  return node.attrs().has(name);
}

/// A tensor that a kernel keeps between calls.
class PersistentTensor {
 public:
  PersistentTensor() = default;
  explicit PersistentTensor(Tensor tensor) : tensor_(std::move(tensor)) {}
  /// Of an OpKernelContext or OpKernelConstruction.
  template <class Context>
  Tensor* AccessTensor(Context*) {
    return &tensor_;
  }
  bool IsInitialized() const { return tensor_.IsInitialized(); }
  int64_t NumElements() const { return tensor_.NumElements(); }
  int64_t AllocatedBytes() const { return int64_t(tensor_.AllocatedBytes()); }

 private:
  Tensor tensor_;
};

/// What both contexts are: a status, and the making of tensors.
class KernelContext {
 public:
  /// The first error counts.  Of any thread.
  void SetStatus(const Status& status);
  void CtxFailure(const Status& status) { SetStatus(status); }
  void CtxFailure(const char*, int, const Status& status) { SetStatus(status); }
  void CtxFailureWithWarning(const Status& status) { SetStatus(status); }
  void CtxFailureWithWarning(const char*, int, const Status& status) { SetStatus(status); }
  Status status() const {
    std::lock_guard lock(mutex_);
    return status_;
  }

  /// Lives as long as the caller keeps it.
  Status allocate_temp(DataType type, const TensorShape& shape, Tensor* out,
                       AllocatorAttributes = {});
  /// Lives as long as the kernel keeps it.  `out` may be null.
  Status allocate_persistent(DataType type, const TensorShape& shape,
                             PersistentTensor* persistent, Tensor** out);

 protected:
  mutable std::mutex mutex_;

  /// The same without the lock, for when nobody sets one any more.
  const Status& last_status() const { return status_; }

 private:
  Status status_;
};

/// Given to the constructor of a kernel.
class OpKernelConstruction : public KernelContext {
 public:
  explicit OpKernelConstruction(const CallForm& form)
      : form_(form), attrs_(*form.def, form_.attrs) {}

  template <class T>
  Status GetAttr(std::string_view name, T* value) const {
    return attrs_.get(name, value);
  }
  bool HasAttr(std::string_view name) const { return attrs_.has(name); }
  int num_inputs() const { return int(form_.input_types.size()); }
  int num_outputs() const { return int(form_.output_types.size()); }
  DataType input_type(int i) const { return form_.input_types.at(size_t(i)); }
  DataType output_type(int i) const { return form_.output_types.at(size_t(i)); }
  const DataTypeVector& input_types() const { return form_.input_types; }
  const DataTypeVector& output_types() const { return form_.output_types; }
  Status MatchSignature(const DataTypeVector& inputs, const DataTypeVector& outputs) const;
  DeviceType device_type() const { return DEVICE_CPU; }
  const CallForm& form() const { return form_; }
  NodeDef def() const { return NodeDef(form_); }

 private:
  const CallForm& form_;
  NodeAttrs attrs_;
};

/// One for each combination of attributes; Compute may be called by several threads at
/// once.
class OpKernel {
 public:
  explicit OpKernel(OpKernelConstruction* context) : form_(context->form()) {}
  virtual ~OpKernel();
  OpKernel(const OpKernel&) = delete;
  OpKernel& operator=(const OpKernel&) = delete;

  virtual void Compute(OpKernelContext* context) = 0;
  virtual AsyncOpKernel* AsAsync() { return nullptr; }
  virtual bool IsExpensive() { return true; }

  const std::string& name() const { return form_.name; }
  const std::string& type_string() const { return form_.def->name; }
  NodeDef def() const { return NodeDef(form_); }
  int num_inputs() const { return int(form_.input_types.size()); }
  int num_outputs() const { return int(form_.output_types.size()); }
  DataType input_type(int i) const { return form_.input_types.at(size_t(i)); }
  DataType output_type(int i) const { return form_.output_types.at(size_t(i)); }

 private:
  const CallForm& form_;  // of what keeps the kernel
};

/// A kernel that may go on after ComputeAsync has returned, until it calls `done`, once, on
/// whatever thread.  The context is valid until then, also when nobody waits any more: what
/// it sets then is seen by nobody.
class AsyncOpKernel : public OpKernel {
 public:
  using OpKernel::OpKernel;
  using DoneCallback = std::function<void()>;
  virtual void ComputeAsync(OpKernelContext* context, DoneCallback done) = 0;
  AsyncOpKernel* AsAsync() final { return this; }
  void Compute(OpKernelContext* context) final;
};

/// The tensors of an input that is a list.
class OpInputList {
 public:
  OpInputList() = default;
  OpInputList(const Tensor* first, size_t n) : first_(first), n_(n) {}
  int size() const { return int(n_); }
  /// IndexError where there is none.
  const Tensor& operator[](int i) const {
    PKG_CHECK(i >= 0 && size_t(i) < n_, IndexError,
              "[OpInputList] expected an index below ", n_, ", got ", i, ".");
    return first_[i];
  }
  const Tensor* begin() const { return first_; }
  const Tensor* end() const { return first_ + n_; }

 private:
  const Tensor* first_ = nullptr;
  size_t n_ = 0;
};

/// The tensors of an output that is a list.
class OpOutputList {
 public:
  OpOutputList() = default;
  OpOutputList(OpKernelContext* context, int first, int n)
      : context_(context), first_(first), n_(n) {}
  int size() const { return n_; }
  /// IndexError where there is none.
  Tensor* operator[](int i);
  Status allocate(int i, const TensorShape& shape, Tensor** out);
  /// IndexError where there is none.
  void set(int i, const Tensor& tensor);

 private:
  int place(int i) const;
  OpKernelContext* context_ = nullptr;
  int first_ = 0, n_ = 0;
};

/// Given to Compute: one call.
class OpKernelContext : public KernelContext {
 public:
  /// `args` live longer than the context, or until release().  `results`: tensors to be
  /// filled, where they exist before the call; else empty.
  OpKernelContext(const CallForm& form, std::span<const Value> args,
                  std::span<pkg::Tensor> results);
  ~OpKernelContext();

  int num_inputs() const { return int(n_inputs_); }
  int num_outputs() const { return int(form_.output_types.size()); }
  DataType input_dtype(int i) const { return input(i).dtype(); }
  DataType expected_output_dtype(int i) const { return form_.output_types[output_at(i)]; }
  /// IndexError where there is none.
  const Tensor& input(int i) const {
    if (__builtin_expect(i < 0 || size_t(i) >= n_inputs_, 0)) refuse_input(i);
    return inputs_[i];
  }
  Status input(std::string_view name, const Tensor** tensor) const;
  Status input_list(std::string_view name, OpInputList* list) const;
  bool has_input(int i) const { return i >= 0 && size_t(i) < n_inputs_; }

  Status allocate_output(int i, const TensorShape& shape, Tensor** out,
                         AllocatorAttributes = {});
  Status allocate_output(std::string_view name, const TensorShape& shape, Tensor** out);
  Status output_list(std::string_view name, OpOutputList* list);
  /// Shares its memory with the result, unless somebody else has it after the kernel has run,
  /// as an input, another result or a tensor that the kernel keeps: then it is copied, since
  /// ours can be written in place.  Handles get slots of their own.
  void set_output(int i, const Tensor& tensor);
  Status set_output(std::string_view name, const Tensor& tensor);
  Tensor* mutable_output(int i);
  /// Allocates: that nobody needs an input any more is never known here.
  Status forward_input_or_allocate_output(std::span<const int> candidates, int i,
                                          const TensorShape& shape, Tensor** out,
                                          int* forwarded = nullptr);
  Status forward_input_or_allocate_output(std::initializer_list<int> candidates, int i,
                                          const TensorShape& shape, Tensor** out,
                                          int* forwarded = nullptr) {
    return forward_input_or_allocate_output(
        std::span(candidates.begin(), candidates.size()), i, shape, out, forwarded);
  }

  /// A number that no other call has.
  int64_t step_id();
  template <class Device>
  const Device& eigen_device() const {
    static_assert(std::is_same_v<Device, ThreadPoolDevice>,
                  "this build has the processor only: ask for Eigen::ThreadPoolDevice");
    return *DeviceBase::cpu()->eigen_cpu_device();
  }
  const ThreadPoolDevice& eigen_cpu_device() const {
    return *DeviceBase::cpu()->eigen_cpu_device();
  }
  DeviceBase* device() const { return DeviceBase::cpu(); }
  DeviceContext* op_device_context() const { return nullptr; }
  template <class T = DeviceContext>
  T* op_device_context() const {
    return nullptr;
  }
  ResourceMgr* resource_manager() const;
  /// The handle in an input, for as long as the context is valid; throws as handle_in().
  const ResourceHandle& input_handle(int i);
  /// Of this call; that of a kernel that is not asynchronous is never cancelled.
  CancellationManager* cancellation_manager();
  const CallForm& form() const { return form_; }

  /// After the kernel, when nobody uses the context any more: throws what is wrong, else the
  /// results, each of them once.
  void check_outputs();
  pkg::Tensor take_output(size_t i);
  /// Lets go of all tensors: nobody uses it any more.
  void release();

 private:
  static constexpr size_t kInline = 4;
  OpKernelContext(const CallForm& form, std::span<pkg::Tensor> results);
  size_t output_at(int i) const;
  [[noreturn, gnu::cold]] void refuse_input(int i) const;
  void add_input(const pkg::Tensor& tensor);

  const CallForm& form_;
  const std::span<pkg::Tensor> results_;
  size_t n_inputs_ = 0;
  // No more of them are made than the call has: Note [What a call costs] in op_kernel.cc.
  alignas(Tensor) std::byte few_inputs_[kInline * sizeof(Tensor)];
  alignas(Tensor) std::byte few_outputs_[kInline * sizeof(Tensor)];
  std::vector<Tensor> more_inputs_, more_outputs_;
  Tensor* inputs_;
  Tensor* outputs_;
  int64_t step_id_ = 0;
  std::once_flag asked_;
  std::unique_ptr<CancellationManager> cancellation_;           // for who has asked
  std::vector<std::shared_ptr<const ResourceHandle>> handles_;  // under mutex_
  unsigned own_inputs_ = 0;  // a bit for each of few_inputs_ that is not borrowed
};

}  // namespace pkg::framework

/// Of a constructor or Compute: ends it with the status unless the condition holds.
#define OP_REQUIRES(ctx, condition, ...)                    \
  do {                                                      \
    if (__builtin_expect(!(condition), 0)) {                \
      (ctx)->CtxFailure(__FILE__, __LINE__, (__VA_ARGS__)); \
      return;                                               \
    }                                                       \
  } while (0)
#define OP_REQUIRES_OK(ctx, ...)                                \
  do {                                                          \
    const ::pkg::framework::Status pkg_status_ = (__VA_ARGS__); \
    if (__builtin_expect(!pkg_status_.ok(), 0)) {               \
      (ctx)->CtxFailure(__FILE__, __LINE__, pkg_status_);       \
      return;                                                   \
    }                                                           \
  } while (0)
/// The same of ComputeAsync, which calls `callback` then.
#define OP_REQUIRES_ASYNC(ctx, condition, status, callback) \
  do {                                                      \
    if (__builtin_expect(!(condition), 0)) {                \
      (ctx)->CtxFailure(__FILE__, __LINE__, (status));      \
      (callback)();                                         \
      return;                                               \
    }                                                       \
  } while (0)
#define OP_REQUIRES_OK_ASYNC(ctx, status, callback)        \
  do {                                                     \
    const ::pkg::framework::Status pkg_status_ = (status); \
    if (__builtin_expect(!pkg_status_.ok(), 0)) {          \
      (ctx)->CtxFailure(__FILE__, __LINE__, pkg_status_);  \
      (callback)();                                        \
      return;                                              \
    }                                                      \
  } while (0)
