// SPDX-License-Identifier: Apache-2.0
// dispatcher/dispatcher.cc: the registry behind every call.
#include "dispatcher/dispatcher.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "dispatcher/library.h"
#include "dispatcher/opening.h"
#include "dispatcher/plain_kernel.h"
#include "dispatcher/profile.h"
#include "scheduler/fork_locks.h"
#include "scheduler/trace.h"

namespace pkg {

PKG_FAST_TLS thread_local constinit LocalKeys t_local_keys{
    KeySet(DispatchKey::Profiler), {}};  // Note [The Profiler key] in dispatcher/profile.h

bool set_grad_enabled(bool enabled) {
  const bool before = grad_enabled();
  const KeySet autograd(DispatchKey::Autograd);
  KeySet& excluded = t_local_keys.excluded;
  excluded = enabled ? excluded.without(autograd) : excluded | autograd;
  return before;
}

KeySet keys_of(std::span<const Value> args) {
  KeySet keys;
  for (const Value& value : args) {
    for_each_tensor(value, [&](const Tensor& tensor) { keys |= tensor.keys(); });
    if (auto* device = std::get_if<Device>(&value)) {
      if (device->type == DeviceType::Meta) keys |= DispatchKey::Meta;
    }
  }
  return (keys & kBackendKeys).empty() ? keys | DispatchKey::CPU : keys;
}

namespace {
constinit std::mutex g_registry;  // guards State
const detail::HeldOverFork g_held{detail::ForkLock::Registry, g_registry};
constinit std::atomic<void (*)()> g_settle_profiler{nullptr};
std::vector<std::function<void()>>* g_undo = nullptr;  // State's

void put(Operator& op, const detail::Conduct& conduct) {
  op.shape = conduct.shape;
  op.shape_boxed = conduct.shape_boxed;
  op.in_program_order = conduct.in_program_order;
  // Last: who finds a structured op finds its rule.
  std::atomic_ref(op.kind).store(conduct.kind, std::memory_order_release);
}
}  // namespace

struct Dispatcher::State {
  std::deque<Operator> operators;                             // stable addresses
  std::map<std::string, Operator*, std::less<>> by_name;      // "ns::add.Tensor"
  std::map<std::string, const char*, std::less<>> libraries;  // namespace -> where
  std::array<const Kernel*, kNumKeys> fallbacks{};
  std::deque<Kernel> kernels;  // replaced ones too: a call in flight may use them
  const Kernel* other_profiler = nullptr;   // that does not count now, of the two
  std::vector<std::function<void()>> undo;  // steps back to begin_registration()

  // Between begin_registration() and end_registration(): what is defined there may have no
  // kernel yet, and may go again, so that it is there for this thread alone.
  std::optional<std::thread::id> registering;
  std::set<const Operator*> unfinished;

  bool hidden(const Operator* op) const {
    return registering && *registering != std::this_thread::get_id() &&
           unfinished.contains(op);
  }
  bool visible(const Operator& op) const {
    const auto found = by_name.find(op.qualified_name());
    return found != by_name.end() && found->second == &op && !hidden(&op);
  }
  // The fallback of the Profiler key falls through while nobody wants calls.  A call that
  // has chosen it meanwhile finds it still, so there are two of it, which change places.
  void settle_profiler() {
    std::lock_guard lock(g_registry);
    const Kernel*& slot = fallbacks[size_t(DispatchKey::Profiler)];
    const bool on = trace::wanted(trace::Kind::Op);
    if (!slot || slot->fallthrough != on) return;
    if (!other_profiler) {
      Kernel& other = kernels.emplace_back(*slot);
      other.fallthrough = !on;
      other_profiler = &other;
    }
    std::swap(slot, other_profiler);
    for (Operator& op : operators) op.refresh(fallbacks);
  }
  void set_kernel(Operator& op, DispatchKey key, const Kernel* kernel) {
    const Kernel* old = op.set_kernel(key, kernel);
    op.refresh(fallbacks);
    undo.push_back([this, &op, key, old] {
      op.set_kernel(key, old);
      op.refresh(fallbacks);
    });
  }
};

Dispatcher::Dispatcher() : state_(new State) {
  g_undo = &state_->undo;
  g_settle_profiler.store([] { get().state_->settle_profiler(); });
}

void detail::set_conduct(Operator& op, const Conduct& conduct) {
  Dispatcher::get();
  std::lock_guard lock(g_registry);
  g_undo->push_back([&op, before = Conduct(op)] { put(op, before); });
  put(op, conduct);
}

void detail::settle_profiler() {
  Dispatcher::get();
  g_settle_profiler.load()();
}

constinit std::atomic<Dispatcher*> Dispatcher::settled_{nullptr};

Dispatcher& Dispatcher::settle() {
  static Dispatcher* instance = new Dispatcher;
  run_pending_registrations(*instance);
  return *instance;
}

namespace {
std::string qualify(std::string_view name, std::string_view ns) {
  if (name.find("::") != name.npos) ns = "";
  std::string key = ns.empty() ? std::string(name) : str(ns, "::", name);
  if (key.starts_with("aten::")) key.replace(0, 4, "pkg");
  return key;
}
}  // namespace

const Operator* Dispatcher::find_or_null(std::string_view name, std::string_view ns) const {
  std::lock_guard lock(g_registry);
  const auto found = state_->by_name.find(qualify(name, ns));
  if (found == state_->by_name.end() || state_->hidden(found->second)) return nullptr;
  return found->second;
}

const Operator& Dispatcher::find(std::string_view name, std::string_view ns) const {
  if (const Operator* op = find_or_null(name, ns)) return *op;
  const std::string key = qualify(name, ns);
  const std::string plain = key.substr(0, key.find('.'));
  std::string found;
  std::lock_guard lock(g_registry);
  for (const Operator& op : state_->operators) {
    if (op.ns + "::" + op.schema.name != plain || !state_->visible(op)) continue;
    found += (found.empty() ? "" : ", ") +
             (op.schema.overload.empty() ? "(none)" : op.schema.overload);
  }
  if (found.empty()) {
    detail::raise<LookupError>("No op registered: ", key, ". ", state_->by_name.size(),
                               " ops are registered; pkg.ops lists them.");
  }
  detail::raise<LookupError>("Could not find schema for ", key,
                             " but we found the overloads: ", found, ".");
}

Operator& Dispatcher::find_mutable(std::string_view name, std::string_view ns) {
  return const_cast<Operator&>(find(name, ns));
}

std::vector<const Operator*> Dispatcher::all() const {
  std::lock_guard lock(g_registry);
  std::vector<const Operator*> ops;
  ops.reserve(state_->by_name.size());
  for (const auto& [name, op] : state_->by_name) {
    if (!state_->hidden(op)) ops.push_back(op);
  }
  return ops;
}

std::vector<const Operator*> Dispatcher::overloads(std::string_view name,
                                                   std::string_view ns) const {
  if (ns == "aten") ns = "pkg";  // as find() does
  std::lock_guard lock(g_registry);
  std::vector<const Operator*> ops;
  for (const Operator& op : state_->operators) {
    if (op.ns == ns && op.schema.name == name && state_->visible(op)) ops.push_back(&op);
  }
  return ops;
}

void Dispatcher::redispatch_boxed(const Operator& op, KeySet keys, Stack& stack) const {
  keys = effective_keys(op, keys);
  const Kernel& kernel = op.kernel(keys.highest());
  kernel.boxed(op, kernel, keys, stack);
}

Operator& Dispatcher::define(std::string ns, Schema schema, const char* where) {
  PKG_CHECK(schema.arguments.size() <= kMaxParameters, ValueError, "[define] ",
            schema.full_name(), ": expected at most ", kMaxParameters, " parameters, got ",
            schema.arguments.size(), ".");
  const std::string key = ns + "::" + schema.full_name();
  std::unique_lock lock(g_registry);
  const auto found = state_->by_name.find(key);
  if (found != state_->by_name.end()) {
    const char* before = found->second->where;
    lock.unlock();  // in_library() takes the loader's lock
    detail::raise<RuntimeError>("[define] ", key, " is already registered at ", before,
                                detail::in_library(before), "; registered again at ", where,
                                detail::in_library(where), ".");
  }
  Operator& op = state_->operators.emplace_back(std::move(ns), std::move(schema));
  op.where = where;
  op.refresh(state_->fallbacks);
  state_->by_name[key] = &op;
  if (state_->registering) state_->unfinished.insert(&op);
  state_->undo.push_back([this, key] { state_->by_name.erase(key); });
  detail::DefinedOps::note(key);
  return op;
}

void Dispatcher::set_kernel(Operator& op, DispatchKey key, Kernel kernel) {
  std::lock_guard lock(g_registry);
  const Kernel* made = &state_->kernels.emplace_back(kernel);
  state_->set_kernel(op, key, made);
  if (!kBackendKeys.has(key)) return;
  // An in-place form runs its base's kernels.  One that makes its results is called where
  // they are then written: not by C++ types.
  const Kernel* of_forms = made;
  for (Operator& form : state_->operators) {
    if (form.base != &op) continue;
    if (detail::is_plain(kernel) && of_forms == made) {
      Kernel& boxed = state_->kernels.emplace_back(kernel);
      boxed.unboxed = nullptr;
      of_forms = &boxed;
    }
    state_->set_kernel(form, key, of_forms);
  }
}

namespace {

// Why the op cannot be given a gradient; empty if it can.
std::string refuses_gradient(const Operator& op) {
  const Gradient& gradient = op.gradient;
  if (gradient.has_formula()) {
    return str("the op has a formula for all arguments, .grad(...), already, given at ",
               gradient.where, ".");
  }
  if (gradient.defined()) {
    return str("the op has gradients of single arguments, .derivative(...), already, given "
               "at ",
               gradient.where, ".");
  }
  if (op.in_place()) {
    return str("the gradient of an in-place form is that of ", op.base->qualified_name(),
               ".");
  }
  if (op.kind == OpKind::Composite) {
    return str(
        "the gradient of a composite op is that of the ops that it calls, defined at ",
        op.where, ".");
  }
  if (op.non_differentiable) return str("the op says that it has none, at ", op.where, ".");
  return "";
}

}  // namespace

void Dispatcher::set_gradient(Operator& op, const Saves& saves, Gradient::Formula formula,
                              const char* where) {
  std::lock_guard lock(g_registry);
  const std::string why = refuses_gradient(op);
  PKG_CHECK(why.empty(), ValueError, "[register] .grad of ", op.schema.str(), " at ", where,
            ": ", why);
  Gradient& gradient = op.gradient;
  // The rest stays: a call in flight may have seen it.
  state_->undo.push_back(
      [&gradient] { gradient.function.store(nullptr, std::memory_order_release); });
  gradient.saves = saves;
  gradient.object = formula.object;
  gradient.where = where;
  gradient.function.store(formula.function, std::memory_order_release);
}

void Dispatcher::refresh(Operator& op) {
  std::lock_guard lock(g_registry);
  op.refresh(state_->fallbacks);
}

void Dispatcher::set_fallback(DispatchKey key, Kernel kernel) {
  std::lock_guard lock(g_registry);
  const Kernel*& slot = state_->fallbacks[size_t(key)];
  PKG_CHECK(!slot, RuntimeError, "[fallback] key ", name_of(key),
            " already has a fallback, registered at ", slot->where,
            "; registered again at ", kernel.where, ".");
  slot = &state_->kernels.emplace_back(kernel);
  const auto refresh_all = [this] {
    for (Operator& op : state_->operators) op.refresh(state_->fallbacks);
  };
  refresh_all();
  state_->undo.push_back([&slot, refresh_all] {
    slot = nullptr;
    refresh_all();
  });
}

void Dispatcher::claim_namespace(std::string_view ns, const char* where) {
  std::unique_lock lock(g_registry);
  const auto [entry, fresh] = state_->libraries.emplace(ns, where);
  if (!fresh) {
    const char* before = entry->second;
    lock.unlock();  // in_library() takes the loader's lock
    detail::raise<RuntimeError>(
        "Only a single PKG_LIBRARY can be used to register the namespace ", ns,
        "; please put all of your definitions in a single PKG_LIBRARY block, or use "
        "PKG_LIBRARY_FRAGMENT. Previous registration at ",
        before, detail::in_library(before), "; latest at ", where,
        detail::in_library(where), ".");
  }
  state_->undo.push_back([this, name = std::string(ns)] { state_->libraries.erase(name); });
}

void Dispatcher::begin_registration() {
  std::lock_guard lock(g_registry);
  state_->undo.clear();
  state_->registering = std::this_thread::get_id();
}

void Dispatcher::end_registration(bool keep) {
  std::lock_guard lock(g_registry);
  if (keep) state_->undo.clear();
  while (!state_->undo.empty()) {
    state_->undo.back()();
    state_->undo.pop_back();
  }
  state_->registering.reset();
  state_->unfinished.clear();
}

}  // namespace pkg
