// SPDX-License-Identifier: Apache-2.0
// collectives/request.h: what a rank wants done with one tensor, what rank 0 decides, and
// both as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace pkg::collectives {

enum class Kind : uint8_t {
  Allreduce,
  Allgather,
  Broadcast,
  Alltoall,
  Reducescatter,
  Join,
  Barrier,
};
/// "allreduce"
const char* name_of(Kind kind);
/// The kind of this name; ValueError for another.
Kind kind_of(std::string_view name);

/// Horovod's numbers.
enum class Reduction : uint8_t { Average, Sum, Adasum, Min, Max, Product };
const char* name_of(Reduction reduction);

/// Whether two factors do the same: NaN equals itself, and -0 is not 0.
bool same_bits(double a, double b);

struct Request {
  Kind kind = Kind::Allreduce;
  std::string name;
  DType dtype = DType::Float32;
  Shape sizes;
  Reduction reduction = Reduction::Sum;
  double prescale = 1, postscale = 1;
  int32_t root = 0;
  Shape splits;            ///< Alltoall: rows for each rank
  std::string group;       ///< of tensors that are done all or not at all
  int32_t group_size = 0;  ///< 0: no group
  bool numbered = false;   ///< the name was made up, and will not come again
  std::string site;        ///< "file:line" that asked
  std::string failure;     ///< why the tensor has no values on this rank

  /// What the tensors of one call have in common, and no other call: the name of a group
  /// is no name of a tensor.
  std::string call() const { return group_size == 0 ? name : "group\n" + group; }
  int64_t nbytes() const { return sizes.numel() * itemsize(dtype); }
  /// Whether what rank 0 once decided about the other holds for this one, too.
  bool same_as(const Request& other) const;
  /// Whether all that matters stands in the request, so that it is known once for all.
  bool cacheable() const;
};

/// Reducescatter: how many of `rows` a rank gets; the first ones get one more.
inline int64_t scattered_rows(int64_t rows, int64_t rank, int64_t ranks) {
  return rows / ranks + (rank < rows % ranks);
}

/// One tensor of a response: what it is, and the number it is known by from now on.
struct Decided {
  uint64_t id = 0;     ///< 0: not to be remembered
  bool known = false;  ///< every rank has it: only the number travels
  Request request;
};

/// What all ranks do next.
struct Response {
  Kind kind = Kind::Allreduce;
  std::string error;           ///< then nothing is done, and these tensors fail with it
  std::vector<int32_t> ranks;  ///< whose tensors fail; empty: those of all
  std::vector<Decided> entries;
  Shape sizes;  ///< Allgather: rows of each rank.  Alltoall: from each to each.
  std::vector<int32_t> joined;  ///< ranks that take part without a tensor
  int32_t last_joined = -1;
  /// Whether the tensors of this rank of that name are meant.
  bool concerns(int rank) const;
  std::vector<uint64_t> forgotten;  ///< numbers that mean nothing after this response
};

/// The first byte of a message.
enum class Message : uint8_t { Requests, Responses, Alive, Stop, Stopped, Lost };

/// Puts values behind each other.
class Writer {
 public:
  explicit Writer(Message what) { put(what); }
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(std::string_view text);
  void put(const Shape& shape);
  void put(const Request& request);
  void put(const Response& response);
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Takes them out again; CollectiveError when they end too early.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  template <class T>
  T get() {
    T value;
    take(&value, sizeof value);
    return value;
  }
  std::string text();
  Shape shape();
  Request request();
  /// `known(id)` gives the request of an entry that travelled as its number.
  template <class F>
  Response response(F known) {
    Response made = head();
    for (Decided& entry : made.entries) {
      entry.id = get<uint64_t>();
      entry.known = get<bool>();
      entry.request = entry.known ? known(entry.id) : request();
    }
    return made;
  }

 private:
  void take(void* to, size_t count);
  Response head();
  std::string_view rest_;
};

}  // namespace pkg::collectives
