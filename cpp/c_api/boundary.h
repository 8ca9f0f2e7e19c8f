// SPDX-License-Identifier: Apache-2.0
// c_api/boundary.h: crossing from C and back, for the files of this folder: handles are
// pointers to the runtime's own objects, and no exception passes guarded().
#pragma once

#include <exception>
#include <string>

#include "c_api/c_api.h"
#include "dispatcher/dispatcher.h"

struct pkg_status {
  pkg_code code = PKG_OK;
  std::string text;
  // For C++ on both sides of a call: what was thrown, which throw_reported() throws again.
  bool keeps = false;
  std::exception_ptr thrown;

  void clear() {
    code = PKG_OK;
    text.clear();
    thrown = nullptr;
  }
};

namespace pkg::c {

/// Stores the exception being handled.
void record_exception(pkg_status* status) noexcept;
/// Throws the error that a callback reported; nothing for PKG_OK.
void throw_reported(const pkg_status& status);

/// Runs `body`; an exception becomes the status and the result `failed`.
template <class R, class F>
R guarded(pkg_status* status, R failed, F&& body) noexcept {
  if (status) status->clear();
  try {
    return body();
  } catch (...) {
    record_exception(status);
    return failed;
  }
}

/// Fills `text` as snprintf does; returns the whole length.
size_t copy_text(const std::string& from, char* text, size_t capacity) noexcept;

/// Fills `text` with what `read` says; 0 when that raises.
template <class F>
size_t write_text(char* text, size_t capacity, F read) noexcept {
  return guarded<size_t>(nullptr, 0, [&] { return copy_text(read(), text, capacity); });
}

// A tensor handle is the TensorImpl itself, and owns one of its references.
inline TensorImpl* impl_of(const pkg_tensor* handle) {
  return reinterpret_cast<TensorImpl*>(const_cast<pkg_tensor*>(handle));
}
/// The tensor behind a handle; undefined for NULL.
inline Tensor borrow(const pkg_tensor* handle) {
  return Tensor(Ref<TensorImpl>::share(impl_of(handle)));
}
/// The same where NULL is the caller's mistake.
Tensor required(const char* function, const char* parameter, const pkg_tensor* handle);
/// A handle that keeps the tensor; NULL for an undefined one.
inline pkg_tensor* own(Tensor tensor) {
  Ref<TensorImpl> ref = tensor.ref();
  return reinterpret_cast<pkg_tensor*>(ref.detach());
}
/// A handle good for as long as `tensor` lives.
inline pkg_tensor* lend(const Tensor& tensor) {
  return reinterpret_cast<pkg_tensor*>(tensor.impl());
}

inline const pkg_op* handle_of(const Operator& op) {
  return reinterpret_cast<const pkg_op*>(&op);
}
const Operator& required(const char* function, const pkg_op* handle);

DType dtype_of_code(const char* function, int64_t code);
Device device_of_code(const char* function, int64_t code);
inline int64_t code_of(Device device) {
  return device.type == DeviceType::CPU ? PKG_CPU : PKG_META;
}
/// ValueError for a negative count, TypeError for a missing array.
Shape shape_of(const char* function, const int64_t* sizes, int64_t ndim);

/// The kernel a callback of this thread is computing.  Its tensors are not waited for:
/// arguments are ready, and the event of the results is the kernel itself.
class KernelFrame {
 public:
  KernelFrame(std::span<const Value> args, std::span<const Tensor> results);
  ~KernelFrame();
  KernelFrame(const KernelFrame&) = delete;
  KernelFrame& operator=(const KernelFrame&) = delete;
  /// Whether a kernel running on this thread works on the memory of `tensor`.
  static bool covers(const Tensor& tensor);

 private:
  std::span<const Value> args_;
  std::span<const Tensor> results_;
  KernelFrame* outer_;
};

/// Arguments as C sees them; points into `args`, which must outlive it.
class LentValues {
 public:
  explicit LentValues(std::span<const Value> args);
  const pkg_value* data() const { return values_.data(); }
  int32_t size() const { return int32_t(values_.size()); }

 private:
  std::vector<pkg_value> values_;
  std::vector<std::vector<pkg_tensor*>> lists_;
  std::vector<std::vector<const char*>> texts_;
  std::vector<std::vector<int64_t>> bools_;
};

/// A result with references and memory of its own.
pkg_value own_value(const Value& value);

/// Fills one Value for each parameter of the schema; TypeError says what does not fit.
void bind_arguments(const Operator& op, std::span<const pkg_arg> given,
                    std::span<Value> out);

/// Makes a callback the gradient of an op that has none.
void give_gradient(const Operator& op, pkg_gradient_fn run, void* user_data,
                   const char* where);

}  // namespace pkg::c
