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
  if (requests_.size() < id) requests_.resize(size_t(id));
  requests_[size_t(id - 1)] = request;
  requests_[size_t(id - 1)].site.clear();
  ids_[request.name] = id;
}

const Request& ResponseCache::of(uint64_t id) const {
  PKG_CHECK(id >= 1 && id <= requests_.size(), CollectiveError, "[receive] the number ", id,
            " means nothing: do all ranks run the same pkg?");
  return requests_[size_t(id - 1)];
}

}  // namespace pkg::collectives
