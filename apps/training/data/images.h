// Labelled images.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/training/data/labelled_data.h"
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

// The commands that make the folder of CIFAR-10's binary version, as a part of a sentence.
std::string how_to_get_cifar10();

// Reads a folder as MNIST's, {train,t10k}-{images-idx3,labels-idx1}-ubyte, or as the binary version of
// CIFAR-10, data_batch_{1...5}.bin and test_batch.bin, each file plain or with .gz at the end of its
// name; or as record files (image_records.h). Throws what reading them throws, not_found, naming what
// was looked for, and data_loss if the files do not belong together.
ImageData load_images(const std::string& folder);

struct Batch {
  Tensor x;       // float32 [size, height, width, channels], 0 to 1
  Tensor labels;  // int64 [size]
};

// `size` consecutive examples from `first` on.
Batch consecutive_examples(const LabelledImages& data, std::int64_t first, std::int64_t size);

// "airplane", "automobile", ..., in the order of the labels.
const std::vector<std::string>& cifar10_class_names();

// Images to train and test on: float32 [height, width, channels], 0 to 1.
LabelledData labelled(const ImageData& data);

}  // namespace actorflow
