// SPDX-License-Identifier: Apache-2.0
// collectives/collectives.h: the collectives as typed C++ callables, for programs.  They are
// records of the namespace horovod (docs/distributed.md); `op` is a Reduction, and a call that
// is `in_turn` may come after another one of its name, which is an error else.
#pragma once

#include "collectives/request.h"
#include "dispatcher/typed.h"

namespace pkg::collectives {

/// (library paths or "", fusion bytes, cache capacity, seconds until a stall is an error,
/// seconds of silence until a rank is lost): int64 [rank, size, local_rank, local_size,
/// cross_rank, cross_size], pending until all ranks have come.
inline const Op<Tensor(const std::string&, int64_t, int64_t, double, double)> init{
    "init", "horovod"};
/// Pending until all ranks know.
inline const Op<Tensor()> shutdown{"shutdown", "horovod"};

/// (tensor, name, op, prescale_factor, postscale_factor, ignore_name_scope, in_turn)
inline const Op<Tensor(const Tensor&, const std::string&, int64_t, double, double, bool,
                       bool)>
    allreduce{"allreduce", "horovod"};
/// (tensors, name, op, prescale_factor, postscale_factor, in_turn)
inline const Op<TensorList(const TensorList&, const std::string&, int64_t, double, double,
                           bool)>
    grouped_allreduce{"grouped_allreduce", "horovod"};
/// (tensor, name, in_turn)
inline const Op<Tensor(const Tensor&, const std::string&, bool)> allgather{"allgather",
                                                                           "horovod"};
inline const Op<TensorList(const TensorList&, const std::string&, bool)> grouped_allgather{
    "grouped_allgather", "horovod"};
/// (tensor, root_rank, name, in_turn)
inline const Op<Tensor(const Tensor&, int64_t, const std::string&, bool)> broadcast{
    "broadcast", "horovod"};
/// (tensor, splits or nothing, name, in_turn): the rows, and how many came from each rank.
inline const Op<std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, const std::string&,
                                           bool)>
    alltoall{"alltoall", "horovod"};
/// (tensor, name, op, prescale_factor, postscale_factor, in_turn)
inline const Op<Tensor(const Tensor&, const std::string&, int64_t, double, double, bool)>
    reducescatter{"reducescatter", "horovod"};
inline const Op<TensorList(const TensorList&, const std::string&, int64_t, double, double,
                           bool)>
    grouped_reducescatter{"grouped_reducescatter", "horovod"};
inline const Op<Tensor()> join{"join", "horovod"}, barrier{"barrier", "horovod"};

}  // namespace pkg::collectives
