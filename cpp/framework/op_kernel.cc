// SPDX-License-Identifier: Apache-2.0
// framework/op_kernel.cc: the context of a call.
#include "framework/op_kernel.h"

#include <atomic>
#include <memory>

#include "framework/resource_handle.h"
#include "framework/resource_mgr.h"
#include "scheduler/event.h"
#include "tensor/copy.h"

namespace pkg::framework {

namespace {
DeviceBase g_cpu;
}  // namespace

DeviceBase* DeviceBase::cpu() { return &g_cpu; }

const CpuWorkerThreads* DeviceBase::tensorflow_cpu_worker_threads() const {
  static thread::ThreadPool pool;
  thread_local CpuWorkerThreads now;
  now = {num_threads(), &pool};
  return &now;
}

OpKernel::~OpKernel() = default;

void KernelContext::SetStatus(const Status& status) {
  std::lock_guard lock(mutex_);
  status_.Update(status);
}

Status KernelContext::allocate_temp(DataType type, const TensorShape& shape, Tensor* out,
                                    AllocatorAttributes) {
  try {
    *out = Tensor(type, shape);
  } catch (...) { return status_of_exception(); }
  return Status();
}

Status KernelContext::allocate_persistent(DataType type, const TensorShape& shape,
                                          PersistentTensor* persistent, Tensor** out) {
  Tensor made;
  PKG_RETURN_IF_ERROR(allocate_temp(type, shape, &made));
  *persistent = PersistentTensor(std::move(made));
  if (out) *out = persistent->AccessTensor(this);
  return Status();
}

Status OpKernelConstruction::MatchSignature(const DataTypeVector& inputs,
                                            const DataTypeVector& outputs) const {
  if (inputs == form_.input_types && outputs == form_.output_types) return Status();
  return errors::InvalidArgument(
      "Signature mismatch, have: ", DataTypeVectorString(form_.input_types), "->",
      DataTypeVectorString(form_.output_types), " expected: ", DataTypeVectorString(inputs),
      "->", DataTypeVectorString(outputs));
}

void AsyncOpKernel::Compute(OpKernelContext* context) {
  const auto event = Ref<ManualEvent>::make("AsyncOpKernel");
  ComputeAsync(context, [event] { event->set(); });
  event->wait();
}

// Note [What a call costs]
// A kernel that does next to nothing shows what a call is: atomic operations most of all, of
// which each takes as long as twenty others.  So a context has no reference to an input that
// lies as the kernel wants it, as who calls keeps the arguments; it hands its results over;
// and it takes no lock to see whether all went well, since a kernel that lets a thread use
// the context after Compute, or `done`, is wrong anyway.
OpKernelContext::OpKernelContext(const CallForm& form, std::span<pkg::Tensor> results)
    : form_(form), results_(results) {
  const size_t n = form.input_types.size(), m = form.output_types.size();
  if (n > kInline) more_inputs_.resize(n);
  if (m > kInline) more_outputs_.resize(m);
  inputs_ = n > kInline ? more_inputs_.data() : reinterpret_cast<Tensor*>(few_inputs_);
  outputs_ = m > kInline ? more_outputs_.data() : reinterpret_cast<Tensor*>(few_outputs_);
  if (m <= kInline) std::uninitialized_default_construct_n(outputs_, m);
}

// What was made before an error goes with the destructor, since the other constructor is over.
OpKernelContext::OpKernelContext(const CallForm& form, std::span<const Value> args,
                                 std::span<pkg::Tensor> results)
    : OpKernelContext(form, results) {
  for (size_t i = 0; i < form.input_counts.size(); ++i) {
    if (const auto* tensor = std::get_if<pkg::Tensor>(&args[i])) add_input(*tensor);
    else
      for (const pkg::Tensor& item : std::get<TensorList>(args[i])) add_input(item);
  }
}

OpKernelContext::~OpKernelContext() {
  if (form_.output_types.size() <= kInline) {
    std::destroy_n(outputs_, form_.output_types.size());
  }
  for (size_t i = 0; own_inputs_ >> i; ++i) {
    if (own_inputs_ >> i & 1) std::destroy_at(inputs_ + i);
  }
}

void OpKernelContext::add_input(const pkg::Tensor& tensor) {
  const size_t i = n_inputs_;
  const DataType type = form_.input_types[i];
  if (!more_inputs_.empty()) {
    inputs_[i] = Tensor(tensor.is_contiguous() ? tensor : as_contiguous(tensor), type);
  } else if (tensor.is_contiguous()) {
    std::construct_at(inputs_ + i, pkg::Tensor(Ref<TensorImpl>::adopt(tensor.impl())),
                      type);
  } else {
    std::construct_at(inputs_ + i, as_contiguous(tensor), type);
    own_inputs_ |= 1u << i;
  }
  ++n_inputs_;
}

void OpKernelContext::refuse_input(int i) const {
  pkg::detail::raise<IndexError>("[", form_.name, "] the kernel asked for input ", i,
                                 " of ", n_inputs_, ".");
}

size_t OpKernelContext::output_at(int i) const {
  PKG_CHECK(i >= 0 && size_t(i) < form_.output_types.size(), IndexError, "[", form_.name,
            "] the kernel asked for output ", i, " of ", form_.output_types.size(), ".");
  return size_t(i);
}

namespace {
// Where the tensors of an argument begin, and how many they are.
bool find(const std::vector<ArgDef>& args, const std::vector<size_t>& counts,
          std::string_view name, size_t* first, size_t* n) {
  *first = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name == name) return *n = counts[i], true;
    *first += counts[i];
  }
  return false;
}
Status no_such(const char* what, std::string_view name, const CallForm& form) {
  return errors::InvalidArgument("Unknown ", what, " name: ", name, " of '", form.def->name,
                                 "'");
}
}  // namespace

Status OpKernelContext::input(std::string_view name, const Tensor** tensor) const {
  size_t first, n;
  if (!find(form_.def->inputs, form_.input_counts, name, &first, &n)) {
    return no_such("input", name, form_);
  }
  if (n != 1) {
    return errors::InvalidArgument("OpKernel used list-valued input name '", name,
                                   "' when single-valued input was expected");
  }
  *tensor = &inputs_[first];
  return Status();
}

Status OpKernelContext::input_list(std::string_view name, OpInputList* list) const {
  size_t first, n;
  if (!find(form_.def->inputs, form_.input_counts, name, &first, &n)) {
    return no_such("input", name, form_);
  }
  *list = OpInputList(inputs_ + first, n);
  return Status();
}

Status OpKernelContext::output_list(std::string_view name, OpOutputList* list) {
  size_t first, n;
  if (!find(form_.def->outputs, form_.output_counts, name, &first, &n)) {
    return no_such("output", name, form_);
  }
  *list = OpOutputList(this, int(first), int(n));
  return Status();
}

Status OpKernelContext::allocate_output(int i, const TensorShape& shape, Tensor** out,
                                        AllocatorAttributes) {
  const size_t at = output_at(i);
  try {
    if (results_.empty()) {
      outputs_[at] = Tensor(form_.output_types[at], shape);
    } else {
      if (results_[at].sizes() != shape.sizes()) {
        return errors::Internal("output ", i, " has the shape ", shape.DebugString(),
                                ", but the shape function of '", form_.def->name, "' said ",
                                TensorShape(results_[at].sizes()).DebugString());
      }
      outputs_[at] = Tensor(results_[at], form_.output_types[at]);
    }
  } catch (...) { return status_of_exception(); }
  *out = &outputs_[at];
  return Status();
}

Status OpKernelContext::allocate_output(std::string_view name, const TensorShape& shape,
                                        Tensor** out) {
  size_t first, n;
  if (!find(form_.def->outputs, form_.output_counts, name, &first, &n) || n != 1) {
    return no_such("output", name, form_);
  }
  return allocate_output(int(first), shape, out);
}

namespace {
pkg::Tensor own_copy(const Tensor& tensor) {
  if (tensor.dtype() == DT_RESOURCE || tensor.dtype() == DT_VARIANT) {
    return copy_handles(tensor.value());
  }
  const Tensor copy(tensor.dtype(), tensor.shape());
  copy_into(copy.value(), tensor.value());
  return copy.value();
}
}  // namespace

void OpKernelContext::set_output(int i, const Tensor& tensor) {
  const size_t at = output_at(i);
  if (tensor.dtype() != form_.output_types[at]) {
    return SetStatus(errors::Internal("output ", i, " expected to be of type ",
                                      DataTypeString(form_.output_types[at]),
                                      ", the kernel gave ", tensor.DebugString()));
  }
  if (!tensor.IsInitialized()) {
    return SetStatus(errors::Internal("output ", i, " expected to be a tensor, the kernel ",
                                      "gave one that is not initialised"));
  }
  const auto is_input = [&] {
    return std::any_of(inputs_, inputs_ + n_inputs_,
                       [&](const Tensor& input) { return input.SharesBufferWith(tensor); });
  };
  if (results_.empty() && !is_input()) {
    outputs_[at] = tensor;
    return;
  }
  if (results_.empty()) {
    try {
      outputs_[at] = Tensor(own_copy(tensor), tensor.dtype());
    } catch (...) { SetStatus(status_of_exception()); }
    return;
  }
  Tensor* copy = nullptr;
  const Status made = allocate_output(i, tensor.shape(), &copy);
  if (!made.ok()) return SetStatus(made);
  copy_into(copy->value(), tensor.value());
}

Status OpKernelContext::set_output(std::string_view name, const Tensor& tensor) {
  size_t first, n;
  if (!find(form_.def->outputs, form_.output_counts, name, &first, &n) || n != 1) {
    return no_such("output", name, form_);
  }
  set_output(int(first), tensor);
  return Status();
}

Tensor* OpKernelContext::mutable_output(int i) {
  Tensor& output = outputs_[output_at(i)];
  return output.IsInitialized() ? &output : nullptr;
}

Status OpKernelContext::forward_input_or_allocate_output(std::span<const int>, int i,
                                                         const TensorShape& shape,
                                                         Tensor** out, int* forwarded) {
  if (forwarded) *forwarded = -1;
  return allocate_output(i, shape, out);
}

int64_t OpKernelContext::step_id() {
  static std::atomic<int64_t> next{1};
  if (step_id_ == 0) step_id_ = next.fetch_add(1);
  return step_id_;
}

const ResourceHandle& OpKernelContext::input_handle(int i) {
  auto kept = std::make_shared<const ResourceHandle>(handle_in(input(i).value()));
  std::lock_guard lock(mutex_);
  return *handles_.emplace_back(std::move(kept));
}

CancellationManager* OpKernelContext::cancellation_manager() {
  std::call_once(asked_,
                 [this] { cancellation_ = std::make_unique<CancellationManager>(); });
  return cancellation_.get();
}

ResourceMgr* OpKernelContext::resource_manager() const { return ResourceMgr::Global(); }

void OpKernelContext::check_outputs() {
  // A kernel may put another tensor in the place of the one that it was given.
  for (size_t i = 0; i < results_.size() && last_status().ok(); ++i) {
    const Tensor given = outputs_[i];
    if (!given.IsInitialized() || given.value().is_same(results_[i])) continue;
    set_output(int(i), given);
  }
  const Status& found = last_status();
  if (!found.ok()) throw_status(found, str("[Op:", form_.def->name, "]"));
  for (size_t i = 0; i < form_.output_types.size(); ++i) {
    PKG_CHECK(outputs_[i].IsInitialized(), InternalError, "missing value for output ", i,
              " of node ", form_.name, ": the kernel has not set it. [Op:", form_.def->name,
              "]");
    PKG_CHECK(outputs_[i].dtype() == form_.output_types[i], InternalError, "output ", i,
              " expected to be of type ", DataTypeString(form_.output_types[i]),
              ", the kernel gave ", outputs_[i].DebugString(), " [Op:", form_.def->name,
              "]");
  }
}

void OpKernelContext::release() {
  for (size_t i = 0; i < n_inputs_; ++i) {
    if (!more_inputs_.empty() || own_inputs_ >> i & 1) inputs_[i] = Tensor();
    else std::construct_at(inputs_ + i);
  }
  std::fill_n(outputs_, form_.output_types.size(), Tensor());
  std::vector<std::shared_ptr<const ResourceHandle>> handles;  // go without the lock
  std::lock_guard lock(mutex_);
  handles.swap(handles_);
}

pkg::Tensor OpKernelContext::take_output(size_t i) {
  const pkg::TensorImpl& impl = *outputs_[i].value().impl();
  const bool alone = impl.owned_by(1) && impl.storage->owned_by(1);
  return alone ? std::move(outputs_[i].value_) : own_copy(outputs_[i]);
}

int OpOutputList::place(int i) const {
  PKG_CHECK(i >= 0 && i < n_, IndexError, "[OpOutputList] expected an index below ", n_,
            ", got ", i, ".");
  return first_ + i;
}
Tensor* OpOutputList::operator[](int i) { return context_->mutable_output(place(i)); }
Status OpOutputList::allocate(int i, const TensorShape& shape, Tensor** out) {
  if (i < 0 || i >= n_)
    return errors::InvalidArgument("no output ", i, " in a list of ", n_);
  return context_->allocate_output(first_ + i, shape, out);
}
void OpOutputList::set(int i, const Tensor& tensor) {
  context_->set_output(place(i), tensor);
}

}  // namespace pkg::framework
