// SPDX-License-Identifier: Apache-2.0
// collectives/session.cc: messages and what they do.
//
// Note [The end of a session]
// A rank that stops says so to rank 0 (Stop), which says it to all (Stop); each of them
// answers that it sends nothing more (Stopped).  When rank 0 has all answers no message is
// under way, and it lets them go (Stopped).  Between two sessions there is nothing that the
// next one could take for its own.
#include "collectives/session.h"

#include <cstdio>

#include "collectives/error.h"
#include "collectives/settling.h"

namespace pkg::collectives {

Session::Session(std::unique_ptr<Transport> transport, const Settings& settings,
                 Finished finished)
    : transport_(std::move(transport)),
      peers_(*transport_, settings.failure_seconds),
      timeline_(transport_->rank() == 0 ? settings.timeline : ""),
      performer_(*transport_, timeline_),
      finished_(std::move(finished)),
      warn_(settings.warn) {
  if (transport_->rank() == 0) {
    coordinator_ = std::make_unique<Coordinator>(
        transport_->size(), settings.fusion_bytes, settings.cache_capacity,
        settings.stall_seconds, settings.warn_seconds);
  }
  if (!timeline_.error().empty()) warn(timeline_.error() + "\n");
  transport_->idle = [this] { pump(); };
}

void Session::add(std::vector<Ref<Job>> jobs) {
  for (const Ref<Job>& job : jobs) {
    if (!jobs_.contains(job->request.name)) continue;
    // The engine sees to it that this is never so; a tensor must not wait for ever.
    return finished_(jobs, failure(str("[", job->request.name,
                                       "] another tensor of this name is being "
                                       "processed.")));
  }
  if (stopping_ || jobs.empty()) {
    // They fail with all others when the session ends.
    for (Ref<Job>& job : jobs) jobs_.emplace(job->request.name, std::move(job));
    return;
  }
  Writer writer(Message::Requests);
  writer.put(uint64_t(counts_.responses));
  for (const Ref<Job>& job : jobs) {
    const uint64_t id = cache_.find(job->request);
    writer.put(id);
    if (!id) writer.put(job->request);
    ++(id ? counts_.numbered : counts_.whole);
    timeline_.sent(job->request);
  }
  for (Ref<Job>& job : jobs) jobs_.emplace(job->request.name, std::move(job));
  if (coordinator_) inbox_.emplace_back(0, writer.take());
  else transport_->send(0, writer.take());
}

// That it sends nothing more, and whether something is left undone: on this rank, or on any
// when rank 0 says it.
std::string Session::last_word() const {
  Writer writer(Message::Stopped);
  writer.put(abandoned_ || waiting());
  return writer.take();
}

void Session::stop() {
  if (stopping_) return;
  if (!coordinator_) return transport_->send(0, Writer(Message::Stop).take());
  stopping_ = true;
  ++stops_;
  send_all(Writer(Message::Stop).take());
}

void Session::send_all(const std::string& message) {
  for (int r = 1; r < transport_->size(); ++r) transport_->send(r, message);
}

void Session::give_up(const std::string& why) noexcept {
  try {
    Writer writer(Message::Lost);
    writer.put(std::string_view(why));
    const std::string message = writer.take();
    for (int r = 0; r < transport_->size(); ++r) {
      if (r != transport_->rank()) transport_->send(r, message);
    }
    for (int i = 0; i < 20; ++i) pump();  // MPI sends while it is called
  } catch (...) {                         // it was lost anyway
  }
}

// Takes what has arrived; what ends the session at once is seen here, within collectives too.
void Session::pump() {
  int from = 0;
  std::string message;
  while (transport_->receive(from, message)) {
    peers_.heard(from);
    Reader reader(message);
    switch (reader.get<Message>()) {
      case Message::Alive: break;
      case Message::Lost: throw CollectiveError(reader.text());
      default: inbox_.emplace_back(from, std::move(message));
    }
  }
  peers_.look(stopping_);
}

bool Session::step() {
  pump();
  bool busy = false;
  while (!inbox_.empty() && !stopped_) {
    const auto [from, message] = std::move(inbox_.front());
    inbox_.pop_front();
    busy |= take(from, message);
  }
  if (coordinator_ && !stopping_) busy |= coordinate();
  if (coordinator_ && stopping_ && !stopped_ && stops_ == transport_->size()) {
    send_all(last_word());
    abandoned_ |= waiting();
    stopped_ = busy = true;
  }
  if (stopped_) transport_->close();
  return busy;
}

bool Session::take(int from, const std::string& message) {
  Reader reader(message);
  switch (reader.get<Message>()) {
    case Message::Requests: requests(from, reader); break;
    case Message::Responses: responses(reader); break;
    case Message::Stop:
      if (coordinator_) {
        stop();
      } else {
        stopping_ = true;
        transport_->send(0, last_word());
      }
      break;
    case Message::Stopped:
      abandoned_ |= reader.get<bool>();
      if (coordinator_) ++stops_, peers_.left(from);
      else stopped_ = true;
      break;
    default: break;
  }
  return true;
}

void Session::requests(int from, Reader reader) {
  if (stopping_) return;
  coordinator_->note_progress(from, reader.get<uint64_t>());
  while (!reader.done()) {
    if (const auto id = reader.get<uint64_t>()) {
      if (timeline_.on() && cache_.has(id)) timeline_.came(from, cache_.of(id));
      coordinator_->add(from, id);
    } else {
      Request request = reader.request();
      timeline_.came(from, request);
      coordinator_->add(from, std::move(request));
    }
  }
}

bool Session::coordinate() {
  const std::vector<Response> ready = coordinator_->take_ready();
  if (const std::string text = coordinator_->take_warning(); !text.empty()) warn(text);
  if (ready.empty()) return false;
  if (transport_->size() > 1) {
    Writer writer(Message::Responses);
    for (const Response& response : ready) writer.put(response);
    send_all(writer.take());
  }
  for (const Response& response : ready) carry_out(response);
  return true;
}

void Session::responses(Reader reader) {
  while (!reader.done()) {
    carry_out(reader.response([&](uint64_t id) { return cache_.of(id); }));
  }
}

// One piece, so that lines of other threads do not come between.
void Session::warn(const std::string& text) const {
  if (warn_) return warn_(text);
  std::fputs(("pkg: warning: " + text).c_str(), stderr);
}

void Session::carry_out(const Response& response) {
  ++counts_.responses;
  std::vector<Ref<Job>> jobs;
  std::vector<Part> parts;
  std::vector<const Request*> asked;
  for (const Decided& entry : response.entries) {
    ++counts_.tensors;
    if (entry.id && !entry.known) cache_.learn(entry.id, entry.request);
    Ref<Job> job;  // or none: one of this name is then another one, for later
    const auto found = jobs_.find(entry.request.name);
    if (found != jobs_.end() && response.concerns(transport_->rank())) {
      job = found->second;
    }
    parts.push_back({&entry.request, job.get()});
    if (job) asked.push_back(&job->request);
    jobs.push_back(std::move(job));
  }
  timeline_.begin(response.kind, asked);
  std::exception_ptr error;
  if (!response.error.empty()) {
    error = failure(response.error);
  } else {
    performer_.perform(response, parts);
  }
  timeline_.end();
  for (const uint64_t id : response.forgotten) cache_.forget(id);
  std::erase_if(jobs, [](const Ref<Job>& job) { return !job; });
  for (const Ref<Job>& job : jobs) jobs_.erase(job->request.name);
  finished_(jobs, error);
}

std::vector<Ref<Job>> Session::take_jobs() {
  std::vector<Ref<Job>> taken;
  for (auto& [name, job] : jobs_) taken.push_back(std::move(job));
  jobs_.clear();
  return taken;
}

}  // namespace pkg::collectives
