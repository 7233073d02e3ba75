#include "actors/shard/slot_slices.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "dataflow/values/check.h"
#include "dataflow/values/error.h"
#include "kernels/devices/on_device.h"

namespace actorflow {

void copy_elements(Tensor& to, std::int64_t to_first, const Tensor& from, std::int64_t from_first,
                   std::int64_t count) {
  if (count == 0) return;
  const auto has = [count](const Tensor& tensor, std::int64_t first) {
    return tensor.on_host() && 0 <= first && 0 <= count && first <= tensor.elements() - count;
  };
  ACTORFLOW_CHECK(to.dtype() == from.dtype() && has(to, to_first) && has(from, from_first), count,
                  "elements from", from_first, "of", from.describe(), "to", to_first, "of",
                  to.describe());
  const std::size_t size = size_of(to.dtype());
  std::memcpy(static_cast<std::byte*>(to.mutable_data()) + static_cast<std::size_t>(to_first) * size,
              static_cast<const std::byte*>(from.data()) + static_cast<std::size_t>(from_first) * size,
              static_cast<std::size_t>(count) * size);
}

Tensor elements_of(const Tensor& all, const SlotSlice& slice) {
  if (slice.first == 0 && slice.count == all.elements()) return all.reshaped({slice.count});
  Tensor some = Tensor::allocate(all.dtype(), {slice.count});
  copy_elements(some, 0, all, slice.first, slice.count);
  return some;
}

std::vector<Tensor> cut_slots(std::span<const Tensor> slots, const SlotSlice& slice) {
  std::vector<Tensor> cut;
  for (const Tensor& slot : slots)
    cut.push_back(is_count_of_updates(slot) ? slot : elements_of(on_device(slot, cpu_device()), slice));
  return cut;
}

CopiedState encoded(SentSlots sent) {
  CopiedState state{std::move(sent.slots_of), {}};
  state.tensors.push_back(Tensor::of<std::int64_t>({2}, {sent.slice.first, sent.slice.count}));
  for (Tensor& slot : sent.slots) state.tensors.push_back(on_device(std::move(slot), cpu_device()));
  return state;
}

SentSlots decoded(CopiedState state) {
  const Tensor range = state.tensors.empty() ? Tensor() : state.tensors[0];
  if (range.dtype() != DType::int64 || range.elements() != 2)
    throw Error(Code::data_loss, "the bytes are not those of slots that another replica has");
  SentSlots sent{
      std::move(state.slots_of), {range.values<std::int64_t>()[0], range.values<std::int64_t>()[1]}, {}};
  for (std::size_t i = 1; i < state.tensors.size(); ++i)
    sent.slots.push_back(std::move(state.tensors[i]));
  return sent;
}

void check_slots(const SentSlots& sent, const OptimizerLibrary& optimizers, const Tensor& like) {
  const auto& [first, count] = sent.slice;
  bool fits = first >= 0 && count >= 0 && count <= like.elements() && first <= like.elements() - count;
  if (sent.slots_of.empty()) {
    fits = fits && sent.slots.empty();
  } else {
    const auto names = optimizers.at(sent.slots_of).slots();
    fits = fits && sent.slots.size() == names.size();
    for (std::size_t i = 0; fits && i < names.size(); ++i)
      fits = names[i] == "step"
                 ? sent.slots[i].dtype() == DType::int64 && sent.slots[i].elements() == 1
                 : sent.slots[i].dtype() == like.dtype() && sent.slots[i].elements() == count;
  }
  if (!fits)
    throw Error(Code::data_loss, fmt::format("slots of '{}' for elements {} to {} of a {} do not fit",
                                             sent.slots_of, first, first + count, like.describe()));
}

WholeSlots put_together(const std::string& variable, const Tensor& like,
                        std::span<const SentSlots> slices) {
  WholeSlots whole;
  std::int64_t there = 0;
  bool any = false;
  for (const SentSlots& part : slices) {
    if (part.slice.count == 0) continue;
    if (!any) {
      whole.slots_of = part.slots_of;
      for (const Tensor& slot : part.slots)
        whole.slots.push_back(is_count_of_updates(slot) ? slot
                                                        : Tensor::allocate(like.dtype(), like.shape()));
    }
    any = true;
    there += part.slice.count;
    const bool fits = part.slots_of == whole.slots_of && part.slots.size() == whole.slots.size() &&
                      part.slice.first >= 0 && part.slice.first + part.slice.count <= like.elements();
    if (!fits)
      throw Error(Code::aborted,
                  fmt::format("the replicas have slots of '{}' by different optimizers: '{}' and '{}'",
                              variable, whole.slots_of, part.slots_of));
    for (std::size_t i = 0; i < whole.slots.size(); ++i)
      if (!is_count_of_updates(whole.slots[i]))
        copy_elements(whole.slots[i], part.slice.first, part.slots[i], 0, part.slice.count);
  }
  if (there != like.elements())
    throw Error(Code::aborted, fmt::format("the replicas have slots of {} of the {} elements of '{}'",
                                           there, like.elements(), variable));
  return whole;
}

}  // namespace actorflow
