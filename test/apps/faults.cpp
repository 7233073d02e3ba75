// What the trainer bears: lost workers, hostile bytes, signals.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "apps/cli/interrupts.h"
#include "test/apps/support/process_memory.h"
#include "test/apps/support/trainers.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(faults)

using namespace actorflow::test;

namespace {

// Sends the bytes and waits until the other side has closed the connection.
void send_and_wait_for_close(const std::string& address, const std::string& bytes) {
  const int connection = connect_to(address);
  BOOST_REQUIRE(connection >= 0);
  const timeval limit{60, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  shutdown(connection, SHUT_WR);
  char answer[256];
  ssize_t got = 0;
  while ((got = recv(connection, answer, sizeof answer, 0)) > 0) {
  }
  BOOST_TEST((got == 0 || errno == ECONNRESET), "the connection is still open");
  close(connection);
}

std::string random_bytes(std::size_t size, unsigned seed) {
  std::minstd_rand random(seed);
  std::string bytes(size, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random() >> 8);
  return bytes;
}

std::string words(std::initializer_list<std::uint32_t> values) {
  std::string bytes;
  for (const auto value : values) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return bytes;
}

// Beginnings of Cap'n Proto messages: a segment table, then too little or too much.
std::vector<std::string> hostile_messages() {
  std::vector<std::string> messages;
  for (unsigned seed = 1; seed <= 20; ++seed) messages.push_back(random_bytes(seed * 997, seed));
  messages.push_back(words({0, 0xFFFF'FFFF}));                  // a segment of 32 GiB
  messages.push_back(words({0xFFFF'FFFF, 1}));                  // 4 G segments
  messages.push_back(words({0, 8'000'000}));                    // 64 MB, and nothing after
  messages.push_back(words({0, 100, 0, 1}));                    // truncated
  messages.push_back(words({0, 1, 0xFFFF'FFFF, 0xFFFF'FFFF}));  // a pointer out of bounds
  return messages;
}

// Until the process has taken a signal that it waits for; or has ended.
void wait_until_taken(pid_t process, int signal) {
  const auto is_pending = [&] {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    std::string word, mask;
    while (status >> word)
      if (word == "ShdPnd:" && status >> mask)
        return (std::stoull(mask, nullptr, 16) >> (signal - 1) & 1) != 0;
    return false;
  };
  while (is_pending()) std::this_thread::yield();
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_others_finish_when_a_worker_is_killed) {
  Trainers trainers(2, 3, {"--train_steps=4000"});
  trainers.start_all();
  BOOST_REQUIRE(trainers.task("worker", 1).prints("step "));
  trainers.task("worker", 1).send_signal(SIGKILL);
  BOOST_TEST(trainers.task("worker", 1).wait() == 128 + SIGKILL);
  for (const auto& [job, task] : {std::pair{"worker", 0}, {"worker", 2}, {"ps", 0}, {"ps", 1}})
    BOOST_TEST(trainers.task(job, task).wait() == 0, trainers.task(job, task).output());
  BOOST_TEST(trainers.report_number("test_accuracy") >= 0.97);
}

BOOST_AUTO_TEST_CASE(hostile_bytes_on_a_port_change_nothing) {
  const std::vector<std::string> flags = {"--train_steps=1000", "--sync_replicas"};
  Trainers undisturbed(2, 3, flags);
  undisturbed.start_all();
  undisturbed.expect_success();

  Trainers trainers(2, 3, flags);
  trainers.start_all();
  BOOST_REQUIRE(trainers.task("worker", 0).prints("step "));
  for (const auto& bytes : hostile_messages()) send_and_wait_for_close(trainers.address("ps", 0), bytes);
  trainers.expect_success();
  BOOST_TEST(trainers.weights_hash() == undisturbed.weights_hash());
}

BOOST_AUTO_TEST_CASE(hostile_bytes_on_a_port_take_no_memory) {
  const auto address = free_addresses(1).front();
  Process server({"actorflow", "server", "--cluster", R"({"ps": [")" + address + R"("]})", "--job", "ps",
                  "--task", "0"});
  BOOST_REQUIRE(server.prints("listening"));
  for (const auto& bytes : hostile_messages()) send_and_wait_for_close(address, bytes);
  const auto before = resident_kib(server.id());
  for (int round = 0; round < 10; ++round)
    for (const auto& bytes : hostile_messages()) send_and_wait_for_close(address, bytes);
#if !defined(__SANITIZE_ADDRESS__)  // which keeps what has been freed for a while
  BOOST_TEST(resident_kib(server.id()) - before < 4096);
#else
  BOOST_TEST(before > 0);
#endif
  server.send_signal(SIGTERM);
  BOOST_TEST(server.wait() == 0);
}

BOOST_AUTO_TEST_CASE(nan_gradient_fails_training_or_is_left_out) {
  std::vector<std::string> command{"actorflow",        "train",           "mnist",
                                   "--data=digits",    "--optimizer=sgd", "--learning_rate=1e20",
                                   "--train_steps=20", "--workers=2"};
  Process strict(command);
  BOOST_TEST(strict.wait() == 1);
  BOOST_TEST(strict.output().find("not finite") != std::string::npos, strict.output());
  BOOST_TEST(strict.output().find("lower the learning rate") != std::string::npos, strict.output());
  command.push_back("--not_finite=skip");
  Process lenient(command);
  BOOST_TEST(lenient.wait() == 0, lenient.output());
  BOOST_TEST(lenient.output().find("it was left out") != std::string::npos, lenient.output());
}

// Each time that it comes there again; then training fails, and has cost no checkpoint.
BOOST_AUTO_TEST_CASE(nan_gradient_takes_training_back_to_the_newest_checkpoint) {
  const Folder checkpoints;
  const auto train = [](const std::vector<std::string>& flags, int status) {
    std::vector<std::string> command{"actorflow", "train", "digits", "--optimizer=sgd", "--workers=3"};
    command.insert(command.end(), flags.begin(), flags.end());
    Process process(command);
    BOOST_TEST(process.wait() == status, process.output());
    return process.output();
  };
  const auto weights_in = [](const std::string& output) {
    const auto at = output.rfind("weights ");
    return at == std::string::npos ? "none in " + output : output.substr(at);
  };
  const std::string undisturbed = weights_in(train({"--train_steps=40"}, 0));
  const std::string folder = "--checkpoint_dir=" + checkpoints.path();
  train({"--train_steps=20", folder}, 0);
  const std::string bad =
      train({"--train_steps=40", folder, "--learning_rate=1e20", "--not_finite=roll_back"}, 1);
  for (const char* words : {"back to the newest checkpoint, 1 of 3 times",
                            "back to the newest checkpoint, 3 of 3 times", "are not finite"})
    BOOST_TEST(bad.find(words) != std::string::npos, bad << " lacks " << words);
  const std::string again = train({"--train_steps=40", folder}, 0);
  BOOST_TEST(again.find("restored step 20 ") != std::string::npos, again);
  BOOST_TEST(weights_in(again) == undisturbed);
}

BOOST_AUTO_TEST_CASE(ctrl_c_saves_ends_all_and_the_job_goes_on_later) {
  const Folder checkpoints;
  const std::vector<std::string> flags = {"--sync_replicas", "--checkpoint_dir=" + checkpoints.path()};
  auto long_flags = flags;
  long_flags.push_back("--train_steps=1000000");
  Trainers trainers(2, 3, long_flags);
  trainers.start_all();
  BOOST_REQUIRE(trainers.task("worker", 0).prints("step "));
  for (const auto& [job, task] :
       {std::pair{"worker", 0}, {"worker", 1}, {"worker", 2}, {"ps", 0}, {"ps", 1}})
    trainers.task(job, task).send_signal(SIGINT);
  for (const auto& [job, task] :
       {std::pair{"worker", 0}, {"worker", 1}, {"worker", 2}, {"ps", 0}, {"ps", 1}}) {
    BOOST_TEST(trainers.task(job, task).wait() == 130, trainers.task(job, task).output());
    BOOST_TEST(!is_listening(trainers.address(job, task)));
  }
  BOOST_TEST(trainers.task("worker", 0).prints("saved"));

  Process again({"actorflow", "train", "mnist", "--sync", "--train-steps=1", "--checkpoint-dir",
                 checkpoints.path()});
  BOOST_TEST(again.wait() == 0);
  BOOST_TEST(again.prints("restored step"));
}

// The first signal asks for an end that would come in an hour.
BOOST_AUTO_TEST_CASE(ctrl_c_a_second_time_ends_the_process_at_once) {
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    actorflow::Interrupts interrupts(std::chrono::hours(1));
    kill(getpid(), SIGINT);
    while (!interrupts.requested()) std::this_thread::yield();
    kill(getpid(), SIGINT);
    while (true) pause();
  }
  int status = 0;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 130));
}

// The chief waits for a parameter server that is stopped. With one signal it would end, too, some
// seconds later, and say that the job is over.
BOOST_AUTO_TEST_CASE(ctrl_c_a_second_time_ends_a_trainer_that_waits) {
  const Folder checkpoints;
  Trainers trainers(
      2, 3,
      {"--train_steps=1000000", "--heartbeat_timeout=1", "--checkpoint_dir=" + checkpoints.path()});
  trainers.start_all();
  Process& chief = trainers.task("worker", 0);
  BOOST_REQUIRE(chief.prints("step "));
  trainers.task("ps", 0).send_signal(SIGSTOP);
  BOOST_REQUIRE(chief.prints("a step was lost, making a new session"));
  chief.send_signal(SIGINT);
  wait_until_taken(chief.id(), SIGINT);
  chief.send_signal(SIGINT);
  BOOST_TEST(chief.wait() == 130, chief.output());
  BOOST_TEST(chief.output().find("the job is over") == std::string::npos, chief.output());
  BOOST_TEST(!is_listening(trainers.address("worker", 0)));
}

BOOST_AUTO_TEST_SUITE_END()
