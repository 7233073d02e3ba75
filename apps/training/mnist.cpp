#include "apps/training/mnist.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/input/rows.h"
#include "actors/runtime/storage.h"
#include "dataflow/values/error.h"
#include "kernels/devices/device.h"

namespace actorflow {
namespace {

LabelledImages load_part(const std::string& folder, const std::string& part) {
  const std::string images = folder + "/" + part + "-images-idx3-ubyte";
  const std::string labels = folder + "/" + part + "-labels-idx1-ubyte";
  const Tuple columns = read_all(Dataset::idx({images, labels}), {&posix_storage(), nullptr});
  if (columns.empty()) throw Error(Code::data_loss, images + ": expected images, but it has none");
  if (columns[0].shape().rank() != 3 || columns[1].shape().rank() != 1)
    throw Error(Code::data_loss, fmt::format("{}, {}: expected images and labels, which are uint8[?,?,?] and "
                                             "uint8[?], got {}",
                                             images, labels, describe(columns)));
  return {columns[0], columns[1], 1 + std::ranges::max(columns[1].values<std::uint8_t>())};
}

// Images of bytes as rows of numbers from 0 to 1, and labels as numbers.
Tuple scaled(const Tuple& examples) {
  Allocator& pool = cpu_device().allocator();
  const std::int64_t count = examples[0].shape()[0];
  Tensor x = Tensor::allocate(DType::float32, {count, examples[0].elements() / count}, pool);
  std::ranges::transform(examples[0].values<std::uint8_t>(), x.mutable_values<float>().begin(),
                         [](std::uint8_t pixel) { return static_cast<float>(pixel) * (1.0f / 255.0f); });
  Tensor labels = Tensor::allocate(DType::int64, {count}, pool);
  std::ranges::copy(examples[1].values<std::uint8_t>(), labels.mutable_values<std::int64_t>().begin());
  return {std::move(x), std::move(labels)};
}

}  // namespace

Mnist load_mnist(const std::string& folder) {
  Mnist data{load_part(folder, "train"), load_part(folder, "t10k")};
  if (data.test.pixels() != data.train.pixels() || data.test.classes > data.train.classes)
    throw Error(
        Code::data_loss,
        fmt::format("{}: the training images have {} pixels in {} classes, but the test images {} in {}",
                    folder, data.train.pixels(), data.train.classes, data.test.pixels(),
                    data.test.classes));
  return data;
}

Batch consecutive_examples(const LabelledImages& data, std::int64_t first, std::int64_t size) {
  const Tuple columns{data.images, data.labels};
  RowStacker rows(size);
  for (std::int64_t i = 0; i < size; ++i) rows.add_row(columns, first + i);
  Tuple batch = scaled(rows.take());
  return {std::move(batch[0]), std::move(batch[1])};
}

Dataset training_batches(const LabelledImages& data, std::int64_t batch_size, std::uint64_t seed) {
  return Dataset::tensors({data.images, data.labels})
      .shuffle({.seed = seed})
      .repeat()
      .batch(batch_size)
      .map(scaled);
}

}  // namespace actorflow
