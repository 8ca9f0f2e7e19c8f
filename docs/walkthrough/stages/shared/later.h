// SPDX-License-Identifier: Apache-2.0
// shared/later.h: the Scalar whose value comes later, of overload_ops_async, _queue and
// _pool.  Operands are dependencies of the job, so no worker ever waits for a value.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "shared/job_queue.h"
#include "shared/numbers.h"
#include "shared/operators.h"

namespace stages {

/// A number that may be computed later: its operators return at once.
class Scalar {
 public:
  explicit Scalar(double x);
  Scalar(double x, std::shared_ptr<JobQueue> queue);

  /// Get the (possibly async-computed) value; waits if needed
  double get_value() const;
  /// The value; TimeoutError when it takes longer than `timeout` seconds.
  double result(std::optional<double> timeout = std::nullopt) const;
  /// Whether the value, or the error, is there.
  bool done() const;
  /// Cancels the computation and what depends on it; False if it has begun.
  bool cancel() const;
  /// The queue that this Scalar belongs to: that of its left operand.
  std::shared_ptr<JobQueue> queue() const;
  std::string repr() const;

  STAGES_EACH_OPERATOR(STAGES_MEMBER, Scalar)
  Scalar operator-() const;
  bool operator==(const Scalar& other) const { return get_value() == other.get_value(); }
  bool operator!=(const Scalar& other) const { return get_value() != other.get_value(); }
  bool operator<(const Scalar& other) const { return get_value() < other.get_value(); }
  bool operator<=(const Scalar& other) const { return get_value() <= other.get_value(); }
  bool operator>(const Scalar& other) const { return get_value() > other.get_value(); }
  bool operator>=(const Scalar& other) const { return get_value() >= other.get_value(); }
  bool operator==(double other) const { return get_value() == other; }
  bool operator<(double other) const { return get_value() < other; }
  bool operator<=(double other) const { return get_value() <= other; }
  bool operator>(double other) const { return get_value() > other; }
  bool operator>=(double other) const { return get_value() >= other; }
  explicit operator double() const { return get_value(); }
  explicit operator bool() const { return get_value() != 0; }

#ifndef SWIG
  template <class A, class B>
  static Scalar apply(Operation op, const A& a, const B& b) {
    return submit(op, {given(a), given(b)});
  }

 private:
  friend class Promise;
  /// Where a job puts its result; written before the event is done.
  using Cell = std::shared_ptr<Tensor>;
  struct Operand {
    Cell cell;
    pkg::Ref<pkg::Event> event;  // null of a number
    std::shared_ptr<JobQueue> queue;
  };

  explicit Scalar(Operand value) : value_(std::move(value)) {}
  static Operand given(double x) {
    return {std::make_shared<Tensor>(tensor_of(x)), {}, {}};
  }
  static Operand given(const Scalar& x) { return x.value_; }
  static Scalar submit(Operation op, std::array<Operand, 2> operands);

  Operand value_;
#endif
};
STAGES_EACH_OPERATOR(STAGES_REFLECTED, Scalar)

/// The other end of a Scalar whose value is given by hand; dropping it cancels what
/// depends on it.
class Promise {
 public:
  Promise();
  Promise(const Promise&) = delete;
  Promise& operator=(const Promise&) = delete;
  Scalar scalar() const;
  void set(double value);
  /// RuntimeError with this text is what the value comes to.
  void fail(const std::string& text);

#ifndef SWIG
 private:
  pkg::Ref<pkg::ManualEvent> event_;
  pkg::Ref<pkg::Event> taken_;
  std::shared_ptr<Tensor> cell_;
#endif
};

/// How long each operation pretends to work, in milliseconds.
void set_delay(double ms);

#ifndef SWIG
/// Of two Scalars and of one, in seconds; a stage gives its own.
struct Delays {
  double pair, one;
};
extern Delays g_delays;
/// The queue that Scalars use by default; each stage has its own.
const std::shared_ptr<JobQueue>& default_queue();
#endif

}  // namespace stages
