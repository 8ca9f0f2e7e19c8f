// SPDX-License-Identifier: Apache-2.0
// collectives/mpi_transport.cc: messages and collectives as MPI calls, none of which blocks,
// so that the death of a rank is noticed.
#include "collectives/mpi_transport.h"

#include <chrono>
#include <climits>
#include <numeric>
#include <vector>

#include "collectives/backoff.h"
#include "collectives/error.h"

namespace pkg::collectives {
namespace {

using mpi::handle;

constexpr int kTag = 1;
constexpr std::chrono::seconds kFarewell{10};
constinit const mpi::Library* g_begun = nullptr;  // on the thread that owns MPI

void begin(const mpi::Library& mpi) {
  if (g_begun) return;
  int begun = 0;
  mpi.check("Initialized", mpi.Initialized(&begun));
  PKG_CHECK(!begun, RuntimeError,
            "[init] expected MPI not to be in use, but something else in this process has "
            "called MPI_Init. Call init() first.");
  int provided = 0;
  mpi.check("Init_thread",
            mpi.Init_thread(nullptr, nullptr, mpi::kThreadFunneled, &provided));
  PKG_CHECK(provided >= mpi::kThreadFunneled, RuntimeError,
            "[init] expected an MPI that a thread besides main may use "
            "(MPI_THREAD_FUNNELED), got level ",
            provided);
  g_begun = &mpi;
  mpi.check("Comm_set_errhandler",
            mpi.Comm_set_errhandler(handle<mpi::Comm>(mpi::kCommWorld),
                                    handle<mpi::Errhandler>(mpi::kErrorsReturn)));
}

// Note [MPI moves bytes while we look]
// Some kilobytes with each call of MPI_Test: a rank that sleeps between two of them keeps
// the others waiting as well.  So nobody does for as long as the bytes take on a slow way;
// what takes longer waits for a rank that is late.
std::chrono::microseconds eager_time(int64_t bytes) {
  constexpr int64_t kBytesPerMicrosecond = 200;
  return std::chrono::microseconds(bytes == 0 ? 0 : 500 + bytes / kBytesPerMicrosecond);
}

int64_t sum(std::span<const int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

mpi::Datatype bytes() { return handle<mpi::Datatype>(mpi::kByte); }

// Counts as MPI has them, and where each part begins.
struct Layout {
  explicit Layout(std::span<const int64_t> sizes) : counts(sizes.begin(), sizes.end()) {
    mpi::Aint at = 0;
    for (const int64_t size : sizes) {
      places.push_back(at);
      at += size;
    }
  }
  std::vector<mpi::Count> counts;
  std::vector<mpi::Aint> places;
};

}  // namespace

MpiTransport::MpiTransport(const mpi::Library& library,
                           const std::function<void()>& waiting)
    : mpi_(library), comm_(handle<mpi::Comm>(mpi::kCommNull)) {
  begin(mpi_);
  const auto world = handle<mpi::Comm>(mpi::kCommWorld);
  mpi::Request request = handle<mpi::Request>(mpi::kRequestNull);
  mpi_.check("Comm_idup", mpi_.Comm_idup(world, &comm_, &request));
  wait("Comm_idup", request, waiting);
  mpi_.check("Comm_rank", mpi_.Comm_rank(comm_, &rank_));
  mpi_.check("Comm_size", mpi_.Comm_size(comm_, &size_));
}

// After a failure MPI may still read what was to be sent, and its communicator is lost.
MpiTransport::~MpiTransport() {
  if (!sending_.empty()) new std::list<Sending>(std::move(sending_));
}

void MpiTransport::close() {
  Backoff backoff;
  const auto began = std::chrono::steady_clock::now();
  for (drop_sent(); !sending_.empty(); drop_sent()) {
    // A last word to a rank that has ended never arrives.
    PKG_CHECK(std::chrono::steady_clock::now() - began < kFarewell, CollectiveError,
              "[shutdown] some rank did not take the last message within ",
              kFarewell.count(), " seconds.");
    backoff.pause();
  }
  mpi_.check("Comm_free", mpi_.Comm_free(&comm_));
}

void MpiTransport::drop_sent() {
  for (auto at = sending_.begin(); at != sending_.end();) {
    int done = 0;
    mpi_.check("Test", mpi_.Test(&at->request, &done, nullptr));
    at = done ? sending_.erase(at) : std::next(at);
  }
}

void MpiTransport::send(int to, std::string message) {
  PKG_CHECK(message.size() <= size_t(INT_MAX), CollectiveError, "[send] a message of ",
            message.size(), " bytes is too long");
  drop_sent();
  sending_.push_back({std::move(message), handle<mpi::Request>(mpi::kRequestNull)});
  Sending& last = sending_.back();
  mpi_.check("Isend", mpi_.Isend(last.message.data(), int(last.message.size()), bytes(), to,
                                 kTag, comm_, &last.request));
}

bool MpiTransport::receive(int& from, std::string& message) {
  int arrived = 0;
  mpi::Status status;
  mpi_.check("Iprobe", mpi_.Iprobe(mpi::kAnySource, kTag, comm_, &arrived, &status));
  if (!arrived) return false;
  int count = 0;
  mpi_.check("Get_count", mpi_.Get_count(&status, bytes(), &count));
  from = status.source;
  message.resize(size_t(count));
  mpi_.check("Recv", mpi_.Recv(message.data(), count, bytes(), from, kTag, comm_, &status));
  return true;
}

void MpiTransport::wait(const char* function, mpi::Request request,
                        const std::function<void()>& waiting, int64_t bytes) {
  Backoff backoff(eager_time(bytes));
  for (;;) {
    int done = 0;
    mpi_.check(function, mpi_.Test(&request, &done, nullptr));
    if (done) return;
    waiting();
    backoff.pause();
  }
}

void MpiTransport::allgather(const void* send, void* receive,
                             std::span<const int64_t> counts) {
  const Layout all(counts);
  const auto own = size_t(rank_);
  if (send == static_cast<char*>(receive) + all.places[own]) {
    send = handle<const void*>(mpi::kInPlace);
  }
  mpi::Request request;
  mpi_.check("Iallgatherv_c",
             mpi_.Iallgatherv_c(send, counts[own], bytes(), receive, all.counts.data(),
                                all.places.data(), bytes(), comm_, &request));
  wait("Iallgatherv_c", request, idle, sum(counts));
}

void MpiTransport::alltoall(const void* send, std::span<const int64_t> send_counts,
                            void* receive, std::span<const int64_t> receive_counts) {
  Layout out(send_counts);
  const Layout in(receive_counts);
  if (receive_counts[size_t(rank_)] == 0) out.counts[size_t(rank_)] = 0;
  mpi::Request request;
  mpi_.check("Ialltoallv_c", mpi_.Ialltoallv_c(send, out.counts.data(), out.places.data(),
                                               bytes(), receive, in.counts.data(),
                                               in.places.data(), bytes(), comm_, &request));
  wait("Ialltoallv_c", request, idle, sum(send_counts) + sum(receive_counts));
}

void MpiTransport::broadcast(void* data, int64_t count, int root) {
  mpi::Request request;
  mpi_.check("Ibcast_c", mpi_.Ibcast_c(data, count, bytes(), root, comm_, &request));
  wait("Ibcast_c", request, idle, count);
}

void finalize_mpi() {
  if (g_begun) g_begun->Finalize();
  g_begun = nullptr;
}

}  // namespace pkg::collectives
