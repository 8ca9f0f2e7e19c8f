// SPDX-License-Identifier: Apache-2.0
// base/device.h: where a tensor lives.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace pkg {

/// CPU holds memory; Meta holds shape and dtype only (shape rules without data).
enum class DeviceType : uint8_t { CPU, Meta };

struct Device {
  DeviceType type = DeviceType::CPU;

  /// Parses "cpu", "cpu:0" or "meta"; anything else is a RuntimeError with the choices.
  static Device parse(std::string_view text);
  std::string str() const { return type == DeviceType::CPU ? "cpu" : "meta"; }
  friend bool operator==(Device, Device) = default;
};

std::ostream& operator<<(std::ostream& out, Device device);

}  // namespace pkg
