#include "apps/training/data/images.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "actors/client/dataset_iterator.h"
#include "dataflow/values/error.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(images)

using namespace actorflow;

namespace {

using namespace std::string_literals;

// Images of one pixel that tells which image it is; labels are its last digit.
LabelledImages numbered_images(std::uint8_t count) {
  LabelledImages data{Tensor::allocate(DType::uint8, {count, 1, 1, 1}),
                      Tensor::allocate(DType::uint8, {count}), 10};
  for (std::uint8_t i = 0; i < count; ++i) {
    data.images.mutable_values<std::uint8_t>()[i] = i;
    data.labels.mutable_values<std::uint8_t>()[i] = i % 10;
  }
  return data;
}

Dataset batches_of(const LabelledImages& data, std::int64_t size, std::uint64_t seed) {
  return labelled(ImageData{data, data}).training_batches({.size = size, .seed = seed});
}

std::vector<int> numbers(const Tensor& x) {
  std::vector<int> numbers;
  for (const float value : x.values<float>()) numbers.push_back(static_cast<int>(value * 255 + 0.5f));
  return numbers;
}

std::vector<int> count_labels(const LabelledImages& data) {
  std::vector<int> counts(static_cast<std::size_t>(data.classes));
  for (const auto label : data.labels.values<std::uint8_t>()) ++counts[label];
  return counts;
}

// Of the next batches of a dataset.
std::vector<int> numbers_of(const Dataset& batches, int count) {
  DatasetIterator it(batches);
  std::vector<int> all;
  for (int i = 0; i < count; ++i)
    for (const int number : numbers(it.next()[0])) all.push_back(number);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_project_has_the_canonical_files) {
  const ImageData data = load_images(ACTORFLOW_SOURCE_DIR "/apps/data/mnist");
  BOOST_TEST(data.train.images.describe() == "uint8[60000,28,28,1]");
  BOOST_TEST(data.test.images.describe() == "uint8[10000,28,28,1]");
  BOOST_TEST(data.train.classes == 10);
  // How many there are of each digit.
  BOOST_TEST(count_labels(data.train) ==
                 (std::vector<int>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}),
             boost::test_tools::per_element());
  BOOST_TEST(count_labels(data.test) ==
                 (std::vector<int>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_holds_scaled_images_and_their_labels) {
  const LabelledImages data = numbered_images(200);
  const Batch batch = consecutive_examples(data, 51, 2);
  BOOST_TEST(batch.x.describe() == "float32[2,1,1,1]");
  BOOST_TEST(batch.x.values<float>()[0] == 0.2f, boost::test_tools::tolerance(1e-6f));
  BOOST_TEST(batch.labels.describe() == "int64[2]");
  BOOST_TEST(batch.labels.values<std::int64_t>()[1] == 2);
}

BOOST_AUTO_TEST_CASE(each_pass_sees_every_image_once_in_a_new_order) {
  const LabelledImages data = numbered_images(60);
  const auto all = numbers_of(batches_of(data, 8, 1), 15);  // 8 does not divide 60
  const std::vector<int> first(all.begin(), all.begin() + 60);
  const std::vector<int> second(all.begin() + 60, all.end());
  BOOST_TEST(std::set(first.begin(), first.end()).size() == 60u);
  BOOST_TEST(std::set(second.begin(), second.end()).size() == 60u);
  BOOST_TEST((first != second));
}

BOOST_AUTO_TEST_CASE(labels_stay_with_their_images) {
  const LabelledImages data = numbered_images(100);
  DatasetIterator batches(batches_of(data, 10, 3));
  for (int i = 0; i < 20; ++i) {
    const Tuple batch = batches.next();
    const auto images = numbers(batch[0]);
    for (std::size_t k = 0; k < images.size(); ++k)
      BOOST_TEST(batch[1].values<std::int64_t>()[k] == images[k] % 10);
  }
}

BOOST_AUTO_TEST_CASE(workers_share_one_sequence) {
  const LabelledImages data = numbered_images(50);
  const Dataset batches = batches_of(data, 4, 9);
  DatasetIterator all(batches), even(batches.shard(2, 0)), odd(batches.shard(2, 1));
  for (int i = 0; i < 20; ++i) {
    BOOST_TEST(numbers(all.next()[0]) == numbers(even.next()[0]), boost::test_tools::per_element());
    BOOST_TEST(numbers(all.next()[0]) == numbers(odd.next()[0]), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(the_sequence_can_be_entered_anywhere) {
  const LabelledImages data = numbered_images(50);
  const auto all = numbers_of(batches_of(data, 4, 9), 40);
  const auto late = numbers_of(batches_of(data, 4, 9).skip(30), 10);
  BOOST_TEST(late == std::vector<int>(all.begin() + 120, all.end()), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_seed_decides_the_order) {
  const LabelledImages data = numbered_images(50);
  BOOST_TEST((numbers_of(batches_of(data, 5, 1), 10) != numbers_of(batches_of(data, 5, 2), 10)));
  BOOST_TEST((numbers_of(batches_of(data, 5, 1), 10) == numbers_of(batches_of(data, 5, 1), 10)));
}

BOOST_AUTO_TEST_CASE(planes_of_cifar10_become_pixels) {
  // A red, a green and a blue byte, which differ between two images.
  const auto record = [](char label, const std::string& rgb) {
    return std::string(1, label) + std::string(1024, rgb[0]) + std::string(1024, rgb[1]) +
           std::string(1024, rgb[2]);
  };
  const test::Folder folder;
  test::write_file(folder.file("test_batch.bin"), record(1, "rgb"));
  BOOST_CHECK_EXCEPTION(load_images(folder.path()), Error, [](const Error& error) {
    return error.code() == Code::not_found &&
           std::string(error.what()).find("no data_batch_1.bin") != std::string::npos;
  });
  test::write_file(folder.file("data_batch_2.bin"), record(9, "xyz") + record(0, "rgb"));
  test::write_file(folder.file("data_batch_1.bin"), record(4, "abc"));
  const ImageData data = load_images(folder.path());
  BOOST_TEST(data.train.images.describe() == "uint8[3,32,32,3]");
  BOOST_TEST(data.train.classes == 10);
  const auto pixels = data.train.images.values<std::uint8_t>();
  BOOST_TEST(std::string(pixels.begin(), pixels.begin() + 6) == "abcabc");
  BOOST_TEST(std::string(pixels.end() - 3, pixels.end()) == "rgb");
  BOOST_TEST(data.train.labels.values<std::uint8_t>()[1] == 9);
}

BOOST_AUTO_TEST_CASE(images_and_labels_must_be_as_many) {
  const test::Folder folder;
  test::write_file(folder.file("train-images-idx3-ubyte"),
                   "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01"s + "ab");
  test::write_file(folder.file("train-labels-idx1-ubyte"), "\0\0\x08\x01\0\0\0\x03"s + "\1\2\3");
  BOOST_CHECK_EXCEPTION(load_images(folder.path()), Error, [](const Error& error) {
    const std::string text = error.what();
    return error.code() == Code::data_loss &&
           text.find("train-labels-idx1-ubyte") != std::string::npos &&
           text.find("only 2") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
