// What is trained on, what is trained, and what is written about it.
#include <boost/test/unit_test.hpp>
#include <set>

#include "apps/training/data/image_records.h"
#include "apps/training/data/load_data.h"
#include "apps/training/models/model_choice.h"
#include "apps/training/models/model_file.h"
#include "apps/training/reports/answers.h"
#include "apps/training/reports/learning_curve.h"
#include "dataflow/values/error.h"
#include "schema/event.h"
#include "schema/example.h"
#include "schema/tfrecord.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(training_data)

using namespace actorflow;
using test::Folder;

namespace {

const LabelledTypes flowers{{DType::float32, {4}}, {}, 3, {}};
const LabelledTypes photos{{DType::float32, {32, 32, 3}}, {}, 10, {}};

// Runs a call that must fail with this code and all of these words.
template <class Call>
void expect_error(Code code, const std::vector<std::string>& words, const Call& call) {
  BOOST_CHECK_EXCEPTION(call(), Error, [&](const Error& error) {
    const std::string text = error.what();
    for (const auto& word : words)
      BOOST_TEST(text.find(word) != std::string::npos, text << " lacks " << word);
    return error.code() == code;
  });
}

LabelledData table_of(const Folder& folder, const std::string& text) {
  test::write_file(folder.file("t.csv"), text);
  return load_data(folder.file("t.csv"));
}

std::vector<float> first_features(const Dataset& batches, int count) {
  const StageRef stage = batches.open({});
  stage->restart(0);
  std::vector<float> values;
  for (Tuple batch; count > 0 && stage->next(batch); --count) {
    const auto x = batch[0].values<float>();
    for (std::size_t i = 0; i < x.size(); i += static_cast<std::size_t>(batch[0].shape()[1]))
      values.push_back(x[i]);
  }
  return values;
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_a_table_a_fifth_is_to_test_on) {
  const Folder folder;
  std::string text = "a,b,class\n";
  for (int row = 0; row < 20; ++row)
    text += std::to_string(row) + ",0.5," + std::to_string(row % 3) + "\n";
  const LabelledData data = table_of(folder, text);
  BOOST_TEST(data.types.example.to_string() == "float32[2]");
  BOOST_TEST(data.types.classes == 3);
  BOOST_TEST(data.train_count == 16);
  const auto trained = first_features(data.training_batches({.size = 8, .seed = 1}), 2);
  const auto tested = first_features(data.test_batches(), 1);
  std::set<float> all(trained.begin(), trained.end());
  all.insert(tested.begin(), tested.end());
  BOOST_TEST(tested.size() == 4u);
  BOOST_TEST(all.size() == 20u);  // each row in one of the two
}

BOOST_AUTO_TEST_CASE(tables_that_teach_nothing_are_refused) {
  const Folder folder;
  const auto refuse = [&](const std::string& text, const std::vector<std::string>& words) {
    expect_error(Code::data_loss, words, [&] { table_of(folder, text); });
  };
  refuse("a,b\n", {"t.csv", "no rows"});
  refuse("a\n1\n", {"t.csv", "two columns", "'1'"});
  refuse("a,b\n1,0\n", {"t.csv", "1 row"});
  refuse("a,b\n1,0\n2,0\n", {"t.csv", "classes from 0 on"});
  refuse("a,b\n1,1\n2,-1\n", {"t.csv", "-1 to 1"});
  refuse("a,b\n1,1\n2,9000000000\n", {"t.csv", "9000000000", "too large for a class"});
  refuse("a,b,c\n1,nan,1\n2,-inf,0\n3,1,0\n", {"t.csv", "2 values are not finite"});
  refuse("a,b\n1,1\nx,0\n", {"t.csv", "x"});
  for (const char* nowhere : {"nowhere", "nowhere.csv", "nowhere.txt"})
    expect_error(Code::not_found, {nowhere, "*.csv", "nothing is there", "name one"},
                 [nowhere] { load_data(nowhere); });
  expect_error(Code::not_found, {"cifar-10-binary.tar.gz' makes"}, [] { load_data("nowhere"); });
}

BOOST_AUTO_TEST_CASE(images_are_the_same_from_record_files) {
  const Folder folder;
  const ImageData data = load_images(ACTORFLOW_SOURCE_DIR "/apps/data/digits");
  std::atomic<bool> stopped = true;
  BOOST_TEST(!write_image_records(data, folder.path(), 3, stopped));
  BOOST_TEST(std::filesystem::is_empty(folder.path()));
  stopped = false;
  BOOST_TEST(write_image_records(data, folder.path(), 3, stopped));
  const ImageData read = load_images(folder.path());
  for (const auto& [expected, actual] :
       {std::pair(&data.train, &read.train), std::pair(&data.test, &read.test)}) {
    BOOST_TEST(identical(expected->images, actual->images));
    BOOST_TEST(identical(expected->labels, actual->labels));
    BOOST_TEST(expected->classes == actual->classes);
  }
  expect_error(Code::already_exists, {folder.path(), "another folder"},
               [&] { write_image_records(data, folder.path(), 1, stopped); });
}

// As tensorflow_datasets names them, with a feature more.
BOOST_AUTO_TEST_CASE(record_files_of_others_are_read) {
  const Folder folder;
  const auto write = [&](const std::string& name, std::int64_t label,
                         const std::string& image = "image") {
    const std::vector<std::uint8_t> pixels{1, 2, 3, 40, 50, 60};
    std::vector<std::byte> file;
    const std::string example =
        encode_example({{image, Tensor::scalar(encode_image(1, 2, 3, pixels).png)},
                        {"id", Tensor::scalar(std::string("train_7"))},
                        {"label", Tensor::scalar(label)}});
    append_record(file, std::as_bytes(std::span(example)));
    test::write_file(folder.file(name), {reinterpret_cast<const char*>(file.data()), file.size()});
  };
  const auto load = [&] { return load_images(folder.path()); };
  write("cifar10-train.tfrecord-00000-of-00002", 4);
  write("cifar10-test.tfrecord-00000-of-00001", 2);
  expect_error(Code::not_found, {"cifar10-train.tfrecord-00001-of-00002", "missing; name a folder"},
               load);
  write("cifar10-train.tfrecord-00001-of-00002", 1);
  const ImageData data = load();
  BOOST_TEST(data.train.images.shape().to_string() == "[2,1,2,3]");
  BOOST_TEST(data.train.images.values<std::uint8_t>()[9] == 40);
  BOOST_TEST(data.train.classes == 5);
  BOOST_TEST(data.test.labels.values<std::uint8_t>()[0] == 2);

  write("cifar10-train.tfrecord-00001-of-00002", 256);
  expect_error(Code::data_loss, {"label", "256"}, load);
  write("cifar10-train.tfrecord-00001-of-00002", 1, "picture");
  expect_error(Code::invalid_argument, {"'image'"}, load);
  write("cifar10-train.tfrecord-00001-of-00002", 1);
  write("mnist-train.tfrecord-00000-of-00001", 1);
  expect_error(Code::data_loss, {"two data sets", "mnist-train", "cifar10-train"}, load);
}

BOOST_AUTO_TEST_CASE(settings_are_checked_by_the_model) {
  const auto build = [](const ModelChoice& choice, const LabelledTypes& data) {
    return [choice, data] { architecture_of(choice, data); };
  };
  const Code bad = Code::invalid_argument;
  expect_error(bad, {"'mpl'", "mlp", "resnet20"}, build({"mpl", {}}, flowers));
  expect_error(bad, {"mlp", "'depth'", "hidden=256"}, build({"mlp", {{"depth", "3"}}}, flowers));
  expect_error(bad, {"mlp", "hidden", "'8,x'"}, build({"mlp", {{"hidden", "8,x"}}}, flowers));
  expect_error(bad, {"mlp", "hidden", "'0'"}, build({"mlp", {{"hidden", "0"}}}, flowers));
  expect_error(bad, {"lenet", "float32[4]", "mlp"}, build({"lenet", {}}, flowers));
  expect_error(bad, {"key=value", "'hidden'"}, [] { parse_settings({"hidden"}); });
  BOOST_TEST(parse_settings({"hidden=8,9", "a="}).at("hidden") == "8,9");
  BOOST_TEST(describe({"mlp", {{"hidden", "8,9"}}}) == "mlp with hidden=8,9");
  BOOST_TEST(describe({"mlp", {}}) == "mlp with hidden=256");
  BOOST_TEST(describe({"lenet", {}}) == "lenet");
}

BOOST_AUTO_TEST_CASE(a_model_file_says_what_was_trained) {
  const Folder folder;
  Storage& storage = posix_storage();
  expect_error(Code::not_found, {"model.json"}, [&] { read_model_file(storage, folder.path()); });
  const TrainedModel text{{"mlp", {{"hidden", "8,9"}}}, {{DType::int64, {16}}, {16}, 4, "\n\xff\x80z"}};
  for (const TrainedModel& model : {text, TrainedModel{{"lenet", {}}, photos}}) {
    write_model_file(storage, folder.path(), model);
    BOOST_TEST((read_model_file(storage, folder.path()) == model));
  }
  test::write_file(folder.file("model.json"), "{\"model\": \"mlp\"}\n");
  expect_error(Code::data_loss, {"model.json", "classes"},
               [&] { read_model_file(storage, folder.path()); });
}

BOOST_AUTO_TEST_CASE(rows_that_were_mistaken_are_shown_with_their_numbers) {
  const LabelledData rows{.noun = "rows", .types = flowers};
  const Tuple batch{Tensor::of<float>({2, 4}, {1, 2, 3, 4, 5, 6.25, 7, 8}),
                    Tensor::of<std::int64_t>({2}, {0, 2})};
  Answers answers;
  answers.add(rows, batch, std::vector<std::int64_t>{0, 1});
  BOOST_TEST_REQUIRE(answers.wrong_texts.size() == 1u);
  BOOST_TEST(answers.wrong_texts[0].text == "5, 6.25, 7, 8");
  BOOST_TEST(answers.wrong_texts[0].caption == "2, not 1");
  const Folder folder;
  save_answers(folder.path(), rows, answers);
  BOOST_TEST(test::read_file(folder.file("mistakes.svg")).find("2, not 1") != std::string::npos);
}

// Of each block the last one, which has the most before it.
BOOST_AUTO_TEST_CASE(characters_that_were_mistaken_are_shown_with_what_stands_before_them) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "ab \n";
  test::write_file(folder.file("t.txt"), text);
  const LabelledData data = load_data(folder.file("t.txt"), 4);
  const StageRef stage = data.test_batches().open({});
  stage->restart(0);
  Tuple batch;
  BOOST_TEST_REQUIRE(stage->next(batch));
  const auto labels = batch[1].values<std::int64_t>();
  std::vector<std::int64_t> classes(labels.begin(), labels.end());
  classes[1] = classes[2] = labels[0];  // two mistakes of the first block; none of the others
  Answers answers;
  answers.add(data, batch, classes);
  BOOST_TEST_REQUIRE(answers.wrong_texts.size() == 1u);
  BOOST_TEST(answers.wrong_texts[0].text == "ab␣");
  BOOST_TEST(answers.wrong_texts[0].caption == "↵, not b");
  BOOST_TEST(answers.labels.size() == labels.size());
}

BOOST_AUTO_TEST_CASE(a_curve_keeps_a_few_hundred_points_of_any_number_of_steps) {
  LearningCurve curve;
  constexpr int steps = 100'000;
  double sum = 0;
  for (int step = 1; step <= steps; ++step) curve.record(step, step, 0.5);
  BOOST_TEST(curve.points().size() <= 400u);
  BOOST_TEST(curve.points().size() >= 150u);
  for (const auto& point : curve.points()) {
    sum += point.loss;
    BOOST_TEST(point.accuracy == 0.5);
  }
  BOOST_TEST(curve.points().back().step > steps * 0.99);
  const auto mean = sum / static_cast<double>(curve.points().size());
  BOOST_TEST(std::abs(mean - steps / 2.0) < steps * 0.01);
}

BOOST_AUTO_TEST_SUITE_END()
