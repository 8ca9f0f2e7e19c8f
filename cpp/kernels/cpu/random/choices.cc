// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/random/choices.cc: indices drawn with the chances that weights give.
//
// Sums of blocks, a search among these, then a walk through one block: most weights are
// read once, and vectorised.  The order of the sums is the same on every instruction set.
#pragma GCC optimize("fp-contract=off")
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "base/isa.h"
#include "dispatcher/library.h"
#include "kernels/cpu/random/transforms.h"
#include "scheduler/parallel.h"
#include "tensor/copy.h"
#include "tensor/generator.h"

namespace pkg {
namespace {

constexpr int64_t kBlock = 32, kAdders = 8;
constexpr int64_t kFew = 16;      // weights, among which a search is not worth while
constexpr int64_t kDraws = 1024;  // random numbers made at once, of several rows

// ends[b]: the sum of the weights up to the end of block b.  False for a weight below 0 or
// without a value, and for a sum that is 0 or not finite.
template <class T>
bool add_up(const T* weights, int64_t n, double* ends) {
  double total = 0;
  bool wrong = false;
  with_isa([&] {
    for (int64_t begin = 0, b = 0; begin < n; begin += kBlock, ++b) {
      const int64_t count = std::min(kBlock, n - begin);
      double sums[kAdders] = {}, least = 0;
      if (count == kBlock) {
        double lows[kAdders] = {};
        for (int64_t i = 0; i < kBlock; i += kAdders) {
          for (int64_t k = 0; k < kAdders; ++k) {
            const auto weight = double(weights[begin + i + k]);
            sums[k] += weight;
            lows[k] = weight < lows[k] ? weight : lows[k];
          }
        }
        for (int64_t k = 0; k < kAdders; ++k) least = std::min(least, lows[k]);
      } else {
        for (int64_t i = 0; i < count; ++i) {
          const auto weight = double(weights[begin + i]);
          sums[i % kAdders] += weight;
          least = std::min(least, weight);
        }
      }
      for (int64_t half = kAdders / 2; half > 0; half /= 2) {
        for (int64_t k = 0; k < half; ++k) sums[k] += sums[k + half];
      }
      total += sums[0];
      ends[b] = total;
      wrong |= least < 0;
    }
  });
  return !wrong && total > 0 && std::isfinite(total);
}

// The first index whose weight takes the sum beyond `place`.
template <class T>
int64_t find(const T* weights, int64_t n, const std::vector<double>& ends, double place) {
  const auto end = std::upper_bound(ends.begin(), ends.end(), place);
  const int64_t block = end == ends.end() ? int64_t(ends.size()) - 1 : end - ends.begin();
  double sum = block ? ends[size_t(block - 1)] : 0;
  const int64_t from = block * kBlock, to = std::min(from + kBlock, n);
  int64_t last = -1;  // rounded in another order the sums may end before the place
  for (int64_t i = from; i < to; ++i) {
    const auto weight = double(weights[i]);
    if (!(weight > 0)) continue;
    last = i;
    sum += weight;
    if (sum > place) return i;
  }
  for (int64_t i = from; last < 0 && i-- > 0;) {  // the last block may have no weight
    if (double(weights[i]) > 0) last = i;
  }
  return last;
}

// The numbers from 0 to 1 of the draws from `first` on.
void fill_places(const RandomStream& stream, int64_t first, int64_t n, double* places) {
  with_isa([&] {
    fill_groups<2 * kLanes>(stream.seed, Draw::Wide, stream.first + uint64_t(first), 0, n,
                            places, [](const Words& words, double* numbers) {
                              for (int k = 0; k < 2; ++k) {
                                for (int i = 0; i < kLanes; ++i) {
                                  numbers[k * kLanes + i] = unit53(
                                      words.word[2 * k][i], words.word[2 * k + 1][i]);
                                }
                              }
                            });
  });
}

// The index that find() gives for each place, a share of the total, among few weights.
template <class T>
void find_few(const T* weights, int64_t n, double total, const double* places,
              int64_t count, int64_t* to) {
  double ends[kFew];
  double sum = 0;
  int64_t last = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto weight = double(weights[i]);
    if (weight > 0) last = i;
    ends[i] = sum += weight;
  }
  for (int64_t k = 0; k < count; ++k) {
    const double place = places[k] * total;
    int64_t at = 0;
    for (int64_t i = 0; i < last; ++i) at += ends[i] <= place;
    to[k] = at;
  }
}

void choices_kernel(Tensor& out, const Tensor& self, int64_t count) {
  const Tensor given = as_contiguous(self);
  const int64_t n = self.sizes().back(), rows = n ? self.numel() / n : 0;
  int64_t* to = out.data<int64_t>();
  const RandomStream stream = reserve_random(uint64_t(out.numel()));
  std::atomic<bool> wrong{false};
  visit_dtype(self.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (!std::is_integral_v<T>) {
      const T* weights = given.data<T>();
      const int64_t grain = std::max<int64_t>(
          1, kGrain / std::max<int64_t>(1, n + 16 * count));
      parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
        std::vector<double> ends(size_t((n + kBlock - 1) / kBlock));
        const int64_t together = std::max<int64_t>(1, kDraws / std::max<int64_t>(1, count));
        std::vector<double> places(size_t(std::min(together, end - begin) * count));
        for (int64_t first = begin; first < end; first += together) {
          const int64_t past = std::min(first + together, end);
          if (n > 1) {  // else nothing is to be chosen
            fill_places(stream, first * count, (past - first) * count, places.data());
          }
          for (int64_t row = first; row < past; ++row) {
            const T* mine = weights + row * n;
            const double* places_of_row = places.data() + (row - first) * count;
            if (!add_up(mine, n, ends.data())) {
              wrong = true;
              return;
            }
            int64_t* results = to + row * count;
            if (n <= kFew) {
              find_few(mine, n, ends.back(), places_of_row, count, results);
              continue;
            }
            for (int64_t i = 0; i < count; ++i) {
              results[i] = find(mine, n, ends, places_of_row[i] * ends.back());
            }
          }
        }
      });
    }
  });
  PKG_CHECK(!wrong, RuntimeError,
            "[multinomial] expected finite weights of 0 or more, not all 0 in a row.");
}

PKG_LIBRARY_IMPL(pkg, CPU, m) { m.impl("_choices", choices_kernel); }

}  // namespace
}  // namespace pkg
