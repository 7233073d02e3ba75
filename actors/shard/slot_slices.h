// Slots of which each replica has a slice: cutting them, putting them together, and as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/shard/state_copy.h"
#include "dataflow/values/tensor.h"
#include "kernels/update/optimizer_rule.h"

namespace actorflow {

// Elements of a variable, in row-major order.
struct SlotSlice {
  std::int64_t first = 0, count = 0;

  bool operator==(const SlotSlice&) const = default;
};

// Whether a slot is "step", which is no tensor of the variable's elements.
inline bool is_count_of_updates(const Tensor& slot) { return slot.dtype() == DType::int64; }

// Copies `count` elements. REQUIRES: both tensors are on the host, have the same dtype, and have these
// elements.
void copy_elements(Tensor& to, std::int64_t to_first, const Tensor& from, std::int64_t from_first,
                   std::int64_t count);
// The elements of the slice, [count]: a copy, unless they are all elements. REQUIRES: a tensor on the
// host that has them.
Tensor elements_of(const Tensor& all, const SlotSlice& slice);
// The slices of whole slots; the slot "step", an int64, stays as it is. On the host.
std::vector<Tensor> cut_slots(std::span<const Tensor> slots, const SlotSlice& slice);

// A slice with its slots, as a replica sends it. Without slots `slots_of` is "".
struct SentSlots {
  std::string slots_of;
  SlotSlice slice;
  std::vector<Tensor> slots;
};
CopiedState encoded(SentSlots sent);
// Throws data_loss.
SentSlots decoded(CopiedState state);
// Throws data_loss unless the slots are those of their optimizer, for the slice of a variable that is
// `like`.
void check_slots(const SentSlots& sent, const OptimizerLibrary& optimizers, const Tensor& like);

// The slots of a whole variable; its optimizer is "" if there are none. `like` has the variable's shape.
// Throws aborted, naming the variable, if the slices are not all of one optimizer, or lack elements.
struct WholeSlots {
  std::string slots_of;
  std::vector<Tensor> slots;
};
WholeSlots put_together(const std::string& variable, const Tensor& like,
                        std::span<const SentSlots> slices);

}  // namespace actorflow
