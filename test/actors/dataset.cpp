#include "actors/input/dataset.h"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "actors/runtime/storage.h"
#include "schema/tfrecord.h"
#include "test/support/contains.h"
#include "test/support/folder.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(dataset)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Numbers = std::vector<std::int64_t>;

InputContext context() { return {&posix_storage(), nullptr}; }

// 0, 1, ..., count - 1 as scalars.
Dataset range(std::int64_t count) {
  Tensor values = Tensor::allocate(DType::int64, {count});
  std::iota(values.mutable_values<std::int64_t>().begin(), values.mutable_values<std::int64_t>().end(), 0);
  return Dataset::tensors({values});
}

// The same without the shortcuts of tensors in memory: as a file's elements come.
Dataset stream(std::int64_t count) {
  return range(count).map([](Tuple element) { return element; });
}

// The next elements' numbers, at most so many, those of a batch one after the other.
Numbers numbers(Stage& stage, std::int64_t most = 1'000'000) {
  Numbers all;
  for (Tuple element; most > 0 && stage.next(element); --most)
    for (const auto value : element[0].values<std::int64_t>()) all.push_back(value);
  return all;
}

Numbers numbers(const Dataset& dataset, std::int64_t most = 1'000'000, std::int64_t pass = 0) {
  const StageRef stage = dataset.open(context());
  stage->restart(pass);
  return numbers(*stage, most);
}

Numbers sorted(Numbers values) {
  std::ranges::sort(values);
  return values;
}

void expect_same(const Numbers& actual, const Numbers& expected) {
  BOOST_TEST(actual == expected, boost::test_tools::per_element());
}

Dataset doubled(const Dataset& dataset, const MapOptions& options = {}) {
  return dataset.map(
      [](const Tuple& element) {
        return Tuple{Tensor::scalar<std::int64_t>(2 * element[0].scalar<std::int64_t>())};
      },
      options);
}

bool is_odd(const Tuple& element) { return element[0].scalar<std::int64_t>() % 2 == 1; }

}  // namespace

BOOST_AUTO_TEST_CASE(each_stage_does_what_it_is_named_for) {
  expect_same(numbers(range(4)), {0, 1, 2, 3});
  expect_same(numbers(range(9).take(3)), {0, 1, 2});
  expect_same(numbers(range(5).skip(3)), {3, 4});
  expect_same(numbers(range(3).repeat(2)), {0, 1, 2, 0, 1, 2});
  expect_same(numbers(range(3).repeat(0)), {});
  expect_same(numbers(range(7).shard(3, 1)), {1, 4});
  expect_same(numbers(doubled(range(3))), {0, 2, 4});
  expect_same(numbers(range(6).filter(is_odd)), {1, 3, 5});
  expect_same(numbers(Dataset::concatenate({range(2), range(3)})), {0, 1, 0, 1, 2});
  expect_same(numbers(Dataset::interleave({range(1), range(3), range(2)})), {0, 0, 0, 1, 1, 2});
  expect_same(numbers(Dataset::interleave({range(3), range(5)}, {.block_length = 2})),
              {0, 1, 0, 1, 2, 2, 3, 4});
}

BOOST_AUTO_TEST_CASE(a_batch_stacks_elements) {
  const StageRef stage = range(5).batch(2).open(context());
  stage->restart(0);
  Tuple batch;
  std::vector<std::string> shapes;
  while (stage->next(batch)) shapes.push_back(describe(batch));
  BOOST_TEST(shapes == (std::vector<std::string>{"int64[2]", "int64[2]", "int64[1]"}),
             boost::test_tools::per_element());
  expect_same(numbers(range(5).batch(2, {.drop_remainder = true})), {0, 1, 2, 3});
  expect_same(numbers(range(8).batch(2).batch(2)), {0, 1, 2, 3, 4, 5, 6, 7});
}

BOOST_AUTO_TEST_CASE(elements_of_a_batch_must_be_of_one_type) {
  const Dataset ragged = range(3).map([](const Tuple& element) {
    return Tuple{Tensor::zeros(DType::float32, {element[0].scalar<std::int64_t>()})};
  });
  const Status status = test::status_of([&] { read_all(ragged.batch(3), context()); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(contains(status.message, "float32[1]"));
}

BOOST_AUTO_TEST_CASE(a_shuffle_gives_every_element_once_in_each_pass_in_a_new_order) {
  for (const std::int64_t buffer : {0, 1, 10, 1000})
    for (const Dataset& source : {range(60), stream(60)}) {
      const Dataset shuffled = source.shuffle({.buffer = buffer, .seed = 3}).repeat(2);
      const Numbers all = numbers(shuffled);
      const Numbers first(all.begin(), all.begin() + 60), second(all.begin() + 60, all.end());
      expect_same(sorted(first), numbers(range(60)));
      expect_same(sorted(second), numbers(range(60)));
      BOOST_TEST((first == second) == (buffer == 1));
      BOOST_TEST((first == numbers(range(60))) == (buffer == 1));
    }
  const Numbers twice =
      numbers(range(20).shuffle({.seed = 3, .each_pass_anew = false}).repeat(2).batch(20), 2);
  expect_same(Numbers(twice.begin(), twice.begin() + 20), Numbers(twice.begin() + 20, twice.end()));
}

BOOST_AUTO_TEST_CASE(a_buffer_moves_no_element_forward_further_than_its_size) {
  const Numbers shuffled = numbers(range(200).shuffle({.buffer = 10}));
  for (std::size_t i = 0; i < shuffled.size(); ++i)
    BOOST_TEST(shuffled[i] < static_cast<std::int64_t>(i) + 10);
}

// The sequences are part of the interface: a run is repeated on another machine.
BOOST_AUTO_TEST_CASE(the_seed_decides_the_order_on_every_machine) {
  expect_same(numbers(range(8).shuffle({.seed = 1})), numbers(stream(8).shuffle({.seed = 1})));
  expect_same(numbers(range(8).shuffle({.seed = 1})), {5, 1, 6, 0, 2, 3, 4, 7});
  expect_same(numbers(range(8).shuffle({.buffer = 4, .seed = 1})), {3, 2, 4, 1, 0, 5, 6, 7});
  BOOST_TEST((numbers(range(50).shuffle({.seed = 1})) != numbers(range(50).shuffle({.seed = 2}))));
}

BOOST_AUTO_TEST_CASE(shards_together_are_the_whole) {
  const Dataset batches = range(50).shuffle({.seed = 9}).repeat(3).batch(4);
  const Numbers whole = numbers(batches);
  const StageRef even = batches.shard(2, 0).open(context()), odd = batches.shard(2, 1).open(context());
  even->restart(0);
  odd->restart(0);
  Numbers merged;
  while (merged.size() < whole.size())
    for (Stage* stage : {even.get(), odd.get()})
      for (const auto number : numbers(*stage, 1)) merged.push_back(number);
  expect_same(merged, whole);
}

BOOST_AUTO_TEST_CASE(passing_over_elements_is_the_same_as_reading_them) {
  const Dataset streams = Dataset::concatenate({stream(13), stream(7)});
  const std::vector<Dataset> pipelines = {
      range(30).shuffle({.seed = 2}).repeat(3).batch(4).shard(3, 1),
      streams.shuffle({.buffer = 6}).repeat(2).batch(3),
      streams.shard(3, 2).repeat(4),
      doubled(Dataset::interleave({range(9), stream(11)}), {.parallel = 3}).batch(2),
      range(20).filter(is_odd).repeat(3).take(25),
      streams.skip(4).repeat(2).batch(7, {.drop_remainder = true}),
      Dataset::zip({range(20), stream(25)}).repeat(2).batch(3),
      range(3).repeat().shard(2, 1).take(40),
      range(5).repeat(2).shuffle({.seed = 5}).repeat(2)};
  for (std::size_t p = 0; p < pipelines.size(); ++p)
    for (std::int64_t position = 0; position <= 60; ++position) {
      const StageRef read = pipelines[p].open(context()), skipped = pipelines[p].open(context());
      read->restart(0);
      skipped->restart(0);
      Tuple unused;
      std::int64_t available = 0;
      while (available < position && read->next(unused)) ++available;
      BOOST_TEST(skipped->skip(position) == available, p << " at " << position);
      const auto rest = numbers(*read), rest_after_skip = numbers(*skipped);
      BOOST_TEST((rest == rest_after_skip), p << " at " << position);
      read->restart(0);
      skipped->restart(0);
      BOOST_TEST((numbers(*read) == numbers(*skipped)));
    }
}

BOOST_AUTO_TEST_CASE(an_endless_repetition_of_nothing_ends) {
  expect_same(numbers(range(0).repeat()), {});
  expect_same(numbers(range(5).filter([](const Tuple&) { return false; }).repeat()), {});
}

BOOST_AUTO_TEST_CASE(nested_repetitions_shuffle_each_pass_anew) {
  const Numbers all = numbers(range(20).shuffle({.seed = 1}).repeat(2).repeat(2));
  std::set<Numbers> passes;
  for (auto begin = all.begin(); begin != all.end(); begin += 20) passes.emplace(begin, begin + 20);
  BOOST_TEST(passes.size() == 4u);
}

BOOST_AUTO_TEST_CASE(strings_are_stacked_and_shuffled_too) {
  const test::Folder folder;
  test::write_file(folder.file("words"), "a\nlonger line of text\nc\n");
  const Dataset words = Dataset::lines({folder.file("words")});
  const Tuple batch = read_all(words, context());
  BOOST_TEST(describe(batch) == "string[3]");
  BOOST_TEST(describe(read_all(words)) == "string[3]", "without a context it reads the disk");
  BOOST_TEST(batch[0].values<std::string>()[1] == "longer line of text");
  const Tuple shuffled = read_all(words.shuffle({.seed = 1}).batch(3), context());
  const auto values = shuffled[0].values<std::string>();
  BOOST_TEST(std::set<std::string>(values.begin(), values.end()).size() == 3u);
}

BOOST_AUTO_TEST_CASE(idx_files_are_read_side_by_side) {
  using namespace std::string_literals;
  const test::Folder folder;
  test::write_file(folder.file("images"), "\0\0\x08\x02\0\0\0\x02\0\0\0\x02"s + "abcd");
  test::write_file(folder.file("labels"), "\0\0\x08\x01\0\0\0\x02"s + "\1\2");
  test::write_file(folder.file("more"), "\0\0\x08\x01\0\0\0\x03"s + "\1\2\3");
  const Tuple all = read_all(Dataset::idx({folder.file("images"), folder.file("labels")}), context());
  BOOST_TEST(describe(all) == "uint8[2,2] uint8[2]");
  BOOST_TEST(all[0].values<std::uint8_t>()[3] == 'd');
  const Status status = test::status_of(
      [&] { read_all(Dataset::idx({folder.file("images"), folder.file("more")}), context()); });
  BOOST_TEST((status.code == Code::data_loss));
  BOOST_TEST(contains(status.message, "only 2"));
  const Status missing =
      test::status_of([&] { read_all(Dataset::idx({folder.file("none")}), context()); });
  BOOST_TEST((missing.code == Code::not_found));
  BOOST_TEST(contains(missing.message, folder.file("none") + ".gz"));
}

BOOST_AUTO_TEST_CASE(files_are_positioned_without_reading_what_comes_before) {
  const test::Folder folder;
  std::string file;
  for (int record = 0; record < 3000; ++record)
    file += std::string(1, static_cast<char>(record % 10)) + std::string(3072, static_cast<char>(record));
  test::write_file(folder.file("batch.bin"), file);
  const Dataset images = Dataset::cifar10({folder.file("batch.bin")});
  const StageRef stage = images.open(context());
  stage->restart(0);
  BOOST_TEST(stage->skip(2989) == 2989);
  Tuple element;
  BOOST_TEST(stage->next(element));
  BOOST_TEST(element[1].scalar<std::uint8_t>() == 9);
  BOOST_TEST(element[0].values<std::uint8_t>()[3071] == 2989 % 256);
  BOOST_TEST(stage->skip(100) == 10);
}

BOOST_AUTO_TEST_CASE(real_data_are_read) {
  const std::string mnist = ACTORFLOW_SOURCE_DIR "/apps/data/mnist/t10k-";
  const Tuple digits =
      read_all(Dataset::idx({mnist + "images-idx3-ubyte", mnist + "labels-idx1-ubyte"}), context());
  BOOST_TEST(describe(digits) == "uint8[10000,28,28] uint8[10000]");
  const Tuple flowers =
      read_all(Dataset::csv({ACTORFLOW_SOURCE_DIR "/apps/data/iris.csv"},
                            {.components = {{DType::float32, 0, 4}, {DType::int64, 4}}}),
               context());
  BOOST_TEST(describe(flowers) == "float32[150,4] int64[150]");
  const auto kinds = flowers[1].values<std::int64_t>();
  for (const std::int64_t kind : {0, 1, 2}) BOOST_TEST(std::ranges::count(kinds, kind) == 50);
}

// What NumPy finds in the file.
BOOST_AUTO_TEST_CASE(real_images_of_cifar10_are_read) {
  const Tuple images =
      read_all(Dataset::cifar10({ACTORFLOW_SOURCE_DIR "/apps/data/cifar10/test_batch.bin.gz"}), context());
  BOOST_TEST(describe(images) == "uint8[10,3,32,32] uint8[10]");
  BOOST_TEST(images[1].values<std::uint8_t>() ==
                 (std::vector<std::uint8_t>{9, 7, 2, 8, 4, 4, 0, 6, 0, 9}),
             boost::test_tools::per_element());
  const auto pixels = images[0].values<std::uint8_t>();
  std::array<std::int64_t, 3> colours{};
  for (std::size_t i = 0; i < pixels.size(); ++i) colours[i / 1024 % 3] += pixels[i];
  BOOST_TEST(colours == (std::array<std::int64_t, 3>{1423608, 1388219, 1332014}),
             boost::test_tools::per_element());
  BOOST_TEST(pixels[3 * 3072 + 1024 + 33] == 132);
}

BOOST_AUTO_TEST_CASE(examples_in_records_become_tensors) {
  const test::Folder folder;
  std::vector<std::byte> file;
  for (std::int64_t i = 0; i < 5; ++i) {
    std::map<std::string, Tensor> features{{"label", Tensor::scalar(i)}};
    if (i != 3) features["image"] = Tensor::of<float>({2}, {static_cast<float>(i), 0.5F});
    const std::string example = encode_example(features);
    append_record(file, std::as_bytes(std::span(example)));
  }
  test::write_file(folder.file("train.tfrecord"), {reinterpret_cast<const char*>(file.data()), file.size()});
  const Dataset records = Dataset::tfrecords({folder.file("train.tfrecord")});
  const Tuple all = read_all(
      records.parse_examples({{"image", DType::float32, {2}, Tensor::of<float>({2}, {-1, -1})},
                              {"label", DType::int64}},
                             {.parallel = 2}),
      context());
  BOOST_TEST(describe(all) == "float32[5,2] int64[5]");
  BOOST_TEST(all[0].values<float>() == (std::vector<float>{0, 0.5, 1, 0.5, 2, 0.5, -1, -1, 4, 0.5}),
             boost::test_tools::per_element());
  const Status status = test::status_of(
      [&] { read_all(records.parse_examples({{"image", DType::float32, {2}}}), context()); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(contains(status.message, "feature 'image'"));
}

BOOST_AUTO_TEST_CASE(mistakes_are_found_when_the_pipeline_is_described) {
  const auto message = [](const std::function<void()>& action) {
    const Status status = test::status_of(action);
    BOOST_TEST((status.code == Code::invalid_argument));
    return status.message;
  };
  BOOST_TEST(contains(message([] { range(1).batch(0); }), "Dataset::batch: expected a size of 1 or more"));
  BOOST_TEST(contains(message([] { range(1).shard(2, 2); }), "an index below the count, 2, got 2"));
  BOOST_TEST(contains(message([] { range(1).shuffle({.buffer = -1}); }), "got -1"));
  BOOST_TEST(contains(message([] { range(1).repeat(-2); }), "-1 for no end"));
  BOOST_TEST(contains(message([] { range(1).map({}, {.parallel = 0}); }), "got 0"));
  BOOST_TEST(contains(message([] { range(1).prefetch(2).batch(2); }), "the last stage"));
  BOOST_TEST(contains(message([] { Dataset::lines({}); }), "a file or more"));
  BOOST_TEST(contains(message([] { Dataset::tensors({Tensor::scalar(1)}); }), "int32[]"));
}

BOOST_AUTO_TEST_SUITE_END()
