// SPDX-License-Identifier: Apache-2.0
// dispatcher/match.h: the arguments of a call against the schema of an op, by Python's
// rules and with Python's errors, whatever language the call comes from.
//
// The call is a Call, which knows its language:
//
//   using Item                                    one given value
//   size_t positional(), named()                  how many of each
//   Item positional(size_t i), named(size_t k)
//   std::string_view name(size_t k)
//   std::string_view alias(std::string_view name) another spelling of a parameter, or name
//   bool ignores(size_t k)                        a named value that means nothing
//   int place_of(const Operator&, size_t k)       which parameter the name is, where that is
//                                                 known without its text; else -1.  May lack
//   bool parse(const Operator&, const Argument&, Item, Value* out)
//                                                 false where it does not fit
//   std::string type_of(Item)                     for errors
//   bool is_list(Item), each(Item, f)             f(item) for the items until one is false
//   bool is_tensor(Item)
//   bool strict                                   of with_match: a tensor is no number
//   void warn_deprecated(const std::string& text)
//   auto rest(size_t i)                           the positional values from i on, as a list
//   static constexpr bool kSpreads                lists may be written out: reshape(2, 3)
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "dispatcher/deprecated.h"
#include "dispatcher/operator.h"

namespace pkg {

/// One call on its way to one schema.
template <class Call>
class Match {
 public:
  using Item = typename Call::Item;

  /// tells: whether why() is asked for, which it is not of one overload of several.
  Match(const Operator& op, const Call& call, Value* out, bool tells)
      : op_(op), params_(op.schema.arguments), call_(call), out_(out), tells_(tells) {}

  /// Fills in the arguments, defaults too; false means why() says what does not fit.  An
  /// overload that fits costs no text.
  bool run() { return positional() && named() && defaults(); }
  const std::string& why() const { return why_; }

 private:
  bool positional() {
    const size_t n = call_.positional();
    for (size_t i = 0; i < n; ++i) {
      if (i >= params_.size() || params_[i].keyword_only) {
        return refuse("() takes ", i, " positional arguments but ", n, " were given");
      }
      given_ |= bit(i);
      if constexpr (Call::kSpreads) {
        if (is_written_out(i)) {
          const auto rest = call_.rest(i);
          return parse(i, rest) || wrong(params_[i], rest);
        }
      }
      const Item item = call_.positional(i);
      if (!parse(i, item)) return wrong(params_[i], item);
    }
    return true;
  }

  // x.reshape(2, 3), einsum("ij,jk", a, b): the remaining arguments are the list.
  bool is_written_out(size_t i) const {
    const Argument& param = params_[i];
    if (!param.list || (i + 1 < params_.size() && !params_[i + 1].keyword_only))
      return false;
    const Item item = call_.positional(i);
    if (param.type == ArgType::Tensor) return call_.is_tensor(item);
    return param.type == ArgType::Int && i + 1 < call_.positional() && !call_.is_list(item);
  }

  bool named() {
    const size_t n = call_.named();
    for (size_t k = 0; k < n; ++k) {
      const int index = place_of(k);
      if (index < 0 && call_.ignores(k)) continue;
      if (index < 0) {
        return refuse("() got an unexpected keyword argument '", call_.name(k), "'");
      }
      const auto at = size_t(index);
      if (given_ & bit(at)) {
        return refuse("() got multiple values for argument '", call_.name(k), "'");
      }
      given_ |= bit(at);
      const Item item = call_.named(k);
      if (!parse(at, item)) return wrong(params_[at], item);
    }
    return true;
  }

  int place_of(size_t k) const {
    if constexpr (requires { call_.place_of(op_, k); }) {
      if (const int known = call_.place_of(op_, k); known >= 0) return known;
    }
    const std::string_view name = call_.name(k);
    const int index = op_.schema.index_of(name);
    return index >= 0 ? index : op_.schema.index_of(call_.alias(name));
  }

  bool defaults() {
    for (size_t i = 0; i < params_.size(); ++i) {
      if (given_ & bit(i)) continue;
      const Argument& param = params_[i];
      if (!param.has_default) {
        return refuse("() missing required argument: '", param.name, "' (pos ", i + 1, ")");
      }
      out_[i] = param.default_value;
    }
    return true;
  }

  bool parse(size_t i, Item item) { return call_.parse(op_, params_[i], item, &out_[i]); }

  // Why `item` is no `param`: of a list, which item is wrong.
  [[gnu::cold]] bool wrong(const Argument& param, Item item) {
    if (!tells_) return false;
    if (!param.list || !call_.is_list(item)) {
      return tell(param.name, param.expected(), call_.type_of(item));
    }
    const Argument one = param.item();
    size_t i = 0;
    const bool all = call_.each(item, [&](Item entry) {
      Value value;
      if (!call_.parse(op_, one, entry, &value)) {
        return tell(str(param.name, '[', i, ']'), one.expected(), call_.type_of(entry));
      }
      return ++i, true;
    });
    return all &&
           tell(param.name, param.expected(), str("a ", call_.type_of(item), " of ", i));
  }
  bool tell(const std::string& parameter, const std::string& expected,
            const std::string& got) {
    why_ = wrong_argument(op_.schema.name, parameter, expected, got);
    return false;
  }
  template <class... Parts>
  [[gnu::cold]] bool refuse(const Parts&... parts) {
    if (tells_) why_ = str(op_.schema.name, parts...);
    return false;
  }
  static uint32_t bit(size_t i) { return uint32_t{1} << i; }

  const Operator& op_;
  const std::vector<Argument>& params_;
  const Call& call_;
  Value* out_;
  const bool tells_;
  uint32_t given_ = 0;
  std::string why_;
};
static_assert(kMaxParameters <= 32, "Match has a bit for each");

/// The TypeError of a call that fits no overload: why, or all that there are.
template <class Call>
[[noreturn, gnu::cold]] void no_match(std::span<const Operator* const> overloads,
                                      const Call& call, const std::string& why) {
  if (overloads.size() == 1) throw TypeError(why);
  std::string got, expected;
  for (size_t i = 0; i < call.positional(); ++i) {
    got += str(got.empty() ? "" : ", ", call.type_of(call.positional(i)));
  }
  for (size_t k = 0; k < call.named(); ++k) {
    got += str(got.empty() ? "" : ", ", call.name(k), "=", call.type_of(call.named(k)));
  }
  for (const Operator* op : overloads) expected += "\n * " + op->schema.str();
  throw TypeError(str(overloads[0]->schema.name,
                      "() received an invalid combination of arguments - got (", got,
                      "), but expected one of:", expected));
}

/// The arguments of a call in boxed form: as many as the op has, since making and clearing
/// all that there may be costs more than many a view.
class Arguments {
 public:
  explicit Arguments(size_t n) : n_(n) {
    std::uninitialized_default_construct_n(data(), n);
  }
  ~Arguments() { std::destroy_n(data(), n_); }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  Value* data() { return reinterpret_cast<Value*>(room_); }
  std::span<Value> span() { return {data(), n_}; }

 private:
  const size_t n_;
  alignas(Value) std::byte room_[kMaxParameters * sizeof(Value)];
};

/// Tries what calls should not look like any more, and tells of it: Note [Deprecated
/// signatures] in deprecated.h.  Calls f and returns true if there is such a signature.
template <class Call, class F>
[[gnu::cold]] bool with_deprecated(std::span<const Operator* const> overloads, Call& call,
                                   F f) {
  call.strict = true;
  for (auto* one = DeprecatedSignature::first(); one; one = one->next()) {
    for (const Operator* op : overloads) {
      if (!one->is_of(*op)) continue;
      Arguments given(one->record().schema.arguments.size());
      Match match(one->record(), call, given.data(), false);
      if (!match.run()) continue;
      Arguments values(op->schema.arguments.size());
      if (!one->arrange(*op, given.span(), values.span())) continue;
      if (!one->warned.load()) {
        call.warn_deprecated(one->warning(*op));
        one->warned.store(true);
      }
      f(*op, values.span());
      return true;
    }
  }
  return false;
}

/// Calls f(op, arguments) with the overload that the call fits; TypeError when none does.
/// Of several those come first that take every tensor as a tensor, which Call::strict asks
/// for: the 0 of max(x, tensor(0)) is no dim.
template <class Call, class F>
auto with_match(std::span<const Operator* const> overloads, Call& call, F f) {
  call.strict = overloads.size() > 1;
  std::string why;
  while (true) {
    for (const Operator* op : overloads) {
      Arguments values(op->schema.arguments.size());
      Match match(*op, call, values.data(), overloads.size() == 1);
      if (match.run()) return f(*op, values.span());
      why = match.why();
    }
    if (!call.strict) {
      std::optional<std::invoke_result_t<F, const Operator&, std::span<Value>>> result;
      if (with_deprecated(overloads, call,
                          [&](const Operator& op, std::span<Value> values) {
                            result.emplace(f(op, values));
                          })) {
        return std::move(*result);
      }
      no_match(overloads, call, why);
    }
    call.strict = false;
  }
}

/// NumPy's names of parameters, which Python programs use as well as PyTorch's.
inline std::string_view numpys_alias(std::string_view name) {
  if (name == "axis") return "dim";
  if (name == "keepdims") return "keepdim";
  if (name == "ddof") return "correction";
  if (name == "input") return "self";
  return name;
}
/// Whether None for `name` is one that NumPy's functions always pass: out=None, and beside
/// it axis=None and dtype=None.
template <class Call>
bool is_numpys_default(const Call& call, std::string_view name) {
  if (name == "out") return true;
  if (name != "axis" && name != "dtype") return false;
  for (size_t k = 0; k < call.named(); ++k) {
    if (call.name(k) == "out") return true;
  }
  return false;
}

}  // namespace pkg
