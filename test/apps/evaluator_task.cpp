// The evaluator task beside a folder of checkpoints.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>

#include "test/apps/support/trainers.h"

BOOST_AUTO_TEST_SUITE(evaluator_task)

using namespace actorflow::test;

namespace {

std::vector<std::string> evaluator(const std::string& folder) {
  return {"/usr/bin/env",
          R"(TF_CONFIG={"cluster": {"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]},
                        "task": {"type": "evaluator", "index": 0}})",
          ACTORFLOW_BIN_DIR "/trainer", "--checkpoint_dir=" + folder, "--train_steps=20"};
}

void save_step_20(const std::string& folder) {
  train_in_one_process({"--train-steps=20", "--checkpoint-dir=" + folder});
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_that_is_started_again_does_not_repeat_itself) {
  const Folder folder;
  save_step_20(folder.path());
  Process first(evaluator(folder.path()));
  BOOST_TEST(first.prints("step 20: test accuracy"));
  BOOST_TEST(first.prints("waits for a checkpoint after step 20"));
  first.send_signal(SIGKILL);
  first.wait();

  write_file(folder.file("training-complete"), "20\n");
  Process second(evaluator(folder.path()));
  BOOST_TEST(second.wait() == 0);
  BOOST_TEST(second.prints("training is complete: step 20 has been evaluated"));
  BOOST_TEST(!second.prints("test accuracy"));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_that_stays_damaged_is_an_error) {
  const Folder folder;
  save_step_20(folder.path());
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    if (file.path().extension() == ".safetensors") std::filesystem::resize_file(file.path(), 100);
  Process process(evaluator(folder.path()));
  BOOST_TEST(process.wait() == 1);
  BOOST_TEST(process.prints("safetensors"), process.output());
}

BOOST_AUTO_TEST_CASE(it_needs_the_folder) {
  auto command = evaluator("");
  std::erase(command, "--checkpoint_dir=");
  Process process(command);
  BOOST_TEST(process.wait() == 2);
  BOOST_TEST(process.prints("--checkpoint_dir"));
}

BOOST_AUTO_TEST_SUITE_END()
