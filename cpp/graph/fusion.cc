// SPDX-License-Identifier: Apache-2.0
// graph/fusion.cc: which steps of a plan become one: Note [Fusion] in fusion.h.
#include "graph/fusion.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace pkg::graph {
namespace {

constexpr int64_t kChunk = 4096;   // elements
constexpr size_t kMostSteps = 32;  // of a fused one
constexpr size_t kLookBack = 64;   // steps, for one that this one could go with

// What a step or several use.
struct Uses {
  std::vector<int> reads, writes;                        // buffers, sorted
  bool writes_captures = false, reads_captures = false;  // or what is fed

  void add(const Step& step, const Plan& plan) {
    const auto use = [&](const Tensor& tensor, bool written) {
      const int number = buffer_of(tensor);
      if (number < 0) return;
      insert(written ? writes : reads, number);
      const auto kind = plan.buffers[size_t(number)].kind;
      if (kind != Buffer::Kind::Capture && kind != Buffer::Kind::Feed) return;
      (written ? writes_captures : reads_captures) = true;
    };
    for (size_t i = 0; i < step.args.size(); ++i) {
      const bool written = step.op->schema.arguments[i].written;
      for_each_tensor(step.args[i], [&](const Tensor& tensor) {
        use(tensor, false);
        if (written) use(tensor, true);
      });
    }
    for (const Tensor& result : step.results) use(result, true);
  }
  static void insert(std::vector<int>& set, int number) {
    const auto place = std::lower_bound(set.begin(), set.end(), number);
    if (place == set.end() || *place != number) set.insert(place, number);
  }
  static bool common(const std::vector<int>& a, const std::vector<int>& b) {
    for (auto i = a.begin(), k = b.begin(); i != a.end() && k != b.end();) {
      if (*i == *k) return true;
      ++(*i < *k ? i : k);
    }
    return false;
  }
  // Whether their order matters.  Tensors that a graph refers to may share memory, with each
  // other and with what is fed.
  bool conflicts(const Uses& other) const {
    if (writes_captures && (other.writes_captures || other.reads_captures)) return true;
    if (other.writes_captures && reads_captures) return true;
    return common(writes, other.writes) || common(writes, other.reads) ||
           common(reads, other.writes);
  }
  bool related(const Uses& other) const {
    return common(writes, other.reads) || common(reads, other.reads);
  }
};

bool writes_all(const Tensor& tensor) {
  return tensor.is_contiguous() && tensor.offset() == 0;
}

// Over which dimensions of the result a tensor has elements of its own: 1 for those, 0 for
// those along which it repeats itself, -1 where that is the same.
std::optional<std::vector<int>> extent_over(const Shape& shape, const Tensor& tensor) {
  const Shape& sizes = tensor.sizes();
  if (!tensor.is_contiguous() || sizes.size() > shape.size()) return std::nullopt;
  std::vector<int> has(shape.size(), -1);
  const size_t missing = shape.size() - sizes.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const int64_t size = d < missing ? 1 : sizes[d - missing];
    if (size != 1 && size != shape[d]) return std::nullopt;
    has[d] = size != 1;
  }
  return has;
}

// Several steps that may be one, or a step that may not.
struct Group {
  std::vector<Step> steps;
  Uses uses;
  bool fusable = false;
  Shape shape;
  std::vector<std::vector<int>> extents;  // different ones, of their tensors

  // The dimension from which on those of a row begin; none if tensors lie too differently.
  std::optional<size_t> split() const {
    for (size_t at = shape.size() + 1; at-- > 0;) {
      int64_t inner = 1;
      for (size_t d = at; d < shape.size(); ++d) inner *= shape[d];
      if (inner > kChunk) return std::nullopt;
      const auto alike = [](auto begin, auto end) {
        int seen = -1;
        return std::all_of(begin, end, [&](int has) {
          if (has < 0) return true;
          if (seen < 0) seen = has;
          return seen == has;
        });
      };
      const bool all = std::all_of(extents.begin(), extents.end(), [&](const auto& has) {
        return alike(has.begin(), has.begin() + int64_t(at)) &&
               alike(has.begin() + int64_t(at), has.end());
      });
      if (all) return at;
    }
    return std::nullopt;
  }

  bool add_extent(const Tensor& tensor) {
    auto has = extent_over(shape, tensor);
    if (!has) return false;
    if (std::find(extents.begin(), extents.end(), *has) == extents.end()) {
      extents.push_back(std::move(*has));
    }
    return true;
  }
};

template <class F>
void for_each_tensor_of(const Step& step, F f) {
  for (const Value& arg : step.args) for_each_tensor(arg, f);
  for (const Tensor& result : step.results) f(result);
}

// A group of this step alone.
Group group_of(Step step, const Plan& plan) {
  Group group;
  group.uses.add(step, plan);
  const Operator& op = step.op->definition();
  bool fusable = step.computes && op.pointwise && step.results.size() == 1 &&
                 step.writes.empty() && step.kernel->strided && step.kernel->converts;
  if (fusable) {
    const Tensor& result = step.results[0];
    group.shape = result.sizes();
    fusable = result.numel() > kChunk && writes_all(result);
    for_each_tensor_of(step, [&](const Tensor& tensor) {
      fusable = fusable && tensor.defined() && group.add_extent(tensor);
    });
    fusable = fusable && group.split();
  }
  group.fusable = fusable;
  group.steps.push_back(std::move(step));
  return group;
}

// What members write all of them see alike, element by element.
bool seen_alike(const Group& group) {
  const Shape& shape = group.shape;
  for (const Step& step : group.steps) {
    bool alike = true;
    for_each_tensor_of(step, [&](const Tensor& tensor) {
      const int number = buffer_of(tensor);
      if (number < 0) return;
      const auto& writes = group.uses.writes;
      if (!std::binary_search(writes.begin(), writes.end(), number)) return;
      alike = alike && tensor.sizes() == shape && writes_all(tensor);
    });
    if (!alike) return false;
  }
  return true;
}

// Both as one, if they can be.
std::optional<Group> together(const Group& first, const Group& second, const Plan& plan) {
  if (!first.fusable || !second.fusable || first.shape != second.shape) return std::nullopt;
  if (first.steps.size() + second.steps.size() > kMostSteps) return std::nullopt;
  if (!first.uses.related(second.uses)) return std::nullopt;
  Group both = first;
  for (const Step& step : second.steps) {
    both.uses.add(step, plan);
    both.steps.push_back(step);
  }
  for (const auto& has : second.extents) {
    if (std::find(both.extents.begin(), both.extents.end(), has) == both.extents.end()) {
      both.extents.push_back(has);
    }
  }
  if (!both.split() || !seen_alike(both)) return std::nullopt;
  return both;
}

// Puts a group behind those before it, or into one of them.
void put(std::vector<Group>& groups, Group group, const Plan& plan) {
  for (size_t back = 0; group.fusable && back < std::min(kLookBack, groups.size());
       ++back) {
    Group& earlier = groups[groups.size() - 1 - back];
    if (auto both = together(earlier, group, plan)) {
      earlier = std::move(*both);
      return;
    }
    if (earlier.uses.conflicts(group.uses)) break;
  }
  groups.push_back(std::move(group));
}

Lies lies(const Shape& shape, const Tensor& tensor, size_t split) {
  const auto has = *extent_over(shape, tensor);
  const auto any = [](auto begin, auto end) {
    return std::any_of(begin, end, [](int own) { return own == 1; });
  };
  const bool outer = any(has.begin(), has.begin() + int64_t(split));
  const bool inner = any(has.begin() + int64_t(split), has.end());
  const bool one_column = split == shape.size();
  if (outer) return inner || one_column ? Lies::Full : Lies::Column;
  return Lies::Whole;
}

// Whole lines of the cache, and not the same ones of the next place.
int64_t room(int64_t nbytes) {
  constexpr int64_t kLine = 64;
  return (nbytes / kLine + 3) * kLine;
}

// Places for what is Local: each begins with the step that writes it first and ends with the
// last that reads it.
void place_locals(Fusion& fusion) {
  struct Life {
    size_t first, last;
    int64_t width;
  };
  std::unordered_map<int, Life> lives;  // of buffers
  for (size_t s = 0; s < fusion.steps.size(); ++s) {
    for_each_tensor_of(fusion.steps[s], [&](const Tensor& tensor) {
      const int number = buffer_of(tensor);
      if (number < 0) return;
      const auto [life, fresh] = lives.try_emplace(
          number, Life{s, s, room(fusion.rows * fusion.inner * itemsize(tensor.dtype()))});
      life->second.last = s;
    });
  }
  std::unordered_map<int, int64_t> places;
  for (Member& member : fusion.members) {
    if (member.lies != Lies::Local) continue;
    const int number = buffer_of(member.tensor);
    const Life& mine = lives.at(number);
    const auto [place, fresh] = places.try_emplace(number, 0);
    for (bool moved = fresh; moved;) {
      moved = false;
      for (const auto& [other, at] : places) {
        const Life& life = lives.at(other);
        const bool at_once = life.first <= mine.last && mine.first <= life.last;
        const bool overlap = at < place->second + mine.width &&
                             place->second < at + life.width;
        if (other == number || !at_once || !overlap) continue;
        place->second = at + life.width;
        moved = true;
      }
    }
    member.place = place->second;
    fusion.nbytes = std::max(fusion.nbytes, place->second + mine.width);
  }
}

// A step that stands for its group.  To others it has the arguments and results that are not
// Local.
Step fused(Group group, Plan& plan, const std::vector<size_t>& users) {
  auto fusion = std::make_shared<Fusion>();
  Step step;
  step.op = group.steps.back().op;
  step.kernel = group.steps.back().kernel;
  step.node = group.steps.back().node;
  const size_t split = *group.split();
  fusion->outer = fusion->inner = 1;
  for (size_t d = 0; d < group.shape.size(); ++d) {
    (d < split ? fusion->outer : fusion->inner) *= group.shape[d];
  }
  fusion->rows = std::max<int64_t>(1, kChunk / fusion->inner);
  fusion->steps = std::move(group.steps);
  std::unordered_map<int, size_t> uses;  // by members, of buffers
  for (const Step& member : fusion->steps) {
    step.nanoseconds += member.nanoseconds;
    std::vector<int> once;
    for_each_tensor_of(member, [&](const Tensor& tensor) {
      if (buffer_of(tensor) >= 0) Uses::insert(once, buffer_of(tensor));
    });
    for (const int number : once) ++uses[number];
  }
  std::vector<const TensorImpl*> seen;
  for (const Step& member : fusion->steps) {
    for_each_tensor_of(member, [&](const Tensor& tensor) {
      if (std::find(seen.begin(), seen.end(), tensor.impl()) != seen.end()) return;
      seen.push_back(tensor.impl());
      Member mine{tensor, lies(group.shape, tensor, split)};
      const int number = buffer_of(tensor);
      if (number >= 0) {
        Buffer& buffer = plan.buffers[size_t(number)];
        const bool written = std::binary_search(group.uses.writes.begin(),
                                                group.uses.writes.end(), number);
        const bool alone = users[size_t(number)] == uses[number];
        if (buffer.kind == Buffer::Kind::Temporary && alone) {
          buffer.kind = Buffer::Kind::Local;
        }
        if (buffer.kind == Buffer::Kind::Local) mine.lies = Lies::Local;
        else if (written) step.results.push_back(tensor);
        else step.args.push_back(tensor);
      }
      fusion->members.push_back(std::move(mine));
    });
  }
  fusion->chunk_nanoseconds = step.nanoseconds * double(fusion->rows) /
                              double(fusion->outer);
  place_locals(*fusion);
  step.fusion = std::move(fusion);
  return step;
}

}  // namespace

void fuse(Plan& plan) {
  std::vector<Group> groups;
  std::vector<size_t> users(plan.buffers.size());  // steps
  for (Step& step : plan.steps) {
    Group group = group_of(std::move(step), plan);
    std::vector<int> all = group.uses.reads;
    for (const int number : group.uses.writes) Uses::insert(all, number);
    for (const int number : all) ++users[size_t(number)];
    put(groups, std::move(group), plan);
  }
  plan.steps.clear();
  for (Group& group : groups) {
    if (group.steps.size() == 1) plan.steps.push_back(std::move(group.steps[0]));
    else plan.steps.push_back(fused(std::move(group), plan, users));
  }
}

}  // namespace pkg::graph
