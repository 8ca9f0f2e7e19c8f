// SPDX-License-Identifier: Apache-2.0
// base/key_set.h: dispatch keys, the layers that a call goes through, and sets of them.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace pkg {

/// One layer of a call.  A call goes to the highest key of its set that has a kernel; each
/// layer does its work and redispatches to the keys below it.
enum class DispatchKey : uint8_t {
  CPU,       ///< the kernel on this machine's processor
  Meta,      ///< shapes and dtypes without data
  Async,     ///< the work is worth scheduling, or an input is not ready
  Plan,      ///< the call becomes a step of an executable that is being made
  Autograd,  ///< some input requires grad and grad mode is on
  Graph,     ///< an argument is a symbol of a graph, to which the call is added
  Profiler,  ///< a profiler is open
  Python,    ///< an argument's Python class wants to handle the call
};
inline constexpr int kNumKeys = 8;

constexpr const char* name_of(DispatchKey key) {
  constexpr const char* names[kNumKeys] = {"CPU",      "Meta",  "Async",    "Plan",
                                           "Autograd", "Graph", "Profiler", "Python"};
  return names[int(key)];
}

/// Reverse of name_of.
constexpr std::optional<DispatchKey> dispatch_key_from_name(std::string_view name) {
  for (int k = 0; k < kNumKeys; ++k) {
    if (name == name_of(DispatchKey(k))) return DispatchKey(k);
  }
  return std::nullopt;
}

/// Set of dispatch keys; a plain word, combined with bit operations.
class KeySet {
 public:
  constexpr KeySet() = default;
  constexpr KeySet(DispatchKey key) : bits_(uint16_t(1u << int(key))) {}
  constexpr KeySet(std::initializer_list<DispatchKey> keys) {
    for (DispatchKey key : keys) bits_ |= KeySet(key).bits_;
  }
  static constexpr KeySet from_bits(uint16_t bits) {
    KeySet set;
    set.bits_ = bits;
    return set;
  }
  static constexpr KeySet all() { return from_bits((1u << kNumKeys) - 1); }
  /// The keys strictly below `key`: what a layer redispatches to.
  static constexpr KeySet below(DispatchKey key) {
    return from_bits(uint16_t((1u << int(key)) - 1));
  }

  constexpr uint16_t bits() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(DispatchKey key) const { return bits_ & (1u << int(key)); }
  constexpr DispatchKey highest() const {
    return DispatchKey(std::bit_width(unsigned(bits_)) - 1);
  }
  constexpr KeySet without(KeySet other) const {
    return from_bits(uint16_t(bits_ & ~other.bits_));
  }
  friend constexpr KeySet operator|(KeySet a, KeySet b) {
    return from_bits(a.bits_ | b.bits_);
  }
  friend constexpr KeySet operator&(KeySet a, KeySet b) {
    return from_bits(a.bits_ & b.bits_);
  }
  constexpr KeySet& operator|=(KeySet other) { return *this = *this | other; }
  friend constexpr bool operator==(KeySet, KeySet) = default;

 private:
  uint16_t bits_ = 0;
};

inline constexpr KeySet kBackendKeys{DispatchKey::CPU, DispatchKey::Meta};

}  // namespace pkg
