// SPDX-License-Identifier: Apache-2.0
// graph/fused_run.cc: the loop over the chunks of a fused step: Note [Fusion] in fusion.h.
#include <algorithm>

#include "dispatcher/row_major.h"
#include "graph/executable.h"
#include "graph/fusion.h"
#include "scheduler/parallel.h"
#include "scheduler/stop_point.h"

namespace pkg::graph {

/// The tensors of a thread, which show one chunk after the other.
class FusedRun::Lane {
 public:
  Lane(const Fusion& fusion, const std::vector<Tensor>& sources)
      : fusion_(fusion), slots_(Storage::make(fusion.nbytes)) {
    std::vector<std::pair<const TensorImpl*, Tensor>> made;
    for (size_t m = 0; m < fusion.members.size(); ++m) {
      const Member& member = fusion.members[m];
      Tensor tensor = shown(member, sources[m]);
      if (!tensor.is_same(sources[m])) chunks_.push_back({tensor.impl(), m});
      made.emplace_back(member.tensor.impl(), std::move(tensor));
    }
    const auto put = [&](Tensor& tensor) {
      const auto found = std::find_if(made.begin(), made.end(), [&](const auto& entry) {
        return entry.first == tensor.impl();
      });
      tensor = found->second;
    };
    for (const Step& step : fusion.steps) {
      Step& mine = steps_.emplace_back(step);
      for (Value& arg : mine.args) {
        if (auto* tensor = std::get_if<Tensor>(&arg)) put(*tensor);
        auto* list = std::get_if<TensorList>(&arg);
        for (size_t k = 0; list && k < list->size(); ++k) put((*list)[k]);
      }
      for (Tensor& result : mine.results) put(result);
    }
  }

  void bind(const std::vector<Tensor>& sources) {
    for (Chunk& chunk : chunks_) {
      const Tensor& source = sources[chunk.member];
      if (!source.defined()) continue;
      chunk.impl->storage = source.impl()->storage;
      chunk.offset = chunk.impl->offset = source.offset();
    }
  }
  void unbind() {
    for (Chunk& chunk : chunks_) {
      if (fusion_.members[chunk.member].lies != Lies::Local) chunk.impl->storage = nothing_;
    }
  }

  /// Chunks from row `begin` on; the step that fails is told before its error goes on.
  template <class Failed>
  void run(int64_t begin, int64_t end, Failed failed) {
    for (int64_t row = begin; row < end; row += fusion_.rows) {
      if (row > begin) stop_point();
      show(row, std::min(fusion_.rows, end - row));
      for (Step& step : steps_) {
        try {
          detail::compute(*step.op, *step.kernel, step.args, step.results, step.dtypes);
        } catch (...) {
          failed(step.node);
          throw;
        }
      }
    }
  }

 private:
  struct Chunk {
    TensorImpl* impl;
    size_t member;
    int64_t offset = 0;  // of the first row, in elements
  };

  // The tensor of this lane for a member.  One without dimensions stays so: dtypes depend on
  // that.
  Tensor shown(const Member& member, const Tensor& source) const {
    const TensorImpl& planned = *member.tensor.impl();
    if (member.lies == Lies::Whole && source.ndim() <= 1) return source;
    const int64_t inner = fusion_.inner, rows = fusion_.rows;
    Shape sizes;
    switch (member.lies) {
      case Lies::Whole: sizes = {member.tensor.numel()}; break;
      case Lies::Column: sizes = {rows, 1}; break;
      case Lies::Full:
      case Lies::Local: sizes = inner == 1 ? Shape{rows} : Shape{rows, inner};
    }
    // Storages of their own say that Locals do not overlap.
    Ref<Storage> memory = nothing_;
    if (member.lies == Lies::Local) {
      memory = Storage::part(slots_, member.place, sizes.numel() * itemsize(planned.dtype));
    }
    return Tensor(Ref<TensorImpl>::make(std::move(memory), sizes, sizes.numel(),
                                        planned.dtype, planned.device));
  }

  void show(int64_t row, int64_t rows) {
    for (const Chunk& chunk : chunks_) {
      const Lies lies = fusion_.members[chunk.member].lies;
      if (lies == Lies::Whole) continue;
      TensorImpl& impl = *chunk.impl;
      const int64_t width = lies == Lies::Column ? 1 : fusion_.inner;
      impl.sizes[0] = rows;
      impl.numel = rows * width;
      if (lies != Lies::Local) impl.offset = chunk.offset + row * width;
    }
  }

  const Fusion& fusion_;
  Ref<Storage> slots_;
  Ref<Storage> nothing_ = Storage::meta(0);
  std::vector<Step> steps_;
  std::vector<Chunk> chunks_;
};

FusedRun::FusedRun(const Fusion& fusion, FunctionRef<Tensor(const Tensor&)> place)
    : fusion_(fusion) {
  for (const Member& member : fusion.members) {
    sources_.push_back(member.lies == Lies::Local ? Tensor() : place(member.tensor));
  }
}
FusedRun::~FusedRun() = default;

std::unique_ptr<FusedRun::Lane> FusedRun::acquire() {
  std::unique_ptr<Lane> lane;
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      lane = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!lane) lane = std::make_unique<Lane>(fusion_, sources_);
  lane->bind(sources_);
  return lane;
}

void FusedRun::give_back(std::unique_ptr<Lane> lane) {
  lane->unbind();
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(lane));
}

void FusedRun::run() {
  const int64_t chunks = (fusion_.outer + fusion_.rows - 1) / fusion_.rows;
  failed_ = nullptr;
  try {
    parallel_for(0, chunks, grain_for(fusion_.chunk_nanoseconds),
                 [&](int64_t begin, int64_t end) {
                   std::unique_ptr<Lane> lane = acquire();
                   const auto failed = [&](const Node* node) {
                     std::lock_guard lock(mutex_);
                     if (!failed_) failed_ = node;
                   };
                   try {
                     lane->run(begin * fusion_.rows,
                               std::min(end * fusion_.rows, fusion_.outer), failed);
                   } catch (...) {
                     give_back(std::move(lane));
                     throw;
                   }
                   give_back(std::move(lane));
                 });
  } catch (...) {
    if (failed_) set_failed_node(failed_);
    throw;
  }
}

}  // namespace pkg::graph
