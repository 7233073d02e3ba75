// Variables with their optimizers' slots as bytes, for replicas on other tasks.
//
//   bytes    = (variable)*
//   variable = text tensors           the optimizer that has made the slots, "" if there are none; then
//   tensors  = count (tensor)*        the value, and the slots in their order
//   tensor   = dtype rank (size)* elements, then zeros up to a multiple of 8 bytes
//   text     = length, the characters, then zeros up to a multiple of 8 bytes
//
// Numbers are int64 in the order of this machine's bytes: all tasks of a job are of one kind.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dataflow/values/tensor.h"

namespace actorflow {

struct CopiedState {
  std::string slots_of;
  std::vector<Tensor> tensors;  // on the host; the value comes first
};

// uint8[n]. Throws unimplemented for a variable of strings.
Tensor encode_states(std::span<const CopiedState> states);
// Throws data_loss if the bytes are not those of so many variables.
std::vector<CopiedState> decode_states(const Tensor& bytes, std::size_t count);

}  // namespace actorflow
