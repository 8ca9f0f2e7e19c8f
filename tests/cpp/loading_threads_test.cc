// SPDX-License-Identifier: Apache-2.0
// tests/cpp/loading_threads_test.cc: threads that call ops while others load libraries, as C++
// does and by the C surface, of which some fail half-way.  tests/sanitizers.py thread sees
// what is not ordered.
#include "check.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "c_api/c_api.h"
#include "dispatcher/library.h"
#include "ops/functions.h"

using namespace pkg;

namespace {

constexpr int kLoaders = 4, kCallers = 4;

// Of each loader; PKG_SOAK_LOADS is that of all, which may be a thousand.
int loads() {
  const char* const text = std::getenv("PKG_SOAK_LOADS");
  return text ? std::max(1, std::atoi(text) / kLoaders) : 6;
}

// Beside this program.
std::string library_path() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return std::string(path, n > 0 ? size_t(n) : 0) + "_library.so";
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Of the ops that the libraries brought.
std::vector<const Operator*> loaded(std::string_view ns = "loading_threads") {
  std::vector<const Operator*> found;
  for (const Operator* op : Dispatcher::get().all()) {
    if (op->ns == ns) found.push_back(op);
  }
  return found;
}

void call(const Operator& op) {
  const Tensor x = empty(Shape{2}, DType::Float32);
  std::vector<Value> args{x};
  Stack stack(args);
  Dispatcher::get().call_boxed(op, stack);
  CHECK(stack.results.size() == 1);
  const Tensor& y = std::get<Tensor>(stack.results[0]);
  CHECK(y.sizes() == x.sizes() && y.is_same(x) == (op.ns == "loading_threads"));
}

// What is behind the sections of a library is nobody's: it is another one all the same.
struct Loader {
  std::string contents;
  int number;
  bool in_c;
  int good = 0, bad = 0;

  // What went wrong; "" where nothing did.
  std::string load(const std::string& path) const {
    if (in_c) {
      pkg_status* status = pkg_status_new();
      const bool done = pkg_load_library(path.c_str(), status);
      const std::string said = done ? "" : pkg_status_text(status);
      pkg_status_delete(status);
      return said;
    }
    try {
      load_library(path);
      return "";
    } catch (const RuntimeError& error) { return error.what(); }
  }

  void run() {
    for (int i = 0; i < loads(); ++i) {
      const std::string path = library_path() + "." + std::to_string(getpid()) + "." +
                               std::to_string(number);
      std::ofstream(path, std::ios::binary)
          << contents << number << ' ' << i << ' ' << getpid();
      const std::string said = load(path);
      CHECK(said.empty() || said.find("the block threw") != said.npos);
      ++(said.empty() ? good : bad);
      unlink(path.c_str());
    }
  }
};

TEST(calls_while_libraries_are_loaded) {
  const std::string contents = contents_of(library_path());
  CHECK(!contents.empty());
  std::atomic<bool> done{false};
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  std::vector<Loader> loaders;
  for (int i = 0; i < kLoaders; ++i) loaders.push_back({contents, i, i % 2 == 1});
  for (int i = 0; i < kCallers; ++i) {
    threads.emplace_back([&] {
      while (!done.load() || calls.load() == 0) {
        for (const Operator* op : loaded()) call(*op);
        for (const Operator* op : loaded("loading_threads_in_c")) call(*op);
        const Tensor x = empty(Shape{3}, DType::Float32);
        CHECK(ops::add(x, x).numel() == 3);
        ++calls;
      }
    });
  }
  std::vector<std::thread> loading;
  for (Loader& loader : loaders) loading.emplace_back([&] { loader.run(); });
  for (std::thread& thread : loading) thread.join();
  done = true;
  for (std::thread& thread : threads) thread.join();
  int good = 0, bad = 0, good_in_c = 0;
  for (const Loader& loader : loaders) {
    good += loader.good, bad += loader.bad;
    if (loader.in_c) good_in_c += loader.good;
  }
  CHECK(good + bad == kLoaders * loads());
  CHECK(loaded().size() == size_t(good));
  CHECK(loaded("loading_threads_in_c").size() == size_t(good_in_c));
  for (const Operator* op : loaded()) call(*op);
}

}  // namespace
