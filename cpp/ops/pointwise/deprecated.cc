// SPDX-License-Identifier: Apache-2.0
// ops/pointwise/deprecated.cc: signatures of older PyTorch programs.
#include "dispatcher/deprecated.h"

#include "dispatcher/library.h"

namespace pkg {
namespace {

PKG_LIBRARY_FRAGMENT(pkg, ) {
  deprecate("pkg", "add(Tensor self, Scalar alpha, Tensor other) -> Tensor");
  deprecate("pkg", "add_(Tensor(a!) self, Scalar alpha, Tensor other) -> Tensor(a!)");
  deprecate("pkg", "sub(Tensor self, Scalar alpha, Tensor other) -> Tensor");
  deprecate("pkg", "sub_(Tensor(a!) self, Scalar alpha, Tensor other) -> Tensor(a!)");
  deprecate("pkg",
            "addcmul(Tensor self, Scalar value, Tensor tensor1, Tensor tensor2) -> Tensor");
  deprecate("pkg",
            "addcdiv(Tensor self, Scalar value, Tensor tensor1, Tensor tensor2) -> Tensor");
}

}  // namespace
}  // namespace pkg
