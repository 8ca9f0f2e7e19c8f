// SPDX-License-Identifier: Apache-2.0
// tests/cpp/dispatcher_test.cc: registration and its errors, the walk down the keys,
// lookup, and both at once from many threads.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "autograd/engine.h"
#include "check.h"
#include "dispatcher/library.h"
#include "ops/functions.h"

using namespace pkg;
using Kind = Library::Kind;

namespace {

Tensor same(const Tensor& self) { return self; }

Tensor filled(int64_t n, float value) {
  Tensor t = empty(Shape{n}, DType::Float32);
  std::fill_n(t.data<float>(), n, value);
  return t;
}
float first(const Tensor& t) { return t.wait().data<float>()[0]; }

// Puts a block on the list as a loaded library would, and runs the list.
void add_block(Kind kind, const char* ns, const char* key, void (*block)(Library&),
               const char* stamp = PKG_STAMP_) {
  Dispatcher::get();  // an error undoes all that is pending: let it be this block alone
  Registration registration(kind, ns, key, {"here:1"}, block, stamp);
  Dispatcher::get();
}
bool known(const char* name) { return Dispatcher::get().find_or_null(name, "test"); }

// A call while statics are being made, before the block below is on the list.
const float g_early = first(ops::add(filled(3, 1), filled(3, 2)));

std::atomic<int> g_profiled{0};

void profile(const Operator& op, const Kernel&, KeySet keys, Stack& stack) {
  ++g_profiled;
  const KeySet below = keys & KeySet::below(DispatchKey::Python);
  Dispatcher::get().redispatch_boxed(op, below, stack);
}

PKG_LIBRARY(test, m) {
  m.def("twice(Tensor self) -> Tensor")
      .doc("2 * self.")
      .pointwise()
      .shape([](const Tensor& self) { return self.spec(); })
      .cpu([](Tensor& out, const Tensor& self) {
        for (int64_t i = 0; i < self.numel(); ++i) {
          out.data<float>()[i] = 2 * self.data<float>()[i];
        }
      })
      .in_place();
  m.def("shape_only(Tensor self) -> Tensor").shape([](const Tensor& self) {
    return self.spec();
  });
  m.def("pick.b(Tensor self, int which) -> Tensor");
  m.def("pick(Tensor self) -> Tensor");
  m.def("pick.a(Tensor self, *, float which=1) -> Tensor");
}
const Op<Tensor(const Tensor&)> twice{"twice", "test"};

}  // namespace

TEST(the_registry_is_there_before_main_and_takes_later_blocks) {
  CHECK(g_early == 3);
  CHECK(known("twice"));
}

TEST(one_namespace_has_one_definition_block) {
  CHECK_THROWS(add_block(Kind::Definition, "test", nullptr, [](Library&) {}), RuntimeError,
               "Only a single PKG_LIBRARY");
  add_block(Kind::Fragment, "test", nullptr,
            [](Library& m) { m.def("from_fragment(Tensor self) -> Tensor"); });
  CHECK(known("from_fragment"));
}

TEST(a_failing_block_leaves_nothing_behind) {
  const size_t before = Dispatcher::get().all().size();
  CHECK_THROWS(add_block(Kind::Fragment, "test", nullptr,
                         [](Library& m) {
                           m.def("good(Tensor self) -> Tensor")
                               .shape([](const Tensor& self) { return self.spec(); })
                               .in_place();
                           m.def("bad(Tensr self) -> Tensor");
                         }),
               ValueError, "<--- HERE");
  CHECK(!known("good") && !known("good_") && Dispatcher::get().all().size() == before);
  CHECK(Dispatcher::get().overloads("good", "test").empty());
  // The name is free again, and so is a namespace claimed by the failing block.
  const auto once = [](Library& m) { m.def("good(Tensor self) -> Tensor"); };
  add_block(Kind::Fragment, "test", nullptr, once);
  CHECK(known("good") && Dispatcher::get().overloads("good", "test").size() == 1);
  CHECK_THROWS(add_block(Kind::Definition, "late", nullptr,
                         [](Library&) { throw std::runtime_error("own error"); }),
               std::exception, "own error");
  add_block(Kind::Definition, "late", nullptr, [](Library&) {});
}

TEST(a_block_that_was_compiled_for_another_core_does_not_run) {
  CHECK_THROWS(add_block(
                   Kind::Fragment, "test", nullptr,
                   [](Library& m) { m.def("foreign(Tensor self) -> Tensor"); },
                   "C++ interface 0, dispatch keys 99"),
               ImportError, "got one for C++ interface 0 (dispatch keys 99). Compile");
  CHECK(!known("foreign"));
}

TEST(a_failing_block_gives_replaced_kernels_back) {
  const Tensor x = filled(3, 1);
  CHECK(first(twice(x)) == 2);
  CHECK_THROWS(add_block(Kind::Implementation, "test", "CPU",
                         [](Library& m) {
                           m.impl("twice", [](Tensor& out, const Tensor& self) {
                             out.data<float>()[0] = 99 + self.data<float>()[0];
                           });
                           m.impl("missing", same);
                         }),
               LookupError, "test::missing");
  CHECK(first(twice(x)) == 2);
}

TEST(names_are_taken_once) {
  CHECK_THROWS(add_block(Kind::Fragment, "test", nullptr,
                         [](Library& m) { m.def("twice(Tensor self) -> Tensor"); }),
               RuntimeError, "test::twice is already registered at ");
}

TEST(blocks_do_what_their_kind_allows) {
  CHECK_THROWS(add_block(Kind::Implementation, "test", "CPU",
                         [](Library& m) { m.def("f(Tensor self) -> Tensor"); }),
               RuntimeError, "[def] not allowed in a PKG_LIBRARY_IMPL block (at here:1)");
  CHECK_THROWS(
      add_block(Kind::Fragment, "test", nullptr, [](Library& m) { m.fallback(profile); }),
      RuntimeError, "[fallback] belongs in");
  CHECK_THROWS(add_block(Kind::Implementation, "test", "Cuda", [](Library&) {}), ValueError,
               "could not parse dispatch key: Cuda");
  CHECK_THROWS(add_block(Kind::Implementation, "_", "Autograd",
                         [](Library& m) { m.fallback(profile); }),
               RuntimeError, "key Autograd already has a fallback");
}

TEST(functions_must_fit_the_schema) {
  CHECK_THROWS(add_block(Kind::Fragment, "test", nullptr,
                         [](Library& m) {
                           m.def("g(Tensor self, int n) -> Tensor")
                               .cpu([](const Tensor& self, double) { return self; });
                         }),
               ValueError,
               "expected Tensor(const Tensor& self, int64_t n), got "
               "Tensor(const Tensor&, double).");
  CHECK_THROWS(add_block(Kind::Fragment, "test", nullptr,
                         [](Library& m) {
                           m.def("g(Tensor self) -> Tensor")
                               .shape([](const Tensor& self) { return self.spec(); })
                               .cpu([](Tensor&, const Tensor&, bool) {});
                         }),
               ValueError,
               "expected void(Tensor& out, const Tensor& self), got "
               "void(Tensor& out, const Tensor&, bool).");
  CHECK_THROWS(add_block(Kind::Fragment, "test", nullptr,
                         [](Library& m) {
                           m.def("g(Tensor self) -> Tensor").grad("other", nullptr);
                         }),
               ValueError, "expected names of parameters or 'result', got 'other'");
}

TEST(overloads_are_found_by_name_and_kept_in_order) {
  const Dispatcher& dispatcher = Dispatcher::get();
  const auto picks = dispatcher.overloads("pick", "test");
  CHECK(picks.size() == 3 && picks[0]->schema.overload == "b" &&
        picks[1]->schema.overload.empty() && picks[2]->schema.overload == "a");
  CHECK(&dispatcher.find("pick.a", "test") == picks[2]);
  CHECK(&dispatcher.find("test::pick.a") == picks[2]);
  CHECK(dispatcher.find("aten::add").qualified_name() == "pkg::add");
  CHECK_THROWS(dispatcher.find("pick.c", "test"), LookupError, "b, (none), a");
}

TEST(a_missing_kernel_names_op_key_and_what_there_is) {
  const Op<Tensor(const Tensor&)> shape_only{"shape_only", "test"};
  CHECK_THROWS(shape_only(filled(2, 0)), NotImplementedError,
               "Could not run 'test::shape_only' with arguments from the 'CPU' backend. "
               "It is only available for these backends: [Meta]");
  const Tensor meta = empty(Shape{2}, DType::Float32, Device{DeviceType::Meta});
  CHECK(shape_only(meta).is_meta());
}

TEST(typed_and_boxed_calls_agree) {
  const Tensor x = filled(4, 3);
  Value args[] = {Value(x)};
  Stack stack(args);
  Dispatcher::get().call_boxed(twice.record(), stack);
  CHECK(stack.results.size() == 1 && first(std::get<Tensor>(stack.results[0])) == 6);
  CHECK(first(twice(x)) == 6);
  const Op<Tensor(const Tensor&)> twice_{"twice_", "test"};
  CHECK(twice_(x).is_same(x) && first(x) == 6);
}

TEST(a_gradient_is_given_later_with_an_object_behind_it) {
  add_block(Kind::Fragment, "test", nullptr, [](Library& m) {
    m.def("bare(Tensor self) -> Tensor")
        .shape([](const Tensor& self) { return self.spec(); })
        .cpu([](Tensor& out, const Tensor& self) {
          *out.data<float>() = *self.data<float>();
        })
        .in_place();
    m.def("composed(Tensor self) -> Tensor").composite(same);
  });
  const Op<Tensor(const Tensor&)> bare{"bare", "test"};
  const Tensor x = filled(1, 5);
  set_requires_grad(x, true);
  CHECK_THROWS(bare(x), NotImplementedError, "[bare] has no gradient formula");
  // One that is undone leaves the op as it was.
  CHECK_THROWS(add_block(Kind::Fragment, "test", nullptr,
                         [](Library& m) {
                           m.gradient("bare", "", [](const GradContext& g) -> TensorList {
                             return {g.grad()};
                           });
                           throw std::runtime_error("half way");
                         }),
               std::exception, "half way");
  CHECK_THROWS(bare(x), NotImplementedError, "[bare] has no gradient formula");

  add_block(Kind::Fragment, "test", nullptr, [](Library& m) {
    const Tensor factor = filled(1, 3);
    m.gradient("bare", "self result", [factor](const GradContext& g) -> TensorList {
      CHECK(first(g.input(0)) == 5 && first(g.result()) == 5);
      return {ops::mul(g.grad(), factor)};
    });
  });
  Tensor y = bare(x);
  backward({y}, {filled(1, 2)});
  CHECK(first(x.grad()) == 6);
  CHECK(std::string(bare.record().gradient_name()) == "formula");

  const auto again = [](const char* name, const char* why) {
    static const char* asked = name;
    asked = name;
    CHECK_THROWS(add_block(Kind::Fragment, "test", nullptr,
                           [](Library& m) {
                             m.gradient(asked, "", [](const GradContext&) -> TensorList {
                               return {};
                             });
                           }),
                 ValueError, why);
  };
  again("bare", "at here:1: the op has a formula for all arguments, .grad(...), already, "
                "given at here:1.");
  again("bare_", "the gradient of an in-place form is that of test::bare.");
  again("composed", "the gradient of a composite op is that of the ops that it calls");
  again("pkg::relu", "the op has gradients of single arguments");
  again("pkg::eq", "the op says that it has none");
}

// The built-in ops without a derivative take no floating tensors.
TEST(writes_without_a_derivative_are_refused) {
  add_block(Kind::Fragment, "test", nullptr, [](Library& m) {
    m.def("one(Tensor self) -> Tensor")
        .shape([](const Tensor& self) { return self.spec(); })
        .cpu([](Tensor& out, const Tensor&) { *out.data<float>() = 1; })
        .non_differentiable()
        .in_place();
  });
  const Op<Tensor(const Tensor&)> write{"one_", "test"};
  const Tensor x = filled(1, 3);
  CHECK(*write(x).data<float>() == 1);
  set_requires_grad(x, true);
  CHECK_THROWS(write(x), RuntimeError, "a leaf Variable that requires grad");
  const Tensor y = ops::mul(x, x);
  CHECK_THROWS(write(y), NotImplementedError, "[one_] is not differentiable");
  CHECK(*y.data<float>() == 1);
}

TEST(each_key_redispatches_to_those_below) {
  add_block(Kind::Fragment, "test", nullptr, [](Library& m) {
    Kernel kernel;
    kernel.boxed = profile;
    m.def("seen(Tensor self) -> Tensor")
        .shape([](const Tensor& self) { return self.spec(); })
        .cpu([](Tensor& out, const Tensor&) { out.data<float>()[0] = 5; })
        .kernel(DispatchKey::Python, kernel);
  });
  const Op<Tensor(const Tensor&)> seen{"seen", "test"};
  const Tensor x = filled(1, 0);
  CHECK(first(seen(x)) == 5 && g_profiled == 0);
  const LocalKeys saved = t_local_keys;
  t_local_keys.included |= DispatchKey::Python;
  CHECK(first(seen(x)) == 5 && g_profiled == 1);
  CHECK(first(twice(x)) == 0 && g_profiled == 1);  // twice has nothing at that key
  {
    const ExcludeKeys without(DispatchKey::Python);
    CHECK(first(seen(x)) == 5 && g_profiled == 1);
  }
  CHECK(first(seen(x)) == 5 && g_profiled == 2);
  t_local_keys = saved;
}

TEST(excluded_keys_are_of_one_thread_and_come_back) {
  CHECK(grad_enabled());
  {
    const ExcludeKeys outer(DispatchKey::Autograd);
    {
      const ExcludeKeys inner(DispatchKey::Autograd);
      CHECK(!grad_enabled());
    }
    CHECK(!grad_enabled());
    bool elsewhere = false;
    std::thread([&] { elsewhere = grad_enabled(); }).join();
    CHECK(elsewhere);
  }
  CHECK(grad_enabled());
}

TEST(an_op_being_registered_is_waited_for) {
  static std::atomic<bool> started{false};
  std::thread registering([] {
    add_block(Kind::Fragment, "test", nullptr, [](Library& m) {
      started = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      m.def("slowly(Tensor self) -> Tensor");
    });
  });
  while (!started) std::this_thread::yield();
  CHECK(known("slowly"));
  registering.join();
}

TEST(calls_lookups_and_registration_at_once) {
  static std::atomic<int> registered{0};
  constexpr int kOps = 60;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.emplace_back([] {
    for (int i = 0; i < kOps; ++i) {
      add_block(Kind::Fragment, "many", nullptr, [](Library& m) {
        m.def(str("op", registered.load(), "(Tensor self) -> Tensor"))
            .doc("A copy of twice.")
            .shape([](const Tensor& self) { return self.spec(); })
            .cpu([](Tensor& out, const Tensor& self) {
              out.data<float>()[0] = 2 * self.data<float>()[0];
            });
      });
      // A new kernel for an op that the other threads are calling.
      add_block(Kind::Implementation, "test", "Meta", [](Library& m) {
        m.impl("twice", [](const Tensor& self) { return empty(self.spec()); });
      });
      ++registered;
    }
  });
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      const Tensor x = filled(8, 1);
      for (int n = 0; n < kOps;) {
        if (first(twice(x)) != 2) ++wrong;
        if (Dispatcher::get().overloads("twice", "test").size() != 1) ++wrong;
        if (n >= registered) continue;
        const std::string name = str("op", n++);
        const Operator* found = Dispatcher::get().find_or_null(name, "many");
        if (!found) {
          ++wrong;
          continue;
        }
        Value args[] = {Value(x)};
        Stack stack(args);
        Dispatcher::get().call_boxed(*found, stack);
        if (first(std::get<Tensor>(stack.results[0])) != 2) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST(handles_survive_replaced_kernels) {
  static const Op<Tensor(const Tensor&)> held{"kept", "test"};
  add_block(Kind::Fragment, "test", nullptr, [](Library& m) {
    m.def("kept(Tensor self) -> Tensor")
        .shape([](const Tensor& self) { return self.spec(); })
        .cpu([](Tensor& out, const Tensor&) { out.data<float>()[0] = 1; });
  });
  const Tensor x = filled(1, 0);
  CHECK(first(held(x)) == 1);
  const Operator* record = &held.record();
  add_block(Kind::Implementation, "test", "Meta", [](Library& m) {
    m.impl("kept", [](const Tensor& self) { return empty(self.spec()); });
  });
  CHECK_THROWS(add_block(Kind::Implementation, "test", "CPU",
                         [](Library& m) {
                           m.impl("kept", [](Tensor& out, const Tensor&) {
                             out.data<float>()[0] = 2;
                           });
                           throw std::runtime_error("half-way");
                         }),
               std::exception, "half-way");
  for (int i = 0; i < 100; ++i) {
    static int number;
    number = i;
    add_block(Kind::Fragment, "test", nullptr,
              [](Library& m) { m.def(str("beside", number, "(Tensor self) -> Tensor")); });
  }
  CHECK(&held.record() == record && first(held(x)) == 1);
}

TEST(what_a_block_defines_is_there_for_others_when_it_has_ended) {
  static Dispatcher& dispatcher = Dispatcher::get();
  static bool own = false, others = true;
  static size_t seen = 0;
  const size_t before = dispatcher.all().size();
  add_block(Kind::Fragment, "test", nullptr, [](Library& m) {
    m.def("unfinished(Tensor self) -> Tensor").composite(same);
    own = dispatcher.find_or_null("unfinished", "test");
    std::thread([] {
      others = dispatcher.find_or_null("unfinished", "test");
      seen = dispatcher.all().size();
    }).join();
  });
  CHECK(own && !others && seen == before);
  CHECK(known("unfinished") && dispatcher.all().size() == before + 1);
}

TEST(a_typed_handle_is_not_an_untyped_one) {
  using One = Op<Tensor(const Tensor&)>;
  static_assert(!std::is_convertible_v<const Operator&, One>);
  const Op<Tensor(const Tensor&, const Tensor&)> wrong{"twice", "test"};
  const Tensor x = filled(1, 1);
  CHECK_THROWS(wrong(x, x), InternalError, "twice");
}

TEST(a_library_that_is_not_there) {
  CHECK_THROWS(load_library("/nowhere/ops.so"), ImportError, "/nowhere/ops.so");
}
