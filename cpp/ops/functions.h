// SPDX-License-Identifier: Apache-2.0
// ops/functions.h: ops as typed C++ callables, for formulas, composites and programs.  Each
// handle stands here and nowhere else, and is compared with the record at its first call;
// arguments left out take the defaults of the schema.  Ops whose names begin with _ are
// passes over memory that formulas use.
//
// clang-format off: this is a table.
#pragma once

#include "dispatcher/typed.h"

namespace pkg::ops {

using UnaryOp = Op<Tensor(const Tensor&)>;
using BinaryOp = Op<Tensor(const Tensor&, const Tensor&)>;
using TernaryOp = Op<Tensor(const Tensor&, const Tensor&, const Tensor&)>;
using Dims = std::optional<Shape>;
using MaybeInt = std::optional<int64_t>;
using MaybeDType = std::optional<DType>;
using MaybeDevice = std::optional<Device>;
using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

// Pointwise (cpp/ops/pointwise)
inline const Op<Tensor(const Tensor&, const Tensor&, const Scalar&)> add{"add"},
    add_{"add_"}, sub{"sub"}, sub_{"sub_"};
inline const BinaryOp mul{"mul"}, mul_{"mul_"}, div{"div"}, div_{"div_"},
    floor_divide{"floor_divide"}, floor_divide_{"floor_divide_"},
    trunc_divide{"_trunc_divide"}, trunc_divide_{"_trunc_divide_"},
    remainder{"remainder"}, remainder_{"remainder_"}, pow{"pow"}, pow_{"pow_"},
    maximum{"maximum"}, minimum{"minimum"}, xlogy{"xlogy"};
inline const BinaryOp eq{"eq"}, ne{"ne"}, lt{"lt"}, le{"le"}, gt{"gt"}, ge{"ge"},
    same{"_same"};
inline const BinaryOp bitwise_and{"bitwise_and"}, bitwise_and_{"bitwise_and_"},
    bitwise_or{"bitwise_or"}, bitwise_or_{"bitwise_or_"}, bitwise_xor{"bitwise_xor"},
    bitwise_xor_{"bitwise_xor_"}, bitwise_left_shift{"bitwise_left_shift"},
    bitwise_left_shift_{"bitwise_left_shift_"},
    bitwise_right_shift{"bitwise_right_shift"},
    bitwise_right_shift_{"bitwise_right_shift_"};
inline const Op<Tensor(const Tensor&, const Tensor&, double, double, bool)>
    isclose{"isclose"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Tensor&, const Scalar&)>
    addcmul{"addcmul"};
inline const UnaryOp bitwise_not{"bitwise_not"}, isnan{"isnan"}, isinf{"isinf"},
    isfinite{"isfinite"};
inline const TernaryOp where{"where"}, clamp{"clamp"}, clamp_{"clamp_"},
    masked_fill{"masked_fill"}, masked_fill_{"masked_fill_"}, lerp_{"lerp_"};
inline const UnaryOp neg{"neg"}, abs{"abs"}, sign{"sign"}, exp{"exp"}, log{"log"},
    rsqrt{"rsqrt"}, sin{"sin"}, cos{"cos"}, sinh{"sinh"}, cosh{"cosh"},
    tanh{"tanh"}, sigmoid{"sigmoid"}, erf{"erf"}, trunc{"trunc"}, relu{"relu"},
    logsigmoid{"logsigmoid"};
inline const Op<Tensor(const Tensor&, const Scalar&, const Scalar&)>
    softplus{"softplus"}, hardtanh{"hardtanh"};
inline const Op<Tensor(const Tensor&, const Scalar&, const Scalar&, const Scalar&)>
    elu{"elu"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Scalar&)>
    leaky_relu_backward{"_leaky_relu_backward"}, threshold_backward{"_threshold_backward"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Scalar&, const Scalar&)>
    softplus_backward{"_softplus_backward"}, hardtanh_backward{"_hardtanh_backward"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Scalar&, const Scalar&,
                       const Scalar&)> elu_backward{"_elu_backward"};
inline const BinaryOp tanh_backward{"_tanh_backward"},
    sigmoid_backward{"_sigmoid_backward"}, relu_backward{"_relu_backward"},
    silu_backward{"_silu_backward"}, gelu_backward{"_gelu_backward"},
    gelu_tanh_backward{"_gelu_tanh_backward"}, mish_backward{"_mish_backward"},
    logsigmoid_backward{"_logsigmoid_backward"}, hardswish_backward{"_hardswish_backward"},
    hardsigmoid_backward{"_hardsigmoid_backward"},
    prelu_weight_backward{"_prelu_weight_backward"}, prelu_pointwise{"_prelu"};
inline const Op<Tensor(const Tensor&, int64_t)> gated_half{"_glu"};
inline const Op<Tensor(const Tensor&, const Tensor&, int64_t)>
    glu_backward{"_glu_backward"};
inline const UnaryOp second_is_zero{"_second_is_zero"};

// Reductions (cpp/ops/reduce)
inline const Op<Tensor(const Tensor&, const Dims&, bool, MaybeDType)> sum{"sum"},
    mean{"mean"};
inline const Op<Tensor(const Tensor&, const Dims&, bool)> amax{"amax"}, amin{"amin"},
    any{"any"}, all{"all"};
inline const Op<Tensor(const Tensor&, const Dims&, double, bool)>
    divided_spread{"_var"}, divided_spread_root{"_std"};
inline const Op<Tensor(const Tensor&, const Scalar&, const Dims&, bool, MaybeDType)>
    vector_norm{"linalg_vector_norm"};
inline const Op<Tensor(const Tensor&, MaybeInt, bool)> argmax{"argmax"},
    argmin{"argmin"};
inline const Op<Tensor(const Tensor&, int64_t, MaybeDType)> cumsum{"cumsum"},
    cumprod{"cumprod"};
inline const Op<Tensor(const Tensor&, int64_t)> reverse_cumsum{"_reverse_cumsum"};
inline const Op<Tensor(const Tensor&, const Tensor&, int64_t, bool)>
    linear_scan{"_linear_scan"};
inline const Op<Tensor(const Tensor&, const Tensor&, int64_t)>
    prod_backward{"_prod_backward"};

// Creation and random numbers (cpp/ops/create, cpp/ops/random)
inline const Op<Tensor(const Tensor&, const Scalar&, MaybeDType, MaybeDevice, bool)>
    full_like{"full_like"};
inline const UnaryOp clone{"clone"}, row_major_copy{"_row_major_copy"};
inline const Op<Tensor(const Tensor&, const Tensor&)> copy_{"copy_"};
inline const Op<Tensor(const Tensor&, DType)> to_dtype{"to_dtype"};
inline const Op<Tensor(const Tensor&, MaybeDevice, MaybeDType, bool, bool)>
    to_device{"to.device"};
inline const Op<Tensor(const Tensor&, double, double)> uniform_{"uniform_"},
    normal_{"normal_"};
inline const Op<Tensor(const Tensor&, int64_t, int64_t)> integers_{"_integers_"};
inline const UnaryOp permutation_{"_permutation_"};
inline const Op<Tensor(const Tensor&, double, int64_t, int64_t)> dropout_at{"_dropout"};
inline const Op<Tensor(const Tensor&, const Tensor&, double)> dropout_from{"_dropout_from"};
inline const Op<Tensor(const Tensor&)> reserve_numbers{"_reserve_numbers"};

// Shape (cpp/ops/shape)
inline const Op<Tensor(const Tensor&, const Shape&)> reshape{"reshape"}, view{"view"},
    expand{"expand"}, permute{"permute"}, flip{"flip"}, repeat{"repeat"};
inline const Op<Tensor(const Tensor&, const Shape&, const Shape&)> movedim{"movedim"};
inline const Op<Tensor(const Tensor&, const Shape&, const Shape&)> rolled{"_roll"};
inline const Op<Tensor(const Tensor&, int64_t, int64_t)> transpose{"transpose"},
    select{"select"};
inline const Op<Tensor(const Tensor&, const Shape&, int64_t, int64_t)>
    select_backward{"_select_backward"};
inline const Op<Tensor(const Tensor&, int64_t)> unsqueeze{"unsqueeze"}, tril{"tril"},
    triu{"triu"};
inline const Op<Tensor(const Tensor&, int64_t, MaybeInt, MaybeInt, int64_t)>
    slice{"slice"};
inline const Op<Tensor(const Tensor&, const Shape&, int64_t, MaybeInt, MaybeInt,
                       int64_t)> slice_backward{"_slice_backward"};
inline const Op<Tensor(const Tensor&, int64_t, int64_t, int64_t)> diagonal{"diagonal"},
    diag_embed{"diag_embed"};
inline const Op<Tensor(const Tensor&, const Shape&, int64_t, int64_t, int64_t)>
    diagonal_backward{"_diagonal_backward"};
inline const Op<Tensor(const Tensor&, const Shape&, const Scalar&)>
    constant_pad_nd{"constant_pad_nd"};
inline const Op<Tensor(const Tensor&, const Shape&, const std::string&,
                       const std::optional<Scalar>&)> pad{"pad"};
inline const Op<Tensor(const Tensor&, const Shape&, const Shape&, const std::string&)>
    pad_backward{"_pad_backward"};
inline const Op<Tensor(const TensorList&, int64_t)> cat{"cat"};
inline const Op<TensorList(const Tensor&, int64_t, int64_t)> chunk{"chunk"};
inline const UnaryOp contiguous{"contiguous"}, repeated_places{"_repeated_places"};
inline const Op<Tensor(const Tensor&, const Shape&, const Shape&, int64_t, const Dims&)>
    strided_view{"_strided_view"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Shape&, const Shape&,
                       int64_t, const Dims&)> strided_scatter{"_strided_scatter"};

// Indexing and sorting (cpp/ops/index)
inline const Op<Tensor(const Tensor&, const TensorList&)> index{"index"},
    index_front{"_index"};
inline const Op<Tensor(const Tensor&, const TensorList&, const Tensor&, bool)>
    index_put_{"index_put_"}, put_front{"_index_put"}, put_front_{"_index_put_"};
inline const Op<Tensor(const Tensor&, int64_t, const Tensor&)> slices_of{"_slices"};
inline const Op<Tensor(const Tensor&, int64_t, const Tensor&, const Tensor&, bool)>
    slices_put{"_slices_put"}, slices_put_{"_slices_put_"};
inline const Op<Tensor(const Tensor&, int64_t, const Tensor&)> gather{"gather"},
    index_select{"index_select"};
inline const Op<Tensor(const Tensor&, int64_t, const Tensor&, const Tensor&)>
    scatter{"_scatter"}, scatter_{"_scatter_"}, scatter_add{"scatter_add"};
inline const Op<Tensor(const Tensor&, const Tensor&)> take{"take"};
inline const UnaryOp nonzero{"nonzero"};
inline const Op<Tensor(const Tensor&, int64_t)> one_hot{"one_hot"},
    one_hot_rows{"_one_hot"};
inline const BinaryOp among{"_among"};
inline const Op<Tensor(const Tensor&, const Tensor&, bool)> search{"_search"};
inline const Op<Two(const Tensor&, int64_t, bool, bool)> sort{"sort"};

// Linear algebra (cpp/ops/linalg)
inline const BinaryOp mm{"mm"}, bmm{"bmm"}, mv{"mv"}, outer{"outer"}, matmul{"matmul"};

// Networks (cpp/ops/nn)
inline const Op<Tensor(const Tensor&, const Tensor&, const Tensor&, const Shape&, const
                       Shape&, const Shape&, int64_t)> conv2d{"conv2d"},
    conv2d_forward{"_conv2d"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Shape&, const Shape&, const
                       Shape&, const Shape&, int64_t)>
    conv2d_input_grad{"_conv2d_input_grad"}, conv2d_weight_grad{"_conv2d_weight_grad"};
inline const Op<Tensor(const Tensor&, const Shape&, const Dims&, const Shape&)>
    max_pool2d{"max_pool2d"};
inline const Op<Two(const Tensor&, const Shape&, const Shape&, const Shape&)>
    max_pool2d_places{"_max_pool2d"};
inline const Op<Tensor(const Tensor&, const Shape&, const Shape&, const Shape&)>
    max_pool2d_values{"_max_pool2d_values"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Shape&)>
    max_pool2d_backward{"_max_pool2d_backward"};
inline const Op<Tensor(const Tensor&, const Shape&, const Shape&, const Shape&, bool)>
    avg_pool2d_windows{"_avg_pool2d"};
inline const Op<Tensor(const Tensor&, const Shape&, const Shape&, const Shape&, const
                       Shape&, bool)> avg_pool2d_backward{"_avg_pool2d_backward"};
inline const Op<Tensor(const Tensor&, const Shape&)>
    adaptive_avg_pool2d_windows{"_adaptive_avg_pool2d"},
    adaptive_avg_pool2d_backward{"_adaptive_avg_pool2d_backward"};
inline const Op<Tensor(const Tensor&, int64_t, MaybeDType)> softmax{"softmax"},
    log_softmax{"log_softmax"};
inline const UnaryOp softmax_rows{"_softmax"}, log_softmax_rows{"_log_softmax"};
inline const Op<Tensor(const Tensor&, const Tensor&, bool)>
    softmax_backward{"_softmax_backward"};
inline const Op<Tensor(const Tensor&, int64_t, bool)>
    softmax_columns{"_softmax_columns"};
inline const Op<Tensor(const Tensor&, const Tensor&, int64_t, bool)>
    softmax_columns_backward{"_softmax_columns_backward"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&)>
    channel_affine{"_channel_affine"};
inline const Op<Two(const Tensor&, const Tensor&, const Tensor&)>
    channel_sums{"_channel_sums"};
inline const Op<Three(const Tensor&, const Tensor&, const Tensor&, double)>
    normalise_channels{"_batch_norm"};
inline const Op<Three(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                      const Tensor&, double)>
    normalise_channels_backward{"_batch_norm_backward"};
inline const Op<Three(const Tensor&, int64_t, const Tensor&, const Tensor&, double,
                      bool)> normalise_rows{"_layer_norm"};
inline const Op<Three(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const
                      Tensor&, int64_t, bool, bool)>
    normalise_rows_backward{"_layer_norm_backward"};
inline const Op<Tensor(const Tensor&, const Tensor&, int64_t, const std::string&)>
    cross_entropy_rows{"_cross_entropy"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Tensor&, int64_t, const
                       std::string&)> cross_entropy_backward{"_cross_entropy_backward"},
    nll_loss{"nll_loss"};
inline const Op<Tensor(const Tensor&, const Tensor&, int64_t, const std::string&)>
    nll_rows{"_nll_loss"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Shape&, int64_t, const
                       std::string&)> nll_rows_backward{"_nll_loss_backward"};
inline const BinaryOp element_entropy{"_binary_cross_entropy"},
    element_entropy_of_logits{"_binary_cross_entropy_with_logits"};
inline const BinaryOp squared_distance{"_squared_distance"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Tensor&)>
    squared_distance_backward{"_squared_distance_backward"};
inline const Op<Tensor(const Tensor&, const Tensor&, double)> smooth_l1{"_smooth_l1"},
    huber{"_huber"};
inline const Op<Tensor(const Tensor&, const Tensor&, const Tensor&, double)>
    smooth_l1_backward{"_smooth_l1_backward"}, huber_backward{"_huber_backward"};

}  // namespace pkg::ops
