// SPDX-License-Identifier: Apache-2.0
// autograd/call_words.h: the arguments of a recorded call in short form.  For nodes.
//
// There are as many nodes as calls, and a graph lives until backward.  So a node keeps
// everything but the saved tensors as an array of words: numbers, shapes, and the sizes and
// dtypes of the tensors.  Sizes that repeat are kept once.
#pragma once

#include <optional>
#include <span>

#include "dispatcher/value.h"

namespace pkg {

/// One entry for each slot: an argument, or one tensor of an argument that is a list.
class CallWords {
 public:
  void add_tensor(const Tensor& tensor);
  /// The same, with the value if it is a number that stood for argument `place`: a tensor
  /// would take many times the memory.  False if it is no such number.
  bool add_number(const Tensor& tensor, size_t place);
  /// False for what has no short form; its slot is then empty.
  bool add_value(const Value& value);

  struct Entry {
    bool tensor;  // then `spec`, else `value`; of a number both
    Spec spec;
    Value value;
    size_t place = 0;       // of a number
    Tensor number() const;  // as it was added
  };
  /// Calls f(entry) for every slot.
  template <class F>
  void for_each(F f) const {
    size_t sizes_at = 0;
    for (size_t at = 0; at < words_.size();) f(read(at, sizes_at));
  }
  /// Of the tensor with number `i` among the tensors; none for an undefined one.
  std::optional<Spec> spec_of_tensor(size_t i) const;

 private:
  enum class Kind : uint8_t {
    Nothing,
    Undefined,  // no tensor
    Tensor,     // its sizes follow
    Alike,      // a tensor with the sizes of the one before
    Number,     // a 0-d tensor; its value follows
    Bool,       // the number follows
    Int,
    Float,
    Shape,  // its entries follow
    DType,
    Device,
  };
  void add(Kind kind, DType dtype = {}, Device device = {}, size_t count = 0);
  void add_shape(const Shape& shape);
  Entry read(size_t& at, size_t& sizes_at) const;

  SmallVector<uint64_t, 7> words_;
  uint32_t sizes_at_ = 0;  // of the last tensor with sizes of its own, + 1; 0: none
};

}  // namespace pkg
