// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/random/permutation.cc: 0 to n - 1 in random order.
//
// Each number goes to a bucket that it draws, then each bucket is shuffled in the cache:
// all orders are equally likely (Rao 1961, Sandelius 1962).
#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "base/isa.h"
#include "dispatcher/library.h"
#include "kernels/cpu/random/philox.h"
#include "kernels/cpu/rows.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"
#include "tensor/generator.h"
#include "tensor/storage.h"

namespace pkg {
namespace {

constexpr int64_t kInCache = 1 << 16;  // numbers of a bucket
constexpr int64_t kChunk = 1 << 16;    // numbers that draw their buckets together
constexpr int kMostBits = 10;

// Fisher & Yates, from the last place to the first, with the words from `first` on.
void shuffle(const RandomStream& stream, uint64_t first, int64_t* numbers, int64_t count) {
  constexpr int64_t kBlock = 512;
  uint64_t places[kBlock];
  for (int64_t end = count; end > 1;) {
    const int64_t begin = std::max<int64_t>(0, end - kBlock);
    random_bits(stream.seed, Draw::Swap, first + uint64_t(begin), end - begin, places);
    draw_below(places, end - begin, uint64_t(begin + 1), 1);
    for (int64_t i = end - 1; i >= begin; --i) {
      std::swap(numbers[i], numbers[places[i - begin]]);
    }
    end = begin;
  }
}

// Numbers in the order of their buckets; returns where these end.  Chunks count first, so
// that each knows where its numbers go, whoever runs it.
std::vector<int64_t> scatter(const RandomStream& stream, int bits, int64_t* out,
                             int64_t n) {
  const int64_t chunks = (n + kChunk - 1) / kChunk, buckets = int64_t{1} << bits;
  std::vector<uint16_t, PoolAllocator<uint16_t>> chosen(static_cast<size_t>(n));
  std::vector<int64_t> next(size_t(chunks * buckets)), ends(static_cast<size_t>(buckets));
  parallel_for(0, chunks, 1, [&](int64_t from, int64_t to) {
    for (int64_t chunk = from; chunk < to; ++chunk) {
      const int64_t begin = chunk * kChunk, end = std::min(begin + kChunk, n);
      uint16_t* mine = chosen.data() + begin;
      with_isa([=] {
        fill_groups<4 * kLanes>(
            stream.seed, Draw::Bucket, stream.first + uint64_t(begin), 0, end - begin, mine,
            [=](const Words& words, uint16_t* to) {
              for (int k = 0; k < 4; ++k) {
                for (int i = 0; i < kLanes; ++i) {
                  to[k * kLanes + i] = uint16_t(words.word[k][i] >> (32 - bits));
                }
              }
            });
      });
      int64_t* counts = next.data() + chunk * buckets;
      for (int64_t i = 0; i < end - begin; ++i) ++counts[mine[i]];
    }
  });
  int64_t sum = 0;
  for (int64_t bucket = 0; bucket < buckets; ++bucket) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      int64_t& count = next[size_t(chunk * buckets + bucket)];
      sum += std::exchange(count, sum);
    }
    ends[size_t(bucket)] = sum;
  }
  parallel_for(0, chunks, 1, [&](int64_t from, int64_t to) {
    for (int64_t chunk = from; chunk < to; ++chunk) {
      int64_t* places = next.data() + chunk * buckets;
      const int64_t end = std::min((chunk + 1) * kChunk, n);
      for (int64_t i = chunk * kChunk; i < end; ++i) out[places[chosen[size_t(i)]]++] = i;
    }
  });
  return ends;
}

void permutation_kernel(Tensor& out, const Tensor&) {
  const int64_t n = out.numel();
  const RowsOut<int64_t> dense(out);
  int64_t* numbers = dense.data();
  const RandomStream stream = reserve_random(uint64_t(n));
  if (n <= kInCache) {
    std::iota(numbers, numbers + n, int64_t{0});
    return shuffle(stream, stream.first, numbers, n);
  }
  const int bits = std::min<int>(kMostBits, std::bit_width(uint64_t((n - 1) / kInCache)));
  const std::vector<int64_t> ends = scatter(stream, bits, numbers, n);
  parallel_for(0, int64_t(ends.size()), 1, [&](int64_t from, int64_t to) {
    for (int64_t bucket = from; bucket < to; ++bucket) {
      const int64_t begin = bucket ? ends[size_t(bucket - 1)] : 0;
      shuffle(stream, stream.first + uint64_t(begin), numbers + begin,
              ends[size_t(bucket)] - begin);
    }
  });
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("_permutation", permutation_kernel); }

}  // namespace
}  // namespace pkg
