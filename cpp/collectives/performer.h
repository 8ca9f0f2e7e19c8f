// SPDX-License-Identifier: Apache-2.0
// collectives/performer.h: carries out what was decided: from the tensors of this rank into
// their results, over a transport.
#pragma once

#include <memory>
#include <span>

#include "collectives/job.h"
#include "collectives/timeline.h"
#include "collectives/transport.h"

namespace pkg::collectives {

/// A tensor of a response; `job` is null on a rank that has joined.
struct Part {
  const Request* request;
  Job* job;
};

class Performer {
 public:
  Performer(Transport& transport, Timeline& timeline)
      : transport_(transport), timeline_(timeline) {}

  /// Results are in the jobs when it returns.
  void perform(const Response& response, std::span<const Part> parts);

 private:
  void allreduce(std::span<const Part> parts);
  void allgather(const Response& response, Job& job);
  void broadcast(Job& job);
  void alltoall(const Response& response, Job& job);
  void reducescatter(Job& job);

  // What the transport does, with its time.
  void gather(const void* send, void* receive, std::span<const int64_t> counts) const;
  void exchange(const void* send, std::span<const int64_t> send_counts, void* receive,
                std::span<const int64_t> receive_counts) const;

  struct Span {  // of a tensor in the buffer that is exchanged
    int64_t begin, bytes;
  };
  void reduce_all(const Request& request, std::vector<const char*> inputs, char* out,
                  int64_t bytes) const;
  void reduce_range(std::span<const Part> parts, std::span<const Span> spans,
                    std::span<const char* const> inputs, int64_t begin, int64_t end,
                    char* out) const;

  // Memory that is kept for the next call, at an address that suits every dtype.
  class Buffer {
   public:
    char* of(int64_t bytes);

   private:
    struct Free {
      void operator()(char* p) const;
    };
    std::unique_ptr<char, Free> memory_;
    int64_t bytes_ = 0;
  };
  using Phase = Timeline::Phase;
  Transport& transport_;
  Timeline& timeline_;
  Buffer fused_, received_;
};

}  // namespace pkg::collectives
