// SPDX-License-Identifier: Apache-2.0
// collectives/timeline.cc: see timeline.h.
#include "collectives/timeline.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/json.h"

namespace pkg::collectives {
namespace {

std::string lane_of(const Request& request) {
  return request.numbered ? str(name_of(request.kind), ".noname") : request.name;
}

}  // namespace

Timeline::Timeline(const std::string& path) {
  if (path.empty()) return;
  file_.open(path, std::ios::trunc);
  if (!file_) {
    error_ = str("[timeline] cannot write '", path, "': ", std::strerror(errno),
                 ". HOROVOD_TIMELINE says where.");
    file_.close();
    return;
  }
  // An array that need not be ended: what is read after a crash is all that was noted.
  file_ << "[\n" << std::flush;
}

Timeline::~Timeline() {
  if (file_.is_open()) file_ << "{}\n]\n";
}

void Timeline::sent(const Request& request) {
  if (on()) sent_[request.name] = trace::now();
}

void Timeline::came(int rank, const Request& request) {
  if (!on()) return;
  const int64_t now = trace::now();
  note({str("rank ", rank), now, now}, {request.name, lane_of(request), {}});
}

void Timeline::begin(Kind kind, const std::vector<const Request*>& tensors) {
  tensors_.clear();
  phases_.clear();
  if (!on()) return sent_.clear();
  kind_ = name_of(kind);
  for (char& c : kind_) c = char(c - 'a' + 'A');
  start_ = trace::now();
  for (const Request* request : tensors) {
    Tensor& made = tensors_.emplace_back(
        Tensor{request->name, lane_of(*request), request->site});
    const auto found = sent_.find(request->name);
    if (found == sent_.end()) continue;
    made.sent = found->second;
    sent_.erase(found);
  }
}

void Timeline::end() {
  if (tensors_.empty()) return;
  const Done all{kind_, start_, trace::now()};
  for (const Tensor& tensor : tensors_) {
    if (tensor.sent) { note({"NEGOTIATE_" + kind_, tensor.sent, start_}, tensor); }
    note(all, tensor);
    for (const Done& phase : phases_) note(phase, tensor);
  }
  tensors_.clear();
  if (file_.is_open()) file_.flush();
}

void Timeline::note(const Done& what, const Tensor& tensor) {
  if (file_.is_open()) write(what, tensor);
  if (!trace::wanted(trace::Kind::Collective)) return;
  trace::Span span;
  span.kind = trace::Kind::Collective;
  span.start = what.start;
  span.end = what.end;
  span.name = what.name;
  span.detail = tensor.name;
  span.line = tensor.site;
  trace::note(std::move(span));
}

void Timeline::write(const Done& what, const Tensor& tensor) {
  const auto [lane, fresh] = lanes_.try_emplace(tensor.lane, lanes_.size() + 1);
  const std::string place = str("\"pid\": ", getpid(), ", \"tid\": ", lane->second);
  if (fresh) {
    file_ << "{\"name\": \"thread_name\", \"ph\": \"M\", " << place
          << ", \"args\": {\"name\": " << json_quoted(tensor.lane) << "}},\n";
  }
  const auto microseconds = [](int64_t time) {
    return str(time / 1000, ".", char('0' + time / 100 % 10));
  };
  const bool mark = what.start == what.end;
  file_ << "{\"name\": " << json_quoted(what.name) << ", \"ph\": \"" << (mark ? 'i' : 'X')
        << "\", " << place << ", \"ts\": " << microseconds(what.start - began_);
  if (tensor.lane != tensor.name) {
    file_ << ", \"args\": {\"tensor\": " << json_quoted(tensor.name) << '}';
  }
  if (mark) file_ << ", \"s\": \"t\"},\n";
  else file_ << ", \"dur\": " << microseconds(what.end - what.start) << "},\n";
}

}  // namespace pkg::collectives
