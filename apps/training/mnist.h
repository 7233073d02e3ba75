// Labelled images in the four files of MNIST, and the batches that replicas train on, as datasets.
#pragma once

#include <cstdint>
#include <string>

#include "actors/input/dataset.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// Images as they are on disk. Immutable, so that replicas in one process share it.
struct LabelledImages {
  Tensor images;    // uint8 [count, rows, columns]
  Tensor labels;    // uint8 [count]
  int classes = 0;  // labels are below this

  std::int64_t count() const { return images.shape()[0]; }
  std::int64_t pixels() const { return images.shape()[1] * images.shape()[2]; }
};

struct Mnist {
  LabelledImages train;
  LabelledImages test;
};

// Reads {train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz] in `folder`. Throws what reading them throws,
// and data_loss if the files do not belong together.
Mnist load_mnist(const std::string& folder);

struct Batch {
  Tensor x;       // float32 [size, pixels], 0 to 1
  Tensor labels;  // int64 [size]
};

// `size` consecutive examples from `first` on.
Batch consecutive_examples(const LabelledImages& data, std::int64_t first, std::int64_t size);

// An endless sequence of batches: the examples in an order that is drawn anew for each pass over the
// data, cut into batches of one size, which may reach into the next pass. An element is x and labels of
// a Batch. The sequence depends on data, batch size and seed only; replicas share it by Dataset::shard.
Dataset training_batches(const LabelledImages& data, std::int64_t batch_size, std::uint64_t seed);

}  // namespace actorflow
