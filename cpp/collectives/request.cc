// SPDX-License-Identifier: Apache-2.0
// collectives/request.cc: requests and responses compared, and as bytes.
#include "collectives/request.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "collectives/error.h"

namespace pkg::collectives {

const char* name_of(Kind kind) {
  constexpr const char* names[] = {"allreduce",     "allgather", "broadcast", "alltoall",
                                   "reducescatter", "join",      "barrier"};
  return names[int(kind)];
}

Kind kind_of(std::string_view name) {
  for (int kind = 0; kind <= int(Kind::Barrier); ++kind) {
    if (name == name_of(Kind(kind))) return Kind(kind);
  }
  detail::raise<ValueError>("[collectives] expected the name of a collective, got '", name,
                            "'.");
}

const char* name_of(Reduction reduction) {
  constexpr const char* names[] = {"Average", "Sum", "Adasum", "Min", "Max", "Product"};
  return names[int(reduction)];
}

bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

bool Request::same_as(const Request& other) const {
  return kind == other.kind && dtype == other.dtype && sizes == other.sizes &&
         reduction == other.reduction && same_bits(prescale, other.prescale) &&
         same_bits(postscale, other.postscale) && root == other.root &&
         splits == other.splits && group == other.group && group_size == other.group_size &&
         failure == other.failure;
}

bool Request::cacheable() const {
  return !numbered && failure.empty() &&
         (kind == Kind::Allreduce || kind == Kind::Broadcast ||
          kind == Kind::Reducescatter);
}

bool Response::concerns(int rank) const {
  const auto has = [rank](const std::vector<int32_t>& numbers) {
    return std::find(numbers.begin(), numbers.end(), rank) != numbers.end();
  };
  return (ranks.empty() || has(ranks)) && !has(joined);
}

void Writer::put(std::string_view text) {
  put(uint64_t(text.size()));
  bytes_.append(text);
}

void Writer::put(const Shape& shape) {
  put(uint64_t(shape.size()));
  for (const int64_t size : shape) put(size);
}

void Writer::put(const Request& request) {
  put(request.kind);
  put(std::string_view(request.name));
  put(request.dtype);
  put(request.sizes);
  put(request.reduction);
  put(request.prescale);
  put(request.postscale);
  put(request.root);
  put(request.splits);
  put(std::string_view(request.group));
  put(request.group_size);
  put(request.numbered);
  put(std::string_view(request.site));
  put(std::string_view(request.failure));
}

void Writer::put(const Response& response) {
  put(response.kind);
  put(std::string_view(response.error));
  put(uint64_t(response.ranks.size()));
  for (const int32_t rank : response.ranks) put(rank);
  put(response.sizes);
  put(uint64_t(response.joined.size()));
  for (const int32_t rank : response.joined) put(rank);
  put(response.last_joined);
  put(uint64_t(response.forgotten.size()));
  for (const uint64_t id : response.forgotten) put(id);
  put(uint64_t(response.entries.size()));
  for (const Decided& entry : response.entries) {
    put(entry.id);
    put(entry.known);
    if (!entry.known) put(entry.request);
  }
}

void Reader::take(void* to, size_t count) {
  PKG_CHECK(count <= rest_.size(), CollectiveError,
            "[receive] a message ends too early: do all ranks run the same pkg?");
  std::memcpy(to, rest_.data(), count);
  rest_.remove_prefix(count);
}

std::string Reader::text() {
  const auto size = get<uint64_t>();
  PKG_CHECK(size <= rest_.size(), CollectiveError,
            "[receive] a message ends too early: do all ranks run the same pkg?");
  std::string made(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return made;
}

Shape Reader::shape() {
  Shape made;
  for (auto left = get<uint64_t>(); left > 0; --left) made.push_back(get<int64_t>());
  return made;
}

Request Reader::request() {
  Request made;
  made.kind = get<Kind>();
  made.name = text();
  made.dtype = get<DType>();
  made.sizes = shape();
  made.reduction = get<Reduction>();
  made.prescale = get<double>();
  made.postscale = get<double>();
  made.root = get<int32_t>();
  made.splits = shape();
  made.group = text();
  made.group_size = get<int32_t>();
  made.numbered = get<bool>();
  made.site = text();
  made.failure = text();
  return made;
}

Response Reader::head() {
  Response made;
  made.kind = get<Kind>();
  made.error = text();
  for (auto left = get<uint64_t>(); left > 0; --left) made.ranks.push_back(get<int32_t>());
  made.sizes = shape();
  for (auto left = get<uint64_t>(); left > 0; --left) made.joined.push_back(get<int32_t>());
  made.last_joined = get<int32_t>();
  for (auto left = get<uint64_t>(); left > 0; --left)
    made.forgotten.push_back(get<uint64_t>());
  made.entries.resize(size_t(get<uint64_t>()));
  return made;
}

}  // namespace pkg::collectives
