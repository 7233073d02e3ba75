// Text as examples for a model that foretells the next character.
#pragma once

#include <cstdint>
#include <string>

#include "actors/input/dataset.h"
#include "actors/models/text/vocabulary.h"
#include "actors/runtime/storage.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// A text in numbers. Immutable, so that replicas in one process share it.
struct TextData {
  Vocabulary vocabulary;
  Tensor train, validation;  // int64 [characters], the beginning and the end of the text
};

// Reads a file of UTF-8, plain or with .gz at the end of its name. The last part of the text, of this
// share, is for validation. Throws what reading throws, invalid_argument unless 0 < share < 1, and
// data_loss if the file is not UTF-8.
TextData load_text(Storage& storage, const std::string& path, double validation_share = 0.1);

// Examples below are a block of characters and, as labels, the block that begins one character later,
// both int64 [length]. Throw invalid_argument if the text is shorter than a block and one character.

// Blocks that begin anywhere in the text, without end: use FitOptions::steps_per_epoch. Where block
// number i begins depends on the seed and on i alone, so that training goes on from any step.
Dataset random_blocks(const Tensor& text, std::int64_t length, std::uint64_t seed = 1);
// The text cut into blocks, without a shorter last one.
Dataset consecutive_blocks(const Tensor& text, std::int64_t length);

}  // namespace actorflow
