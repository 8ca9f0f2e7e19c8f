// SPDX-License-Identifier: Apache-2.0
// kernels/cpu/linalg/blas.cc: finding OpenBLAS, and cutting products into tiles.
//
// The library of the scipy-openblas32 package lies beside libpkg_core.so.  It is opened
// at the first product, with one thread of its own: the threads of this process are the
// scheduler's, which runs one single-threaded product per tile.
#include "kernels/cpu/linalg/blas.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "base/error.h"
#include "scheduler/fork_locks.h"
#include "scheduler/parallel.h"
#include "scheduler/scheduler.h"
#include "scheduler/stop_point.h"

namespace pkg::blas {
namespace {

// cblas_?gemm(order, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
template <class T>
using Gemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*,
                      int);
constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;
// Products in one call: a fifth of a second.  Smaller tiles would be slower, since each
// packs its operands again.
constexpr double kMostWork = 8e9;

struct Library {
  Gemm<float> sgemm;
  Gemm<double> dgemm;
};

void* open_library(std::string& tried) {
  std::string path;
  if (const char* chosen = std::getenv("PKG_BLAS_LIBRARY")) {
    path = chosen;
  } else {
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(&open_library), &info) && info.dli_fname) {
      path = info.dli_fname;
      const size_t slash = path.rfind('/');
      path = (slash == path.npos ? "" : path.substr(0, slash + 1)) + "libscipy_openblas.so";
    }
  }
  tried = path;
  // OpenBLAS makes its threads while it is loaded and reads this variable then.  NumPy
  // has a copy of its own, so the variable must be as before afterwards.
  const char* before = std::getenv("OPENBLAS_NUM_THREADS");
  const std::string saved = before ? before : "";
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (before) setenv("OPENBLAS_NUM_THREADS", saved.c_str(), 1);
  else unsetenv("OPENBLAS_NUM_THREADS");
  return handle;
}

const Library& library() {
  static const Library loaded = [] {
    std::string path;
    void* handle = open_library(path);
    if (!handle) {
      const char* reason = dlerror();
      detail::raise<RuntimeError>("[matmul] cannot load OpenBLAS from ", path, ": ",
                                  reason ? reason : "unknown reason",
                                  ". Rebuild pkg, or set PKG_BLAS_LIBRARY.");
    }
    Library found{reinterpret_cast<Gemm<float>>(dlsym(handle, "scipy_cblas_sgemm")),
                  reinterpret_cast<Gemm<double>>(dlsym(handle, "scipy_cblas_dgemm"))};
    PKG_CHECK(found.sgemm && found.dgemm, RuntimeError, "[matmul] ", path,
              " has no scipy_cblas_sgemm.");
    return found;
  }();
  return loaded;
}

// OpenBLAS guards its memory by locks that fork() does not take: a child would wait for one
// for ever.  So each call holds one of these, and fork() waits for the calls in progress.
std::array<std::mutex, 64> g_calls;
const pkg::detail::HeldOverFork g_held{pkg::detail::ForkLock::Products, g_calls};

std::unique_lock<std::mutex> call_in_progress() {
  const size_t own = std::hash<std::thread::id>()(std::this_thread::get_id());
  for (size_t i = 0; i < g_calls.size(); ++i) {
    std::mutex& lock = g_calls[(own + i) % g_calls.size()];
    if (lock.try_lock()) return {lock, std::adopt_lock};
  }
  return std::unique_lock(g_calls[own % g_calls.size()]);
}

template <class T>
void tiled(Gemm<T> run, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a,
           int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc, T beta) {
  constexpr int64_t limit = INT32_MAX;
  PKG_CHECK(m <= limit && n <= limit && k <= limit && lda <= limit && ldb <= limit,
            NotImplementedError, "[matmul] a dimension exceeds 2^31 - 1.");
  const auto call = [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
    const auto lock = call_in_progress();
    run(kRowMajor, ta ? kTrans : kNoTrans, tb ? kTrans : kNoTrans, int(rows), int(columns),
        int(k), T(1), a + (ta ? row : row * lda), int(lda),
        b + (tb ? column * ldb : column), int(ldb), beta, c + row * ldc + column, int(ldc));
  };
  // A call cannot be stopped, so a large part is several.
  const auto part = [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
    if (double(rows) * double(columns) * double(k) <= kMostWork) {
      return call(row, rows, column, columns);
    }
    const double side = std::sqrt(kMostWork / double(k));
    const int64_t tile = std::max<int64_t>(256, int64_t(side) / 64 * 64);
    for (int64_t r = 0; r < rows; r += tile) {
      for (int64_t c = 0; c < columns; c += tile) {
        call(row + r, std::min(tile, rows - r), column + c, std::min(tile, columns - c));
        stop_point();
      }
    }
  };
  const int threads = num_threads();
  if (threads == 1 || double(m) * double(n) * double(k) < 2e6) return part(0, m, 0, n);
  // Strips of the longer side, one per thread: each strip reads the other operand once.
  const bool rows = m >= n;
  const int64_t size = rows ? m : n;
  const int64_t strip = ((size + threads - 1) / threads + 15) / 16 * 16;
  parallel_for(0, (size + strip - 1) / strip, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i * strip, count = std::min(strip, size - at);
      if (rows) part(at, count, 0, n);
      else part(0, m, at, count);
    }
  });
}

}  // namespace

void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
          const float* b, int64_t ldb, float* c, int64_t ldc, float beta) {
  tiled(library().sgemm, ta, tb, m, n, k, a, lda, b, ldb, c, ldc, beta);
}
void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda,
          const double* b, int64_t ldb, double* c, int64_t ldc, double beta) {
  tiled(library().dgemm, ta, tb, m, n, k, a, lda, b, ldb, c, ldc, beta);
}

}  // namespace pkg::blas
