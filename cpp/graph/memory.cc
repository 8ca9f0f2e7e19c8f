// SPDX-License-Identifier: Apache-2.0
// graph/memory.cc: places for the buffers of a plan.
#include <algorithm>

#include "graph/plan.h"
#include "tensor/allocator.h"

namespace pkg::graph {
namespace {

constexpr int64_t kAlign = int64_t(kAlignment);

int64_t rounded(int64_t nbytes) { return (nbytes + kAlign - 1) / kAlign * kAlign; }

}  // namespace

// Largest first, each at the lowest place where it fits between those that are in use at the
// same time.
void place_buffers(Plan& plan) {
  std::vector<Buffer*> order;
  for (Buffer& buffer : plan.buffers) {
    if (buffer.kind == Buffer::Kind::Temporary && buffer.first < plan.steps.size()) {
      order.push_back(&buffer);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Buffer* a, const Buffer* b) { return a->nbytes > b->nbytes; });
  std::vector<const Buffer*> placed;  // by offset
  for (Buffer* buffer : order) {
    int64_t offset = 0;
    for (const Buffer* other : placed) {
      const bool together = other->first <= buffer->last && buffer->first <= other->last;
      if (!together) continue;
      if (other->offset >= offset + rounded(buffer->nbytes)) break;
      offset = std::max(offset, other->offset + rounded(other->nbytes));
    }
    buffer->offset = offset;
    plan.slab_bytes = std::max(plan.slab_bytes, offset + rounded(buffer->nbytes));
    const auto place = std::upper_bound(
        placed.begin(), placed.end(), buffer,
        [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; });
    placed.insert(place, buffer);
  }
}

}  // namespace pkg::graph
