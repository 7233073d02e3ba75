#include "apps/ensembles/examples.h"

#include <fmt/format.h>

#include <filesystem>

#include "actors/ensembles/samples.h"
#include "apps/cli/data_folder.h"
#include "apps/training/data/images.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

constexpr const char* how_to_get_cifar10 =
    "curl -LO https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz && tar xzf cifar-10-binary.tar.gz "
    "makes it: --data cifar-10-batches-bin";

std::vector<std::string> numbered_classes(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

LabelledTensors all_of(const LabelledImages& images) {
  const Batch all = consecutive_examples(images, 0, images.count());
  return {all.x, all.labels};
}

// Every third flower is for testing.
ExampleSet load_flowers(const std::string& file) {
  const Tuple all =
      read_all(Dataset::csv({file}, {.components = {{DType::float32, 0, 4}, {DType::int64, 4}}}),
               {.storage = &posix_storage()});
  RowNumbers train, test;
  for (std::int64_t row = 0; row < all.at(0).shape()[0]; ++row)
    (row % 3 == 0 ? test : train).push_back(row);
  const Tuple learned = rows_at(all, train), tested = rows_at(all, test);
  return {{learned[0], learned[1]}, {tested[0], tested[1]}, {"setosa", "versicolor", "virginica"}};
}

std::vector<std::string> classes_of(const std::string& name, int count) {
  return name == "cifar10" ? cifar10_class_names() : numbered_classes(count);
}

std::string place_of(const std::string& name, const std::string& data) {
  if (name == "iris")
    return data.empty() ? (fs::path(default_data_folder()).parent_path() / "iris.csv").string() : data;
  return data_folder(data.empty() ? name : data);
}

}  // namespace

ExampleSet load_examples(const std::string& name, const std::string& data) {
  const std::string place = place_of(name, data);
  const std::string help = name == "cifar10" ? fmt::format("; {}", how_to_get_cifar10)
                                             : "; the project's own is in apps/data: omit --data";
  if (!fs::exists(place))
    throw Error(Code::not_found, fmt::format("{}: there is no '{}'{}", name, place, help));
  if (name == "iris") return load_flowers(place);
  try {
    const ImageData images = load_images(place);
    return {all_of(images.train), all_of(images.test), classes_of(name, images.train.classes)};
  } catch (const Error& error) {
    throw Error(error.code(), error.what() + help);
  }
}

}  // namespace actorflow
