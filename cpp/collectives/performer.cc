// SPDX-License-Identifier: Apache-2.0
// collectives/performer.cc: the collectives as exchanges of bytes and reductions of ours.
#include "collectives/performer.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "collectives/error.h"
#include "collectives/reduce.h"

namespace pkg::collectives {
namespace {

// Where tensors begin in a buffer, and parts that ranks reduce: whole elements of any dtype.
constexpr int64_t kAlign = 64;
// Up to this each rank gets everything and reduces all of it: one exchange instead of two.
constexpr int64_t kGatherBytes = 32 << 10;
// A buffer that grew beyond this is given back.
constexpr int64_t kKeptBytes = 256 << 20;
// How much is reduced between two looks at the other ranks: whole elements.
constexpr int64_t kLookBytes = 16 << 20;

int64_t aligned(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

int64_t row_bytes(const Request& request) {
  int64_t bytes = itemsize(request.dtype);
  for (size_t d = 1; d < request.sizes.size(); ++d) bytes *= request.sizes[d];
  return bytes;
}

Scaled scaling(const Request& request, int ranks) {
  return {request.reduction, request.prescale, request.postscale, ranks};
}

void copy(char* to, const char* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, size_t(bytes));
}

}  // namespace

void Performer::Buffer::Free::operator()(char* p) const {
  ::operator delete(p, std::align_val_t(kAlign));
}

char* Performer::Buffer::of(int64_t bytes) {
  if (bytes > bytes_ || bytes_ > kKeptBytes) {
    memory_.reset();
    bytes_ = 0;
    const int64_t wanted = std::max(bytes, kAlign);
    memory_.reset(
        static_cast<char*>(::operator new(size_t(wanted), std::align_val_t(kAlign))));
    bytes_ = wanted;
  }
  return memory_.get();
}

void Performer::perform(const Response& response, std::span<const Part> parts) {
  const bool zeros = response.kind == Kind::Allreduce &&
                     !response.concerns(transport_.rank());
  for (const Part& part : parts) {
    // The others count on data of this rank, so it cannot just stay away.
    PKG_CHECK(part.job || zeros, CollectiveError, "[", part.request->name, "] rank ",
              transport_.rank(), " was told to do the ", name_of(response.kind),
              ", for which it did not ask. Do all ranks run the same pkg?");
  }
  switch (response.kind) {
    case Kind::Allreduce: return allreduce(parts);
    case Kind::Allgather: return allgather(response, *parts[0].job);
    case Kind::Broadcast: return broadcast(*parts[0].job);
    case Kind::Alltoall: return alltoall(response, *parts[0].job);
    case Kind::Reducescatter: return reducescatter(*parts[0].job);
    case Kind::Join:
      *reinterpret_cast<int32_t*>(bytes_of(parts[0].job->output)) = response.last_joined;
      return;
    case Kind::Barrier:
      *reinterpret_cast<int32_t*>(bytes_of(parts[0].job->output)) = 0;
      return;
  }
}

// Reduces whole arrays, with a look at the other ranks now and then: what takes long must not
// be taken for death.
void Performer::reduce_all(const Request& request, std::vector<const char*> inputs,
                           char* out, int64_t bytes) const {
  const int ranks = transport_.size();
  for (int64_t at = 0; at < bytes; at += kLookBytes) {
    const int64_t now = std::min(kLookBytes, bytes - at);
    reduce(request.dtype, scaling(request, ranks), inputs, out + at,
           now / itemsize(request.dtype));
    for (const char*& input : inputs) input += now;
    if (ranks > 1) transport_.idle();
  }
}

// Reduces the bytes [begin, end) of the buffer; inputs and `out` begin at `begin`.
void Performer::reduce_range(std::span<const Part> parts, std::span<const Span> spans,
                             std::span<const char* const> inputs, int64_t begin,
                             int64_t end, char* out) const {
  const Phase reducing(timeline_, "REDUCE");
  std::vector<const char*> from(inputs.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t first = std::max(begin, spans[i].begin);
    const int64_t last = std::min(end, spans[i].begin + spans[i].bytes);
    if (first >= last) continue;
    for (size_t r = 0; r < inputs.size(); ++r) from[r] = inputs[r] + (first - begin);
    reduce_all(*parts[i].request, from, out + (first - begin), last - first);
  }
}

void Performer::gather(const void* send, void* receive,
                       std::span<const int64_t> counts) const {
  const Phase sending(timeline_, "TRANSFER");
  transport_.allgather(send, receive, counts);
}

void Performer::exchange(const void* send, std::span<const int64_t> send_counts,
                         void* receive, std::span<const int64_t> receive_counts) const {
  const Phase sending(timeline_, "TRANSFER");
  transport_.alltoall(send, send_counts, receive, receive_counts);
}

void Performer::allreduce(std::span<const Part> parts) {
  const auto ranks = size_t(transport_.size()), me = size_t(transport_.rank());
  std::vector<Span> spans;
  int64_t total = 0;
  for (const Part& part : parts) {
    spans.push_back({total, part.request->nbytes()});
    total += aligned(spans.back().bytes);
  }
  // One tensor is sent from where it lies, and its result written to where it shall lie.  All
  // ranks agree on the number of bytes, also one that has joined and has no tensor.
  const bool alone = parts.size() == 1, direct = alone && parts[0].job;
  if (alone) total = spans[0].bytes;
  if (total == 0) return;
  char* const buffer = direct ? nullptr : fused_.of(total);
  const char* const send = direct ? bytes_of(parts[0].job->input) : buffer;
  char* const result = direct ? bytes_of(parts[0].job->output) : buffer;
  if (!direct) {
    const Phase fusing(timeline_, "MEMCPY_IN_FUSION_BUFFER");
    for (size_t i = 0; i < parts.size(); ++i) {
      char* const to = buffer + spans[i].begin;
      const int64_t bytes = spans[i].bytes;
      if (parts[i].job) copy(to, bytes_of(parts[i].job->input), bytes);
      else std::memset(to, 0, size_t(bytes));
      if (!alone) std::memset(to + bytes, 0, size_t(aligned(bytes) - bytes));
    }
  }

  std::vector<const char*> inputs(ranks);
  if (ranks == 1) {
    inputs[0] = send;
    reduce_range(parts, spans, inputs, 0, total, result);
  } else if (total * int64_t(ranks) <= kGatherBytes) {
    char* const all = received_.of(total * int64_t(ranks));
    gather(send, all, std::vector<int64_t>(ranks, total));
    for (size_t r = 0; r < ranks; ++r) inputs[r] = all + int64_t(r) * total;
    reduce_range(parts, spans, inputs, 0, total, result);
  } else {
    // Each rank reduces a part of the buffer for all.
    const int64_t share = aligned((total + int64_t(ranks) - 1) / int64_t(ranks));
    std::vector<int64_t> counts(ranks);
    for (size_t r = 0; r < ranks; ++r) {
      counts[r] = std::clamp<int64_t>(total - int64_t(r) * share, 0, share);
    }
    const int64_t mine = counts[me], begin = std::min(int64_t(me) * share, total);
    // Its own share stays where it lies, and so does what becomes of it.
    std::vector<int64_t> others(ranks, mine);
    others[me] = 0;
    char* all = received_.of(mine * int64_t(ranks - 1));
    exchange(send, counts, all, others);
    for (size_t r = 0; r < ranks; all += others[r++]) {
      inputs[r] = r == me ? send + begin : all;
    }
    reduce_range(parts, spans, inputs, begin, begin + mine, result + begin);
    gather(result + begin, result, counts);
  }
  if (direct) return;
  const Phase apart(timeline_, "MEMCPY_OUT_FUSION_BUFFER");
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].job) {
      copy(bytes_of(parts[i].job->output), buffer + spans[i].begin, spans[i].bytes);
    }
  }
}

void Performer::allgather(const Response& response, Job& job) {
  Shape sizes = job.request.sizes;
  const int64_t row = row_bytes(job.request);
  std::vector<int64_t> counts;
  sizes[0] = 0;
  for (const int64_t rows : response.sizes) {
    sizes[0] += rows;
    counts.push_back(rows * row);
  }
  job.output = empty(sizes, job.request.dtype);
  gather(bytes_of(job.input), bytes_of(job.output), counts);
}

void Performer::broadcast(Job& job) {
  const int64_t bytes = job.request.nbytes();
  char* const data = bytes_of(job.output);
  if (transport_.rank() == job.request.root) copy(data, bytes_of(job.input), bytes);
  const Phase sending(timeline_, "TRANSFER");
  if (bytes > 0) transport_.broadcast(data, bytes, job.request.root);
}

void Performer::alltoall(const Response& response, Job& job) {
  const auto ranks = size_t(transport_.size()), me = size_t(transport_.rank());
  const int64_t row = row_bytes(job.request);
  std::vector<int64_t> out, in;
  Shape sizes = job.request.sizes;
  sizes[0] = 0;
  job.splits = empty(Shape{int64_t(ranks)}, DType::Int64);
  for (size_t r = 0; r < ranks; ++r) {
    const int64_t rows = response.sizes[r * ranks + me];
    reinterpret_cast<int64_t*>(bytes_of(job.splits))[r] = rows;
    out.push_back(response.sizes[me * ranks + r] * row);
    in.push_back(rows * row);
    sizes[0] += rows;
  }
  job.output = empty(sizes, job.request.dtype);
  exchange(bytes_of(job.input), out, bytes_of(job.output), in);
}

void Performer::reducescatter(Job& job) {
  const int64_t ranks = transport_.size(), me = transport_.rank();
  const int64_t row = row_bytes(job.request);
  std::vector<int64_t> out;
  for (int64_t r = 0; r < ranks; ++r) {
    out.push_back(scattered_rows(job.request.sizes[0], r, ranks) * row);
  }
  const int64_t mine = out[size_t(me)];
  char* const all = received_.of(mine * ranks);
  exchange(bytes_of(job.input), out, all, std::vector<int64_t>(size_t(ranks), mine));
  std::vector<const char*> inputs;
  for (int64_t r = 0; r < ranks; ++r) inputs.push_back(all + r * mine);
  const Phase reducing(timeline_, "REDUCE");
  reduce_all(job.request, inputs, bytes_of(job.output), mine);
}

}  // namespace pkg::collectives
