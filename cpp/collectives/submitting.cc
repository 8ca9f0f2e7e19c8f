// SPDX-License-Identifier: Apache-2.0
// collectives/submitting.cc: arguments are checked here, before other ranks hear of them.
#include "collectives/submitting.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "collectives/error.h"
#include "dispatcher/outside_work.h"
#include "ops/functions.h"
#include "scheduler/scheduler.h"

namespace pkg::collectives {

namespace {
thread_local std::optional<std::string> t_told;
}  // namespace

bool take_told(const std::string& why) {
  // The dispatcher may have put another name before it on its way.
  const auto rest = [](const std::string& text) {
    const size_t end = text.starts_with('[') ? text.find("] ") : text.npos;
    return end == text.npos ? text : text.substr(end + 2);
  };
  const std::optional<std::string> told = std::exchange(t_told, std::nullopt);
  return told && rest(*told) == rest(why);
}

Call::Call(Kind kind, const std::string& name, int32_t group)
    : place_(Engine::get().place()), group_(group) {
  t_told.reset();
  base_.kind = kind;
  base_.numbered = name.empty();
  base_.name = name.empty() ? Engine::get().next_name(kind) : name;
  base_.site = submission_site();
  if (kind == Kind::Join) Engine::get().count_anew();
}

Request Call::request(const Tensor& tensor, size_t i) const {
  Request made = base_;
  if (group_ != 0) {
    made.name += group_ > 0 ? str("_", i + 1, "of", group_) : std::string("_of?");
    made.group = base_.name;
    made.group_size = group_;
  }
  if (tensor.defined()) {
    made.dtype = tensor.dtype();
    made.sizes = tensor.sizes();
  }
  return made;
}

void Call::submit(std::span<const Ref<Job>> jobs) {
  submitted_ = true;  // or in use: it is submitted already
  Engine& engine = Engine::get();
  engine.reserve(jobs);
  // A group is one unit of work for who comes later, as it is for the ranks.
  std::vector<Ref<Event>> needed;
  for (const Ref<Job>& job : jobs) {
    for (Ref<Event>& event :
         enter_outside_work(job->event, {&job->input, 1}, {&job->output, 1})) {
      needed.push_back(std::move(event));
    }
  }
  engine.begin({jobs.begin(), jobs.end()}, needed);
}

void Call::refuse(const std::string& why) noexcept {
  try {
    t_told = why;
    if (submitted_ || place_.size == 1) return;
    std::vector<Ref<Job>> jobs;
    for (int32_t i = 0; i < std::max(group_, 1); ++i) {
      Request request = this->request({}, size_t(i));
      request.failure = why.empty() ? "an error without a text" : why;
      jobs.push_back(Ref<Job>::make(std::move(request), Tensor(), Tensor()));
      jobs.back()->refusal = jobs.back()->in_turn = true;  // after those under way
    }
    submit(jobs);
  } catch (const Error&) {  // its name is in use, or all is over
  }
}

void set_reduction(Request& request, int64_t op, double prescale, double postscale) {
  const char* kind = name_of(request.kind);
  PKG_CHECK(
      op >= 0 && op <= int(Reduction::Product), ValueError, "[", kind,
      "] expected op to be Average (0), Sum (1), Min (3), Max (4) or Product (5), got ", op,
      ".");
  request.reduction = Reduction(op);
  PKG_CHECK(request.reduction != Reduction::Adasum, NotImplementedError, "[", kind,
            "] Adasum is not there yet. Use Average or Sum.");
  request.prescale = prescale;
  request.postscale = postscale;
  if (is_floating(request.dtype)) return;
  PKG_CHECK(prescale == 1 && postscale == 1, ValueError, "[", kind,
            "] expected factors of 1 for ", request.dtype,
            ", got prescale_factor=", prescale, " and postscale_factor=", postscale,
            ". Convert to a floating dtype first.");
  PKG_CHECK(request.reduction != Reduction::Average, ValueError, "[", kind,
            "] expected a floating dtype for Average, got ", request.dtype,
            ". Use op=Sum, or convert first.");
}

void check_rows(Kind kind, const Shape& sizes) {
  PKG_CHECK(!sizes.empty(), ValueError, "[", name_of(kind),
            "] expected a tensor with a first dimension, got one of shape ", sizes, ".");
}

Ref<Job> job_for(Request request, const Tensor& tensor, Tensor output) {
  Tensor input;
  if (tensor.defined()) {
    // NumPy may write to memory that it sees as soon as the call returns.
    input = tensor.storage().exported() ? ops::row_major_copy(tensor)
                                        : ops::contiguous(tensor);
    input = share(input);
  }
  if (output.defined()) output = share(output);
  return Ref<Job>::make(std::move(request), std::move(input), std::move(output));
}

}  // namespace pkg::collectives
