// SPDX-License-Identifier: Apache-2.0
// collectives/mpi_transport.h: the transport over MPI.  MPI belongs to the one thread that
// makes the first of these, and is begun once in the process; each transport has a
// communicator of its own, so that nothing of an earlier one can reach it.
#pragma once

#include <list>

#include "collectives/mpi_library.h"
#include "collectives/transport.h"

namespace pkg::collectives {

class MpiTransport final : public Transport {
 public:
  /// All ranks make one together; `waiting` is called until they have.
  MpiTransport(const mpi::Library& library, const std::function<void()>& waiting);
  ~MpiTransport() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(int to, std::string message) override;
  bool receive(int& from, std::string& message) override;
  void allgather(const void* send, void* receive, std::span<const int64_t> counts) override;
  void alltoall(const void* send, std::span<const int64_t> send_counts, void* receive,
                std::span<const int64_t> receive_counts) override;
  void broadcast(void* data, int64_t count, int root) override;
  void close() override;

 private:
  struct Sending {
    std::string message;
    mpi::Request request;
  };
  void wait(const char* function, mpi::Request request,
            const std::function<void()>& waiting, int64_t bytes = 0);
  void drop_sent();

  const mpi::Library& mpi_;
  mpi::Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  std::list<Sending> sending_;  // memory that MPI reads
};

/// Ends MPI if it was begun: on the thread that began it, when all ranks do.
void finalize_mpi();

}  // namespace pkg::collectives
