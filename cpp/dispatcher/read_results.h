// SPDX-License-Identifier: Apache-2.0
// dispatcher/read_results.h: what a kernel of another language returned, as the results of
// its op.
#pragma once

#include "dispatcher/operator.h"
#include "dispatcher/read.h"

namespace pkg {

/// A Reader (dispatcher/read.h) that has type_of(Item) as well, for errors.
template <class Reader>
class ReadResults {
 public:
  using Item = typename Reader::Item;

  /// Pushes the results: the only one, or the items of a list.  TypeError for others.
  static void run(const Operator& op, Item result, Stack& stack) {
    const auto& returns = op.schema.returns;
    if (returns.size() == 1) return stack.push(one(op, returns[0], result));
    const bool none = returns.empty() && Reader::is_none(result);
    const bool list = !none && Reader::is_list(result);
    size_t count = 0;
    if (list) Reader::each(result, [&](Item) { return ++count, true; });
    PKG_CHECK((none || list) && count == returns.size(), TypeError, "[", op.schema.name,
              "] expected its kernel to return ",
              returns.empty() ? "None" : str("a tuple of ", returns.size()), ", got ",
              list ? str("a tuple of ", count) : std::string(Reader::type_of(result)),
              " (schema: ", op.schema.str(), ").");
    if (!list) return;
    auto wanted = returns.begin();
    Reader::each(result, [&](Item item) {
      stack.push(one(op, *wanted++, item));
      return wanted != returns.end();
    });
  }

 private:
  // By the schema.  A number is no tensor here: the kernel makes those.
  static Value one(const Operator& op, Argument wanted, Item item) {
    wanted.written = wanted.type == ArgType::Tensor;
    Value value;
    PKG_CHECK(ReadValue<Reader>::run(wanted, item, &value), TypeError, "[", op.schema.name,
              "] expected its kernel to return ", wanted.expected(), ", got ",
              Reader::type_of(item), " (schema: ", op.schema.str(), ").");
    return value;
  }
};

}  // namespace pkg
