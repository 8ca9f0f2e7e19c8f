// SPDX-License-Identifier: Apache-2.0
// tests/cpp/graph_soak_test.cc: eight threads do everything that sessions offer, through
// c_api.h, for PKG_SOAK_SECONDS (2 without it): run, feed, assign, swap weights, time out,
// close what runs, make and delete sessions.  Nothing hangs, nothing stays alive, and each
// result is of one version of the weights: a is v everywhere, b is -v.
#include "check.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "c_api/c_api.h"

namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 4;
constexpr int64_t kSize = 64;

struct Delete {
  void operator()(pkg_tensor* t) const { pkg_tensor_delete(t); }
  void operator()(pkg_graph* g) const { pkg_graph_delete(g); }
  void operator()(pkg_session* s) const { pkg_session_delete(s); }
  void operator()(pkg_callable* c) const { pkg_callable_delete(c); }
  void operator()(pkg_status* s) const { pkg_status_delete(s); }
};
template <class T>
using Owned = std::unique_ptr<T, Delete>;
using Tensor = Owned<pkg_tensor>;

std::atomic<int> wrong{0};
void expect(bool good, const char* what, const pkg_status* status) {
  if (good) return;
  if (wrong.fetch_add(1) < 10) std::printf("  %s: %s\n", what, pkg_status_text(status));
}

Tensor filled(int64_t n, float value) {
  const std::vector<float> values(size_t(n), value);
  return Tensor(pkg_tensor_from_data(values.data(), &n, 1, PKG_FLOAT32, nullptr));
}

float item(const Tensor& tensor) {
  float value = -1e9f;
  pkg_tensor_copy_out(tensor.get(), &value, sizeof value, nullptr);
  return value;
}

Tensor call(const char* op, const Tensor& x, pkg_arg other = pkg_arg_none("dim")) {
  const pkg_arg args[] = {pkg_arg_tensor(nullptr, x.get()), other};
  const bool alone = other.value.kind == PKG_KIND_NONE;
  return Tensor(pkg_op_call_tensor(pkg_op_find(op, nullptr), args, alone ? 1 : 2, nullptr));
}
pkg_arg arg(const Tensor& x) { return pkg_arg_tensor(nullptr, x.get()); }
Tensor output(pkg_operation* operation) {
  return Tensor(pkg_operation_output(operation, 0, nullptr));
}

// gap = sum(a + b) + sum(x), largest = max(a), slope = d(sum(x * x * max(a)))/dx; a step
// that moves both by one; a loop without an end, which starts with a.
struct Model {
  Owned<pkg_graph> graph{pkg_graph_new(nullptr)};
  pkg_operation *a, *b, *step, *loop;
  Tensor x, gap, largest, slope, endless;

  Model() {
    const int64_t unknown = -1, size = kSize;
    pkg_graph* g = graph.get();
    x = output(pkg_graph_placeholder(g, "x", PKG_FLOAT32, &unknown, 1, nullptr, nullptr));
    a = pkg_graph_variable(g, "a", PKG_FLOAT32, &size, 1, nullptr);
    b = pkg_graph_variable(g, "b", PKG_FLOAT32, &size, 1, nullptr);
    const Tensor va = output(a), vb = output(b);
    gap = call("add", call("sum", call("add", va, arg(vb))), arg(call("sum", x)));
    largest = call("max", va);
    const Tensor y = call("sum", call("mul", call("mul", x, arg(x)), arg(largest)));
    pkg_tensor *ys = y.get(), *xs = x.get();
    slope = output(
        pkg_graph_gradients(g, nullptr, &ys, nullptr, 1, &xs, 1, nullptr, 0, nullptr));
    const Tensor up = call("add", va, pkg_arg_int(nullptr, 1));
    const Tensor down = call("sub", vb, pkg_arg_int(nullptr, 1));
    pkg_operation* both[] = {pkg_graph_assign(g, nullptr, a, up.get(), nullptr),
                             pkg_graph_assign(g, nullptr, b, down.get(), nullptr)};
    step = pkg_graph_group(g, "step", both, 2, nullptr);
    add_loop(va);
  }

  void add_loop(const Tensor& start) {
    const int64_t size = kSize;
    const Owned<pkg_graph> condition(pkg_graph_new(nullptr)), body(pkg_graph_new(nullptr));
    Tensor parts[2][2];
    for (const auto& [part, found] :
         {std::pair{condition.get(), parts[0]}, std::pair{body.get(), parts[1]}}) {
      found[0] = output(
          pkg_graph_placeholder(part, "v", PKG_FLOAT32, &size, 1, nullptr, nullptr));
      pkg_graph_begin_body(part, nullptr);
      found[1] = part == body.get()
                     ? call("mul", found[0], pkg_arg_float(nullptr, 0.5))
                     : call("all", call("lt", found[0], pkg_arg_float(nullptr, 1e9)));
      pkg_graph_end_trace(part, nullptr);
    }
    pkg_tensor* flat[] = {parts[0][0].get(), parts[0][1].get(), parts[1][0].get(),
                          parts[1][1].get()};
    const pkg_body first{condition.get(), flat, 1, flat + 1, 1, nullptr, 0};
    const pkg_body second{body.get(), flat + 2, 1, flat + 3, 1, nullptr, 0};
    pkg_tensor* values = start.get();
    loop = pkg_graph_while(graph.get(), "loop", &first, &second, &values, 1, nullptr);
    endless = output(loop);
  }
};

// A session with its callables.  Closed by a thread while others run it, deleted by the
// last one that has it.
struct Open {
  const Model& model;
  Owned<pkg_session> session;
  Owned<pkg_callable> read, step, endless;

  explicit Open(const Model& m)
      : model(m), session(pkg_session_new(m.graph.get(), nullptr)) {
    pkg_tensor* const x = m.x.get();
    pkg_tensor* const fetches[] = {m.gap.get(), m.largest.get(), m.slope.get()};
    pkg_tensor* const loop = m.endless.get();
    const auto make = [&](pkg_tensor* const* feeds, size_t n_feeds,
                          pkg_tensor* const* wanted, size_t n, pkg_operation* target) {
      return Owned<pkg_callable>(pkg_session_make_callable(
          session.get(), feeds, n_feeds, wanted, n, &target, target ? 1 : 0, nullptr));
    };
    read = make(&x, 1, fetches, 3, nullptr);
    step = make(nullptr, 0, nullptr, 0, m.step);
    endless = make(nullptr, 0, &loop, 1, nullptr);
    set(1, nullptr);
  }

  bool set(float version, pkg_status* status) const {
    const Tensor a = filled(kSize, version), b = filled(kSize, -version);
    pkg_operation* const variables[] = {model.a, model.b};
    pkg_tensor* const values[] = {a.get(), b.get()};
    return pkg_session_set_variables(session.get(), variables, values, 2, status);
  }

  // Whether results are of one version, and of this feed.
  static bool consistent(pkg_tensor* const* results, int64_t n, float value) {
    const Tensor gap(results[0]), largest(results[1]), slope(results[2]);
    std::vector<float> slopes(size_t(n), 0);
    pkg_tensor_copy_out(slope.get(), slopes.data(), slopes.size() * 4, nullptr);
    bool same = item(gap) == float(n) * value;
    for (float s : slopes) same &= s == 2 * value * item(largest);
    return same;
  }
};

struct Soak {
  Model model;
  std::mutex mutex;
  std::shared_ptr<Open> shared = std::make_shared<Open>(model);

  std::shared_ptr<Open> current() {
    std::lock_guard lock(mutex);
    return shared;
  }

  // Closed by another thread: an error that says so, and no other.
  static bool ended(const pkg_status* status) {
    const std::string text = pkg_status_text(status);
    return text.find("losed") != text.npos;
  }

  void one(std::mt19937& random, pkg_status* status) {
    const auto open = current();
    const int64_t n = int64_t(1 + random() % 4);
    const float value = float(1 + random() % 3);
    const Tensor fed = filled(n, value);
    pkg_tensor* const feed = fed.get();
    pkg_tensor* results[3] = {};
    switch (random() % 16) {
      case 0:  // other weights
        return expect(open->set(float(random() % 100), status) || ended(status), "set",
                      status);
      case 1:
      case 2:  // weights by a run
        return expect(pkg_callable_run(open->step.get(), nullptr, 0, 0, nullptr, status) ||
                          ended(status),
                      "step", status);
      case 3: {  // another session in its place; the old one is closed while others run
        auto made = std::make_shared<Open>(model);
        {
          std::lock_guard lock(mutex);
          shared.swap(made);
        }
        return expect(pkg_session_close(made->session.get(), status), "close", status);
      }
      case 4: {  // one of this thread's own, which its callable outlives
        Open mine(model);
        expect(mine.set(7, status), "set mine", status);
        mine.session.reset();
        const bool ran = pkg_callable_run(mine.read.get(), &feed, 1, 0, results, status);
        return expect(!ran && ended(status), "run of a deleted session", status);
      }
      case 5: {  // a run that its timeout ends
        const bool ran = pkg_callable_run(open->endless.get(), nullptr, 0, 0.002, results,
                                          status);
        const std::string text = pkg_status_text(status);
        return expect(!ran && pkg_status_code(status) != PKG_OK &&
                          (text.find("Timed out") != text.npos || ended(status)),
                      "timeout", status);
      }
      case 6: {  // a run that is closed
        Open mine(model);
        std::thread closer([&] {
          std::this_thread::sleep_for(std::chrono::microseconds(200));
          pkg_session_close(mine.session.get(), nullptr);
        });
        const bool ran = pkg_callable_run(mine.endless.get(), nullptr, 0, 0, results,
                                          status);
        closer.join();
        return expect(!ran && ended(status), "closed run", status);
      }
      case 7: {  // fed where another shape is expected
        const bool ran = pkg_callable_run(open->read.get(), nullptr, 0, 0, results, status);
        return expect(!ran && pkg_status_code(status) != PKG_OK, "no feed", status);
      }
      case 8: {  // looked up for one run
        pkg_tensor* const x = model.x.get();
        pkg_tensor* const fetches[] = {model.gap.get(), model.largest.get(),
                                       model.slope.get()};
        if (!pkg_session_run(open->session.get(), &x, &feed, 1, fetches, 3, nullptr, 0,
                             results, status)) {
          return expect(ended(status), "run once", status);
        }
        return expect(Open::consistent(results, n, value), "one version", status);
      }
      default:
        if (!pkg_callable_run(open->read.get(), &feed, 1, 0, results, status)) {
          return expect(ended(status), "run", status);
        }
        return expect(Open::consistent(results, n, value), "one version", status);
    }
  }
};

double soak_seconds() {
  const char* text = std::getenv("PKG_SOAK_SECONDS");
  return text ? std::strtod(text, nullptr) : 2;
}

int64_t resident_pages() {
  long all = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident;
}

int64_t round_of_threads(double seconds, unsigned seed) {
  using Clock = std::chrono::steady_clock;
  Soak soak;
  std::atomic<int64_t> done{0};
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937 random(seed + i);
      const Owned<pkg_status> status(pkg_status_new());
      for (; Clock::now() < end; ++done) soak.one(random, status.get());
    });
  }
  for (std::thread& thread : threads) thread.join();
  return done;
}

TEST(eight_threads_use_sessions) {
  const double seconds = soak_seconds();
  alarm(unsigned(seconds * 2 + 120));  // what hangs is killed
  round_of_threads(0.2, check::seed());
  const int64_t live = pkg_live_tensors();
  int64_t pages = 0, done = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    done += round_of_threads(seconds / kRounds, check::seed() + 100 * (round + 1));
    CHECK(pkg_live_tensors() == live);
    if (round == 0) pages = resident_pages();
  }
  const int64_t grown = (resident_pages() - pages) * 4;
  std::printf("  %lld calls, %lld KiB more resident\n", (long long)done, (long long)grown);
  CHECK(wrong == 0);
  CHECK(done > 8 * kRounds);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  CHECK(grown < 16 * 1024);
#endif
}

}  // namespace
