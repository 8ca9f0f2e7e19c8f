// SPDX-License-Identifier: Apache-2.0
// collectives/transport.h: what carries bytes between the ranks: MPI, or memory that the
// ranks of one process share.  All of it is called on one thread of each rank.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace pkg::collectives {

class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sends a message; returns at once.  Those from one rank to another arrive in order.
  virtual void send(int to, std::string message) = 0;
  /// Takes the next message that has arrived, if there is one.
  virtual bool receive(int& from, std::string& message) = 0;

  // Each rank calls these in the same order.  All counts are of bytes, one for each rank;
  // the parts lie one behind the other.  While it waits, a call runs idle(), whose
  // exception ends it: the transport is of no use then.  The own part is not copied where it
  // is sent from its place in `receive`, or none is to be received.
  virtual void allgather(const void* send, void* receive,
                         std::span<const int64_t> counts) = 0;
  virtual void alltoall(const void* send, std::span<const int64_t> send_counts,
                        void* receive, std::span<const int64_t> receive_counts) = 0;
  virtual void broadcast(void* data, int64_t count, int root) = 0;

  /// Nothing will be sent or received any more, and all ranks know.
  virtual void close() {}

  std::function<void()> idle = [] {};
};

}  // namespace pkg::collectives
