// SPDX-License-Identifier: Apache-2.0
// framework/making.h: what several threads ask for is made by the first of them, by code of
// others.
//
// Note [Making]
// That code may do anything, wait for another thread or take the interpreter lock, so no lock
// is held while it runs: who comes second waits for an event.  Where waiting would never end,
// because who makes it waits for this thread, or is this thread, there is no waiting, and it
// is made twice: whoever keeps what was made has to be ready for that.
#pragma once

#include <string>

namespace pkg::framework {

/// While it lives, this thread makes what `owner` knows by `name`.  The constructor waits
/// until no other thread does: the thing may be there then.
class Making {
 public:
  Making(const void* owner, std::string name);
  ~Making();
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

 private:
  const void* owner_;
  std::string name_;
  bool listed_ = false;
};

}  // namespace pkg::framework
