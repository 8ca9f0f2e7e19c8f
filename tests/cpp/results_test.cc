// SPDX-License-Identifier: Apache-2.0
// tests/cpp/results_test.cc: ops with many results, and with lists of strings and bools.
#include "autograd/engine.h"
#include "check.h"
#include "dispatcher/library.h"
#include "ops/functions.h"

using namespace pkg;

namespace {

using Texts = std::vector<std::string>;
using Five = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;
using Eight = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

void multiply(Tensor& out, const Tensor& self, float factor) {
  for (int64_t i = 0; i < self.numel(); ++i) {
    out.data<float>()[i] = factor * self.data<float>()[i];
  }
}

PKG_LIBRARY(results, m) {
  m.def("powers(Tensor self) -> (Tensor, Tensor, Tensor, Tensor, Tensor)")
      .composite([](const Tensor& self) {
        const Tensor b = ops::mul(self, self), c = ops::mul(b, self);
        return Five{self, b, c, ops::mul(b, b), ops::mul(b, c)};
      });
  m.def("multiples(Tensor self) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, "
        "Tensor, Tensor)")
      .shape([](const Tensor& self) {
        std::array<Spec, 8> specs;
        specs.fill(self.spec());
        return specs;
      })
      .cpu([](Tensor& a, Tensor& b, Tensor& c, Tensor& d, Tensor& e, Tensor& f, Tensor& g,
              Tensor& h, const Tensor& self) {
        Tensor* const all[] = {&a, &b, &c, &d, &e, &f, &g, &h};
        for (int k = 0; k < 8; ++k) multiply(*all[k], self, float(k + 1));
      })
      .derivative("self", "grad7", [](const Tensor& first, const Tensor& last) {
        return ops::add(first, ops::mul(last, Tensor(8.0)));
      });
  m.def("named(str[] names, bool[] flags=[True, False], str[] more=['x', 'y']) -> Tensor")
      .composite([](const std::vector<std::string>& names, const std::vector<bool>& flags,
                    const std::vector<std::string>& more) {
        int64_t value = 0;
        for (const std::string& name : names) value = 100 * value + int64_t(name.size());
        for (const bool flag : flags) value = 10 * value + flag;
        return Tensor(value * 10 + int64_t(more.size()));
      });
}

const Op<Five(const Tensor&)> powers{"powers", "results"};
const Op<Eight(const Tensor&)> multiples{"multiples", "results"};
const Op<Tensor(const std::vector<std::string>&, const std::vector<bool>&,
                const std::vector<std::string>&)>
    named{"named", "results"};

Tensor two() {
  const Tensor x = empty(Shape{3}, DType::Float32);
  for (int i = 0; i < 3; ++i) x.data<float>()[i] = 2;
  return x;
}
double first(const Tensor& tensor) { return tensor.wait().data<float>()[0]; }

}  // namespace

TEST(composites_may_have_five_results) {
  const auto [a, b, c, d, e] = powers(two());
  CHECK(first(a) == 2 && first(b) == 4 && first(c) == 8);
  CHECK(first(d) == 16 && first(e) == 32);
}

TEST(structured_ops_may_have_eight_with_a_gradient) {
  const Tensor x = two();
  set_requires_grad(x, true);
  const Eight results = multiples(x);
  CHECK(first(std::get<0>(results)) == 2 && first(std::get<7>(results)) == 16);
  backward({ops::sum(std::get<0>(results)), ops::sum(std::get<7>(results))}, {});
  CHECK(first(x.grad()) == 9);
}

TEST(nine_are_refused) {
  CHECK_THROWS(parse_schema("f() -> (int, int, int, int, int, int, int, int, int)"),
               ValueError, "at most 8 results");
}

TEST(boxed_calls_give_them_too) {
  Value args[] = {two()};
  Stack stack{std::span<Value>(args)};
  Dispatcher::get().call_boxed(multiples.record(), stack);
  CHECK(stack.results.size() == 8);
  CHECK(first(std::get<Tensor>(stack.results[6])) == 14);
}

TEST(lists_of_strings_and_bools_are_arguments) {
  CHECK(item(named(Texts{"a", "bcd"})).to<int64_t>() == (103 * 100 + 10) * 10 + 2);
  CHECK(item(named(Texts{}, std::vector<bool>{true}, Texts{})).to<int64_t>() == 10);
  CHECK(named.record().schema.str() ==
        "named(str[] names, bool[] flags=[True, False], str[] more=['x', 'y']) -> Tensor");
  CHECK(parse_schema(named.record().schema.str()).str() == named.record().schema.str());
}

TEST(a_signature_with_another_list_is_refused) {
  const Op<Tensor(const std::vector<std::string>&, const std::vector<double>&,
                  const std::vector<std::string>&)>
      wrong{"named", "results"};
  CHECK_THROWS(wrong(Texts{}), InternalError, "const std::vector<bool>& flags");
}

TEST(lists_of_other_things_are_no_types) {
  CHECK_THROWS(parse_schema("f(DType[] x) -> Tensor"), ValueError, "a list of tensors");
}

TEST(texts_with_a_quote_are_written_in_the_other_one) {
  const char* written =
      "f(Tensor x, str a=\"it's\", str[] b=[\"it's\", 'a \"b\"'], str c='') "
      "-> Tensor";
  const Schema schema = parse_schema(written);
  CHECK(schema.str() == written);
  CHECK(parse_schema(schema.str()).str() == written);
}
