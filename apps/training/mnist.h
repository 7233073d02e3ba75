// Labelled images in the four files of MNIST, and the batches that replicas train on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataflow/tensor.h"

namespace actorflow {

// Images as they are on disk. Immutable, so that replicas in one process share it.
struct LabelledImages {
  Tensor images;    // uint8 [count, rows, columns]
  Tensor labels;    // uint8 [count]
  int classes = 0;  // labels are below

  std::int64_t count() const { return images.shape()[0]; }
  std::int64_t pixels() const { return images.shape()[1] * images.shape()[2]; }
};

struct Mnist {
  LabelledImages train;
  LabelledImages test;
};

// Reads {train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz] in `folder`. Throws what read_idx throws, and
// data_loss if the files do not fit each other.
Mnist load_mnist(const std::string& folder);

struct Batch {
  Tensor x;       // float32 [size, pixels], 0 to 1
  Tensor labels;  // int64 [size]
};

// `size` consecutive examples from `first` on.
Batch consecutive_examples(const LabelledImages& data, std::int64_t first, std::int64_t size);

// A replica's share of an endless sequence of batches: the examples in an order that is drawn anew for
// each pass over the data, cut into batches of one size (one may reach into the next pass).
// The sequence depends on data, batch size and seed only, not on the number of replicas nor on the
// standard library. Not thread-safe.
class Batches {
 public:
  // Batches number `first`, `first` + `stride`, `first` + 2 `stride`, ... of the sequence.
  // REQUIRES: data outlives this; batch_size, stride > 0; first >= 0.
  Batches(const LabelledImages& data, std::int64_t batch_size, std::uint64_t seed, std::int64_t first,
          std::int64_t stride);

  Batch next();

 private:
  void shuffle(std::int64_t pass);

  const LabelledImages& data_;
  std::int64_t batch_size_;
  std::uint64_t seed_;
  std::int64_t next_;
  std::int64_t stride_;
  std::int64_t pass_ = -1;
  std::vector<std::uint32_t> order_;  // of the examples in pass_
};

}  // namespace actorflow
