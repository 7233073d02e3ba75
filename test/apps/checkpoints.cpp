// Checkpoints as others see them: the command `actorflow checkpoint` and the safetensors package.
#include <boost/test/unit_test.hpp>
#include <regex>
#include <string>

#include "actors/checkpoint/checkpoint.h"
#include "test/apps/support/process.h"
#include "test/apps/support/python.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(checkpoints)

using namespace actorflow;
using test::Folder;
using test::Process;

namespace {

void save_step(const Folder& folder, std::int64_t step) {
  save_checkpoint(posix_storage(), folder.path(),
                  {step,
                   {{"w", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
                    {"global_step", Tensor::scalar<std::int64_t>(step)}},
                   1'700'000'000});
}

struct Outcome {
  int status;
  std::string output;
};

Outcome checkpoint_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"actorflow", "checkpoint"});
  Process process(arguments);
  const int status = process.wait();
  return {status, process.output()};
}

bool has(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_command_lists_the_checkpoints_of_a_folder) {
  const Folder folder;
  for (const int step : {5, 12}) save_step(folder, step);
  const auto [status, output] = checkpoint_command({"list", folder.path()});
  BOOST_TEST(status == 0);
  BOOST_TEST(has(output, "step +saved +variables +files +size +manifest"), output);
  BOOST_TEST(has(output, " 12  2023-11-1[45] [0-9:]+ +2 +1 +[0-9.]+ KiB +step-12.manifest\n +5 "), output);
}

BOOST_AUTO_TEST_CASE(the_list_of_a_folder_with_a_damaged_manifest_is_a_failure) {
  const Folder folder;
  for (const int step : {5, 12}) save_step(folder, step);
  test::write_file(folder.file("step-12.manifest"), "no manifest");
  const auto [status, output] = checkpoint_command({"list", folder.path()});
  BOOST_TEST(status == 1);
  BOOST_TEST(has(output, "error: .*step-12.manifest"), output);
  BOOST_TEST(has(output, "\n +5 .*step-5.manifest\n"), output);
}

BOOST_AUTO_TEST_CASE(the_command_shows_the_tensors_of_a_checkpoint) {
  const Folder folder;
  for (const int step : {5, 12}) save_step(folder, step);
  const auto [status, output] = checkpoint_command({"show", folder.path(), "--step", "5"});
  BOOST_TEST(status == 0);
  BOOST_TEST(has(output, "step 5, saved 2023"), output);
  BOOST_TEST(has(output, "w +float32 +\\[2,3\\] +0.0 KiB +step-5.1-of-1.safetensors"), output);
  BOOST_TEST(checkpoint_command({"show", folder.path(), "--step", "6"}).status == 1);
}

// As that of callbacks.
BOOST_AUTO_TEST_CASE(the_command_shows_extra_state_which_is_no_variable) {
  const Folder folder;
  save_checkpoint(posix_storage(), folder.path(),
                  {5, {{"w", Tensor::scalar(1.0F)}, {"@callbacks/mine/best", Tensor::scalar(0.5)}}});
  const Outcome list = checkpoint_command({"list", folder.path()}),
                show = checkpoint_command({"show", folder.path()});
  BOOST_TEST(list.status == 0);
  BOOST_TEST(has(list.output, " 5  - +1 +1 +[0-9.]+ KiB +step-5.manifest"), list.output);
  BOOST_TEST(show.status == 0);
  BOOST_TEST(has(show.output, "@callbacks/mine/best +float64 +\\[\\] "), show.output);
}

BOOST_AUTO_TEST_CASE(the_command_finds_a_flipped_bit) {
  const Folder folder;
  for (const int step : {5, 12}) save_step(folder, step);
  BOOST_TEST(checkpoint_command({"verify", folder.path()}).status == 0);
  const std::string path = folder.file("step-5.1-of-1.safetensors");
  std::string content = test::read_file(path);
  content.back() = static_cast<char>(content.back() ^ 1);
  test::write_file(path, content);
  const auto [status, output] = checkpoint_command({"verify", folder.path()});
  BOOST_TEST(status == 1);
  BOOST_TEST(has(output, "step-12.manifest: whole"), output);
  BOOST_TEST(has(output, "step-5.manifest: damaged\n.*step-5.1-of-1.safetensors.*tensor 'w'"), output);
}

BOOST_AUTO_TEST_CASE(a_folder_without_checkpoints_is_named) {
  const Folder folder;
  for (const auto* command : {"list", "show", "verify"}) {
    const auto [status, output] = checkpoint_command({command, folder.path()});
    BOOST_TEST(status == 1);
    BOOST_TEST(output.find("there is no checkpoint in '" + folder.path()) != output.npos, output);
    BOOST_TEST(output.find("variables") == output.npos, output);
  }
}

BOOST_AUTO_TEST_CASE(the_safetensors_package_reads_every_type,
                     *boost::unit_test::precondition(test::has_python)) {
  const Folder folder;
  save_checkpoint(posix_storage(), folder.path(),
                  {7,
                   {{"bool", Tensor::of<bool>({2}, {true, false})},
                    {"empty", Tensor::of<float>({0, 5}, {})},
                    {"float32", Tensor::of<float>({2, 1}, {1.5f, -2.0f})},
                    {"float64", Tensor::of<double>({1}, {1e300})},
                    {"int32", Tensor::of<std::int32_t>({3}, {1, -2, 3})},
                    {"int64", Tensor::scalar<std::int64_t>(-1LL << 40)},
                    {"text", Tensor::of<std::string>({1}, {"ab"})},
                    {"uint8", Tensor::of<std::uint8_t>({3}, {0, 128, 255})},
                    {"w \"quoted\"/é", Tensor::scalar(0.25f)}}});
  Process reader(test::python("safetensors_dump.py", {folder.file("step-7.1-of-1.safetensors")}));
  BOOST_TEST(reader.wait() == 0);
  BOOST_TEST(reader.output() ==
             "bool bool [2] [True, False]\n"
             "empty float32 [0, 5] []\n"
             "float32 float32 [2, 1] [1.5, -2.0]\n"
             "float64 float64 [1] [1e+300]\n"
             "int32 int32 [3] [1, -2, 3]\n"
             "int64 int64 [] [-1099511627776]\n"
             "text uint8 [10] [2, 0, 0, 0, 0, 0, 0, 0, 97, 98]\n"
             "uint8 uint8 [3] [0, 128, 255]\n"
             "w \"quoted\"/é float32 [] [0.25]\n");
}

BOOST_AUTO_TEST_CASE(the_safetensors_package_reads_the_checkpoint_of_a_trained_model,
                     *boost::unit_test::precondition(test::has_python)) {
  const Folder folder;
  Process train({"actorflow", "train", "mnist", "--ps", "2", "--workers", "1", "--hidden", "4",
                 "--optimizer", "adam", "--train-steps", "3", "--checkpoint-dir", folder.path()});
  BOOST_REQUIRE_MESSAGE(train.wait() == 0, train.output());
  const Checkpoint saved = load_latest_checkpoint(posix_storage(), folder.path()).value();
  const Manifest manifest =
      read_manifest(posix_storage(), latest_checkpoint(posix_storage(), folder.path()).value());
  BOOST_TEST_REQUIRE(manifest.files.size() == 2U);
  Process reader(test::python("safetensors_dump.py", {folder.file(manifest.files[0].name),
                                                      folder.file(manifest.files[1].name)}));
  BOOST_TEST(reader.wait() == 0);
  for (const auto& [name, tensor] : saved.tensors)
    BOOST_TEST(("\n" + reader.output()).find("\n" + name + " ") != std::string::npos, name);
  BOOST_TEST(reader.output().find("global_step int64 [] [3]\n") != std::string::npos);
  BOOST_TEST(reader.output().find("/adam/step int64 [] [3]\n") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
