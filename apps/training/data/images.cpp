#include "apps/training/data/images.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/input/rows.h"
#include "actors/runtime/storage.h"
#include "apps/training/data/image_records.h"
#include "dataflow/values/error.h"
#include "kernels/devices/device.h"

namespace actorflow {
namespace {

constexpr int cifar10_batches = 5;

const Shape cifar10_image{32, 32, 3};

bool is_there(const std::string& path) {
  return posix_storage().exists(path) || posix_storage().exists(path + ".gz");
}

Tuple read_columns(const Dataset& examples) { return read_all(examples, {&posix_storage(), nullptr}); }

int classes_of(const Tensor& labels) { return 1 + std::ranges::max(labels.values<std::uint8_t>()); }

LabelledImages load_mnist(const std::string& folder, const std::string& part) {
  const std::string images = folder + "/" + part + "-images-idx3-ubyte";
  const std::string labels = folder + "/" + part + "-labels-idx1-ubyte";
  const Tuple columns = read_columns(Dataset::idx({images, labels}));
  if (columns.empty()) throw Error(Code::data_loss, images + ": expected images, but it has none");
  if (columns[0].shape().rank() != 3 || columns[1].shape().rank() != 1)
    throw Error(Code::data_loss,
                fmt::format("{}, {}: expected images and labels, which are uint8[?,?,?] and "
                            "uint8[?], got {}",
                            images, labels, describe(columns)));
  const Shape& shape = columns[0].shape();
  return {columns[0].reshaped({shape[0], shape[1], shape[2], 1}), columns[1], classes_of(columns[1])};
}

// Planes of one colour each as pixels of all colours.
Tensor interleaved(const Tensor& planes) {
  const Shape& shape = planes.shape();  // [count, channels, height, width]
  Tensor images = Tensor::allocate(DType::uint8, {shape[0], shape[2], shape[3], shape[1]});
  const auto from = planes.values<std::uint8_t>();
  const auto to = images.mutable_values<std::uint8_t>();
  const auto channels = static_cast<std::size_t>(shape[1]);
  const auto pixels = static_cast<std::size_t>(shape[2] * shape[3]);
  for (std::size_t image = 0; image < from.size(); image += channels * pixels)
    for (std::size_t channel = 0; channel < channels; ++channel)
      for (std::size_t pixel = 0; pixel < pixels; ++pixel)
        to[image + pixel * channels + channel] = from[image + channel * pixels + pixel];
  return images;
}

LabelledImages load_cifar10(const std::vector<std::string>& paths) {
  const Tuple columns = read_columns(Dataset::cifar10(paths));
  if (columns.empty()) throw Error(Code::data_loss, paths[0] + ": expected images, but it has none");
  return {interleaved(columns[0]), columns[1], classes_of(columns[1])};
}

// The parts of CIFAR-10's training images that are in the folder. Where some are missing, that is said.
std::vector<std::string> cifar10_training_files(const std::string& folder) {
  std::vector<std::string> paths, missing;
  for (int batch = 1; batch <= cifar10_batches; ++batch) {
    const std::string name = fmt::format("data_batch_{}.bin", batch);
    const std::string path = folder + "/" + name;
    is_there(path) ? paths.push_back(path) : missing.push_back(name);
  }
  if (paths.empty())
    throw Error(
        Code::not_found,
        fmt::format("{} has CIFAR-10's test images, but no data_batch_1.bin to train on, nor another of "
                    "its {} files; {}; name the folder of the whole binary version",
                    folder, cifar10_batches, how_to_get_cifar10()));
  if (!missing.empty())
    spdlog::warn("{}: expected {} files of CIFAR-10's training images, got {}: without {}", folder,
                 cifar10_batches, paths.size(), fmt::join(missing, ", "));
  return paths;
}

// Images of bytes as numbers from 0 to 1, and labels as numbers.
Tuple scaled(const Tuple& examples) {
  Allocator& pool = cpu_device().allocator();
  Tensor x = Tensor::allocate(DType::float32, examples[0].shape(), pool);
  std::ranges::transform(examples[0].values<std::uint8_t>(), x.mutable_values<float>().begin(),
                         [](std::uint8_t pixel) { return static_cast<float>(pixel) * (1.0f / 255.0f); });
  Tensor labels = Tensor::allocate(DType::int64, examples[1].shape(), pool);
  std::ranges::copy(examples[1].values<std::uint8_t>(), labels.mutable_values<std::int64_t>().begin());
  return {std::move(x), std::move(labels)};
}

// By the format of which the folder has files.
ImageData load_parts(const std::string& folder) {
  const std::string mnist_train = folder + "/train-images-idx3-ubyte";
  const std::string cifar10_test = folder + "/test_batch.bin";
  if (is_there(cifar10_test))
    return {load_cifar10(cifar10_training_files(folder)), load_cifar10({cifar10_test})};
  if (has_image_records(folder)) return load_image_records(folder);
  if (!is_there(mnist_train) && !is_there(folder + "/t10k-images-idx3-ubyte"))
    throw Error(
        Code::not_found,
        fmt::format("{} has no images: neither MNIST's ({}), nor CIFAR-10's (test_batch.bin; {}), "
                    "nor record files (train.tfrecord-...); name a folder that has some",
                    folder, mnist_train, how_to_get_cifar10()));
  return {load_mnist(folder, "train"), load_mnist(folder, "t10k")};
}

}  // namespace

std::string how_to_get_cifar10() {
  return "'curl -LO https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz && tar xzf "
         "cifar-10-binary.tar.gz' makes cifar-10-batches-bin";
}

ImageData load_images(const std::string& folder) {
  const ImageData data = load_parts(folder);
  if (data.test.image() != data.train.image() || data.test.classes > data.train.classes)
    throw Error(Code::data_loss,
                fmt::format("{}: the training images are {} in {} classes, but the test images {} in {}",
                            folder, data.train.image().to_string(), data.train.classes,
                            data.test.image().to_string(), data.test.classes));
  return data;
}

Batch consecutive_examples(const LabelledImages& data, std::int64_t first, std::int64_t size) {
  const Tuple columns{data.images, data.labels};
  RowStacker rows(size);
  for (std::int64_t i = 0; i < size; ++i) rows.add_row(columns, first + i);
  Tuple batch = scaled(rows.take());
  return {std::move(batch[0]), std::move(batch[1])};
}

const std::vector<std::string>& cifar10_class_names() {
  static const std::vector<std::string> names{"airplane", "automobile", "bird",  "cat",  "deer",
                                              "dog",      "frog",       "horse", "ship", "truck"};
  return names;
}

LabelledData labelled(const ImageData& data) {
  const auto rows = [](const LabelledImages& images) { return Tuple{images.images, images.labels}; };
  const LabelledTypes types{{DType::float32, data.train.image()}, {}, data.train.classes, {}};
  LabelledData result =
      labelled(LabelledRows{"images", types, rows(data.train), rows(data.test), scaled});
  if (data.train.image() == cifar10_image && data.train.classes == 10)
    result.class_names = cifar10_class_names();
  return result;
}

}  // namespace actorflow
