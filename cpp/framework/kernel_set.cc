// SPDX-License-Identifier: Apache-2.0
// framework/kernel_set.cc: which kernel runs.
//
// Note [Choices]
// The attributes of a call follow from its arguments, and to work them out takes far longer
// than a small kernel.  So each call is compared with the forms that were met before: the
// last one of this thread first, then all.  What was found stays for good, since a call may
// be inside the kernel; from kMostChoices forms on (a float attribute that is another at
// each call) a kernel is made for one call.
#include "framework/kernel_set.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>

#include "base/foreign_error.h"
#include "base/thread_local.h"
#include "framework/making.h"
#include "scheduler/fork_locks.h"

namespace pkg::framework {
namespace {

constexpr size_t kMostChoices = 256;

// The last choices of this thread, by set, which may be gone.
struct Recent {
  uint64_t set = 0;
  const Choice* choice = nullptr;
};
constexpr size_t kRecent = 8;
PKG_FAST_TLS constinit thread_local Recent t_recent[kRecent] = {};

Recent& recent_of(uint64_t set) { return t_recent[set % kRecent]; }

uint64_t next_id() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

// A kernel tells -0.0 from 0.0, and may be given NaN.
bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

bool same_scalar(const Scalar& a, const Scalar& b) {
  return a.is_float() == b.is_float() &&
         (a.is_float() ? same_bits(a.to<double>(), b.to<double>())
                       : a.to<int64_t>() == b.to<int64_t>());
}

bool same(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  if (auto* number = std::get_if<Scalar>(&a)) {  // as most are
    return same_scalar(*number, *std::get_if<Scalar>(&b));
  }
  return std::visit(
      [&]<class T>(const T& value) {
        const T& other = std::get<T>(b);
        if constexpr (std::is_same_v<T, Scalar> || std::is_same_v<T, pkg::Tensor> ||
                      std::is_same_v<T, TensorList>)
          return false;
        else if constexpr (std::is_same_v<T, std::vector<double>>)
          return std::ranges::equal(value, other, same_bits);
        else return value == other;
      },
      a);
}

}  // namespace

bool Choice::fits(std::span<const Value> args) const {
  const DType* dtype = dtypes.data();
  const size_t n = form.input_counts.size();
  for (size_t i = 0; i < n; ++i) {
    if (const auto* tensor = std::get_if<pkg::Tensor>(&args[i])) {
      if (!tensor->defined() || tensor->dtype() != *dtype++) return false;
      continue;
    }
    const auto* list = std::get_if<TensorList>(&args[i]);
    if (!list || list->size() != form.input_counts[i]) return false;
    for (const pkg::Tensor& item : *list) {
      if (!item.defined() || item.dtype() != *dtype++) return false;
    }
  }
  for (size_t k = 0; k < parameters.size(); ++k) {
    if (!same(args[n + k], parameters[k])) return false;
  }
  return true;
}

KernelSet::KernelSet(const OpRegistrationData& data, Registrations kernels,
                     std::string node)
    : data_(data),
      outputs_in_one_list_(data.op_def.outputs_in_one_list()),
      kernels_(std::move(kernels)),
      node_(std::move(node)),
      id_(next_id()) {}

KernelSet* KernelSet::with(KernelDef def) const {
  Registrations kernels = kernels_;
  kernels.push_back(std::make_shared<const KernelDef>(std::move(def)));
  auto more = std::make_unique<KernelSet>(data_, std::move(kernels));
  more->take_choices(*this);
  return more.release();
}

std::unique_ptr<KernelSet> KernelSet::for_node(std::string name,
                                               const KernelSet* before) const {
  if (name.empty()) name = data_.op_def.name;
  auto own = std::make_unique<KernelSet>(data_, kernels_, std::move(name));
  if (before) own->take_choices(*before);
  return own;
}

// Before anybody else knows this set.
void KernelSet::take_choices(const KernelSet& before) {
  std::vector<Ref<const Choice>> made;
  {
    std::lock_guard lock(pkg::detail::object_lock(&before));
    made = before.choices_;
  }
  for (Ref<const Choice>& choice : made) {
    try {
      if (&select(choice->form) == choice->def) choices_.push_back(choice);
    } catch (const Error& error) {  // now there are two of them: the next call says so
      throw_if_stops(error);
    }
  }
}

const Choice* KernelSet::known(std::span<const Value> args) const {
  std::lock_guard lock(pkg::detail::object_lock(this));
  for (const auto& choice : choices_) {
    if (choice->fits(args)) return choice.get();
  }
  return nullptr;
}

const Choice& KernelSet::find(std::span<const Value> args, Ref<const Choice>* once) const {
  Recent& recent = recent_of(id_);
  if (__builtin_expect(recent.set == id_ && recent.choice->fits(args), 1)) {
    return *recent.choice;
  }
  const Choice* found = known(args);
  if (!found) {
    // Without the lock: a constructor may call ops.  One kernel for calls that come at once.
    const Making making(this, "");
    found = known(args);
    if (!found) {
      *once = make(args);
      std::lock_guard lock(pkg::detail::object_lock(this));
      if (choices_.size() >= kMostChoices) return **once;
      found = choices_.emplace_back(*once).get();
    }
  }
  recent = {id_, found};
  return *found;
}

Ref<const Choice> KernelSet::make(std::span<const Value> args) const {
  const OpDef& def = data_.op_def;
  auto choice = Ref<Choice>::make();
  CallForm& form = choice->form;
  const CallTypes tensors(def, args);
  form.name = node_.empty() ? def.name : node_;
  form.def = &def;
  form.attrs = attrs_of_call(def, args, tensors);
  form.input_types = tensors.types;
  form.input_counts = tensors.counts;
  for (const ArgDef& output : def.outputs) {
    append_types(def, output, form.attrs, &form.output_types);
    form.output_counts.push_back(size_t(count_of(def, output, form.attrs)));
  }
  for (size_t i = 0; i < def.inputs.size(); ++i) {
    for_each_tensor(args[i],
                    [&](const pkg::Tensor& t) { choice->dtypes.push_back(t.dtype()); });
  }
  choice->parameters.assign(args.begin() + int64_t(def.inputs.size()), args.end());
  choice->def = &select(form);
  OpKernelConstruction construction(form);
  choice->kernel.reset(choice->def->factory(&construction));
  const Status status = construction.status();
  if (!status.ok()) throw_status(status, str("[Op:", def.name, "]"));
  return choice;
}

const KernelDef& KernelSet::select(const CallForm& form) const {
  const OpDef& def = data_.op_def;
  const auto fits = [&](const KernelDef& kernel) {
    return (kernel.device == DEVICE_CPU || kernel.device == DEVICE_DEFAULT) &&
           kernel.label.empty() &&
           std::all_of(
               kernel.constraints.begin(), kernel.constraints.end(),
               [&](const KernelDef::Constraint& constraint) {
                 DataType type = DT_INVALID;
                 return NodeAttrs(def, form.attrs).get(constraint.attr, &type).ok() &&
                        std::count(constraint.types.begin(), constraint.types.end(), type) >
                            0;
               });
  };
  const KernelDef* chosen = nullptr;
  const KernelDef* rival = nullptr;
  for (const auto& registered : kernels_) {
    const KernelDef& kernel = *registered;
    if (!fits(kernel)) continue;
    if (!chosen || kernel.priority > chosen->priority) chosen = &kernel, rival = nullptr;
    else if (kernel.priority == chosen->priority) rival = &kernel;
  }
  std::string attrs;
  for (size_t i = 0; i < def.attrs.size(); ++i) {
    attrs += str(i ? ", " : "", def.attrs[i].name, "=", attr_text(form.attrs[i]));
  }
  PKG_CHECK(!rival, ValueError, "Multiple OpKernel registrations match NodeDef '",
            form.name, "' with these attrs: [", attrs, "]: '", chosen ? chosen->str() : "",
            "' and '", rival ? rival->str() : "", "'. [Op:", def.name, "]");
  if (chosen) return *chosen;
  std::string known;
  for (const auto& kernel : kernels_) known += "\n  " + kernel->str();
  pkg::detail::raise<NotImplementedError>(
      "No OpKernel was registered to support Op '", def.name, "' used by ", form.name,
      " with these attrs: [", attrs, "]\nRegistered devices: [CPU]\nRegistered kernels:",
      known.empty() ? "\n  <no registered kernels>" : known, "\n[Op:", def.name, "]");
}

}  // namespace pkg::framework
