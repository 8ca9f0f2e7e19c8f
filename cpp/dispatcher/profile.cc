// SPDX-License-Identifier: Apache-2.0
// dispatcher/profile.cc: see profile.h.
#include "dispatcher/profile.h"

#include <sstream>
#include <unordered_map>

#include "base/json.h"
#include "dispatcher/library.h"
#include "scheduler/hooks.h"
#include "scheduler/trace.h"

namespace pkg {
namespace {

std::string shapes_of(std::span<const Value> args) {
  std::string text;
  for (const Value& value : args) {
    for_each_tensor(value, [&](const Tensor& tensor) {
      text += text.empty() ? "" : ", ";
      if (tensor.keys().has(DispatchKey::Graph)) text += str(tensor.dtype(), " symbol");
      else text += str(tensor.dtype(), " ", tensor.sizes());
    });
  }
  return text;
}

void profiler_fallback(const Operator& op, const Kernel&, KeySet keys, Stack& stack) {
  const KeySet below = keys & KeySet::below(DispatchKey::Profiler);
  if (!trace::wanted(trace::Kind::Op)) {  // it was closed a moment ago
    return Dispatcher::get().redispatch_boxed(op, below, stack);
  }
  trace::Timed timed(trace::Kind::Op);
  timed.span.name = op.ns == "pkg" ? op.schema.full_name() : op.qualified_name();
  if (trace::wants_shapes()) timed.span.detail = shapes_of(stack.args);
  Dispatcher::get().redispatch_boxed(op, below, stack);
}

PKG_LIBRARY_IMPL(_, Profiler, m) {
  (void)m;
  Kernel kernel;
  kernel.boxed = profiler_fallback;
  kernel.fallthrough = true;  // until somebody wants calls
  kernel.where = __FILE__ ":" PKG_STR(__LINE__);
  Dispatcher::get().set_fallback(DispatchKey::Profiler, kernel);
}

// Texts by number, each once.
class Texts {
 public:
  size_t operator()(const std::string& text) {
    const auto [entry, fresh] = numbers_.try_emplace(text, numbers_.size());
    if (fresh) json += (json.empty() ? "" : ", ") + json_quoted(text);
    return entry->second;
  }
  std::string json;

 private:
  std::unordered_map<std::string, size_t> numbers_;
};

}  // namespace

namespace profiling {

int64_t _trace_begin(const std::string& kinds, int64_t max_events) {
  trace::Options options{false, false, false, false, false, false, false, false, 0};
  options.most = max_events > 0 ? uint64_t(max_events) : 0;
  const std::pair<std::string_view, bool*> words[] = {
      {"ops", &options.ops},
      {"tasks", &options.tasks},
      {"waits", &options.waits},
      {"steps", &options.steps},
      {"collectives", &options.collectives},
      {"shapes", &options.shapes},
      {"lines", &options.lines},
      {"this_thread", &options.this_thread}};
  std::istringstream given(kinds);
  for (std::string word; given >> word;) {
    bool known = false;
    for (const auto& [name, wish] : words) {
      if (word == name) *wish = known = true;
    }
    PKG_CHECK(known, ValueError,
              "[profile] expected ops, tasks, waits, steps, collectives, shapes, lines, "
              "this_thread, got '",
              word, "'.");
  }
  const uint64_t number = trace::open(options);
  detail::settle_profiler();
  return int64_t(number);
}

std::string _trace_end(int64_t number) {
  const trace::Found found = trace::close(uint64_t(number));
  detail::settle_profiler();
  Texts texts;
  std::unordered_map<uint64_t, size_t> sites;
  std::string spans;
  for (const trace::Span& span : found.spans) {
    size_t line;
    if (span.line.empty()) {
      const auto [entry, fresh] = sites.try_emplace(span.site, 0);
      if (fresh) entry->second = texts(site_text(span.site));
      line = entry->second;
    } else {
      line = texts(span.line);
    }
    spans += spans.empty() ? "[" : ",\n[";
    for (const int64_t value :
         {int64_t(span.kind), int64_t(span.thread), int64_t(span.thread_kind), span.start,
          span.end, int64_t(span.stream), int64_t(span.owner), int64_t(texts(span.name)),
          int64_t(texts(span.detail)), int64_t(line)}) {
      if (spans.back() != '[') spans += ',';
      spans += std::to_string(value);
    }
    spans += ']';
  }
  return str("{\"lost\": ", found.lost, ", \"texts\": [", texts.json, "], \"spans\": [",
             spans, "]}");
}

}  // namespace profiling
}  // namespace pkg
