// SPDX-License-Identifier: Apache-2.0
// collectives/mpi_abi.h: what is used of MPI 5's standard ABI: types, constants and
// functions, with the values that the standard gives them.  A library that has this ABI is
// opened at run time, so nobody needs its header; tests/distributed/test_mpi_abi.py
// compares this file with one.
#pragma once

#include <cstdint>

namespace pkg::collectives::mpi {

using Comm = struct CommObject*;
using Request = struct RequestObject*;
using Datatype = struct DatatypeObject*;
using Errhandler = struct ErrhandlerObject*;
using Aint = intptr_t;
using Count = int64_t;

struct Status {
  int source;
  int tag;
  int error;
  int internal[5];
};

// Handles are addresses that are no addresses; see handle().
inline constexpr uintptr_t kCommNull = 0x100;
inline constexpr uintptr_t kCommWorld = 0x101;
inline constexpr uintptr_t kErrorsReturn = 0x143;
inline constexpr uintptr_t kRequestNull = 0x180;
inline constexpr uintptr_t kInPlace = 1;
inline constexpr uintptr_t kByte = 0x247;
inline constexpr int kSuccess = 0;
inline constexpr int kAnySource = -1;
inline constexpr int kThreadFunneled = 1024;
inline constexpr int kMaxErrorString = 512;
inline constexpr int kMaxLibraryVersionString = 8192;
inline constexpr int kAbiVersion = 1;

template <class Handle>
Handle handle(uintptr_t constant) {
  return reinterpret_cast<Handle>(constant);
}

// F(name after MPI_, parameters)
#define PKG_MPI_FUNCTIONS(F)                                                               \
  F(Abi_get_version, (int* major, int* minor))                                             \
  F(Get_library_version, (char* version, int* length))                                     \
  F(Error_string, (int code, char* text, int* length))                                     \
  F(Initialized, (int* flag))                                                              \
  F(Init_thread, (int* argc, char*** argv, int required, int* provided))                   \
  F(Finalize, ())                                                                          \
  F(Comm_rank, (Comm comm, int* rank))                                                     \
  F(Comm_size, (Comm comm, int* size))                                                     \
  F(Comm_set_errhandler, (Comm comm, Errhandler handler))                                  \
  F(Comm_idup, (Comm comm, Comm * made, Request * request))                                \
  F(Comm_free, (Comm * comm))                                                              \
  F(Test, (Request * request, int* flag, Status* status))                                  \
  F(Isend, (const void* data, int count, Datatype type, int to, int tag, Comm comm,        \
            Request* request))                                                             \
  F(Iprobe, (int source, int tag, Comm comm, int* flag, Status* status))                   \
  F(Get_count, (const Status* status, Datatype type, int* count))                          \
  F(Recv, (void* data, int count, Datatype type, int source, int tag, Comm comm,           \
           Status* status))                                                                \
  F(Ibcast_c,                                                                              \
    (void* data, Count count, Datatype type, int root, Comm comm, Request* request))       \
  F(Iallgatherv_c,                                                                         \
    (const void* send, Count count, Datatype send_type, void* receive,                     \
     const Count* counts, const Aint* places, Datatype type, Comm comm, Request* request)) \
  F(Ialltoallv_c, (const void* send, const Count* send_counts, const Aint* send_places,    \
                   Datatype send_type, void* receive, const Count* counts,                 \
                   const Aint* places, Datatype type, Comm comm, Request* request))

}  // namespace pkg::collectives::mpi
