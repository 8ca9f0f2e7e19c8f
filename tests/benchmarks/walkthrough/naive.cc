// SPDX-License-Identifier: Apache-2.0
// tests/benchmarks/walkthrough/naive.cc: what docs/walkthrough/ takes apart, the
// obvious way of doing each step, with its faults.  measure.py times it beside pkg;
// nothing else may use it.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "through.h"

namespace py = pybind11;

namespace {

void pretend_to_work(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Step 2: a thread per call, a global table of futures.
std::vector<std::future<double>> g_tasks;
std::mutex g_tasks_mutex;

int add_later(double a, double b, int ms) {
  std::lock_guard lock(g_tasks_mutex);
  g_tasks.push_back(std::async(std::launch::async, [=] {
    pretend_to_work(ms);
    return a + b;
  }));
  return static_cast<int>(g_tasks.size()) - 1;
}

std::vector<double> wait_all() {
  py::gil_scoped_release release;
  std::vector<std::future<double>> tasks;
  {
    std::lock_guard lock(g_tasks_mutex);
    tasks.swap(g_tasks);
  }
  std::vector<double> results;
  for (auto& task : tasks) results.push_back(task.get());
  return results;
}

// Step 3: names to functions of one signature.
std::unordered_map<std::string, std::function<double(double, double)>> g_ops{
    {"add", [](double a, double b) { return a + b; }}};

double run_op(const std::string& name, double a, double b) {
  const auto found = g_ops.find(name);
  if (found == g_ops.end()) throw std::runtime_error("No op registered: " + name);
  return found->second(a, b);
}

// Step 4: operators.
struct Number {
  double v;
  Number plus(const Number& other) const { return {v + other.v}; }
  Number plus_object(const py::object& x) const {
    if (!py::isinstance<py::float_>(x) && !py::isinstance<py::int_>(x)) {
      throw std::runtime_error("Unsupported type for +");
    }
    return {v + x.cast<double>()};
  }
  std::string text() const { return "Number(" + std::to_string(v) + ")"; }
};

// Step 5: a value that is a future, a thread per operation.
struct Later {
  std::shared_future<double> future;

  static Later now(double x) {
    std::promise<double> promise;
    promise.set_value(x);
    return {promise.get_future().share()};
  }
  Later plus(const Later& other, int ms) const {
    return {std::async(std::launch::async, [a = future, b = other.future, ms] {
              const double sum = a.get() + b.get();
              pretend_to_work(ms);
              return sum;
            }).share()};
  }
  double get() const {
    py::gil_scoped_release release;
    return future.get();
  }
};

// Step 6: one locked queue; its jobs block the workers that run them.
class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) workers_.emplace_back([this] { loop(); });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (auto& worker : workers_) worker.join();
  }
  // Adds on the pool; `shared_ptr` since std::function wants to copy what it holds.
  Later plus(const Later& a, const Later& b, int ms) {
    auto promise = std::make_shared<std::promise<double>>();
    submit([promise, a = a.future, b = b.future, ms] {
      const double sum = a.get() + b.get();
      if (ms) pretend_to_work(ms);
      promise->set_value(sum);
    });
    return {promise->get_future().share()};
  }
  void call(py::object function) {
    submit([function = std::move(function)]() mutable {
      py::gil_scoped_acquire gil;
      std::exchange(function, py::object())();
    });
  }
  double empty_jobs(int submitters, int jobs) {
    py::gil_scoped_release release;
    return time_through(submitters, jobs, [this](auto job) { submit(std::move(job)); });
  }
  void flush() {
    py::gil_scoped_release release;
    std::unique_lock lock(mutex_);
    empty_.wait(lock, [this] { return jobs_.empty() && pending_ == 0; });
  }

 private:
  void submit(std::function<void()> job) {
    ++pending_;
    {
      std::lock_guard lock(mutex_);
      jobs_.push(std::move(job));
    }
    changed_.notify_one();
  }
  void loop() {
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop();
      }
      job();
      --pending_;           // without the mutex: flush() may look before this
      empty_.notify_all();  // and sleep after that, for ever
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_, empty_;
  std::queue<std::function<void()>> jobs_;
  std::vector<std::thread> workers_;
  std::atomic<int> pending_{0};
  bool stop_ = false;
};

// Step 7: edges are raw pointers; backward() walks every path, by recursion.
struct Node {
  double v, grad = 0;
  std::vector<std::pair<Node*, double>> edges;
  explicit Node(double value) : v(value) {}
  Node times(Node& other) {
    Node out(v * other.v);
    out.edges = {{this, other.v}, {&other, v}};
    return out;
  }
  void backward(double upstream) {
    grad += upstream;
    for (auto& [parent, local] : edges) parent->backward(upstream * local);
  }
};

}  // namespace

PYBIND11_MODULE(naive, m) {
  m.def("add", [](double a, double b) { return a + b; });
  m.def("add_later", &add_later);
  m.def("wait_all", &wait_all);
  m.def("run_op", &run_op);
  py::class_<Number>(m, "Number")
      .def(py::init([](double v) { return Number{v}; }))
      .def_readwrite("v", &Number::v)
      .def("__add__", [](const Number& a, const Number& b) { return a.plus(b); })
      .def("__radd__", &Number::plus_object)
      .def("__repr__", &Number::text);
  py::class_<Later>(m, "Later")
      .def(py::init(&Later::now))
      .def("plus", &Later::plus)
      .def("get", &Later::get);
  py::class_<Pool>(m, "Pool")
      .def(py::init<int>())
      .def("plus", &Pool::plus)
      .def("call", &Pool::call)
      .def("empty_jobs", &Pool::empty_jobs)
      .def("flush", &Pool::flush);
  py::class_<Node>(m, "Node")
      .def(py::init<double>())
      .def_readonly("v", &Node::v)
      .def_readonly("grad", &Node::grad)
      .def("__mul__", &Node::times)
      .def("backward", &Node::backward);
}
