// SPDX-License-Identifier: Apache-2.0
// framework/device.h: what kernels in Eigen's style ask for as their device.  There is the
// processor; the name of the other stands so that templates of two devices compile.
#pragma once

#include <string>

#include "framework/types.h"
#include "scheduler/parallel.h"
#include "scheduler/scheduler.h"

namespace pkg::framework {

inline constexpr const char* DEVICE_CPU = "CPU";
inline constexpr const char* DEVICE_GPU = "GPU";
inline constexpr const char* DEVICE_DEFAULT = "DEFAULT";

class DeviceType {
 public:
  DeviceType(const char* name) : name_(name) {}
  const char* type() const { return name_.c_str(); }
  const std::string& type_string() const { return name_; }
  friend bool operator==(const DeviceType&, const DeviceType&) = default;

 private:
  std::string name_;
};

/// The pool of the process.
struct ThreadPoolDevice {
  int numThreads() const { return num_threads(); }
  /// Calls f(first, last) for parts of 0 to n, each worth some microseconds by
  /// `nanoseconds` for one.
  template <class F>
  void parallelFor(int64_t n, double nanoseconds, F f) const {
    parallel_for(0, n, grain_for(nanoseconds), f);
  }
};
struct GpuDevice;

/// Of OpKernelContext::device().
class DeviceBase {
 public:
  const std::string& name() const { return name_; }
  const ThreadPoolDevice* eigen_cpu_device() const { return &pool_; }
  static DeviceBase* cpu();

 private:
  std::string name_ = "/device:CPU:0";
  ThreadPoolDevice pool_;
};
/// Never made: what GPU kernels get.
class DeviceContext;

}  // namespace pkg::framework
