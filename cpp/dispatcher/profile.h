// SPDX-License-Identifier: Apache-2.0
// dispatcher/profile.h: the Profiler key, one boxed function for all ops, which notes each
// call in the log of scheduler/trace.h; and traces as a language opens and reads them.
//
// Note [The Profiler key]
// Every thread adds this key to its calls, and no op has anything there unless a trace wants
// calls: then the fallback counts for every op at once, whatever thread calls it.  So a call
// costs the same as without a profiler while none is open.
#pragma once

#include <cstdint>
#include <string>

#include "dispatcher/dispatcher.h"

namespace pkg {

/// What a thread adds and removes that has set nothing.
inline LocalKeys plain_keys() { return {KeySet(DispatchKey::Profiler), {}}; }

namespace detail {
/// Makes the Profiler key count, or not, as trace::wanted() says.
void settle_profiler();
}  // namespace detail

namespace profiling {

/// Opens a trace and returns its number.  kinds: "ops tasks waits steps collectives", some of them,
/// and "shapes", "lines", "this_thread"; ValueError for other words, or for room for less than
/// one.
int64_t _trace_begin(const std::string& kinds, int64_t max_events);
/// Ends a trace and returns it as JSON: {"lost": n, "texts": [...], "spans": [[kind, thread,
/// kind of thread, start, end, stream, owner, name, detail, line], ...]}, where the last three
/// are places in texts; OpLookupError for a number that is not open.
std::string _trace_end(int64_t number);

}  // namespace profiling
}  // namespace pkg
