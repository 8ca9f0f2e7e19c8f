// SPDX-License-Identifier: Apache-2.0
// framework/kernel_def.h: REGISTER_KERNEL_BUILDER: which kernel an op has, for which device
// and types.
//
//   REGISTER_KERNEL_BUILDER(Name("TimeTwo").Device(DEVICE_CPU).TypeConstraint<float>("T"),
//                           TimeTwoOp<CPUDevice, float>);
#pragma once

#include "dispatcher/library.h"
#include "framework/op_kernel.h"

namespace pkg::framework {

/// One registration.
struct KernelDef {
  struct Constraint {
    std::string attr;
    DataTypeVector types;
  };
  using Factory = OpKernel* (*)(OpKernelConstruction*);

  std::string op, device, label, class_name;
  std::vector<Constraint> constraints;
  std::vector<std::string> host_memory;  ///< arguments; all memory is the host's here
  int32_t priority = 0;
  Factory factory = nullptr;
  const char* where = "";

  /// "device='CPU'; T in [DT_FLOAT]"
  std::string str() const;
};

/// Compiled in the core but for templates, for the same reason as OpDefBuilder.
class KernelDefBuilder {
 public:
  explicit KernelDefBuilder(const char* op);
  KernelDefBuilder(const KernelDefBuilder&);
  KernelDefBuilder(KernelDefBuilder&&) noexcept;
  KernelDefBuilder& operator=(const KernelDefBuilder&);
  KernelDefBuilder& operator=(KernelDefBuilder&&) noexcept;
  ~KernelDefBuilder();
  KernelDefBuilder& Device(const char* device);
  KernelDefBuilder& Device(const DeviceType& device) { return Device(device.type()); }
  template <class T>
  KernelDefBuilder& TypeConstraint(const char* attr) {
    return TypeConstraint(attr, DataTypeToEnum<T>::value);
  }
  KernelDefBuilder& TypeConstraint(const char* attr, DataType allowed);
  KernelDefBuilder& TypeConstraint(const char* attr, DataTypeVector allowed);
  KernelDefBuilder& HostMemory(const char* argument);
  KernelDefBuilder& Label(const char* label);
  /// Of several kernels that fit, the one of the highest is taken.
  KernelDefBuilder& Priority(int32_t priority) { return def_.priority = priority, *this; }
  const KernelDef& def() const { return def_; }

 private:
  KernelDef def_;
};

namespace register_kernel {
struct Name : KernelDefBuilder {
  using KernelDefBuilder::KernelDefBuilder;
};
}  // namespace register_kernel

/// Enters the kernel with its op's record, as part of its library.
struct KernelRegistrar {
  KernelRegistrar(const KernelDefBuilder& builder, const char* class_name,
                  KernelDef::Factory factory, Origin origin, const char* stamp);
};

}  // namespace pkg::framework

// Ends with its own semicolon, as TensorFlow's: TF_CALL_ macros put several side by side.
#define PKG_REGISTER_KERNEL_(id, builder, ...)                                             \
  static const ::pkg::framework::KernelRegistrar PKG_CONCAT(pkg_kernel_, id)(              \
      ::pkg::framework::register_kernel::builder, #__VA_ARGS__,                            \
      [](::pkg::framework::OpKernelConstruction* context) -> ::pkg::framework::OpKernel* { \
        return new __VA_ARGS__(context);                                                   \
      },                                                                                   \
      ::pkg::Origin{__FILE__ ":" PKG_STR(__LINE__), PKG_OUTSIDE_}, PKG_STAMP_);
#define PKG_REGISTER_KERNEL(id, builder, ...) PKG_REGISTER_KERNEL_(id, builder, __VA_ARGS__)
#define REGISTER_KERNEL_BUILDER(builder, ...) \
  PKG_REGISTER_KERNEL(__COUNTER__, builder, __VA_ARGS__)
