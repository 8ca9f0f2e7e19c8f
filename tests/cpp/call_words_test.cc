// SPDX-License-Identifier: Apache-2.0
// tests/cpp/call_words_test.cc: the short form in which a node keeps a call.
#include "check.h"

#include <vector>

#include "autograd/call_words.h"

using namespace pkg;

namespace {

std::vector<CallWords::Entry> entries(const CallWords& words) {
  std::vector<CallWords::Entry> all;
  words.for_each([&](CallWords::Entry entry) { all.push_back(std::move(entry)); });
  return all;
}

}  // namespace

TEST(values_come_back_as_they_were) {
  const std::vector<Value> values = {
      Scalar(true),   Scalar(int64_t{-3}),      Scalar(0.1), Shape{2, -1, 7}, Shape{},
      DType::Float16, Device{DeviceType::Meta}, Value()};
  CallWords words;
  for (const Value& value : values) CHECK(words.add_value(value));
  const auto all = entries(words);
  CHECK(all.size() == values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    CHECK(!all[i].tensor && all[i].value.index() == values[i].index());
  }
  CHECK(std::get<Scalar>(all[0].value).kind() == Scalar::Kind::Bool);
  CHECK(std::get<Scalar>(all[1].value) == Scalar(int64_t{-3}));
  CHECK(std::get<Scalar>(all[2].value) == Scalar(0.1));
  CHECK(std::get<Shape>(all[3].value) == (Shape{2, -1, 7}));
  CHECK(std::get<Shape>(all[4].value).empty());
  CHECK(std::get<DType>(all[5].value) == DType::Float16);
  CHECK(std::get<Device>(all[6].value).type == DeviceType::Meta);
}

TEST(what_has_no_short_form_leaves_its_slot_empty) {
  CallWords words;
  CHECK(!words.add_value(std::string("mean")));
  CHECK(!words.add_value(std::vector<double>{1.5}));
  CHECK(words.add_value(Scalar(2.0)));
  const auto all = entries(words);
  CHECK(all.size() == 3 && is_none(all[0].value) && is_none(all[1].value));
  CHECK(std::get<Scalar>(all[2].value) == Scalar(2.0));
}

TEST(numbers_keep_their_dtype_their_value_and_their_place) {
  CallWords words;
  const std::vector<Scalar> numbers = {Scalar(true), Scalar(int64_t{-3}), Scalar(1e300)};
  for (size_t i = 0; i < numbers.size(); ++i) {
    CHECK(words.add_number(Tensor(numbers[i]), 2 * i));
  }
  CHECK(!words.add_number(empty(Spec{Shape{}, DType::Float64, {}}), 1));  // not bare
  const auto all = entries(words);
  CHECK(all.size() == numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    CHECK(all[i].tensor && all[i].spec.sizes.empty() && all[i].place == 2 * i);
    CHECK(all[i].spec.dtype == Tensor(numbers[i]).dtype());
    CHECK(std::get<Scalar>(all[i].value) == numbers[i]);
  }
}

TEST(tensors_of_equal_sizes_share_them) {
  CallWords words;
  const Shape long_sizes{1, 2, 3, 4, 5, 6, 7};
  const std::vector<Spec> specs = {
      {Shape{2, 3}, DType::Float32, {}}, {Shape{2, 3}, DType::Int64, {}},
      {Shape{}, DType::Float64, {}},     {Shape{}, DType::Bool, {}},
      {Shape{3, 2}, DType::Float32, {}}, {long_sizes, DType::Float32, {}},
      {long_sizes, DType::BFloat16, {}}, {Shape{0}, DType::UInt8, {}}};
  for (const Spec& spec : specs) {
    words.add_tensor(empty(spec));
    words.add_value(Scalar(int64_t{1}));
  }
  words.add_tensor(Tensor());
  const auto all = entries(words);
  CHECK(all.size() == 2 * specs.size() + 1);
  for (size_t i = 0; i < specs.size(); ++i) {
    const auto& entry = all[2 * i];
    CHECK(entry.tensor && entry.spec.sizes == specs[i].sizes);
    CHECK(entry.spec.dtype == specs[i].dtype);
    CHECK(words.spec_of_tensor(i)->sizes == specs[i].sizes);
  }
  CHECK(all.back().tensor && all.back().spec.sizes.empty());
}
