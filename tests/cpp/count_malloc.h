// SPDX-License-Identifier: Apache-2.0
// tests/cpp/count_malloc.h: counts the calls of malloc and its relatives in this process,
// whoever makes them.  Included by one file of a program.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace {

std::atomic<bool> g_counting{false};
std::atomic<int64_t> g_calls{0};

void count() {
  if (g_counting.load(std::memory_order_relaxed)) g_calls.fetch_add(1);
}

}  // namespace

// These take the place of the C library's in the whole process, libpkg_core.so and
// OpenBLAS included.  A sanitizer has put its own there already.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PKG_COUNTS_MALLOC 1
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(size_t n, size_t size) {
  count();
  return __libc_calloc(n, size);
}
void* realloc(void* old, size_t size) {
  count();
  return __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  count();
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}
}
#else
#define PKG_COUNTS_MALLOC 0
#endif
