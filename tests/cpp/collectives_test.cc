// SPDX-License-Identifier: Apache-2.0
// tests/cpp/collectives_test.cc: the engine with ranks that are threads of this process, over
// the transport of a world without MPI: any order, groups, errors, join, the cache, an end.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <thread>

#include <unistd.h>

#include "check.h"
#include "collectives/collectives.h"
#include "collectives/engine.h"
#include "collectives/error.h"
#include "collectives/local_transport.h"
#include "collectives/peers.h"
#include "collectives/reduce.h"
#include "scheduler/trace.h"

using namespace pkg;
using namespace pkg::collectives;

namespace {

// A rank: its engine, in a world of threads.
struct Rank {
  Rank(std::shared_ptr<LocalHub> hub, int number)
      : engine([hub, number](const Settings&, const std::function<void()>&) {
          return std::make_unique<LocalTransport>(hub, number);
        }) {}

  Ref<Job> submit(
      Kind kind, const std::string& name, const Tensor& input, Tensor output,
      const std::function<void(Request&)>& change = [](Request&) {},
      std::span<const Ref<Event>> inputs = {}, bool refusal = false) {
    Request request;
    request.kind = kind;
    request.name = name;
    if (input.defined()) request.dtype = input.dtype(), request.sizes = input.sizes();
    request.site = "rank.py:1";
    change(request);
    const Ref<Job> job = Ref<Job>::make(request, input, output);
    job->refusal = refusal;
    engine.reserve({&job, 1});
    engine.begin({job}, inputs);
    return job;
  }
  Ref<Job> allreduce(
      const std::string& name, const Tensor& input,
      const std::function<void(Request&)>& change = [](Request&) {}) {
    return submit(Kind::Allreduce, name, input, empty(input.sizes(), input.dtype()),
                  change);
  }

  Engine engine;
};

// Runs f(rank, number) on each rank, between init and shutdown.
template <class F>
void world(int size, F f, const Settings& settings = {}) {
  auto hub = std::make_shared<LocalHub>(size);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int r = 0; r < size; ++r) ranks.push_back(std::make_unique<Rank>(hub, r));
  std::barrier all(size);  // shutdown() of one is the end for all
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      Engine& engine = ranks[size_t(r)]->engine;
      engine.init(settings)->wait();
      all.arrive_and_wait();
      CHECK(engine.place().rank == r && engine.place().size == size);
      f(*ranks[size_t(r)], r);
      all.arrive_and_wait();
      engine.shutdown()->wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

Tensor filled(int64_t count, double value, DType dtype = DType::Float32) {
  const Tensor made = empty(Shape{count}, dtype);
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < count; ++i) {
      reinterpret_cast<T*>(bytes_of(made))[i] = T(float(value));
    }
  });
  return made;
}
float first(const Ref<Job>& job) {
  return *reinterpret_cast<float*>(bytes_of(job->output));
}

}  // namespace

TEST(any_order_gives_the_same_bits_fused_or_not) {
  constexpr int kRanks = 3, kTensors = 200;
  std::vector<std::vector<float>> sums(kTensors);
  for (const int64_t fusion : {int64_t{0}, int64_t{1} << 20}) {
    Settings settings;
    settings.fusion_bytes = fusion;
    world(
        kRanks,
        [&](Rank& rank, int r) {
          std::vector<int> order(kTensors);
          for (int i = 0; i < kTensors; ++i) order[size_t(i)] = i;
          std::mt19937 random(unsigned(r) + 7u * unsigned(fusion > 0) + check::seed());
          for (int round = 0; round < 3; ++round) {
            std::shuffle(order.begin(), order.end(), random);
            std::vector<Ref<Job>> jobs(kTensors);
            for (const int i : order) {
              const double value = std::sin(1 + i + 1000 * r) * std::pow(10, i % 7);
              jobs[size_t(i)] = rank.allreduce(str("t", i), filled(1 + 37 * i, value));
            }
            for (int i = 0; i < kTensors; ++i) {
              jobs[size_t(i)]->event->wait();
              if (r != 0) continue;
              auto& known = sums[size_t(i)];
              known.push_back(first(jobs[size_t(i)]));
              CHECK(std::memcmp(&known.front(), &known.back(), sizeof(float)) == 0);
            }
          }
          const Counts counts = rank.engine.counts();
          CHECK(counts.whole == kTensors && counts.numbered >= kTensors);
          CHECK(fusion == 0 ? counts.responses == counts.tensors
                            : counts.responses < counts.tensors);
        },
        settings);
  }
}

TEST(what_ranks_do_not_agree_on_fails_for_that_tensor_alone) {
  world(2, [](Rank& rank, int r) {
    const auto differs = [&](const char* text, const Ref<Job>& job) {
      CHECK_THROWS(job->event->wait(), CollectiveError, text);
      CHECK_THROWS(job->event->wait(), CollectiveError,
                   "(rank 0 at rank.py:1, rank 1 at rank.py:1)");
    };
    const Tensor x = filled(2, r);
    differs("Mismatched data types: One rank had type float32, but another rank had type "
            "float64.",
            rank.allreduce("a", filled(2, 0, r ? DType::Float64 : DType::Float32)));
    differs("Mismatched allreduce tensor shapes: One rank sent a tensor of shape [2], but "
            "another rank sent a tensor of shape [3].",
            rank.allreduce("a", filled(2 + r, 0)));
    differs("One rank specified Sum, but another rank specified Max.",
            rank.allreduce("a", x, [&](Request& request) {
              if (r) request.reduction = Reduction::Max;
            }));
    differs("factors (1, 1), but another rank specified factors (2, 1).",
            rank.allreduce("a", x, [&](Request& request) { request.prescale = 1 + r; }));
    differs("root rank 0, but another rank specified root rank 1.",
            rank.submit(Kind::Broadcast, "a", x, filled(2, 0),
                        [&](Request& request) { request.root = r; }));
    differs("One rank did an allreduce, but another rank did an allgather.",
            r ? rank.submit(Kind::Allgather, "a", x, {}) : rank.allreduce("a", x));
    const Ref<Job> well = rank.allreduce("a", filled(2, r + 1));
    well->event->wait();
    CHECK(first(well) == 3);
  });
}

TEST(calls_without_a_name_belong_together_where_their_lines_agree) {
  world(2, [](Rank& rank, int r) {
    const auto called = [&](const char* name, const char* zero, const char* one,
                            bool made) {
      return rank.allreduce(name, filled(2, r + 1), [&](Request& request) {
        request.numbered = made;
        request.site = r ? one : zero;
      });
    };
    // Kept until its error has been read: ThreadSanitizer sees our counts of owners, not
    // those that libstdc++ keeps of exceptions.
    const Ref<Job> refused = called("n.1", "/a/x.py:3", "/a/x.py:5", true);
    CHECK_THROWS(refused->event->wait(), CollectiveError,
                 "different places: at /a/x.py:3 and at /a/x.py:5");
    for (const Ref<Job>& job : {called("n.2", "/a/x.py:3", "/b/x.py:3", true),
                                called("n.3", "", "/b/x.py:3", true),
                                called("named", "/a/x.py:3", "/a/x.py:5", false)}) {
      job->event->wait();
      CHECK(first(job) == 3);
    }
  });
}

TEST(a_group_is_done_all_or_not_at_all) {
  world(2, [](Rank& rank, int r) {
    const auto group = [&](int64_t odd) {
      std::vector<Ref<Job>> jobs;
      for (int i = 0; i < 3; ++i) {
        Request request;
        request.name = str("g", i);
        request.sizes = Shape{i == 1 ? odd : 2};
        request.group = "g";
        request.group_size = 3;
        jobs.push_back(Ref<Job>::make(request, filled(request.sizes[0], r + i),
                                      filled(request.sizes[0], -1)));
      }
      return jobs;
    };
    auto jobs = group(2 + r);
    rank.engine.reserve(jobs);
    rank.engine.begin({jobs.begin(), jobs.end()}, {});
    for (const Ref<Job>& job : jobs) {
      CHECK_THROWS(job->event->wait(), CollectiveError,
                   "Mismatched allreduce tensor shapes");
      CHECK(first(job) == -1);
    }
    // A name in use takes none of the group.
    Ref<Job> taken = Ref<Job>::make(Request{.name = "g2"}, Tensor(), Tensor());
    rank.engine.reserve({&taken, 1});
    jobs = group(2);
    CHECK_THROWS(rank.engine.reserve(jobs), ValueError, "with the same name as another");
    Ref<Job> other = Ref<Job>::make(Request{.name = "g0"}, Tensor(), Tensor());
    rank.engine.reserve({&other, 1});  // so its name is free
  });
}

TEST(a_rank_that_joined_takes_part_with_zeros) {
  world(3, [](Rank& rank, int r) {
    for (int i = r; i < 3; ++i) {
      const Ref<Job> job = rank.allreduce("x", filled(9000, 1));
      job->event->wait();
      CHECK(first(job) == float(3 - (i - r)));  // how many have not joined
    }
    const Ref<Job> join = rank.submit(Kind::Join, "join", {}, filled(1, 0, DType::Int32));
    join->event->wait();
    const int32_t last = *reinterpret_cast<int32_t*>(bytes_of(join->output));
    CHECK(last == 0);
  });
}

TEST(join_comes_after_what_still_waits_for_its_input) {
  world(2, [](Rank& rank, int r) {
    const Ref<ManualEvent> input = Ref<ManualEvent>::make("input", std::string());
    const Ref<Event> inputs[] = {input};
    const Tensor x = filled(2, 1), out = filled(2, 0);
    // Each rank has one that is late, so that a join that waited for results would hang.
    const std::vector<Ref<Job>> jobs{
        rank.submit(
            Kind::Allreduce, "x", x, filled(2, 0), [](Request&) {}, std::span(inputs, r)),
        rank.submit(Kind::Allreduce, str("own", r), x, filled(2, 0))};
    const Ref<Job> join = rank.submit(Kind::Join, "join", {}, filled(1, 0, DType::Int32));
    if (r) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      CHECK(!join->event->done() && !jobs[0]->event->done());
      input->set();
    }
    for (const Ref<Job>& job : jobs) job->event->wait();
    join->event->wait();
    CHECK(first(jobs[0]) == 2 && first(jobs[1]) == 1);
    const Ref<Job> next = rank.allreduce("x", filled(2, r + 5));
    next->event->wait();
    CHECK(first(next) == 11);
  });
}

TEST(a_request_of_a_rank_that_has_joined_is_for_later) {
  std::atomic<bool> asked{false};
  world(2, [&](Rank& rank, int r) {
    Ref<Job> join, job;
    const auto joins = [&] {
      join = rank.submit(Kind::Join, "join", {}, filled(1, 0, DType::Int32));
    };
    if (r == 1) {
      const Ref<ManualEvent> input = Ref<ManualEvent>::make("input", std::string());
      const Ref<Event> inputs[] = {input};
      joins();
      job = rank.submit(
          Kind::Allreduce, "x", filled(1, 7), filled(1, 0), [](Request&) {}, inputs);
      asked = true;
      join->event->wait();
      input->set();
    } else {
      while (!asked) std::this_thread::yield();
      const Ref<Job> alone = rank.allreduce("x", filled(1, 1));
      alone->event->wait();
      CHECK(first(alone) == 1);
      joins();
      join->event->wait();
      job = rank.allreduce("x", filled(1, 2));
    }
    job->event->wait();
    CHECK(first(job) == 9);
  });
}

TEST(who_comes_late_gets_the_error_and_the_steps_stay_together) {
  Settings settings;
  settings.stall_seconds = 0.5;
  std::atomic<bool> failed{false};
  const auto run = [&](Rank& rank, int r) {
    while (r && !failed) std::this_thread::yield();
    for (int step = 0; step < 20; ++step) {
      const Ref<Job> job = rank.allreduce("x", filled(1, 10 * step + r));
      if (step == 0) {
        CHECK_THROWS(job->event->wait(), CollectiveError,
                     "[x] stalled: submitted by rank 0 at rank.py:1, but not by rank 1");
        failed = true;
        continue;
      }
      job->event->wait();
      CHECK(first(job) == float(20 * step + 1));
    }
  };
  world(2, run, settings);
}

TEST(every_request_has_one_answer_after_a_stall) {
  Coordinator coordinator(3, 0, 0, 0.05);
  Request x{.name = "x"}, join{.kind = Kind::Join, .name = "join"};
  const auto stalled = [&] {
    std::vector<Response> made;
    while (made.empty()) made = coordinator.take_ready();
    return made;
  };
  const auto answer = [&](const std::vector<int32_t>& ranks, bool error) {
    const std::vector<Response> made = coordinator.take_ready();
    CHECK(made.size() == 1 && made[0].ranks == ranks && made[0].error.empty() != error);
  };
  for (int i = 0; i < 2; ++i) {  // rank 0 goes on and stalls again
    coordinator.add(0, x);
    const std::vector<Response> made = stalled();
    CHECK(made.size() == 1 && made[0].ranks == std::vector<int32_t>{0});
    CHECK(made[0].error.find("but not by rank 1, 2 within") != std::string::npos);
    CHECK(made[0].concerns(0) && !made[0].concerns(1));
  }
  coordinator.add(1, x);
  answer({1}, true);
  coordinator.add(1, x);
  answer({1}, true);
  coordinator.add(1, x);
  coordinator.add(0, x);
  CHECK(coordinator.take_ready().empty());
  coordinator.add(2, x);
  answer({2}, true);
  coordinator.add(2, join);  // so the second one does not come any more
  answer({}, false);
  coordinator.add(0, join);
  coordinator.add(1, join);
  answer({}, false);
  for (int r = 0; r < 3; ++r) coordinator.add(r, x);
  answer({}, false);
}

TEST(a_factor_that_is_nan_agrees_with_itself) {
  world(2, [](Rank& rank, int) {
    for (int i = 0; i < 3; ++i) {
      const Ref<Job> job = rank.allreduce("x", filled(1, 1),
                                          [](Request& request) { request.prescale = NAN; });
      job->event->wait();
      CHECK(std::isnan(first(job)));
    }
    CHECK(rank.engine.counts().numbered == 2);
  });
}

TEST(a_tensor_that_a_rank_does_not_submit_fails_in_time) {
  Settings settings;
  settings.stall_seconds = 0.2;
  std::atomic<bool> failed{false};
  const auto run = [&](Rank& rank, int r) {
    if (r == 0) {
      const Ref<Job> job = rank.allreduce("alone", filled(1, 0));
      CHECK_THROWS(job->event->wait(), CollectiveError,
                   "submitted by rank 0 at rank.py:1, but not by rank 1");
      failed = true;
    }
    while (!failed) std::this_thread::yield();
    const Ref<Job> job = rank.allreduce("both", filled(1, 1));
    job->event->wait();
    CHECK(first(job) == 2);
  };
  world(2, run, settings);
}

TEST(a_warning_comes_before_the_error_and_names_who_is_missing) {
  std::atomic<bool> warned{false}, failed{false};
  std::vector<std::string> warnings;
  Settings settings;
  settings.stall_seconds = 1.2;
  settings.warn_seconds = 0.3;
  settings.warn = [&](const std::string& text) {
    warnings.push_back(text);
    warned = true;
  };
  world(
      3,
      [&](Rank& rank, int r) {
        if (r == 1) {
          std::vector<Ref<Job>> jobs;
          for (int i = 0; i < 7; ++i)
            jobs.push_back(rank.allreduce(str("x", i), filled(1, 0)));
          while (!warned) std::this_thread::yield();
          CHECK(!jobs[0]->event->done());
          CHECK_THROWS(jobs[6]->event->wait(), CollectiveError,
                       "but not by rank 0, 2 within");
          failed = true;
        }
        while (!failed) std::this_thread::yield();
      },
      settings);
  CHECK(warnings.size() == 1);
  CHECK(warnings[0].find("x0: submitted by rank 1 at rank.py:1, but not by rank 0, 2") !=
        std::string::npos);
  CHECK(warnings[0].find("and 2 more") != std::string::npos);
  CHECK(warnings[0].find("error after 1.2 seconds") != std::string::npos);
}

TEST(what_one_rank_refuses_fails_on_all_and_the_next_call_does_not) {
  world(2, [](Rank& rank, int r) {
    for (int i = 0; i < 5; ++i) {
      const auto refuses = [&](Request& request) {
        if (r) request.failure = "[broadcast] a wrong root";
      };
      const Ref<Job> job = rank.submit(Kind::Broadcast, "x", r ? Tensor() : filled(2, 0),
                                       r ? Tensor() : filled(2, 0), refuses, {}, r == 1);
      Ref<Job> next;
      if (r) next = rank.allreduce("x", filled(2, r + 1));  // at once
      CHECK_THROWS(job->event->wait(), CollectiveError,
                   "[x] rank 1 cannot take part: [broadcast] a wrong root (rank 0 at "
                   "rank.py:1, rank 1 at rank.py:1)");
      if (!r) next = rank.allreduce("x", filled(2, r + 1));
      next->event->wait();
      CHECK(first(next) == 3);
    }
  });
}

TEST(the_names_of_a_group_are_free_when_one_of_it_has_failed) {
  world(2, [](Rank& rank, int r) {
    for (int round = 0; round < 50; ++round) {
      std::vector<Ref<Job>> jobs;
      for (int i = 0; i < 4; ++i) {
        Request request;
        request.kind = Kind::Allgather;
        request.name = str("g", i);
        request.sizes = Shape{2, i == 2 ? 1 + r : 1};
        request.group = "g";
        request.group_size = 4;
        jobs.push_back(Ref<Job>::make(request, filled(4, 0), Tensor()));
      }
      rank.engine.reserve(jobs);
      rank.engine.begin({jobs.begin(), jobs.end()}, {});
      CHECK_THROWS(jobs[0]->event->wait(), CollectiveError, "[g2] Mismatched allgather");
    }
  });
}

TEST(groups_of_one_name_and_two_sizes_fail_on_all_ranks_at_once) {
  world(3, [](Rank& rank, int r) {
    const auto group = [&](int count) {
      std::vector<Ref<Job>> jobs;
      for (int i = 0; i < count; ++i) {
        Request request;
        request.name = str("g_", i + 1, "of", count);
        request.sizes = Shape{1};
        request.group = "g";
        request.group_size = count;
        jobs.push_back(Ref<Job>::make(request, filled(1, 1), filled(1, 0)));
      }
      rank.engine.reserve(jobs);
      rank.engine.begin({jobs.begin(), jobs.end()}, {});
      return jobs;
    };
    for (int round = 0; round < 20; ++round) {
      // Rank 2 may come when the others have their error already.
      if (r == 2) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const int count = 2 + (r + round) % 2;
      const auto odd = group(count);
      if (round == 0) CHECK_THROWS(group(5 - count), ValueError, "[g] Requested a group");
      for (const Ref<Job>& job : odd) {
        CHECK_THROWS(job->event->wait(), CollectiveError, "Mismatched groups");
      }
      for (const Ref<Job>& job : group(4)) {
        job->event->wait();
        CHECK(first(job) == 3);
      }
    }
  });
}

TEST(a_lane_of_the_timeline_is_shared_by_calls_without_a_name) {
  const std::string path = str("/tmp/pkg_timeline_lanes_", getpid(), ".json");
  Settings settings;
  settings.timeline = path;
  world(
      2,
      [](Rank& rank, int) {
        for (int i = 0; i < 5; ++i) {
          const auto numbered = [](Request& request) { request.numbered = true; };
          const std::string name = rank.engine.next_name(Kind::Allreduce);
          rank.allreduce(name, filled(9, 1), numbered)->event->wait();
        }
      },
      settings);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string lane = "\"thread_name\"";
  const size_t found = text.find(lane);
  CHECK(found != text.npos && text.find(lane, found + 1) == text.npos);
  CHECK(text.find("\"args\": {\"name\": \"allreduce.noname\"}") != text.npos);
  CHECK(text.find("\"args\": {\"tensor\": \"allreduce.noname.5\"}") != text.npos);
  std::remove(path.c_str());
}

TEST(the_timeline_tells_what_happened_to_each_tensor) {
  const std::string path = str("/tmp/pkg_timeline_", getpid(), ".json");
  Settings settings;
  settings.timeline = path;
  const uint64_t trace = trace::open({false, false, false, false, true});
  world(
      2,
      [](Rank& rank, int) {
        std::vector<Ref<Job>> jobs;
        for (int i = 0; i < 3; ++i)
          jobs.push_back(rank.allreduce(str("t", i), filled(9, 1)));
        for (const Ref<Job>& job : jobs) job->event->wait();
      },
      settings);
  const trace::Found found = trace::close(trace);
  for (const char* name : {"NEGOTIATE_ALLREDUCE", "ALLREDUCE", "TRANSFER", "REDUCE"}) {
    for (const char* tensor : {"t0", "t1", "t2"}) {
      const auto is = [&](const trace::Span& span) {
        return span.name == name && span.detail == tensor && span.end >= span.start &&
               span.line == "rank.py:1";
      };
      CHECK(std::count_if(found.spans.begin(), found.spans.end(), is) == 2);  // ranks
    }
  }
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.starts_with("[\n{\"name\": ") && text.ends_with("{}\n]\n"));
  CHECK(text.find("{\"name\": \"rank 1\", \"ph\": \"i\"") != std::string::npos);
  CHECK(text.find("\"args\": {\"name\": \"t2\"}") != std::string::npos);
  std::remove(path.c_str());
}

TEST(what_is_pending_at_shutdown_fails) {
  world(2, [](Rank& rank, int r) {
    if (r == 0) {
      const Ref<Job> job = rank.allreduce("alone", filled(1, 0));
      rank.engine.shutdown()->wait();
      CHECK_THROWS(job->event->wait(), CollectiveError, "has been shut down");
      CHECK_THROWS(rank.allreduce("later", filled(1, 0)), CollectiveError,
                   "been shut down");
    }
  });
}

TEST(sessions_follow_each_other) {
  auto hub = std::make_shared<LocalHub>(2);
  Rank zero(hub, 0), one(hub, 1);
  const auto rounds = [](Rank& rank) {
    CHECK_THROWS(rank.engine.place(), ValueError, "not been initialized; use hvd.init()");
    for (int i = 0; i < 50; ++i) {
      rank.engine.init({})->wait();
      const Ref<Job> job = rank.allreduce("x", filled(3, i));
      job->event->wait();
      CHECK(first(job) == float(2 * i));
      rank.engine.shutdown()->wait();
    }
  };
  std::thread other([&] { rounds(one); });
  rounds(zero);
  other.join();
}

TEST(the_place_is_known_when_another_rank_has_ended_the_session_since) {
  auto hub = std::make_shared<LocalHub>(2);
  Rank zero(hub, 0), one(hub, 1);
  const Ref<Event> begun = zero.engine.init({});
  one.engine.init({})->wait();
  one.engine.shutdown()->wait();
  begun->wait();
  while (zero.engine.running()) std::this_thread::yield();
  CHECK_THROWS(zero.engine.place(), CollectiveError, "has been shut down");
  CHECK(zero.engine.last_place().rank == 0 && zero.engine.last_place().size == 2);
}

TEST(init_does_not_wait_for_ever) {
  Settings settings;
  settings.start_seconds = 0.3;
  auto hub = std::make_shared<LocalHub>(2);
  const auto lost = [&](Engine& engine) {
    CHECK_THROWS(engine.init(settings)->wait(), CollectiveError,
                 " has waited 0.3 seconds until all ranks come to init()");
    CHECK_THROWS(engine.init(settings), CollectiveError, "the ranks were lost: [init]");
    CHECK_THROWS(engine.place(), CollectiveError, "has waited 0.3 seconds");
    CHECK(engine.shutdown()->done() && !engine.running());
  };
  {
    Rank alone(hub, 0);  // where ranks exchange who they are
    lost(alone.engine);
  }
  std::atomic<bool> come{false}, used{false};
  {
    Engine stuck(
        [&](const Settings&, const std::function<void()>&) {  // as in MPI_Init
          while (!come) std::this_thread::yield();
          return std::make_unique<LocalTransport>(std::make_shared<LocalHub>(1), 0);
        },
        [&] { used = true; });
    lost(stuck);
    come = true;  // too late
    CHECK(stuck.leave(10) && !stuck.running() && !used);
  }
  // The second time, by a rank whose peer was there the first time.
  hub = std::make_shared<LocalHub>(2);
  Rank zero(hub, 0), one(hub, 1);
  std::thread other([&] {
    one.engine.init(settings)->wait();
    one.engine.shutdown()->wait();
  });
  zero.engine.init(settings)->wait();
  zero.engine.shutdown()->wait();
  other.join();
  lost(zero.engine);
}

TEST(every_dtype_is_reduced_by_its_own_rules) {
  const auto reduced = [](DType dtype, Reduction how, double a, double b) {
    const Tensor x = filled(1, a, dtype), y = filled(1, b, dtype),
                 out = filled(1, 0, dtype);
    const char* inputs[] = {bytes_of(x), bytes_of(y)};
    reduce(dtype, {how, 1, 1, 2}, inputs, bytes_of(out), 1);
    return visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
      return double(float(*reinterpret_cast<T*>(bytes_of(out))));
    });
  };
  CHECK(reduced(DType::Bool, Reduction::Sum, 1, 1) == 1);
  CHECK(reduced(DType::Bool, Reduction::Product, 1, 0) == 0);
  CHECK(reduced(DType::UInt8, Reduction::Sum, 200, 100) == 44);  // it wraps
  CHECK(reduced(DType::Int8, Reduction::Min, -100, 100) == -100);
  CHECK(reduced(DType::Int8, Reduction::Max, -100, 100) == 100);
  CHECK(reduced(DType::Int64, Reduction::Product, -3, 5) == -15);
  CHECK(reduced(DType::Float16, Reduction::Average, 1, 2) == 1.5);
  CHECK(reduced(DType::BFloat16, Reduction::Sum, 1, 2) == 3);
  CHECK(std::isnan(reduced(DType::Float32, Reduction::Min, NAN, 1)));
  CHECK(std::isnan(reduced(DType::Float64, Reduction::Max, 1, NAN)));
}

TEST(nothing_comes_after_the_last_word) {
  const auto hub = std::make_shared<LocalHub>(2);
  LocalTransport zero(hub, 0), one(hub, 1);
  std::optional<Peers> listener, speaker;
  std::thread other([&] { speaker.emplace(one, 60.0); });
  listener.emplace(zero, 1.0);
  other.join();
  const auto signs = [&](bool stopping) {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    speaker->look(stopping);
    int count = 0, from = 0;
    for (std::string message; zero.receive(from, message);) ++count;
    return count;
  };
  CHECK(signs(false) == 1);
  listener->left(1);
  CHECK(signs(true) == 0);
  listener->look(true);  // more than a second later: nobody waits for a sign
}

TEST(places_follow_from_hosts) {
  const std::vector<std::string> hosts{"a", "b", "a", "b", "c"};
  const Place place = place_of(3, hosts);
  CHECK(place.local_rank == 1 && place.local_size == 2);
  CHECK(place.cross_rank == 1 && place.cross_size == 2);
  CHECK(place_of(4, hosts).cross_rank == 2 && place_of(4, hosts).cross_size == 3);
}
