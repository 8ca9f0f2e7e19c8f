// SPDX-License-Identifier: Apache-2.0
// graph/memory.cc: places for the buffers of a plan.
#include <algorithm>
#include <numeric>

#include "graph/plan.h"
#include "tensor/allocator.h"

namespace pkg::graph {
namespace {

constexpr int64_t kAlign = int64_t(kAlignment);

int64_t rounded(int64_t nbytes) { return (nbytes + kAlign - 1) / kAlign * kAlign; }

bool fills(const Buffer& buffer, const Tensor& tensor) {
  return tensor.is_contiguous() && tensor.offset() == 0 &&
         tensor.numel() * itemsize(tensor.dtype()) == buffer.nbytes;
}

// A buffer that `step` reads last and its result, which begins with it, may take the place
// of: the same elements, each of which a pointwise kernel reads before it writes it.
const Buffer* taken_over(const Plan& plan, size_t s) {
  const Step& step = plan.steps[s];
  if (step.fusion || !step.computes || !step.op->definition().pointwise) return nullptr;
  if (step.op->in_place() || step.results.size() != 1) return nullptr;
  if (!step.kernel->converts || !step.kernel->strided) return nullptr;  // promised apart
  const Tensor& result = step.results[0];
  const Buffer& to = plan.buffers[size_t(buffer_of(result))];
  if (to.kind != Buffer::Kind::Temporary || to.first != s || !fills(to, result)) {
    return nullptr;
  }
  const auto lies_alike = [&](const Tensor& tensor) {
    return itemsize(tensor.dtype()) == itemsize(result.dtype()) &&
           tensor.sizes() == result.sizes() &&
           fills(plan.buffers[size_t(buffer_of(tensor))], tensor);
  };
  // All that the step reads of the buffer lies as the result does, other views of it too.
  std::vector<int> alike, other;
  for (const Value& arg : step.args) {
    for_each_tensor(arg, [&](const Tensor& tensor) {
      if (buffer_of(tensor) < 0) return;
      (lies_alike(tensor) ? alike : other).push_back(buffer_of(tensor));
    });
  }
  for (const int number : alike) {
    const Buffer& from = plan.buffers[size_t(number)];
    const bool over = from.kind == Buffer::Kind::Temporary && from.last == s;
    if (over && std::find(other.begin(), other.end(), number) == other.end()) return &from;
  }
  return nullptr;
}

// For each buffer the one whose place it takes; itself if it has one of its own.
std::vector<size_t> find_owners(const Plan& plan) {
  std::vector<size_t> owners(plan.buffers.size());
  std::iota(owners.begin(), owners.end(), 0);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Buffer* before = taken_over(plan, s);
    if (!before) continue;
    owners[size_t(buffer_of(plan.steps[s].results[0]))] =
        owners[size_t(before - plan.buffers.data())];
  }
  return owners;
}

}  // namespace

// Largest first, each at the lowest place where it fits between those that are in use at the
// same time.
void place_buffers(Plan& plan) {
  const std::vector<size_t> owners = find_owners(plan);
  std::vector<size_t> last(plan.buffers.size());  // step that uses the place last
  std::vector<Buffer*> order;
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    Buffer& buffer = plan.buffers[b];
    if (buffer.kind != Buffer::Kind::Temporary || buffer.first >= plan.steps.size())
      continue;
    if (owners[b] == b) order.push_back(&buffer);
    last[owners[b]] = std::max(last[owners[b]], buffer.last);
  }
  const auto last_of = [&](const Buffer* b) {
    return last[size_t(b - plan.buffers.data())];
  };
  std::stable_sort(order.begin(), order.end(),
                   [](const Buffer* a, const Buffer* b) { return a->nbytes > b->nbytes; });
  std::vector<const Buffer*> placed;  // by offset
  for (Buffer* buffer : order) {
    int64_t offset = 0;
    for (const Buffer* other : placed) {
      const bool together = other->first <= last_of(buffer) &&
                            buffer->first <= last_of(other);
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
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    plan.buffers[b].offset = plan.buffers[owners[b]].offset;
  }
}

}  // namespace pkg::graph
