// SPDX-License-Identifier: Apache-2.0
// collectives/response_cache.cc: numbers of requests.
#include "collectives/response_cache.h"

#include "collectives/error.h"

namespace pkg::collectives {

uint64_t ResponseCache::find(const Request& request) const {
  const auto found = ids_.find(request.name);
  if (found == ids_.end() || !of(found->second).same_as(request)) return 0;
  return found->second;
}

void ResponseCache::learn(uint64_t id, const Request& request) {
  Entry& entry = entries_[id];
  entry.request = request;
  entry.request.site.clear();
  entry.place = order_.insert(order_.end(), id);
  ids_[request.name] = id;
}

void ResponseCache::forget(uint64_t id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const auto named = ids_.find(found->second.request.name);
  if (named != ids_.end() && named->second == id)
    ids_.erase(named);  // else it has a new one
  order_.erase(found->second.place);
  entries_.erase(found);
}

void ResponseCache::use(uint64_t id) {
  order_.splice(order_.end(), order_, entries_.at(id).place);
}

const Request& ResponseCache::of(uint64_t id) const {
  const auto found = entries_.find(id);
  PKG_CHECK(found != entries_.end(), CollectiveError, "[receive] the number ", id,
            " means nothing: do all ranks run the same pkg?");
  return found->second.request;
}

}  // namespace pkg::collectives
