// SPDX-License-Identifier: Apache-2.0
// collectives/coordinator.cc: the table of what was asked for, and the decisions.
#include "collectives/coordinator.h"

#include <algorithm>

#include "collectives/error.h"

namespace pkg::collectives {

Coordinator::Coordinator(int size, int64_t fusion_bytes, int64_t cache_capacity,
                         double stall_seconds, double warn_seconds)
    : size_(size_t(size)),
      fusion_bytes_(fusion_bytes),
      stall_seconds_(stall_seconds),
      warn_seconds_(warn_seconds),
      capacity_(cache_capacity),
      progress_(size_t(size), 0),
      joined_(size_t(size), false) {}

const Request& Coordinator::Asked::first() const {
  for (const auto& request : ranks) {
    if (request) return *request;
  }
  PKG_ASSERT(false && "nobody asked");
  __builtin_unreachable();
}

void Coordinator::add(int rank, Request request) {
  if (answer_late(rank, request)) return;
  if (request.kind == Kind::Join) {
    // What it has left out until now it will not ask for any more.
    std::erase_if(late_, [rank](const auto& each) { return each.first.second == rank; });
    joined_[size_t(rank)] = true;
    ++joined_count_;
    last_joined_ = rank;
  }
  const std::string name = request.name;
  Asked& asked = table_[name];
  if (asked.ranks.empty()) {
    asked.ranks.resize(size_);
    asked.since = Clock::now();
  }
  PKG_CHECK(!asked.ranks[size_t(rank)], CollectiveError, "[", request.name, "] rank ", rank,
            " asked twice");
  if (request.group_size != 0) look_at_group(request);
  const bool joins = request.kind == Kind::Join;
  asked.ranks[size_t(rank)] = std::move(request);
  ++asked.count;
  if (!joins) {
    if (complete(asked)) note_complete(name);
    return;
  }
  // Others need not wait for this rank any more.
  std::vector<std::string> names;
  for (const auto& [other, waiting] : table_) {
    if (complete(waiting) && !waiting.ranks[size_t(rank)]) names.push_back(other);
  }
  if (complete(asked)) names.push_back(name);
  for (const std::string& each : names) note_complete(each);
}

void Coordinator::add(int rank, uint64_t id) {
  Request request;
  if (cache_.has(id)) {
    request = cache_.of(id);
    request.site = sites_.at(id)[size_t(rank)];
  } else {
    const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                   [&](const Kept& each) { return each.id == id; });
    request = kept == kept_.end() ? cache_.of(id) : kept->request;
  }
  add(rank, std::move(request));
}

void Coordinator::note_progress(int rank, uint64_t responses) {
  progress_[size_t(rank)] = responses;
  const uint64_t all = *std::min_element(progress_.begin(), progress_.end());
  while (!kept_.empty() && kept_.front().until <= all) kept_.pop_front();
}

bool Coordinator::complete(const Asked& asked) const {
  if (asked.first().kind == Kind::Join) return asked.count == size_;
  for (size_t r = 0; r < size_; ++r) {
    if (!asked.ranks[r] && !joined_[r]) return false;
  }
  return true;
}

// The size is in the names, so that those of two sizes never meet.
void Coordinator::look_at_group(const Request& request) {
  Group& group = groups_[request.group];
  if (group.size == 0) group.size = request.group_size;
  group.odd |= request.group_size < 0 || request.group_size != group.size;
}

// A tensor of a group waits for the others.
void Coordinator::note_complete(const std::string& name) {
  const Request& request = table_.at(name).first();
  if (request.group_size == 0) return ready_.push_back(name);
  Group& group = groups_[request.group];
  auto& names = group.names;
  names.push_back(name);
  if (group.odd || names.size() < size_t(request.group_size)) return;
  std::sort(names.begin(), names.end());
  ready_.insert(ready_.end(), names.begin(), names.end());
  groups_.erase(request.group);
}

// "rank 0 at train.py:3, rank 1 at train.py:5"
std::string Coordinator::who(const Asked& asked) const {
  std::string text;
  for (size_t r = 0; r < size_; ++r) {
    if (!asked.ranks[r]) continue;
    text += str(text.empty() ? "" : ", ", "rank ", r);
    if (!asked.ranks[r]->site.empty()) text += " at " + asked.ranks[r]->site;
  }
  return text;
}

Decided Coordinator::remember(const Asked& asked) {
  const Request& request = asked.first();
  if (const uint64_t id = cache_.find(request)) {
    cache_.use(id);
    return {id, true, request};
  }
  Decided made{0, false, request};
  made.request.site.clear();
  if (capacity_ == 0 || !request.cacheable()) return made;
  while (cache_.size() >= capacity_) {
    const uint64_t id = cache_.least_recently_used();
    kept_.push_back({id, 0, cache_.of(id)});
    forgotten_.push_back(id);
    sites_.erase(id);
    cache_.forget(id);
  }
  made.id = ++last_id_;
  cache_.learn(made.id, made.request);
  // Where each rank asks: requests that travel as numbers do not say it.
  for (size_t r = 0; r < size_; ++r) {
    sites_[made.id].push_back(asked.ranks[r] ? asked.ranks[r]->site : std::string());
  }
  return made;
}

Response Coordinator::decide(const std::string& name) {
  const Asked& asked = table_.at(name);
  const Request& first = asked.first();
  Response made;
  made.kind = first.kind;
  for (size_t r = 0; r < size_; ++r) {
    if (!asked.ranks[r]) made.joined.push_back(int32_t(r));
    else if (made.error.empty() && !asked.ranks[r]->failure.empty())
      made.error = str("rank ", r, " cannot take part: ", asked.ranks[r]->failure);
  }
  // Of what cannot be done anyway nothing else need be right.
  for (const auto& request : asked.ranks) {
    if (request && made.error.empty()) made.error = mismatch(first, *request);
  }
  const bool sums = first.kind == Kind::Allreduce &&
                    (first.reduction == Reduction::Sum ||
                     first.reduction == Reduction::Average);
  if (made.error.empty() && !made.joined.empty() && !sums) {
    made.error = str(
        first.kind == Kind::Allreduce ? name_of(first.reduction) : name_of(first.kind),
        " is not supported with Join at this time.");
  }
  if (!made.error.empty()) {
    made.error = str("[", name, "] ", made.error, " (", who(asked), ")");
    made.entries.push_back({0, false, first});
    return made;
  }
  for (const auto& request : asked.ranks) {
    if (first.kind == Kind::Allgather) made.sizes.push_back(request->sizes[0]);
    for (const int64_t rows : request ? request->splits : Shape())
      made.sizes.push_back(rows);
  }
  if (first.kind == Kind::Join) {
    made.last_joined = last_joined_;
    joined_.assign(size_, false);
    joined_count_ = 0;
  }
  made.entries.push_back(remember(asked));
  return made;
}

// Note [Who comes late gets the error, too]
// A tensor that has stalled fails on the ranks that asked for it.  The request of another one
// may be under way, or come much later: it belongs to this tensor all the same, not to the
// next one of its name, else the ranks would be a step apart and not know.  So it gets the
// error when it comes: each request has one answer.
bool Coordinator::answer_late(int rank, const Request& request) {
  const auto found = late_.find({request.call(), rank});
  if (found == late_.end()) return false;
  Late& late = found->second.front();
  const bool first = late.left == 0;
  if (first) {
    late.left = size_t(std::max(request.group_size, 1));
    Response& made = failed_.emplace_back();
    made.kind = request.kind;
    made.error = late.error;
    made.ranks.push_back(rank);
  }
  // One response for a group, whose requests come in one message.
  failed_.back().entries.push_back({0, false, request});
  if (--late.left > 0) return true;
  found->second.pop_front();
  if (found->second.empty()) late_.erase(found);
  return true;
}

std::vector<std::string> Coordinator::members(const std::string& group) const {
  std::vector<std::string> names;
  for (const auto& [name, asked] : table_) {
    const Request& request = asked.first();
    if (request.group_size != 0 && request.group == group) names.push_back(name);
  }
  return names;
}

// The members of a group, of which a rank asks for all of one size or none, or one tensor.
void Coordinator::fail(const std::vector<std::string>& names, const std::string& error) {
  Response made;
  made.error = error;
  std::vector<bool> asks(size_);
  std::string call;
  for (const std::string& name : names) {
    const auto found = table_.find(name);
    const Asked& asked = found->second;
    made.kind = asked.first().kind;
    call = asked.first().call();
    for (size_t r = 0; r < size_; ++r) asks[r] = asks[r] || asked.ranks[r];
    made.entries.push_back({0, false, asked.first()});
    table_.erase(found);
  }
  for (size_t r = 0; r < size_; ++r) {
    if (asks[r]) made.ranks.push_back(int32_t(r));
    else if (!joined_[r]) late_[{call, int(r)}].push_back({error});
  }
  failed_.push_back(std::move(made));
}

// Nobody need wait for more of them.
void Coordinator::fail_odd_groups() {
  std::vector<std::string> odd;
  for (const auto& [name, group] : groups_) {
    if (group.odd) odd.push_back(name);
  }
  for (const std::string& group : odd) {
    const std::vector<std::string> names = members(group);
    Asked all;  // of each rank the first tensor
    all.ranks.resize(size_);
    std::string error;
    for (const std::string& name : names) {
      const Asked& asked = table_.at(name);
      for (size_t r = 0; r < size_; ++r) {
        if (!asked.ranks[r]) continue;
        if (!all.ranks[r]) all.ranks[r] = asked.ranks[r];
        if (error.empty() && !asked.ranks[r]->failure.empty()) {
          error = str("rank ", r, " cannot take part: ", asked.ranks[r]->failure);
        }
      }
    }
    const int32_t size = all.first().group_size;
    for (const auto& request : all.ranks) {
      if (error.empty() && request && request->group_size != size) {
        error = str("Mismatched groups: One rank sent a group of ", size,
                    " tensors, but another rank sent a group of ", request->group_size,
                    ".");
      }
    }
    fail(names, str("[", group, "] ", error, " (", who(all), ")"));
    groups_.erase(group);
  }
}

// Whether it has waited so long for some rank.
bool Coordinator::waits(const Asked& asked, double seconds) const {
  const std::chrono::duration<double> waited = looked_ - asked.since;
  return waited.count() >= seconds && asked.first().kind != Kind::Join && !complete(asked);
}

// "1, 2"
std::string Coordinator::missing(const Asked& asked) const {
  std::string text;
  for (size_t r = 0; r < size_; ++r) {
    if (!asked.ranks[r] && !joined_[r]) text += str(text.empty() ? "" : ", ", r);
  }
  return text;
}

// Once for each tensor; of many at a time some stand for all.
void Coordinator::warn() {
  constexpr size_t kMostNamed = 5;
  std::string named;
  size_t count = 0;
  for (auto& [name, asked] : table_) {
    if (asked.warned || !waits(asked, warn_seconds_)) continue;
    asked.warned = true;
    if (++count > kMostNamed) continue;
    named += str("\n  ", name, ": submitted by ", who(asked), ", but not by rank ",
                 missing(asked));
  }
  if (count == 0) return;
  if (count > kMostNamed) named += str("\n  and ", count - kMostNamed, " more");
  warning_ += str(
      "[collectives] some rank has not submitted for ", warn_seconds_,
      " seconds what others wait for. Do all ranks run the same steps?",
      stall_seconds_ > 0 ? str(" It is an error after ", stall_seconds_, " seconds.") : "",
      named, "\n");
}

void Coordinator::find_stalled() {
  const auto now = Clock::now();
  if (now - looked_ < std::chrono::milliseconds(100)) return;
  looked_ = now;
  if (warn_seconds_ > 0) warn();
  if (stall_seconds_ <= 0) return;
  std::vector<std::string> late;
  for (const auto& [name, asked] : table_) {
    if (waits(asked, stall_seconds_)) late.push_back(name);
  }
  for (const std::string& name : late) {
    const auto found = table_.find(name);
    if (found == table_.end()) continue;  // went with its group
    const std::string error = str("[", name, "] stalled: submitted by ", who(found->second),
                                  ", but not by rank ", missing(found->second), " within ",
                                  stall_seconds_,
                                  " seconds. Do all ranks run the same steps?");
    const Request& first = found->second.first();
    const std::string group = first.group;
    if (first.group_size == 0) {
      fail({name}, error);
      continue;
    }
    fail(members(group), error);
    groups_.erase(group);
  }
}

// The next tensor, or all of a group: if one of them fails, all do.
std::vector<Response> Coordinator::decide_next() {
  const auto group_size = size_t(table_.at(ready_.front()).first().group_size);
  std::vector<Response> decided;
  std::string error;
  for (size_t i = 0; i < std::max<size_t>(group_size, 1); ++i) {
    decided.push_back(decide(ready_.front()));
    if (error.empty()) error = decided.back().error;
    table_.erase(ready_.front());
    ready_.pop_front();
  }
  if (error.empty()) return decided;
  // One response, so that all names are free before anybody hears of the error.
  decided[0].error = error;
  for (size_t i = 1; i < decided.size(); ++i) {
    decided[0].entries.push_back(std::move(decided[i].entries[0]));
  }
  decided.resize(1);
  return decided;
}

std::vector<Response> Coordinator::take_ready() {
  fail_odd_groups();
  find_stalled();
  std::vector<Response> made;
  made.swap(failed_);
  std::optional<size_t> fused;  // the allreduce that others may join
  int64_t bytes = 0;
  while (!ready_.empty()) {
    for (Response& one : decide_next()) {
      if (one.kind != Kind::Allreduce || !one.error.empty()) {
        made.push_back(std::move(one));
        continue;
      }
      const int64_t more = one.entries[0].request.nbytes();
      if (fused && bytes + more <= fusion_bytes_ && made[*fused].joined == one.joined) {
        made[*fused].entries.push_back(std::move(one.entries[0]));
        bytes += more;
      } else {
        fused = made.size();
        bytes = more;
        made.push_back(std::move(one));
      }
    }
  }
  sent_ += made.size();
  if (!forgotten_.empty()) {
    // In the last one, as those before may still use the numbers.
    for (Kept& kept : kept_) kept.until = kept.until ? kept.until : sent_;
    made.back().forgotten.swap(forgotten_);
  }
  return made;
}

}  // namespace pkg::collectives
