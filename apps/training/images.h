// Labelled images, and the batches that replicas train on, as datasets.
#pragma once

#include <cstdint>
#include <string>

#include "actors/input/dataset.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// Images as they are on disk. Immutable, so that replicas in one process share it.
struct LabelledImages {
  Tensor images;    // uint8 [count, height, width, channels]
  Tensor labels;    // uint8 [count]
  int classes = 0;  // labels are below this

  std::int64_t count() const { return images.shape()[0]; }
  // [height, width, channels].
  Shape image() const { return {images.shape()[1], images.shape()[2], images.shape()[3]}; }
};

struct ImageData {
  LabelledImages train;
  LabelledImages test;
};

// Reads a folder as MNIST's, {train,t10k}-{images-idx3,labels-idx1}-ubyte, or as the binary version of
// CIFAR-10, data_batch_{1...5}.bin and test_batch.bin; each file plain or with .gz at the end of its
// name. Throws what reading them throws, not_found, naming what was looked for, and data_loss if the
// files do not belong together.
ImageData load_images(const std::string& folder);

struct Batch {
  Tensor x;       // float32 [size, height, width, channels], 0 to 1
  Tensor labels;  // int64 [size]
};

// `size` consecutive examples from `first` on.
Batch consecutive_examples(const LabelledImages& data, std::int64_t first, std::int64_t size);

// An endless sequence of batches: the examples in an order that is drawn anew for each pass over the
// data, cut into batches of one size, which may reach into the next pass. An element is x and labels of
// a Batch. The sequence depends on data, batch size and seed only; replicas share it by Dataset::shard.
Dataset training_batches(const LabelledImages& data, std::int64_t batch_size, std::uint64_t seed);

}  // namespace actorflow
