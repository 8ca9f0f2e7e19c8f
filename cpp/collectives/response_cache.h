// SPDX-License-Identifier: Apache-2.0
// collectives/response_cache.h: what was decided about a tensor before, so that in the steady
// state a rank sends a number and gets one.
//
// Note [The same cache everywhere]
// Rank 0 gives the numbers, in responses, and all ranks get the same responses in the same
// order.  No number is used again, so one that is on its way always means what its sender
// meant; a cache that is full learns nothing more, and requests travel whole.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "collectives/request.h"

namespace pkg::collectives {

class ResponseCache {
 public:
  explicit ResponseCache(int64_t capacity) : capacity_(capacity) {}

  /// The number of a request that equals what is known of its name; 0 if none does.
  uint64_t find(const Request& request) const;
  /// The next number, for rank 0; 0 when the cache is full.
  uint64_t next() const {
    return int64_t(requests_.size()) < capacity_ ? requests_.size() + 1 : 0;
  }
  /// Numbers are learned in any order: responses that are fused come later.
  void learn(uint64_t id, const Request& request);
  /// CollectiveError for a number that was never given.
  const Request& of(uint64_t id) const;

 private:
  int64_t capacity_;
  std::vector<Request> requests_;  // number i is at i - 1
  std::unordered_map<std::string, uint64_t> ids_;
};

}  // namespace pkg::collectives
