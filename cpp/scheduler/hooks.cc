// SPDX-License-Identifier: Apache-2.0
// scheduler/hooks.cc: the table of hooks.  Old tables are kept: another thread
// may be inside a region that was entered through one.
#include "scheduler/hooks.h"

#include <atomic>

namespace pkg {
namespace {

struct Table {
  Hooks hooks;
  const Table* previous;
};
constinit const Table kNoHooks{};
constinit std::atomic<const Table*> g_table{&kNoHooks};

const Hooks& hooks() { return g_table.load(std::memory_order_acquire)->hooks; }

}  // namespace

void set_hooks(const Hooks& hooks) {
  auto* table = new Table{hooks, g_table.load(std::memory_order_acquire)};
  while (!g_table.compare_exchange_weak(table->previous, table)) {}
}

void worker_ends() noexcept {
  if (auto ends = hooks().worker_ends) ends();
}

void check_interrupt() {
  if (auto check = hooks().check_interrupt) check();
}

uint64_t mark_site() {
  auto mark = hooks().mark_site;
  return mark ? mark() : 0;
}

std::string site_text(uint64_t site) {
  auto text = hooks().site_text;
  return site && text ? text(site) : std::string();
}

BlockingRegion::BlockingRegion() noexcept : hooks_(&hooks()) {
  if (hooks_->enter_blocking) token_ = hooks_->enter_blocking();
}

BlockingRegion::~BlockingRegion() {
  if (hooks_->leave_blocking) hooks_->leave_blocking(token_);
}

}  // namespace pkg
