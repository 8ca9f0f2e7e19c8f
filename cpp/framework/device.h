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

namespace thread {
/// The same, as TensorFlow names it.
class ThreadPool {
 public:
  int NumThreads() const { return num_threads(); }
  /// Calls f(first, last) for parts of 0 to n, each worth some microseconds by `cycles` of
  /// the processor for one.
  template <class F>
  void ParallelFor(int64_t n, int64_t cycles, F f) {
    parallel_for(0, n, grain_for(double(cycles) / 3), f);
  }
};
}  // namespace thread

/// Of OpKernelContext::device().
struct CpuWorkerThreads {
  int num_threads = pkg::num_threads();
  thread::ThreadPool* workers = nullptr;
};

/// `ThreadPool::ParallelFor`; `most` is what the pool decides here.
template <class F>
void Shard(int most, thread::ThreadPool* workers, int64_t n, int64_t cycles, F f) {
  if (most <= 1) return n > 0 ? f(int64_t{0}, n) : void();
  workers->ParallelFor(n, cycles, f);
}

/// Where memory shall lie: there is one kind.
class AllocatorAttributes {
 public:
  void set_on_host(bool on) { on_host_ = on; }
  bool on_host() const { return on_host_; }
  void set_gpu_compatible(bool) {}
  void set_nic_compatible(bool) {}

 private:
  bool on_host_ = false;
};

/// Of OpKernelContext::device().
class DeviceBase {
 public:
  /// Never made: this build has the processor only.
  struct AcceleratorDeviceInfo {
    int gpu_id = -1;
  };
  const AcceleratorDeviceInfo* tensorflow_gpu_device_info() const { return nullptr; }
  const AcceleratorDeviceInfo* tensorflow_accelerator_device_info() const {
    return nullptr;
  }
  const std::string& name() const { return name_; }
  const ThreadPoolDevice* eigen_cpu_device() const { return &pool_; }
  /// Asked at each call, as the number of threads may change.
  const CpuWorkerThreads* tensorflow_cpu_worker_threads() const;
  static DeviceBase* cpu();

 private:
  std::string name_ = "/device:CPU:0";
  ThreadPoolDevice pool_;
};
/// Never made: what GPU kernels get.
class DeviceContext;

}  // namespace pkg::framework
