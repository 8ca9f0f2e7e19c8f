// SPDX-License-Identifier: Apache-2.0
// tests/cpp/ops_test.cc: the dispatcher and the basic ops, called from C++.
#include <bit>
#include <cmath>
#include <cstdint>
#include <thread>

#include "base/isa.h"
#include "base/vecmath.h"
#include "check.h"
#include "ops/functions.h"

using namespace pkg;

namespace {

Tensor range(int64_t n) {
  Tensor t = empty(Shape{n}, DType::Float32);
  for (int64_t i = 0; i < n; ++i) t.data<float>()[i] = float(i);
  return t;
}

/// As <cmath> says: NaN, infinity and zero exactly, the rest but for the last digits.
template <class T>
bool near(T got, T want) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want) || want == T(0)) return got == want;
  const T least = std::numeric_limits<T>::min();
  return std::abs(got - want) <=
         8 * std::numeric_limits<T>::epsilon() * std::abs(want) + least;
}

/// The functions of vecmath.h of numbers whose bits are multiples of `step`.
template <class T, class Word>
int wrong_of_bits(Word step) {
  int wrong = 0;
  for (Word bits = 0;; bits += step) {
    const T x = std::bit_cast<T>(bits);
    wrong += !near(vec::exp(x), std::exp(x)) + !near(vec::log(x), std::log(x));
    wrong += !near(vec::tanh(x), std::tanh(x)) + !near(vec::erf(x), std::erf(x));
    if (Word(bits + step) < bits) return wrong;
  }
}

}  // namespace

TEST(schema_text_survives_a_round_trip) {
  for (const Operator* op : Dispatcher::get().all()) {
    const std::string text = op->schema.str();
    CHECK(parse_schema(text).str() == text);
  }
}

TEST(schema_errors_show_the_place) {
  CHECK_THROWS(parse_schema("f(Tensor a, Tensr b) -> Tensor"), ValueError, "<--- HERE");
  CHECK_THROWS(parse_schema("f(Tensor a"), ValueError, "expected ,");
  for (const char* wrong :
       {"int n=None", "int n=1.5", "int n=True", "int[2] n=[1, 2, 3]", "Tensor b=1",
        "str s=True", "Device d=0", "bool b=1", "int n=9223372036854775808"}) {
    CHECK_THROWS(parse_schema(str("f(Tensor a, ", wrong, ") -> Tensor")), ValueError,
                 "<--- HERE");
  }
  const Schema exact = parse_schema("f(int n=9223372036854775807, float x=1) -> Tensor");
  CHECK(std::get<Scalar>(exact.arguments[0].default_value).to<int64_t>() == INT64_MAX);
  CHECK(std::get<Scalar>(exact.arguments[1].default_value).is_float());
  CHECK_THROWS(parse_schema("f(Tensor a, Tensor a) -> Tensor"), ValueError,
               "new parameter name");
}

TEST(unknown_op_is_named) {
  CHECK_THROWS(Dispatcher::get().find("nope"), LookupError, "No op registered: pkg::nope");
  CHECK_THROWS(Dispatcher::get().find("add.Nope"), LookupError,
               "Could not find schema for pkg::add.Nope but we found the overloads");
}

TEST(add_broadcasts_and_promotes) {
  const Tensor a = ops::reshape(range(6), Shape{2, 3});
  const Tensor b = ops::to_dtype(range(3), DType::Int64);
  const Tensor c = ops::add(a, b);
  CHECK(c.sizes() == (Shape{2, 3}) && c.dtype() == DType::Float32);
  for (int i = 0; i < 6; ++i) CHECK(c.data<float>()[i] == float(i + i % 3));
  CHECK(ops::add(b, Tensor(1)).dtype() == DType::Int64);
  CHECK(ops::add(b, Tensor(1.5)).dtype() == DType::Float32);
  CHECK_THROWS(ops::add(range(2), range(3)), RuntimeError, "must match the size");
}

TEST(defaults_of_the_schema_fill_missing_arguments) {
  const Tensor x = range(3);
  CHECK(ops::add(x, x, Scalar(2)).data<float>()[2] == 6.0f);
  CHECK(ops::add(x, x).data<float>()[2] == 4.0f);
}

TEST(in_place_form_writes_to_self_and_counts) {
  Tensor x = range(3);
  const uint32_t before = x.version();
  const Tensor y = ops::add_(x, Tensor(1));
  CHECK(y.is_same(x) && x.data<float>()[0] == 1.0f && x.version() == before + 1);
  CHECK_THROWS(ops::add_(ops::to_dtype(x, DType::Int64), Tensor(0.5)), RuntimeError,
               "can't be cast");
}

TEST(views_share_storage) {
  const Tensor x = range(6);
  const Tensor m = ops::transpose(ops::reshape(x, Shape{2, 3}), 0, 1);
  CHECK(&m.storage() == &x.storage() && !m.is_contiguous());
  CHECK(item(ops::select(ops::select(m, 0, 2), 0, 1)).to<double>() == 5.0);
  const Tensor copy = ops::contiguous(m);
  CHECK(copy.data<float>()[1] == 3.0f && &copy.storage() != &x.storage());
  CHECK_THROWS(ops::select(x, 0, 6), IndexError, "out of bounds");
}

TEST(overlapping_in_place_reads_old_values) {
  Tensor m = ops::reshape(range(4), Shape{2, 2});
  ops::add_(m, ops::transpose(m, 0, 1));
  const float want[] = {0, 3, 3, 6};
  for (int i = 0; i < 4; ++i) CHECK(m.data<float>()[i] == want[i]);
}

TEST(instruction_sets_agree) {
  Tensor x = empty(Shape{1003}, DType::Float32);
  for (int i = 0; i < 1003; ++i) x.data<float>()[i] = float(i - 500) * 0.1f;
  const Isa best = isa();
  set_isa(Isa::Baseline);
  const Tensor e = ops::exp(x), s = ops::add(x, x);
  for (int level = 1; level <= int(best); ++level) {
    set_isa(Isa(level));
    const Tensor e2 = ops::exp(x), s2 = ops::add(x, x);
    for (int i = 0; i < 1003; ++i) {
      CHECK(s.data<float>()[i] == s2.data<float>()[i]);
      const float a = e.data<float>()[i], b = e2.data<float>()[i];
      CHECK(std::abs(a - b) <= 3e-7f * a);
    }
  }
  set_isa(best);
}

TEST(meta_tensors_have_shape_only) {
  const Tensor x = empty(Shape{1000, 1000}, DType::Float32, Device{DeviceType::Meta});
  const Tensor y = ops::exp(ops::add(x, Tensor(1)));
  CHECK(y.is_meta() && y.sizes() == x.sizes());
  CHECK_THROWS(item(ops::select(ops::select(y, 0, 0), 0, 0)), RuntimeError, "meta");
}

TEST(steady_state_asks_the_system_for_nothing) {
  const Tensor x = ops::full_like(empty(Shape{300}, DType::Float32), 1);
  for (int i = 0; i < 10; ++i) ops::exp(ops::add(x, x));
  const int64_t before = allocator_stats().system_allocations;
  for (int i = 0; i < 1000; ++i) ops::exp(ops::add(x, x));
  CHECK(allocator_stats().system_allocations == before);
}

TEST(registration_and_calls_from_many_threads) {
  const Tensor x = range(100);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        if (ops::add(x, x).data<float>()[99] != 198.0f) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST(elementary_functions_take_numbers_of_any_bits) {
  // Sanitizers look at what becomes of the bits of negative numbers, NaN and infinities.
  CHECK(wrong_of_bits<float>(uint32_t{1} << 12) == 0);
  CHECK(wrong_of_bits<double>(uint64_t{1} << 44) == 0);
}

TEST(advanced_indexing_reads_and_writes) {
  Tensor m = ops::reshape(range(12), Shape{3, 4});
  const Tensor rows = ops::to_dtype(range(2), DType::Int64);
  const Tensor picked = ops::index(m, TensorList{rows, rows});
  CHECK(picked.sizes() == (Shape{2}) && picked.data<float>()[1] == 5.0f);
  const Tensor columns = ops::index(m, TensorList{Tensor(), rows});
  CHECK(columns.sizes() == (Shape{3, 2}));
  CHECK(ops::contiguous(columns).data<float>()[3] == 5.0f);
  const Tensor masked = ops::index(m, TensorList{ops::gt(m, Tensor(9))});
  CHECK(masked.sizes() == (Shape{2}) && masked.data<float>()[0] == 10.0f);
  ops::index_put_(m, TensorList{Tensor(), rows}, Tensor(-1.0), false);
  CHECK(m.data<float>()[1] == -1.0f && m.data<float>()[2] == 2.0f);
  CHECK_THROWS(ops::index(m, TensorList{Tensor(int64_t{7})}), IndexError,
               "index 7 is out of bounds for dimension 0 with size 3");
}
