// SPDX-License-Identifier: Apache-2.0
// collectives/peers.cc: who is where, by name of the host; who lives, by the kernel's word
// on this host (pidfd) and by messages from others.
#include "collectives/peers.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "collectives/error.h"
#include "collectives/request.h"

namespace pkg::collectives {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLastWord{2000};

struct Identity {
  char host[248];
  int64_t process;
};

int open_process(int64_t process) {
#ifdef SYS_pidfd_open
  return int(syscall(SYS_pidfd_open, pid_t(process), 0));
#else
  return -1;
#endif
}

bool ended(int descriptor) {
  if (descriptor < 0) return false;
  pollfd one{descriptor, POLLIN, 0};
  return poll(&one, 1, 0) == 1 && (one.revents & POLLIN);
}

}  // namespace

Place place_of(int rank, const std::vector<std::string>& hosts) {
  Place made;
  made.rank = rank;
  made.size = int(hosts.size());
  std::map<std::string, int> count;  // ranks of a host so far
  std::vector<std::string> order;    // hosts as they come
  std::vector<int> local;
  for (const std::string& host : hosts) {
    if (!count.contains(host)) order.push_back(host);
    local.push_back(count[host]++);
  }
  const std::string& mine = hosts[size_t(rank)];
  made.local_rank = local[size_t(rank)];
  made.local_size = count[mine];
  made.cross_size = 0;
  for (const std::string& host : order) {
    if (host == mine) made.cross_rank = made.cross_size;
    if (count[host] > made.local_rank) ++made.cross_size;
  }
  return made;
}

Peers::Peers(Transport& transport, double timeout_seconds)
    : transport_(transport), timeout_(timeout_seconds) {
  const auto size = size_t(transport.size());
  Identity mine{};
  gethostname(mine.host, sizeof mine.host - 1);
  mine.process = getpid();
  std::vector<Identity> all(size);
  transport.allgather(&mine, all.data(), std::vector<int64_t>(size, sizeof mine));
  std::vector<std::string> hosts;
  for (size_t r = 0; r < size; ++r) {
    const Identity& peer = all[r];
    hosts.emplace_back(peer.host);
    names_.push_back(str("rank ", r, " (process ", peer.process, " on ", peer.host, ")"));
    const bool watched = hosts[r] == mine.host && peer.process != mine.process;
    processes_.push_back(watched ? open_process(peer.process) : -1);
  }
  place_ = place_of(transport.rank(), hosts);
  heard_.assign(size, Clock::now());
  looked_ = signed_ = Clock::now();
}

Peers::~Peers() {
  for (const int descriptor : processes_) {
    if (descriptor >= 0) close(descriptor);
  }
}

void Peers::look(bool stopping) {
  const auto now = Clock::now();
  if (now - looked_ < milliseconds(50)) return;
  looked_ = now;
  const int me = transport_.rank(), size = transport_.size();
  // After the last word to rank 0 nothing may come: it would find a communicator that is no
  // more, which MPI takes for an error.
  const bool silent = stopping && me != 0;
  if (!silent && now - signed_ > milliseconds(500)) {
    signed_ = now;
    const std::string alive = Writer(Message::Alive).take();
    for (int r = 0; r < size; ++r) {
      if (r != me && (me == 0 || r == 0)) transport_.send(r, alive);
    }
  }
  for (int r = 0; r < size; ++r) {
    if (r == me) continue;
    if (ended(processes_[size_t(r)])) {
      if (missed_ == Clock::time_point()) missed_ = now;
      PKG_CHECK(stopping && now - missed_ < kLastWord, CollectiveError, "[collectives] ",
                names_[size_t(r)], " has ended without shutdown().");
      continue;
    }
    // The kernel knows of those on this host; one that computes for long is silent.
    if ((me != 0 && r != 0) || processes_[size_t(r)] >= 0) continue;
    const double since = std::chrono::duration<double>(now - heard_[size_t(r)]).count();
    PKG_CHECK(since < timeout_, CollectiveError, "[collectives] nothing was heard of ",
              names_[size_t(r)], " for ", timeout_, " seconds.");
  }
}

}  // namespace pkg::collectives
