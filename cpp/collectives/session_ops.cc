// SPDX-License-Identifier: Apache-2.0
// collectives/session_ops.cc: records that begin and end a session, look at it, or carry no
// data: join and barrier.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "collectives/records.h"
#include "dispatcher/outside_work.h"
#include "scheduler/scheduler.h"

namespace pkg::collectives {
namespace {

Tensor pending_numbers(int64_t count, const Ref<Event>& event, DType dtype,
                       void (*fill)(char*)) {
  const Tensor made = count < 0 ? empty(Shape{}, dtype) : empty(Shape{count}, dtype);
  const Ref<Event> filled = submit([data = bytes_of(made), fill, made] { fill(data); },
                                   {event}, {.name = "init"});
  enter_outside_work(filled, {}, {&made, 1});
  return made;
}

double seconds_of(const char* variable, const char* text, double otherwise) {
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  PKG_CHECK(!*end && seconds >= 0 && std::isfinite(seconds), ValueError, "[init] expected ",
            variable, " to be a number of seconds >= 0 (0: no limit), ", "got '", text,
            "'.");
  return seconds;
}

Tensor init_kernel(const std::string& library, int64_t fusion_bytes, int64_t cache_capacity,
                   double stall_seconds, double failure_seconds) {
  PKG_CHECK(fusion_bytes >= 0 && cache_capacity >= 0, ValueError,
            "[init] expected sizes of at least 0, got fusion_bytes=", fusion_bytes,
            " and cache_capacity=", cache_capacity, ".");
  PKG_CHECK(stall_seconds >= 0 && failure_seconds > 0, ValueError,
            "[init] expected stall_seconds >= 0 and failure_seconds > 0, got ",
            stall_seconds, " and ", failure_seconds, ".");
  Settings settings;
  settings.library = library;
  settings.fusion_bytes = fusion_bytes;
  settings.cache_capacity = cache_capacity;
  settings.stall_seconds = stall_seconds;
  settings.failure_seconds = failure_seconds;
  settings.start_seconds = seconds_of("HOROVOD_START_TIMEOUT",
                                      std::getenv("HOROVOD_START_TIMEOUT"),
                                      settings.start_seconds);
  settings.warn_seconds = seconds_of("HOROVOD_STALL_CHECK_TIME_SECONDS",
                                     std::getenv("HOROVOD_STALL_CHECK_TIME_SECONDS"),
                                     settings.warn_seconds);
  if (const char* const path = std::getenv("HOROVOD_TIMELINE")) settings.timeline = path;
  const Ref<Event> started = Engine::get().init(settings);
  return pending_numbers(6, started, DType::Int64, [](char* data) {
    // Another rank may have ended the session already: then the next call says so.
    const Place place = Engine::get().last_place();
    const int64_t numbers[] = {place.rank,       place.size,       place.local_rank,
                               place.local_size, place.cross_rank, place.cross_size};
    std::copy(std::begin(numbers), std::end(numbers), reinterpret_cast<int64_t*>(data));
  });
}

Tensor shutdown_kernel() {
  return pending_numbers(-1, Engine::get().shutdown(), DType::Int32,
                         [](char* data) { *reinterpret_cast<int32_t*>(data) = 0; });
}

Tensor running_kernel() {
  const Tensor made = empty(Shape{}, DType::Bool);
  *made.data<bool>() = Engine::get().running();
  return made;
}

Tensor counts_kernel() {
  const Counts counts = Engine::get().counts();
  const Tensor made = empty(Shape{4}, DType::Int64);
  const int64_t numbers[] = {counts.whole, counts.numbered, counts.responses,
                             counts.tensors};
  std::copy(std::begin(numbers), std::end(numbers), made.data<int64_t>());
  return made;
}

template <Kind kind>
Tensor alone_kernel() {
  // All ranks that join mean the same; barriers are numbered.
  Call call(kind, kind == Kind::Join ? "join.noname" : "");
  const Tensor result = empty(Shape{}, DType::Int32);
  const Ref<Job> job = job_for(call.request({}), {}, result);
  call.submit({&job, 1});
  return result;
}

// From a language, where a call failed that has not come to the kernel.
Tensor refuse_kernel(const std::string& kind, const std::string& name,
                     const std::string& why, int64_t group) {
  const Tensor made = empty(Shape{}, DType::Bool);
  *made.data<bool>() = false;
  const bool told = take_told(why);
  if (told || !Engine::get().running()) return made;
  Call call(kind_of(kind), name, int32_t(std::max<int64_t>(group, kUncounted)));
  call.refuse(why);
  *made.data<bool>() = true;
  return made;
}

PKG_LIBRARY(horovod, m) {
  m.def("init(str library='', int fusion_bytes=134217728, int cache_capacity=1024, "
        "float stall_seconds=300.0, float failure_seconds=30.0) -> Tensor")
      .doc("Begins a session with the other ranks: int64 [rank, size, local_rank, "
           "local_size, cross_rank, cross_size], when all have come.")
      .in_program_order()
      .cpu(init_kernel);
  m.def("shutdown() -> Tensor")
      .doc("Ends the session on all ranks: 0, when all know. What is pending fails.")
      .in_program_order()
      .cpu(shutdown_kernel);
  m.def("_running() -> Tensor")
      .doc("Whether there is a session.")
      .in_program_order()
      .cpu(running_kernel);
  m.def("_counts() -> Tensor")
      .doc("Of this session: requests sent whole and as numbers, responses, tensors in "
           "them.")
      .in_program_order()
      .cpu(counts_kernel);
  m.def("_refuse(str kind, str name, str why, int group=0) -> Tensor")
      .doc("Tells the other ranks that this one cannot make a call, of a group of so many "
           "tensors (-1: nobody knows); whether they did not know.")
      .in_program_order()
      .cpu(refuse_kernel);
  m.def("join() -> Tensor")
      .doc("Takes part in what other ranks do without data of its own, until all have "
           "joined: the last rank that did, int32.")
      .in_program_order()
      .cpu(alone_kernel<Kind::Join>);
  m.def("barrier() -> Tensor")
      .doc("0, when all ranks have come here.")
      .in_program_order()
      .cpu(alone_kernel<Kind::Barrier>);
}

}  // namespace
}  // namespace pkg::collectives
