// SPDX-License-Identifier: Apache-2.0
// c_api/runtime.cc: version, threads and pending work for C.
#include "base/build_info.h"
#include "c_api/boundary.h"
#include "scheduler/scheduler.h"

using namespace pkg;
using pkg::c::guarded;

namespace {
const std::string* const g_version = new std::string(version());
}  // namespace

extern "C" {

int32_t pkg_abi(void) { return PKG_C_ABI; }
const char* pkg_version(void) { return g_version->c_str(); }

int32_t pkg_num_threads(void) {
  return guarded(nullptr, int32_t{-1}, [] { return int32_t(num_threads()); });
}
bool pkg_set_num_threads(int32_t n, pkg_status* status) {
  return guarded(status, false, [&] {
    set_num_threads(n);
    return true;
  });
}
bool pkg_async_enabled(void) { return async_enabled(); }
void pkg_set_async(bool enabled) { set_async(enabled); }
int64_t pkg_pending_tasks(void) {
  return guarded(nullptr, int64_t{-1}, [] { return pending_tasks(); });
}
bool pkg_synchronize(pkg_status* status) {
  return guarded(status, false, [] {
    synchronize();
    return true;
  });
}
bool pkg_shutdown(double seconds, pkg_status* status) {
  return guarded(status, false, [&] { return shutdown(seconds); });
}

}  // extern "C"
