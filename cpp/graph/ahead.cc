// SPDX-License-Identifier: Apache-2.0
// graph/ahead.cc: see ahead.h.
#include "graph/ahead.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "dispatcher/profile.h"
#include "framework/kernel_set.h"
#include "graph/evaluate.h"
#include "graph/session.h"
#include "scheduler/fork_locks.h"
#include "scheduler/hooks.h"
#include "scheduler/stop_point.h"

namespace pkg::graph {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(20);
constexpr auto kPoll = std::chrono::milliseconds(40);

// Whether it gives the same when it is called twice, and does nothing else.
bool repeatable(const Node& node) {
  if (node.kind == NodeKind::Group) return true;
  if (node.kind == NodeKind::Constant || node.kind == NodeKind::Placeholder) {
    return node.value.defined();
  }
  if (node.kind != NodeKind::Op || writes(node) || schedules_itself(*node.op)) return false;
  const auto& definition = node.op->definition();
  // Composites that draw random numbers do not say so.
  return !definition.in_program_order && !framework::find_kernel_set(*node.op) &&
         !std::strstr(definition.where, "ops/random/");
}

}  // namespace

class AheadState final : public Intrusive {
 public:
  AheadState(std::vector<Node*> functions, Ahead::Made made, const RunControl& control,
             Session* session)
      : made_(std::move(made)), control_{&ended_, control.deadline} {
    if (session) session_ = Ref<Session>::share(session);
    for (Node* node : functions) {
      const Function& function = *node->function;
      if (function.variables.empty() && !function.assigns) jobs_[node];
      if (!graph_) graph_ = Ref<Graph>::share(&node->graph);
    }
  }

  TensorList run(Node& node, const TensorList& inputs, const FunctionRun& run) {
    Job* job = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (const auto found = jobs_.find(&node); found != jobs_.end()) job = &found->second;
      if (job && !job->begun) {
        job->begun = true;
        job = nullptr;
      }
      current_ = &node;
      ++turn_;
    }
    const Turn turn{*this};
    return job ? wait_for(*job, run) : node.function->run(inputs, run);
  }

  void end() {
    std::lock_guard lock(mutex_);
    ended_.store(true);
    current_ = nullptr;
  }

  /// Has others begin where the same function runs as at the last look.
  void look() {
    std::vector<Work> all;
    {
      std::lock_guard lock(mutex_);
      if (!current_) return;
      if (std::exchange(seen_, turn_) != turn_) return;
      for (auto& [node, job] : jobs_) {
        Work work;
        if (job.begun || node->id < current_->id || !gather(*node, work)) continue;
        job.begun = true;
        all.push_back(std::move(work));
      }
    }
    for (Work& work : all) begin(std::move(work));
  }

 private:
  struct Job {
    bool begun = false, done = false;
    TensorList outputs;
    std::exception_ptr error;
  };
  struct Work {
    std::vector<Node*> nodes;  // the function last
    std::map<Edge, Tensor> given;
  };
  struct Turn {
    AheadState& state;
    ~Turn() {
      std::lock_guard lock(state.mutex_);
      state.current_ = nullptr;
      ++state.turn_;
    }
  };

  // What an output is, of a function that was ahead as well.
  const Tensor* given(Edge edge) const {
    if (const Tensor* made = made_(edge); made && made->defined()) return made;
    const auto ahead = jobs_.find(edge.node);
    if (ahead == jobs_.end() || ahead->second.outputs.empty()) return nullptr;
    return &ahead->second.outputs[edge.output];
  }

  // What it takes, or how that is computed from what is there.  Nodes before the one whose
  // turn it is have run.
  bool gather(Node& node, Work& work) const {
    std::unordered_set<Node*> seen;
    std::vector<Node*> next{&node};
    while (!next.empty()) {
      Node* one = next.back();
      next.pop_back();
      if (one != &node && !repeatable(*one)) return false;
      work.nodes.push_back(one);
      for (const Node::Input& input : one->inputs) {
        const Tensor* value = given(input.from);
        if (value && value->defined()) work.given[input.from] = *value;
        else if (seen.insert(input.from.node).second) next.push_back(input.from.node);
      }
      for (Node* control : one->controls) {
        const bool has_run = control->id < current_->id;
        if (!has_run && seen.insert(control).second) next.push_back(control);
      }
    }
    std::sort(work.nodes.begin(), work.nodes.end(),
              [](Node* a, Node* b) { return a->id < b->id; });
    return true;
  }

  void begin(Work work) {
    const auto self = Ref<AheadState>::share(this);
    Node* node = work.nodes.back();
    try {
      std::thread([self, work = std::move(work)]() mutable {
        self->compute(work);
      }).detach();
    } catch (const std::system_error&) {  // no thread for it: it has to wait
      std::lock_guard lock(mutex_);
      jobs_[node].begun = false;
    }
  }

  void compute(Work& work) {
    Node* node = work.nodes.back();
    TensorList outputs;
    std::exception_ptr error;
    try {
      const auto ask = [&] { control_.check(); };
      const AskedToStop within_steps(ask);
      UseKeys plain(plain_keys());
      Evaluation evaluation;
      evaluation.control = &control_;
      evaluation.session = session_.get();
      if (session_) evaluation.kernels = &session_->kernels();
      for (auto& [edge, value] : work.given) evaluation.feed(edge, std::move(value));
      evaluation.run(work.nodes);
      for (uint32_t i = 0; i < node->outputs.size(); ++i) {
        outputs.push_back(evaluation.value({node, i}));
      }
    } catch (...) { error = std::current_exception(); }
    work = {};
    std::lock_guard lock(mutex_);
    Job& job = jobs_[node];
    job.outputs = std::move(outputs);
    job.error = std::move(error);
    job.done = true;
    done_.notify_all();
  }

  TensorList wait_for(Job& job, const FunctionRun& run) {
    {
      const BlockingRegion others_may_run;
      std::unique_lock lock(mutex_);
      while (!done_.wait_for(lock, kPoll, [&] { return job.done; })) {
        lock.unlock();
        stop_point();
        run.control->check();
        lock.lock();
      }
    }
    if (job.error) std::rethrow_exception(job.error);
    return std::move(job.outputs);
  }

  std::atomic<bool> ended_{false};
  const Ahead::Made made_;
  const RunControl control_;
  Ref<Session> session_;
  Ref<Graph> graph_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable done_;
  std::map<Node*, Job> jobs_;
  const Node* current_ = nullptr;  // the function whose turn it is
  int64_t turn_ = 0, seen_ = -1;
};

namespace {

// Looks at the runs that there are; its thread ends when it finds none.
constinit std::mutex g_watching;
const detail::HeldOverFork g_held{detail::ForkLock::Ahead, g_watching};

class Watch {
 public:
  static void add(const Ref<AheadState>& run) {
    std::lock_guard lock(g_watching);
    const pid_t process = getpid();  // a child of fork() has no such thread
    if (!g_runs || g_process != process) {
      g_runs = new std::vector<Ref<AheadState>>;  // those of the parent stay where they are
      g_running = false;
      g_process = process;
    }
    g_runs->push_back(run);
    if (g_running) return;
    try {
      std::thread(watch).detach();
      g_running = true;
    } catch (const std::system_error&) { return; }  // the next one tries again
  }

  static void remove(const Ref<AheadState>& run) {
    std::lock_guard lock(g_watching);
    const auto same = [&](const Ref<AheadState>& one) { return one.get() == run.get(); };
    std::erase_if(*g_runs, same);
    ++g_ended;
  }

 private:
  static void watch() {
    int64_t ended = -1;
    while (true) {
      std::this_thread::sleep_for(kPatience);
      std::vector<Ref<AheadState>> now;
      {
        std::lock_guard lock(g_watching);
        if (g_runs->empty() && std::exchange(ended, g_ended) == g_ended) {
          g_running = false;
          return;
        }
        now = *g_runs;
      }
      for (const Ref<AheadState>& run : now) run->look();
    }
  }

  static inline std::vector<Ref<AheadState>>* g_runs = nullptr;
  static inline bool g_running = false;
  static inline pid_t g_process = 0;
  static inline int64_t g_ended = 0;
};

}  // namespace

Ahead::Ahead(std::vector<Node*> functions, Made made, const RunControl& control,
             Session* session)
    : state_(
          Ref<AheadState>::make(std::move(functions), std::move(made), control, session)) {
  Watch::add(state_);
}

Ahead::~Ahead() {
  Watch::remove(state_);
  state_->end();
}

TensorList Ahead::run(Node& node, const TensorList& inputs, const FunctionRun& run) {
  return state_->run(node, inputs, run);
}

}  // namespace pkg::graph
