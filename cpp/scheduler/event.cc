// SPDX-License-Identifier: Apache-2.0
// scheduler/event.cc: finishing an event and waiting for one.
#include "scheduler/event.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "base/error.h"
#include "scheduler/runtime.h"
#include "scheduler/trace.h"

namespace pkg {

using detail::Failure;
using detail::Link;
using detail::Released;

namespace {

bool push(std::atomic<Link*>& list, Link* link, const Link* closed) noexcept {
  Link* head = list.load(std::memory_order_acquire);
  do {
    if (head == closed) return false;
    link->next = head;
  } while (!list.compare_exchange_weak(head, link, std::memory_order_release,
                                       std::memory_order_acquire));
  return true;
}

}  // namespace

bool Event::add_link(Link* link) noexcept { return push(links_, link, kClosed()); }

bool Event::add_late_link(Link* link) noexcept {
  return generation_ == detail::fork_generation() && push(late_links_, link, kClosed());
}

bool Event::settled() const noexcept {
  return done() && (late_links_.load(std::memory_order_acquire) == kClosed() ||
                    generation_ != detail::fork_generation());
}

// Links were pushed in front; they are served in order of arrival.
void Event::serve(Link* link, Released& released) noexcept {
  Link* oldest = nullptr;
  while (link) {
    Link* next = link->next;
    link->next = oldest;
    oldest = link;
    link = next;
  }
  while (oldest) {
    Link* next = oldest->next;  // the owner may be gone after this
    if (oldest->owner) oldest->owner->dependency_done(*oldest, failure_, released);
    else released.watchers.push(static_cast<detail::Watcher*>(oldest));
    oldest = next;
  }
}

void Event::close_seen(Released& released, bool unseen) noexcept {
  Link* links;
  if (unseen) {
    links = links_.load(std::memory_order_relaxed);
    links_.store(kClosed(), std::memory_order_relaxed);
  } else {
    links = links_.exchange(kClosed());
    if (waiters_.load() != 0) detail::runtime().parking.wake(this);
  }
  if (links) serve(links, released);
}

void Event::close_early(Released& released) noexcept {
  Link* watchers = nullptr;
  {
    std::lock_guard lock(detail::runtime().waits.mutex);  // for Task::holds_up()
    late_links_.store(nullptr);  // first: attach() looks there when links_ is closed
    Link* link = links_.exchange(kClosed());
    while (link) {
      Link* next = link->next;
      if (link->owner) {
        push(late_links_, link, kClosed());
      } else {
        link->next = watchers;
        watchers = link;
      }
      link = next;
    }
  }
  if (waiters_.load() != 0) detail::runtime().parking.wake(this);
  // Nobody serves the late links before we return.
  const Link* link = late_links_.load(std::memory_order_acquire);
  for (; link; link = link->next) {
    if (link->data) link->owner->cancel_waiting(failure_, released);
  }
  serve(watchers, released);
}

void Event::close_late(Released& released) noexcept {
  serve(late_links_.exchange(kClosed()), released);
}

void Event::when_done(UniqueFunction fn) {
  check_waitable();
  auto watcher = std::make_unique<detail::Watcher>(std::move(fn));
  if (add_link(watcher.get())) {
    watcher.release();  // its run() deletes it
  } else {
    watcher->fn();
  }
}

bool Event::lost() const noexcept {
  return generation_ != detail::fork_generation() && !done();
}

void Event::check_waitable() {
  PKG_CHECK(!lost(), RuntimeError, "[wait] task '", name_,
            "' was not finished when the process forked; it ends in the parent only.");
}

bool Event::block(double seconds) {
  check_waitable();
  std::optional<trace::Timed> timed;
  if (trace::wanted(trace::Kind::Wait)) {
    timed.emplace(trace::Kind::Wait).span.name = name_;
  }
  auto& runtime = detail::runtime();
  auto park = [&] {
    // What has a limit ends, whoever waits for whom.
    std::optional<detail::WaitInTask> noted;
    if (seconds < 0) noted.emplace(this);
    return runtime.parking.wait(
        this, waiters_, [this] { return links_.load() == kClosed(); }, seconds);
  };
  if (!detail::Pool::on_worker()) return park();
  // Not within a time limit: the work may take longer than that.
  if (seconds < 0 && try_run_here()) return true;
  detail::Pool::Blocked blocked(&runtime.pool);
  return park();
}

void Event::wait() {
  if (!done()) block(-1);
  if (failure_) {
    failure_->note_seen();
    std::rethrow_exception(failure_->error);
  }
}

bool Event::wait_for(double seconds) {
  if (std::isinf(seconds)) seconds = -1;  // no limit, as block() has it
  else seconds = std::max(seconds, 0.0);
  return done() || block(seconds);
}

std::exception_ptr Event::error() const {
  if (!failed()) return nullptr;
  failure_->note_seen();
  return failure_->error;
}

const std::exception_ptr* Event::error_held_alone() const noexcept {
  const bool alone = use_count() == 1 && done() && failure_ && failure_->use_count() == 1;
  return alone ? &failure_->error : nullptr;
}

std::string Event::name() const { return done() && failure_ ? failure_->name : name_; }

std::string Event::call_site() const {
  return done() && failure_ ? failure_->call_site : own_call_site();
}

ManualEvent::ManualEvent(const char* name, std::string call_site)
    : Event(name, detail::CallSite::of(std::move(call_site)), 1) {}

bool ManualEvent::finish(std::exception_ptr error, bool cancelled) {
  if (finished_.exchange(true)) return false;
  if (error) {
    failure_ = Ref<Failure>::make(std::move(error), name_, own_call_site(), cancelled);
    if (!cancelled) detail::runtime().failures.add(failure_);
  }
  Released released;
  close(released);
  detail::finish_released(released, false);
  return true;
}

void ManualEvent::set() {
  PKG_CHECK(finish(nullptr, false), RuntimeError, "[set] the event is done already");
}

void ManualEvent::set_error(std::exception_ptr error) {
  PKG_CHECK(error, ValueError, "[set_error] expected an error, got null");
  PKG_CHECK(finish(std::move(error), false), RuntimeError,
            "[set_error] the event is done already");
}

bool ManualEvent::request_cancel() {
  return finish(detail::cancelled_failure(name_, own_call_site())->error, true);
}

void ManualEvent::dispose() noexcept {
  if (!lost()) request_cancel();
  delete this;
}

}  // namespace pkg
