// SPDX-License-Identifier: Apache-2.0
// compat/tf1/pkg_tensorflow.h: our classes by TensorFlow's names.  The headers beside it,
// which stand at TensorFlow's paths, include it and say no more.
//
// `tensorflow` is a namespace of its own and no alias, as sources open it again.
#pragma once

#include "framework/common.h"

namespace Eigen {
// Names only: what is in them is ours.  Real Eigen, if it is included, has its own.
#ifndef EIGEN_WORLD_VERSION
using half = pkg::framework::half;
using bfloat16 = pkg::framework::bfloat16;
using Index = int64_t;
#endif
using ThreadPoolDevice = pkg::framework::ThreadPoolDevice;
using GpuDevice = pkg::framework::GpuDevice;
}  // namespace Eigen

// Where the real one is not there.
#ifndef ABSL_BASE_CONFIG_H_
namespace absl {
using Status = pkg::framework::Status;
using string_view = std::string_view;
template <class T>
using Span = std::span<T>;
inline Status OkStatus() { return {}; }
#define PKG_ABSL_ERROR(Name)                            \
  inline Status Name##Error(std::string_view message) { \
    return pkg::framework::errors::Name(message);       \
  }                                                     \
  inline bool Is##Name(const Status& status) {          \
    return pkg::framework::errors::Is##Name(status);    \
  }
PKG_ABSL_ERROR(Aborted)
PKG_ABSL_ERROR(AlreadyExists)
PKG_ABSL_ERROR(Cancelled)
PKG_ABSL_ERROR(DataLoss)
PKG_ABSL_ERROR(DeadlineExceeded)
PKG_ABSL_ERROR(FailedPrecondition)
PKG_ABSL_ERROR(Internal)
PKG_ABSL_ERROR(InvalidArgument)
PKG_ABSL_ERROR(NotFound)
PKG_ABSL_ERROR(OutOfRange)
PKG_ABSL_ERROR(PermissionDenied)
PKG_ABSL_ERROR(ResourceExhausted)
PKG_ABSL_ERROR(Unauthenticated)
PKG_ABSL_ERROR(Unavailable)
PKG_ABSL_ERROR(Unimplemented)
PKG_ABSL_ERROR(Unknown)
#undef PKG_ABSL_ERROR
template <class... Parts>
std::string StrCat(const Parts&... parts) {
  return pkg::str(parts...);
}
template <class List>
std::string StrJoin(const List& list, std::string_view between) {
  std::string text;
  bool first = true;
  for (const auto& item : list) {
    if (!first) text += between;
    text += pkg::str(item);
    first = false;
  }
  return text;
}
}  // namespace absl
#endif

namespace tensorflow {

// framework/types.h
using pkg::framework::bfloat16;
using pkg::framework::DataType;
using enum pkg::framework::DataType;
using pkg::framework::DataTypeSlice;
using pkg::framework::DataTypeSliceString;
using pkg::framework::DataTypeString;
using pkg::framework::DataTypeToEnum;
using pkg::framework::DataTypeVector;
using pkg::framework::DataTypeVectorString;
using pkg::framework::EnumToDataType;
using pkg::framework::int16;
using pkg::framework::int32;
using pkg::framework::int64;
using pkg::framework::int8;
using pkg::framework::kint32max;
using pkg::framework::kint32min;
using pkg::framework::kint64max;
using pkg::framework::kint64min;
using pkg::framework::kint8max;
using pkg::framework::kint8min;
using pkg::framework::kuint32max;
using pkg::framework::kuint64max;
using pkg::framework::kuint8max;
using pkg::framework::string;
using pkg::framework::tstring;
using pkg::framework::uint16;
using pkg::framework::uint32;
using pkg::framework::uint64;
using pkg::framework::uint8;
using StringPiece = std::string_view;

// lib/core/status.h, lib/core/errors.h
using pkg::framework::OkStatus;
using pkg::framework::Status;
namespace error {
using namespace pkg::framework::error;
}
namespace errors {
using namespace pkg::framework::errors;
}

// framework/tensor.h, tensor_shape.h, tensor_types.h
using pkg::framework::PartialTensorShape;
using pkg::framework::PersistentTensor;
using pkg::framework::Tensor;
using pkg::framework::TensorShape;
using pkg::framework::TensorShapeDim;
using pkg::framework::TensorShapeUtils;
using pkg::framework::TTypes;

// framework/op.h, op_def_builder.h, shape_inference.h, common_shape_fns.h
using pkg::framework::OpDef;
using pkg::framework::OpDefBuilder;
using pkg::framework::OpRegistrationData;
using pkg::framework::OpRegistry;
using pkg::framework::OpShapeInferenceFn;
namespace shape_inference {
using namespace pkg::framework::shape_inference;
}

// framework/op_kernel.h
using pkg::framework::AllocatorAttributes;
using pkg::framework::AsyncOpKernel;
using pkg::framework::FastBoundsCheck;
using pkg::framework::GetNodeAttr;
using pkg::framework::HasNodeAttr;
using pkg::framework::NodeDef;
using pkg::framework::Shard;
namespace internal {
using pkg::framework::internal::SubtleMustCopy;
}
namespace thread {
using pkg::framework::thread::ThreadPool;
}
using pkg::framework::CancelCallback;
using pkg::framework::CancellationManager;
using pkg::framework::CancellationToken;
using pkg::framework::DEVICE_CPU;
using pkg::framework::DEVICE_DEFAULT;
using pkg::framework::DEVICE_GPU;
using pkg::framework::DeviceBase;
using pkg::framework::DeviceContext;
using pkg::framework::DeviceType;
using pkg::framework::OpInputList;
using pkg::framework::OpKernel;
using pkg::framework::OpKernelConstruction;
using pkg::framework::OpKernelContext;
using pkg::framework::OpOutputList;

// framework/resource_mgr.h, resource_handle.h, lib/core/refcount.h
using pkg::framework::ContainerInfo;
using pkg::framework::ResourceBase;
using pkg::framework::ResourceHandle;
using pkg::framework::ResourceMgr;
using pkg::framework::ResourceOpKernel;
using pkg::framework::Var;
namespace core {
using namespace pkg::framework::core;
}

// platform/mutex.h
using pkg::framework::condition_variable;
using pkg::framework::LINKER_INITIALIZED;
using pkg::framework::mutex;
using pkg::framework::mutex_lock;
using pkg::framework::tf_shared_lock;

// lib/strings/strcat.h
namespace strings {
template <class... Parts>
std::string StrCat(const Parts&... parts) {
  return pkg::str(parts...);
}
template <class... Parts>
void StrAppend(std::string* text, const Parts&... parts) {
  *text += pkg::str(parts...);
}
}  // namespace strings

}  // namespace tensorflow
