// SPDX-License-Identifier: Apache-2.0
// compat/torch/style/keys.h: PyTorch's dispatch keys, and guards that take them from a
// thread's calls.
#pragma once

#include <optional>
#include <string_view>

#include "compat/torch/style/check.h"
#include "dispatcher/dispatcher.h"

namespace c10 {

enum class DispatchKey : uint8_t {
  CPU,
  Meta,
  Autograd,
  CompositeImplicitAutograd,
  CompositeExplicitAutograd,
  Absent,  ///< of a device that this build has not: its kernels are never called
};

/// None for what PyTorch has not either, or what is not done here.
inline std::optional<DispatchKey> parse_key(std::string_view name) {
  constexpr std::pair<std::string_view, DispatchKey> known[] = {
      {"CPU", DispatchKey::CPU},
      {"Meta", DispatchKey::Meta},
      {"Autograd", DispatchKey::Autograd},
      {"AutogradCPU", DispatchKey::Autograd},
      {"CompositeImplicitAutograd", DispatchKey::CompositeImplicitAutograd},
      {"CompositeExplicitAutograd", DispatchKey::CompositeExplicitAutograd},
      {"CUDA", DispatchKey::Absent},
      {"AutogradCUDA", DispatchKey::Absent},
      {"HIP", DispatchKey::Absent},
      {"MPS", DispatchKey::Absent},
      {"XLA", DispatchKey::Absent},
      {"XPU", DispatchKey::Absent},
      {"PrivateUse1", DispatchKey::Absent},
  };
  for (const auto& [text, key] : known) {
    if (text == name) return key;
  }
  return std::nullopt;
}

/// The keys of a call, as a kernel may ask for them and pass them on.
class DispatchKeySet {
 public:
  explicit DispatchKeySet(::pkg::KeySet keys = {}) : keys_(keys) {}
  ::pkg::KeySet unwrap() const { return keys_; }
  friend DispatchKeySet operator&(DispatchKeySet a, DispatchKeySet b) {
    return DispatchKeySet(a.keys_ & b.keys_);
  }

 private:
  ::pkg::KeySet keys_;
};
inline const DispatchKeySet after_autograd_keyset{
    ::pkg::KeySet::below(::pkg::DispatchKey::Autograd)};
inline const DispatchKeySet after_ADInplaceOrView_keyset = after_autograd_keyset;

}  // namespace c10

namespace at {

/// While it lives, this thread's calls go below Autograd.
class AutoDispatchBelowAutograd {
 public:
  AutoDispatchBelowAutograd() : off_(::pkg::DispatchKey::Autograd) {}

 private:
  ::pkg::ExcludeKeys off_;
};
using AutoDispatchBelowADInplaceOrView = AutoDispatchBelowAutograd;
using AutoNonVariableTypeMode = AutoDispatchBelowAutograd;
using NoGradGuard = AutoDispatchBelowAutograd;
/// While it lives, this thread records or does not.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled) : before_(::pkg::set_grad_enabled(enabled)) {}
  ~AutoGradMode() { ::pkg::set_grad_enabled(before_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool before_;
};

}  // namespace at

namespace c10 {
using at::AutoGradMode;
using at::NoGradGuard;
}  // namespace c10
namespace torch {
using at::AutoGradMode;
using at::NoGradGuard;
using c10::DispatchKey;
using c10::DispatchKeySet;
namespace autograd {
using at::AutoGradMode;
}
}  // namespace torch
