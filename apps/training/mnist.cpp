#include "apps/training/mnist.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "apps/training/idx.h"
#include "dataflow/error.h"
#include "kernels/device.h"

namespace actorflow {
namespace {

LabelledImages load_part(const std::string& folder, const std::string& part) {
  LabelledImages data;
  const std::string images = folder + "/" + part + "-images-idx3-ubyte";
  const std::string labels = folder + "/" + part + "-labels-idx1-ubyte";
  data.images = read_idx(images, 3);
  data.labels = read_idx(labels, 1);
  if (data.images.elements() == 0)
    throw Error(Code::data_loss, images + ": expected images, but it has none");
  if (data.labels.elements() != data.count())
    throw Error(Code::data_loss,
                fmt::format("{} has {} images, but {} has {} labels; take both from one source", images,
                            data.count(), labels, data.labels.elements()));
  data.classes = 1 + std::ranges::max(data.labels.values<std::uint8_t>());
  return data;
}

Batch allocate_batch(const LabelledImages& data, std::int64_t size) {
  Allocator& pool = cpu_device().allocator();
  return {Tensor::allocate(DType::float32, {size, data.pixels()}, pool),
          Tensor::allocate(DType::int64, {size}, pool)};
}

// Copies example `from` to place `to` of the batch.
void copy_example(const LabelledImages& data, std::int64_t from, Batch& batch, std::int64_t to) {
  const std::int64_t pixels = data.pixels();
  const std::uint8_t* image = data.images.values<std::uint8_t>().data() + from * pixels;
  float* row = batch.x.mutable_values<float>().data() + to * pixels;
  for (std::int64_t i = 0; i < pixels; ++i) row[i] = static_cast<float>(image[i]) * (1.0f / 255.0f);
  batch.labels.mutable_values<std::int64_t>()[static_cast<std::size_t>(to)] =
      data.labels.values<std::uint8_t>()[static_cast<std::size_t>(from)];
}

// A number below `bound`, by the high half of a product (Lemire 2019, without the rejection step: the
// bias is below 2^-32 here).
std::uint32_t below(std::mt19937_64& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>((random() >> 32) * bound >> 32);
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
  Batch batch = allocate_batch(data, size);
  for (std::int64_t i = 0; i < size; ++i) copy_example(data, first + i, batch, i);
  return batch;
}

Batches::Batches(const LabelledImages& data, std::int64_t batch_size, std::uint64_t seed,
                 std::int64_t first, std::int64_t stride)
    : data_(data), batch_size_(batch_size), seed_(seed), next_(first), stride_(stride) {}

Batch Batches::next() {
  Batch batch = allocate_batch(data_, batch_size_);
  for (std::int64_t i = 0; i < batch_size_; ++i) {
    const std::int64_t position = next_ * batch_size_ + i;
    if (const auto pass = position / data_.count(); pass != pass_) shuffle(pass);
    copy_example(data_, order_[static_cast<std::size_t>(position % data_.count())], batch, i);
  }
  next_ += stride_;
  return batch;
}

// Fisher and Yates' shuffle, so that a pass does not depend on the passes before it.
void Batches::shuffle(std::int64_t pass) {
  std::mt19937_64 random(seed_ * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(pass));
  order_.resize(static_cast<std::size_t>(data_.count()));
  std::iota(order_.begin(), order_.end(), 0u);
  for (auto i = static_cast<std::uint32_t>(order_.size()); i > 1; --i)
    std::swap(order_[i - 1], order_[below(random, i)]);
  pass_ = pass;
}

}  // namespace actorflow
