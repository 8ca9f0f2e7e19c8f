// SPDX-License-Identifier: Apache-2.0
// collectives/timeline.h: what this rank does for which tensor, and when: for the profiler
// where somebody wants it (scheduler/trace.h), and as a Chrome trace in a file.
//
// Names are Horovod's where it has one: NEGOTIATE_ALLREDUCE from the request until all ranks
// have asked, on rank 0 with a mark "rank 1" when that rank's came; then ALLREDUCE, and in it
// MEMCPY_IN_FUSION_BUFFER, TRANSFER, REDUCE, MEMCPY_OUT_FUSION_BUFFER.  What is fused has the
// same times for each tensor.  In the file calls without a name share a lane for each kind:
// their names do not come again.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "collectives/request.h"
#include "scheduler/trace.h"

namespace pkg::collectives {

class Timeline {
 public:
  /// Writes to this file as well; "": to none.
  explicit Timeline(const std::string& path);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Why there is no file; "" where there is one, or none was asked for.
  const std::string& error() const { return error_; }
  bool on() const { return file_.is_open() || trace::wanted(trace::Kind::Collective); }

  /// This rank has sent its request.
  void sent(const Request& request);
  /// That of another rank has come here.
  void came(int rank, const Request& request);
  /// Begins to do what was decided for these tensors of this rank.
  void begin(Kind kind, const std::vector<const Request*>& tensors);
  void end();

  /// A part of it that lasts as long as this object.
  class Phase {
   public:
    Phase(Timeline& timeline, const char* name)
        : timeline_(timeline.tensors_.empty() ? nullptr : &timeline),
          name_(name),
          start_(timeline_ ? trace::now() : 0) {}
    ~Phase() {
      if (timeline_) timeline_->phases_.push_back({name_, start_, trace::now()});
    }
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;

   private:
    Timeline* const timeline_;
    const char* const name_;
    const int64_t start_;
  };

 private:
  struct Done {
    std::string name;
    int64_t start, end;
  };
  struct Tensor {
    std::string name, lane, site;
    int64_t sent = 0;  // 0: nobody looked then
  };
  void note(const Done& what, const Tensor& tensor);
  void write(const Done& what, const Tensor& tensor);

  std::ofstream file_;
  std::string error_;
  const int64_t began_ = trace::now();
  std::unordered_map<std::string, size_t> lanes_;  // of the file
  std::unordered_map<std::string, int64_t> sent_;  // when, by tensor
  std::string kind_;                               // "ALLREDUCE"
  std::vector<Tensor> tensors_;                    // that are done now
  std::vector<Done> phases_;
  int64_t start_ = 0;
};

}  // namespace pkg::collectives
