# SPDX-License-Identifier: Apache-2.0
"""Training on many processes, with Horovod's names, over MPI.

    import pkg.distributed as hvd

    hvd.init()
    optimizer = hvd.DistributedOptimizer(optimizer, model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)

``python -m pkg launch -np 4 train.py`` starts the processes.  In the source,
docs/distributed.md is the guide.
"""

from .._binding import core as _core
from .collectives import (
    Adasum as Adasum,
    Average as Average,
    Max as Max,
    Min as Min,
    Product as Product,
    Sum as Sum,
    allgather as allgather,
    allgather_async as allgather_async,
    allreduce as allreduce,
    allreduce_ as allreduce_,
    allreduce_async as allreduce_async,
    allreduce_async_ as allreduce_async_,
    alltoall as alltoall,
    alltoall_async as alltoall_async,
    barrier as barrier,
    broadcast as broadcast,
    broadcast_ as broadcast_,
    broadcast_async as broadcast_async,
    broadcast_async_ as broadcast_async_,
    grouped_allgather as grouped_allgather,
    grouped_allgather_async as grouped_allgather_async,
    grouped_allreduce as grouped_allreduce,
    grouped_allreduce_async as grouped_allreduce_async,
    grouped_reducescatter as grouped_reducescatter,
    grouped_reducescatter_async as grouped_reducescatter_async,
    join as join,
    poll as poll,
    reducescatter as reducescatter,
    reducescatter_async as reducescatter_async,
    synchronize as synchronize,
)
from .compression import Compression as Compression
from .functions import (
    allgather_object as allgather_object,
    broadcast_object as broadcast_object,
    broadcast_optimizer_state as broadcast_optimizer_state,
    broadcast_parameters as broadcast_parameters,
)
from .optimizer import DistributedOptimizer as DistributedOptimizer
from .sampler import DistributedSampler as DistributedSampler
from .session import (
    ccl_built as ccl_built,
    cross_rank as cross_rank,
    cross_size as cross_size,
    cuda_built as cuda_built,
    ddl_built as ddl_built,
    gloo_built as gloo_built,
    gloo_enabled as gloo_enabled,
    init as init,
    is_homogeneous as is_homogeneous,
    is_initialized as is_initialized,
    local_rank as local_rank,
    local_size as local_size,
    mpi_built as mpi_built,
    mpi_enabled as mpi_enabled,
    mpi_threads_supported as mpi_threads_supported,
    nccl_built as nccl_built,
    rank as rank,
    rocm_built as rocm_built,
    shutdown as shutdown,
    size as size,
)

HorovodInternalError = _core.HorovodInternalError
