// SPDX-License-Identifier: Apache-2.0
// collectives/response_cache.h: what was decided about a tensor before, so that in the steady
// state a rank sends a number and gets one.
//
// Note [The same cache everywhere]
// Rank 0 gives the numbers, and says in its responses which ones are forgotten; all ranks
// get the same responses in the same order.  No number is used again.  A rank may still send
// one that rank 0 has forgotten: what that meant is kept until every rank has carried out
// the response that says so.
#pragma once

#include <list>
#include <string>
#include <unordered_map>

#include "collectives/request.h"

namespace pkg::collectives {

class ResponseCache {
 public:
  /// The number of a request that equals what is known of its name; 0 if none does.
  uint64_t find(const Request& request) const;
  void learn(uint64_t id, const Request& request);
  void forget(uint64_t id);
  /// CollectiveError for a number that means nothing.
  const Request& of(uint64_t id) const;
  bool has(uint64_t id) const { return entries_.contains(id); }

  // For rank 0, which decides what to forget.
  void use(uint64_t id);
  uint64_t least_recently_used() const { return order_.front(); }
  int64_t size() const { return int64_t(entries_.size()); }

 private:
  struct Entry {
    Request request;
    std::list<uint64_t>::iterator place;
  };
  std::unordered_map<uint64_t, Entry> entries_;
  std::unordered_map<std::string, uint64_t> ids_;
  std::list<uint64_t> order_;  // used least recently first
};

}  // namespace pkg::collectives
