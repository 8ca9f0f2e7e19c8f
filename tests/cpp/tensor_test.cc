// SPDX-License-Identifier: Apache-2.0
// tests/cpp/tensor_test.cc: storages, views, foreign memory and the allocator.
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "base/thread_local.h"
#include "check.h"
#include "tensor/allocator.h"
#include "tensor/copy_plane.h"
#include "tensor/copy_run.h"
#include "tensor/tensor.h"

using namespace pkg;

TEST(views_share_storage_and_version) {
  const Tensor x = empty(Shape{4, 6}, DType::Float32);
  const Tensor row = alias(x, Shape{6}, Shape{1}, 12);
  CHECK(&row.storage() == &x.storage() && row.data<float>() == x.data<float>() + 12);
  CHECK(row.is_view() && !x.is_view() && row.impl()->base == x.ref());
  CHECK(x.version() == 0);
  row.bump_version();
  CHECK(x.version() == 1 && row.version() == 1);
  // The base of a view of a view is the tensor that owns the values.
  CHECK(alias(row, Shape{3}, Shape{2}, 12).impl()->base == x.ref());
  CHECK(!row.is_same(x) && Tensor(row).is_same(row));
}

TEST(a_view_keeps_the_memory) {
  const int64_t before = live_count(Live::Tensors);
  Tensor view;
  {
    const Tensor x = empty(Shape{1000}, DType::Int64);
    x.data<int64_t>()[999] = 7;
    view = alias(x, Shape{}, Shape{}, 999);
  }
  CHECK(live_count(Live::Tensors) == before + 2);  // the view and its base
  CHECK(*view.data<int64_t>() == 7 && item(view).to<int64_t>() == 7);
  view = Tensor();
  CHECK(live_count(Live::Tensors) == before);
}

TEST(contiguity_looks_at_sizes_that_matter) {
  const Tensor x = empty(Shape{4, 6}, DType::Float32);
  CHECK(x.is_contiguous() && x.strides() == (Shape{6, 1}));
  CHECK(!alias(x, Shape{6, 4}, Shape{1, 6}, 0).is_contiguous());
  CHECK(!alias(x, Shape{4, 3}, Shape{6, 2}, 0).is_contiguous());
  CHECK(alias(x, Shape{1, 6}, Shape{99, 1}, 6).is_contiguous());
  CHECK(alias(x, Shape{0, 6}, Shape{1, 7}, 0).is_contiguous());
  CHECK(alias(x, Shape{2, 6}, Shape{6, 1}, 12).is_contiguous());
}

TEST(shapes_longer_than_their_room) {
  const std::vector<int64_t> numbers{0, 1, 2, 3, 4, 5, 6, 7};
  const Shape six{1, 2, 3, 4, 5, 6};
  Shape eight = six;
  eight.push_back(7);
  eight.insert(0, 0);
  CHECK(eight == Shape(numbers) && eight.size() == 8);
  Shape moved = std::move(eight);
  eight = six;
  std::swap(moved, eight);
  CHECK(eight.size() == 8 && eight.back() == 7 && moved == six);
  eight.erase(0);
  eight.resize(2);
  CHECK(eight == (Shape{1, 2}) && eight.numel() == 2 && Shape{}.numel() == 1);
  const Tensor deep = empty(Shape(size_t{9}, 2), DType::Bool);
  CHECK(deep.numel() == 512 && deep.size(-1) == 2 && deep.stride(0) == 256);
}

// What a Shape is to be, and its copies and moves, which must be the same numbers.
void check_same(const Shape& shape, const std::vector<int64_t>& numbers) {
  CHECK(shape == Shape(numbers) && shape.size() == numbers.size());
  const Shape copy = shape;
  CHECK(copy == Shape(numbers) && std::equal(copy.begin(), copy.end(), numbers.begin()));
  Shape assigned{9, 9, 9}, source = copy;
  assigned = copy;
  CHECK(assigned == copy);
  const Shape moved = std::move(source);
  CHECK(moved == copy);
  source = moved;  // a moved-from one can be used again
  source.push_back(5);
  CHECK(source.size() == numbers.size() + 1 && source.back() == 5);
  assigned = std::move(source);
  source = std::move(assigned);
  source.erase(numbers.size());
  CHECK(source == moved && Shape(source) == moved);
}

TEST(shapes_of_every_length_grow_and_shrink) {
  for (size_t longest : {1, 5, 6, 7, 8, 9, 13, 70}) {
    Shape shape;
    std::vector<int64_t> numbers;
    const auto both = [&](auto&& change) {
      change(shape);
      change(numbers);
    };
    for (size_t i = 0; i < longest; ++i) {
      both([&](auto& list) { list.push_back(int64_t(i)); });
      check_same(shape, numbers);
    }
    shape.insert(longest / 2, shape[0]);
    numbers.insert(numbers.begin() + int64_t(longest / 2), numbers[0]);
    check_same(shape, numbers);
    while (!numbers.empty()) {
      const size_t at = numbers.size() / 2;
      shape.erase(at);
      numbers.erase(numbers.begin() + int64_t(at));
      check_same(shape, numbers);
    }
    for (size_t size : {longest, size_t{2}, longest + 3, size_t{0}, size_t{6}, size_t{7}}) {
      both([&](auto& list) { list.resize(size, 4); });
      check_same(shape, numbers);
    }
    both([](auto& list) { list.clear(); });
    check_same(shape, numbers);
  }
}

TEST(views_of_many_dimensions) {
  for (size_t ndim : {5, 6, 7, 8, 9, 70}) {
    Shape sizes(ndim, 1);
    sizes[0] = sizes[1] = sizes[ndim - 1] = 2;
    const Tensor x = empty(sizes, DType::Int64);
    for (int64_t i = 0; i < 8; ++i) x.data<int64_t>()[i] = i;
    // One dimension fewer each time, as x[0] has it.
    Tensor view = x;
    while (view.ndim() > 1) {
      Shape rest = view.sizes(), strides = view.strides();
      rest.erase(1);
      strides.erase(1);
      view = alias(view, rest, strides, 0);
      CHECK(view.sizes() == rest && view.strides() == strides);
      CHECK(view.numel() == (view.ndim() > 1 ? 4 : 2));
    }
    CHECK(view.data<int64_t>()[view.stride(0)] == 4);
  }
}

TEST(numbers_that_overflow_are_errors) {
  constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN, half = int64_t{1} << 62;
  CHECK(2 + Checked(3) * 4 - 1 == 13 && -Checked(kMost) == -kMost);
  CHECK(Checked(-7) / 2 == -3 && Checked(-7) % 2 == -1 && Checked(kLeast) % -1 == 0);
  CHECK(Checked(kMost - 1) + 1 == kMost && Checked(half) * -2 == kLeast);
  CHECK_THROWS(Checked(kMost) + 1, RuntimeError, "got 9223372036854775807 + 1");
  CHECK_THROWS(1 + Checked(kMost), RuntimeError, "[op]");
  CHECK_THROWS(Checked(kLeast) - 1, RuntimeError, "-9223372036854775808 - 1");
  CHECK_THROWS(Checked(half) * 2, RuntimeError, "4611686018427387904 * 2");
  CHECK_THROWS(-Checked(kLeast), RuntimeError, "0 - -9223372036854775808");
  CHECK_THROWS(Checked(kLeast) / -1, RuntimeError, "");
  CHECK_THROWS(Checked(1) / 0, RuntimeError, "divisor");
  CHECK_THROWS(Checked(1) % 0, RuntimeError, "divisor");
  Checked sum = kMost;
  CHECK_THROWS(sum += 1, RuntimeError, "");
  CHECK(sum == kMost);
}

TEST(shapes_that_overflow_are_errors) {
  const int64_t big = int64_t{1} << 32;
  CHECK_THROWS((Shape{big, big}).numel(), RuntimeError, "(4294967296, 4294967296)");
  CHECK((Shape{big, 0, 4}).numel() == 0 && (Shape{0}).numel() == 0);
  // No part of a tensor's sizes overflows, whatever the others are.
  CHECK_THROWS((Shape{big, big, 0}).numel(), RuntimeError, "2**63");
  CHECK_THROWS((Shape{0, big, big}).numel(), RuntimeError, "2**63");
  CHECK((contiguous_strides(Shape{big, big}) == Shape{big, 1}));
  CHECK_THROWS(contiguous_strides(Shape{2, big, big}), RuntimeError, "strides");
  const Tensor x = empty(Shape{1}, DType::Float32);
  CHECK(alias(x, Shape{big}, Shape{0}, 0).numel() == big);
  CHECK_THROWS(alias(x, Shape{big, big}, Shape{0, 0}, 0), RuntimeError, "2**63");
  const int64_t live = live_count(Live::Tensors);
  CHECK_THROWS(alias(x, Shape{big, big}, Shape{0, 0}, 0), RuntimeError, "");
  CHECK(live_count(Live::Tensors) == live);
}

TEST(what_lies_outside_of_the_memory_is_no_view) {
  const int64_t room = 6;
  check_inside(room, Shape{2, 3}, Shape{3, 1}, 0);
  check_inside(room, Shape{6}, Shape{0}, 5);
  check_inside(room, Shape{0}, Shape{INT64_MAX}, 0);
  check_inside(room, Shape{1}, Shape{INT64_MAX}, 5);
  for (int64_t offset : {int64_t{-1}, int64_t{1}, INT64_MAX, INT64_MIN}) {
    CHECK_THROWS(check_inside(room, Shape{2, 3}, Shape{3, 1}, offset), RuntimeError,
                 "inside");
  }
  CHECK_THROWS(check_inside(room, Shape{2}, Shape{6}, 0), RuntimeError, "inside");
  CHECK_THROWS(check_inside(room, Shape{3}, Shape{INT64_MAX}, 0), RuntimeError, "64 bits");
  CHECK_THROWS(check_inside(room, Shape{2}, Shape{-1}, 3), ValueError, "negative");
  CHECK_THROWS(check_inside(room, Shape{2}, Shape{}, 0), RuntimeError, "stride");
}

TEST(sizes_that_no_memory_has) {
  const int64_t big = int64_t{1} << 40;
  CHECK_THROWS(empty(Shape{big, big}, DType::Float32), OutOfMemoryError, "overflows");
  CHECK_THROWS(empty(Shape{big << 10}, DType::Float32), OutOfMemoryError, "");
  CHECK_THROWS(empty(Shape{2, -1}, DType::Float32), RuntimeError, "negative dimension");
  CHECK_THROWS(empty(Shape{2}, DType::Float32).size(1), IndexError, "out of range");
  const Tensor none = empty(Shape{0, big}, DType::Float32);
  CHECK(none.numel() == 0 && none.storage().nbytes() == 0);
}

TEST(single_values) {
  CHECK(item(Tensor(0.1)).to<double>() == 0.1 && Tensor(0.1).impl()->wrapped_number);
  CHECK(item(Tensor(true)).to<bool>() && Tensor(int64_t{3}).impl()->wrapped_number);
  CHECK_THROWS(item(empty(Shape{2}, DType::Float32)), RuntimeError, "2 elements");
}

TEST(foreign_memory_is_given_back_once_by_the_last_tensor) {
  std::vector<float> memory(64, 1.0f);
  std::atomic<int> released{0};
  {
    Tensor x = from_blob(memory.data(), Shape{8, 8}, Shape{8, 1}, DType::Float32,
                         [&] { ++released; });
    CHECK(x.data() == memory.data() && x.storage().exported());
    const Tensor view = alias(x, Shape{8}, Shape{9}, 0);
    x = Tensor();
    CHECK(released == 0);
    view.data<float>()[1] = 5;
  }
  CHECK(released == 1 && memory[1] == 5);
  Tensor x = from_blob(memory.data(), Shape{64}, Shape{1}, DType::Float32,
                       [&] { ++released; });
  std::thread([y = std::move(x)]() mutable { y = Tensor(); }).join();
  CHECK(released == 2);
}

TEST(foreign_memory_that_no_address_reaches_is_refused) {
  float value = 0;
  int released = 0;
  const auto borrow = [&](const Shape& sizes, const Shape& strides) {
    return from_blob(&value, sizes, strides, DType::Float32, [&] { ++released; });
  };
  const int64_t big = int64_t{1} << 62;
  CHECK_THROWS(borrow({3}, {big}), RuntimeError, "[from_blob]");
  CHECK_THROWS(borrow({2}, {big}), RuntimeError, "[from_blob]");
  CHECK_THROWS(borrow({big, 4}, {0, 0}), RuntimeError, "[from_blob]");
  CHECK_THROWS(borrow({2}, {-1}), ValueError, "[from_blob]");
  CHECK_THROWS(borrow({-2}, {1}), ValueError, "[from_blob]");
  CHECK(released == 0);
  CHECK(borrow({1}, {big}).numel() == 1 && borrow({0}, {big}).numel() == 0);
  CHECK(borrow({big}, {0}).storage().nbytes() == 4);
  CHECK(released == 3);
}

TEST(what_release_captures_dies_with_it) {
  auto token = std::make_shared<int>(1);
  std::weak_ptr<int> weak = token;
  float value = 0;
  {
    const Tensor x = from_blob(&value, Shape{}, Shape{}, DType::Float32,
                               [token = std::move(token)] {});
    CHECK(!weak.expired());
  }
  CHECK(weak.expired());
}

TEST(exports_are_counted) {
  const Tensor x = empty(Shape{4}, DType::Float32);
  CHECK(!x.storage().exported());
  x.storage().add_export();
  x.storage().add_export();
  x.storage().drop_export();
  CHECK(x.storage().exported());
  x.storage().drop_export();
  CHECK(!x.storage().exported());
}

TEST(memory_of_every_size_is_aligned_and_its_own) {
  std::vector<Tensor> tensors;
  for (int64_t n = 0; n < 5000; n = n * 5 / 4 + 1) {
    tensors.push_back(empty(Shape{n}, DType::UInt8));
    const Tensor& t = tensors.back();
    CHECK(reinterpret_cast<uintptr_t>(t.data()) % kAlignment == 0);
    std::fill_n(t.data<uint8_t>(), n, uint8_t(n));
  }
  for (const Tensor& t : tensors) {
    for (int64_t i = 0; i < t.numel(); ++i) {
      CHECK(t.data<uint8_t>()[i] == uint8_t(t.numel()));
    }
  }
}

TEST(statistics_follow_what_is_handed_out) {
  const AllocatorStats before = allocator_stats();
  const int64_t nbytes = 40 << 20;
  {
    const Tensor x = empty(Shape{nbytes}, DType::UInt8);
    const AllocatorStats during = allocator_stats();
    CHECK(during.bytes_in_use >= before.bytes_in_use + nbytes);
    CHECK(during.bytes_in_use <= before.bytes_in_use + nbytes * 5 / 4 + 4096);
    CHECK(during.peak_bytes >= during.bytes_in_use);
    CHECK(during.system_allocations > before.system_allocations);
  }
  const AllocatorStats after = allocator_stats();
  CHECK(after.bytes_in_use == before.bytes_in_use);
  CHECK(after.bytes_cached >= before.bytes_cached + nbytes);
  CHECK(after.peak_bytes >= before.bytes_in_use + nbytes);
}

TEST(freed_memory_is_used_again_until_the_cache_is_emptied) {
  const int64_t nbytes = 3 << 20;
  const void* address = empty(Shape{nbytes}, DType::UInt8).data();
  const int64_t calls = allocator_stats().system_allocations;
  for (int i = 0; i < 100; ++i) {
    CHECK(empty(Shape{nbytes}, DType::UInt8).data() == address);
  }
  CHECK(allocator_stats().system_allocations == calls);
  empty_cache();
  CHECK(allocator_stats().bytes_cached == 0);
  empty(Shape{nbytes}, DType::UInt8);
  CHECK(allocator_stats().system_allocations > calls);
}

TEST(meta_tensors_have_no_memory) {
  const int64_t before = allocator_stats().bytes_in_use;
  const Tensor x = empty(Shape{1 << 20, 1 << 10}, DType::Float64, Device{DeviceType::Meta});
  CHECK(x.storage().data() == nullptr && x.storage().nbytes() == int64_t{1} << 33);
  CHECK(allocator_stats().bytes_in_use < before + 4096);
  CHECK_THROWS(item(alias(x, Shape{}, Shape{}, 0)), RuntimeError, "meta");
}

TEST(tensors_pass_between_threads) {
  // Made in one thread, copied and dropped in others: counts and caches must agree.
  const int64_t live = live_count(Live::Tensors);
  const int64_t in_use = allocator_stats().bytes_in_use;
  {
    std::vector<Tensor> shared;
    for (int i = 0; i < 64; ++i) shared.push_back(empty(Shape{100}, DType::Float32));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([copy = shared, t]() mutable {
        for (int round = 0; round < 200; ++round) {
          for (size_t i = 0; i < copy.size(); ++i) {
            copy[i].bump_version();
            if (round % 8 == t) copy[i] = empty(Shape{100 + round}, DType::Float32);
          }
        }
      });
    }
    shared.clear();
    for (auto& thread : threads) thread.join();
  }
  CHECK(live_count(Live::Tensors) == live && allocator_stats().bytes_in_use == in_use);
}

// Every size of an element, a few columns, and rows around what fits into a register: in
// order and in reverse order, with gaps and without.
TEST(rows_are_copied_and_nothing_beside_them) {
  const std::vector<unsigned char> none(64, 0xee);
  for (const int64_t size : {1, 2, 4, 8}) {
    for (int64_t columns = 1; columns <= 17; ++columns) {
      for (int64_t rows = 1; rows <= 40; ++rows) {
        for (const int64_t gap : {0, 1}) {
          const int64_t bytes = columns * size, step = bytes + gap * size;
          std::vector<unsigned char> given(size_t(rows * step));
          for (size_t i = 0; i < given.size(); ++i)
            given[i] = static_cast<unsigned char>(i);
          for (const bool reverse : {false, true}) {
            std::vector<unsigned char> room(size_t(rows * bytes) + none.size(), 0xee);
            auto* const to = reinterpret_cast<char*>(room.data());
            auto* const from = reinterpret_cast<char*>(given.data());
            copy_plane({to, reverse ? from + (rows - 1) * step : from, columns, rows, size,
                        bytes, size, reverse ? -step : step},
                       size);
            for (int64_t r = 0; r < rows; ++r) {
              const int64_t row = reverse ? rows - 1 - r : r;
              CHECK(std::memcmp(to + r * bytes, from + row * step, size_t(bytes)) == 0);
            }
            CHECK(std::memcmp(to + rows * bytes, none.data(), none.size()) == 0);
          }
        }
      }
    }
  }
}

// Lengths around the pieces and their bounds, every distance that is slow and some others,
// apart and overlapping.
TEST(long_runs_are_moved_as_by_memmove) {
  std::vector<unsigned char> given(3 << 20);
  for (size_t i = 0; i < given.size(); ++i) given[i] = static_cast<unsigned char>(i * 7);
  std::vector<unsigned char> ours(given.size()), theirs(given.size());
  for (const int64_t bytes :
       {0, 1, 2047, 2048, 2049, 4095, 4096, 6200, 70001, 1048576, 1048577}) {
    const bool large = bytes > 100000;
    for (int64_t distance = -40; distance <= 40; distance += large ? 13 : 1) {
      for (const int64_t pages : {int64_t(0), int64_t(4096), bytes / 4096 * 4096 + 4096}) {
        const int64_t from = 8192, to = from + pages + distance;
        ours = theirs = given;
        move_bytes(ours.data() + to, ours.data() + from, bytes);
        std::memmove(theirs.data() + to, theirs.data() + from, size_t(bytes));
        CHECK(ours == theirs);
      }
    }
  }
}
