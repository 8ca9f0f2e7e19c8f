// SPDX-License-Identifier: Apache-2.0
// ops/functions.h: the elementwise, creation and shape ops as typed C++ callables.
// One line an op; arguments left out take the defaults of the schema.
#pragma once

#include "dispatcher/typed.h"

namespace pkg::ops {

using UnaryOp = Op<Tensor(const Tensor&)>;
using BinaryOp = Op<Tensor(const Tensor&, const Tensor&)>;

// Arithmetic (arithmetic.cc)
inline const Op<Tensor(const Tensor&, const Tensor&, const Scalar&)> add{"add"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Scalar&)> add_{"add_"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Scalar&)> sub{"sub"};
inline const BinaryOp mul{"mul"};
inline const BinaryOp div{"div"};
inline const BinaryOp pow{"pow"};
inline const BinaryOp maximum{"maximum"};
inline const BinaryOp minimum{"minimum"};

// Comparison (comparison.cc)
inline const BinaryOp eq{"eq"};
inline const BinaryOp ne{"ne"};
inline const BinaryOp lt{"lt"};
inline const BinaryOp le{"le"};
inline const BinaryOp gt{"gt"};
inline const BinaryOp ge{"ge"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Tensor&)> where{"where"};

// Unary math (unary.cc)
inline const UnaryOp neg{"neg"};
inline const UnaryOp abs{"abs"};
inline const UnaryOp sign{"sign"};
inline const UnaryOp exp{"exp"};
inline const UnaryOp log{"log"};
inline const UnaryOp sqrt{"sqrt"};
inline const UnaryOp sin{"sin"};
inline const UnaryOp cos{"cos"};
inline const UnaryOp tanh{"tanh"};
inline const UnaryOp sigmoid{"sigmoid"};
inline const UnaryOp relu{"relu"};
inline const UnaryOp erf{"erf"};

// Creation (creation.cc)
inline const Op<Tensor(const Tensor&, const Scalar&, std::optional<DType>,
                       std::optional<Device>, bool)>
    full_like{"full_like"};
inline const UnaryOp clone{"clone"};
inline const Op<Tensor(const Tensor&, const Tensor&)> copy_{"copy_"};
inline const Op<Tensor(const Tensor&, DType)> to_dtype{"to_dtype"};
inline const Op<Tensor(const Tensor&, std::optional<Device>, std::optional<DType>, bool, bool)>
    to_device{"to.device"};

// Shape (shape_ops.cc)
inline const Op<Tensor(const Tensor&, const Shape&)> reshape{"reshape"};
inline const Op<Tensor(const Tensor&, const Shape&)> expand{"expand"};
inline const Op<Tensor(const Tensor&, const Shape&)> permute{"permute"};
inline const Op<Tensor(const Tensor&, int64_t, int64_t)> transpose{"transpose"};
inline const Op<Tensor(const Tensor&, int64_t)> unsqueeze{"unsqueeze"};
inline const Op<Tensor(const Tensor&, int64_t, int64_t)> select{"select"};
inline const Op<Tensor(const Tensor&, int64_t, std::optional<int64_t>,
                       std::optional<int64_t>, int64_t)>
    slice{"slice"};
inline const UnaryOp contiguous{"contiguous"};
inline const Op<Tensor(const Tensor&, const std::optional<Shape>&, bool,
                       std::optional<DType>)>
    sum{"sum"};

}  // namespace pkg::ops
