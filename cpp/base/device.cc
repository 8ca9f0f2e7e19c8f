// SPDX-License-Identifier: Apache-2.0
// base/device.cc: text form of devices.
#include "base/device.h"

#include <ostream>

#include "base/error.h"

namespace pkg {

Device Device::parse(std::string_view text) {
  if (text == "cpu" || text == "cpu:0") return {DeviceType::CPU};
  if (text == "meta") return {DeviceType::Meta};
  detail::raise<RuntimeError>("[device] expected 'cpu' or 'meta', got '", text,
                              "'. This build has no other device.");
}

std::ostream& operator<<(std::ostream& out, Device device) { return out << device.str(); }

}  // namespace pkg
