// SPDX-License-Identifier: Apache-2.0
// graph/session.cc: see session.h.
#include "graph/session.h"

#include <algorithm>
#include <chrono>

#include "base/foreign_error.h"
#include "dispatcher/profile.h"
#include "graph/evaluate.h"
#include "graph/plan_rows.h"
#include "graph/segments.h"
#include "ops/functions.h"
#include "scheduler/hooks.h"
#include "scheduler/stop_point.h"

namespace pkg::graph {
namespace {

constexpr size_t kMaxVariants = 32;

bool same_kind(const Spec& spec, const Tensor& tensor) {
  if (!tensor.defined()) return !has_value(spec);
  return spec.dtype == tensor.dtype() && spec.sizes == tensor.sizes();
}

}  // namespace

/// The executable for feeds and variables of certain shapes and dtypes; without one the
/// nodes are called one by one.
struct Callable::Variant {
  std::vector<Spec> feeds;
  std::vector<Spec> variables;
  std::unique_ptr<Executable> executable;
  std::string why_not;

  bool fits(const TensorList& given, const TensorList& read) const {
    return std::equal(feeds.begin(), feeds.end(), given.begin(), given.end(), same_kind) &&
           std::equal(variables.begin(), variables.end(), read.begin(), read.end(),
                      same_kind);
  }
};

Session::~Session() = default;
Callable::~Callable() = default;

/// A run that assigns waits until no other does.
class Session::Writing {
 public:
  Writing(Session& session, bool wanted, const RunControl& control) : session_(session) {
    if (!wanted) return;
    std::optional<BlockingRegion> others_may_run;
    std::unique_lock lock(session.mutex_);
    PKG_CHECK(
        !session.writing_ || session.writer_ != std::this_thread::get_id(), RuntimeError,
        "[session] a function of a run that assigns variables cannot run another one: "
        "it would wait for itself.");
    while (session.writing_) {
      if (!others_may_run) {
        lock.unlock();
        others_may_run.emplace();
        lock.lock();
        continue;
      }
      session.turn_.wait_for(lock, std::chrono::milliseconds(40));
      lock.unlock();
      stop_point();
      control.check();
      lock.lock();
    }
    session.writing_ = mine_ = true;
    session.writer_ = std::this_thread::get_id();
  }
  ~Writing() {
    if (!mine_) return;
    std::lock_guard lock(session_.mutex_);
    session_.writing_ = false;
    session_.turn_.notify_one();
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  Session& session_;
  bool mine_ = false;
};

Ref<Callable> Session::make_callable(std::vector<Edge> feeds, std::vector<Edge> fetches,
                                     std::vector<Node*> targets) {
  const auto check = [&](const Node* node) {
    PKG_CHECK(node && &node->graph == graph_.get(), ValueError, "Tensor ",
              node ? node->name : "(none)", " is not an element of this graph.");
  };
  for (size_t i = 0; i < feeds.size(); ++i) {
    check(feeds[i].node);
    PKG_CHECK(std::find(feeds.begin(), feeds.begin() + std::ptrdiff_t(i), feeds[i]) ==
                  feeds.begin() + std::ptrdiff_t(i),
              ValueError, "[session] ", feeds[i].str(), " is fed twice.");
  }
  for (Edge fetch : fetches) check(fetch.node);
  for (const Node* target : targets) check(target);
  return Ref<Callable>::make(Ref<Session>::share(this), std::move(feeds),
                             std::move(fetches), std::move(targets));
}

void Session::close() {
  closed_.store(true);
  std::unordered_map<const Node*, Tensor> values;
  std::lock_guard lock(mutex_);
  values.swap(values_);
  turn_.notify_all();
}

Ref<Callable> Session::kept_body(const void* part, FunctionRef<Ref<Callable>()> make) {
  {
    std::lock_guard lock(mutex_);
    const auto found = bodies_.find(part);
    if (found != bodies_.end()) return found->second;
  }
  Ref<Callable> made = make();
  std::lock_guard lock(mutex_);
  return bodies_.emplace(part, std::move(made)).first->second;
}

bool Session::initialized(const Node& variable) const {
  std::lock_guard lock(mutex_);
  return values_.contains(&variable);
}

Tensor Session::variable(const Node& variable) const {
  std::lock_guard lock(mutex_);
  const auto found = values_.find(&variable);
  PKG_CHECK(found != values_.end(), RuntimeError, "Attempting to use uninitialized value ",
            variable.name);
  return found->second;
}

void Session::set_variables(const std::vector<std::pair<Node*, Tensor>>& values) {
  std::vector<std::pair<const Node*, Tensor>> kept;
  for (const auto& [node, value] : values) {
    PKG_CHECK(node && &node->graph == graph_.get() && node->kind == NodeKind::Variable,
              ValueError, "[set_variables] expected variables of this session's graph.");
    const OutputSpec& spec = node->outputs[0];
    PKG_CHECK(value.defined() && value.dtype() == spec.dtype && spec.accepts(value.sizes()),
              ValueError, "[set_variables] expected ", spec.dtype, " of shape ", spec.str(),
              " for ", node->name, ", got ",
              value.defined() ? str(value.dtype(), " of shape ", value.sizes()) : "nothing",
              ".");
    PKG_CHECK(!value.is_meta(), ValueError,
              "[set_variables] expected a tensor with values for ", node->name,
              ", got one on the device meta.");
    kept.emplace_back(node, ops::row_major_copy(value));
  }
  for (auto& [node, value] : kept) value.wait();
  Writing turn(*this, true, {&closed_, 0});
  PKG_CHECK(!closed(), RuntimeError, "Attempted to use a closed Session.");
  std::lock_guard lock(mutex_);
  for (auto& [node, value] : kept) std::swap(values_[node], value);
}

Callable::Callable(Ref<Session> session, std::vector<Edge> feeds, std::vector<Edge> fetches,
                   std::vector<Node*> targets)
    : session_(std::move(session)), feeds_(std::move(feeds)), fetches_(std::move(fetches)) {
  nodes_ = needed(feeds_, fetches_, targets);
  asked_.assign(targets.begin(), targets.end());
  look_at_nodes();
}

Callable::Callable(Ref<Session> session, std::vector<Edge> feeds, std::vector<Edge> fetches,
                   Given given)
    : session_(std::move(session)),
      feeds_(std::move(feeds)),
      fetches_(std::move(fetches)),
      nodes_(std::move(given.nodes)),
      asked_(std::move(given.asked)) {
  look_at_nodes();
}

void Callable::look_at_nodes() {
  for (Node* node : nodes_) {
    asked_.insert(asked_.end(), node->controls.begin(), node->controls.end());
    if (node->kind == NodeKind::Assign) assigns_ = true;
    if (node->kind == NodeKind::Variable) variables_.push_back(node);
    if (!node->function) continue;
    assigns_ |= node->function->assigns;
    for (Node* variable : node->function->variables) {
      if (std::find(feeds_.begin(), feeds_.end(), Edge{variable, 0}) == feeds_.end()) {
        variables_.push_back(variable);
      }
    }
  }
}

// It may have been dropped meanwhile.
const Callable::Variant* Callable::last_used() const {
  for (const auto& variant : variants_) {
    if (variant.get() == last_used_) return last_used_;
  }
  return nullptr;
}

std::string Callable::why_unplanned() const {
  std::lock_guard lock(mutex_);
  const Variant* last = last_used();
  return last ? last->why_not : "";
}

std::vector<std::vector<std::string>> Callable::plan_rows() const {
  std::lock_guard lock(mutex_);
  const Variant* last = last_used();
  if (!last || !last->executable) return {};
  return rows_of(last->executable->plan());
}

std::shared_ptr<Callable::Variant> Callable::variant_for(const TensorList& feeds,
                                                         const TensorList& variables) {
  {
    std::lock_guard lock(mutex_);
    for (size_t i = variants_.size(); i-- > 0;) {
      const auto& variant = variants_[i];
      if (!variant->fits(feeds, variables)) continue;
      if (variant->executable && !variant->executable->valid()) {
        variants_.erase(variants_.begin() + std::ptrdiff_t(i));
        break;
      }
      last_used_ = variant.get();
      return variant;
    }
  }
  auto made = std::make_shared<Variant>();
  for (const Tensor& tensor : feeds) made->feeds.push_back(tensor.spec());
  for (const Tensor& tensor : variables) {
    made->variables.push_back(tensor.defined() ? tensor.spec() : kNoValue);
  }
  const PlanInputs inputs{feeds_,          made->feeds, variables_,
                          made->variables, asked_,      &session_->kernels_};
  try {
    Plan plan = make_plan(nodes_, fetches_, inputs);
    made->executable = std::make_unique<Executable>(std::move(plan));
  } catch (const CancelledError&) {
    throw;  // says nothing of the plan
  } catch (const Error& error) {
    throw_if_stops(error);
    made->why_not = error.what();
  }
  plans_made_.fetch_add(1);
  std::lock_guard lock(mutex_);
  if (variants_.size() >= kMaxVariants) variants_.erase(variants_.begin());
  variants_.push_back(made);
  last_used_ = made.get();
  return made;
}

const Tensor& Callable::value_of(const Node& variable, const TensorList& variables) const {
  const auto place = std::find(variables_.begin(), variables_.end(), &variable);
  PKG_ASSERT(place != variables_.end());
  return variables[size_t(place - variables_.begin())];
}

RunResults Callable::interpret(const TensorList& feeds, const TensorList& variables,
                               const RunControl& control, bool recorded) const {
  Evaluation evaluation;
  evaluation.differentiable = recorded;
  evaluation.session = session_.get();
  evaluation.kernels = &session_->kernels_;
  const Node* current = nullptr;
  for (size_t i = 0; i < feeds_.size(); ++i) evaluation.feed(feeds_[i], feeds[i]);
  evaluation.read = [&](const Node& node) { return value_of(node, variables); };
  evaluation.keep = [](Node&, const Tensor& value) { return ops::row_major_copy(value); };
  evaluation.control = &control;
  evaluation.at = [&](const Node& node) {
    current = nullptr;
    stop_point();
    control.check();
    current = &node;
  };
  UseKeys plain(plain_keys());
  RunResults results;
  try {
    evaluation.run(nodes_);
    current = nullptr;
    ExcludeKeys off(DispatchKey::Autograd);
    for (Edge fetch : fetches_) {
      if (recorded) {
        results.fetches.push_back(evaluation.value(fetch));
        continue;
      }
      results.fetches.push_back(ops::row_major_copy(evaluation.value(fetch)));
    }
    for (const auto& [node, value] : evaluation.written()) {
      value.wait();
      results.written.emplace_back(node, share(value));
    }
  } catch (...) {
    set_failed_node(current);
    throw;
  }
  return results;
}

// Not by std::call_once: a run that is stopped here leaves it to the next one, and
// ThreadSanitizer's never ends after an exception.
void Callable::divide() {
  if (divided_.load(std::memory_order_acquire)) return;
  std::lock_guard lock(dividing_);
  if (divided_.load(std::memory_order_relaxed)) return;
  if (Segments::possible(nodes_, feeds_)) {
    segments_ = std::make_unique<Segments>(session_, nodes_, feeds_, fetches_, asked_);
  }
  divided_.store(true, std::memory_order_release);
}

RunResults Callable::in_segments(const TensorList& feeds, const TensorList& variables,
                                 const RunControl& control) {
  divide();
  if (!segments_ || !segments_->worthwhile()) return interpret(feeds, variables, control);
  const Node* current = nullptr;
  const auto read = [&](const Node& node) { return value_of(node, variables); };
  const auto at = [&](const Node* node) {
    stop_point();
    control.check();
    current = node;
  };
  UseKeys plain(plain_keys());
  try {
    RunResults results;
    results.fetches = segments_->run({feeds, read, control, *session_, at});
    return results;
  } catch (...) {
    if (current) set_failed_node(current);
    throw;
  }
}

TensorList Callable::checked(const TensorList& feeds, bool contiguous) const {
  PKG_CHECK(feeds.size() == feeds_.size(), ValueError, "[run] expected ", feeds_.size(),
            " feeds, got ", feeds.size(), ".");
  TensorList given = feeds;
  for (size_t i = 0; i < given.size(); ++i) {
    const OutputSpec& spec = feeds_[i].node->outputs[feeds_[i].output];
    Tensor& tensor = given[i];
    PKG_CHECK(tensor.defined() && !edge_of(tensor).node, TypeError,
              "The value of a feed cannot be a symbol of a graph; feed ", feeds_[i].str(),
              " with a tensor that has values.");
    PKG_CHECK(!tensor.is_meta(), ValueError, "Cannot feed a tensor on the device meta, ",
              "which has no values, for Tensor '", feeds_[i].str(), "'. Hint: make one of ",
              "its shape on the CPU, as with zeros(shape, dtype=dtype).");
    PKG_CHECK(spec.accepts(tensor.sizes()), ValueError, "Cannot feed value of shape ",
              tensor.sizes(), " for Tensor '", feeds_[i].str(), "', which has shape ",
              spec.str());
    PKG_CHECK(tensor.dtype() == spec.dtype, TypeError, "Cannot feed ", tensor.dtype(),
              " for Tensor '", feeds_[i].str(), "', which has dtype ", spec.dtype, ".");
    if (contiguous && !tensor.is_contiguous()) {
      ExcludeKeys off(DispatchKey::Autograd);
      tensor = ops::row_major_copy(tensor);
    }
  }
  return given;
}

TensorList Callable::run(const TensorList& feeds, double timeout) {
  set_failed_node(nullptr);
  const RunControl control{&session_->closed_,
                           timeout > 0 ? steady_seconds() + timeout : 0};
  const auto ask = [&] { control.check(); };
  const AskedToStop within_steps(ask);
  PKG_CHECK(!session_->closed(), RuntimeError, "Attempted to use a closed Session.");
  return run_once(checked(feeds, true), control);
}

TensorList Callable::run_recorded(const TensorList& feeds) {
  set_failed_node(nullptr);
  PKG_CHECK(!session_->closed(), RuntimeError, "Attempted to use a closed Session.");
  PKG_CHECK(!assigns_ && variables_.empty(), NotImplementedError,
            "[run_recorded] expected a graph without variables.");
  const RunControl control{&session_->closed_, 0};
  const auto ask = [&] { control.check(); };
  const AskedToStop within_steps(ask);
  return interpret(checked(feeds, false), {}, control, true).fetches;
}

TensorList Callable::run_as_part(TensorList feeds, const RunControl& control) {
  for (Tensor& tensor : feeds) {
    if (tensor.is_contiguous()) continue;
    ExcludeKeys off(DispatchKey::Autograd);
    tensor = ops::row_major_copy(tensor);
  }
  return run_once(feeds, control);
}

TensorList Callable::run_once(const TensorList& feeds, const RunControl& control) {
  Session::Writing turn(*session_, assigns_, control);
  TensorList variables;
  {
    std::lock_guard lock(session_->mutex_);
    for (const Node* node : variables_) {
      const auto found = session_->values_.find(node);
      variables.push_back(found == session_->values_.end() ? Tensor() : found->second);
    }
  }
  const std::shared_ptr<Variant> variant = variant_for(feeds, variables);
  RunResults results;
  if (variant->executable) {
    results = variant->executable->run(feeds, variables, control);
  } else {
    results = in_segments(feeds, variables, control);
  }
  if (!results.written.empty()) {
    for (const auto& [node, value] : results.written) value.wait();
    std::lock_guard lock(session_->mutex_);
    PKG_CHECK(!session_->closed(), CancelledError, "Session was closed while it ran.");
    for (auto& [node, value] : results.written) std::swap(session_->values_[node], value);
  }
  return std::move(results.fetches);
}

}  // namespace pkg::graph
