// What programs bear when the disk or the memory is full, on real ones.
#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <fstream>
#include <thread>

#include "actors/actorflow.h"
#include "test/apps/support/process.h"
#include "test/apps/support/supervised_job.h"
#include "test/apps/support/trainers.h"
#include "test/support/folder.h"
#include "test/support/hang_limit.h"
#include "test/support/ports.h"
#include "test/support/sanitized.h"
#include "test/support/saved_steps.h"
#include "test/support/scoped_environment.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(resource_faults)

using namespace actorflow;
using test::Process;

namespace {

// A program whose folder is a file system of its own, of 4 MiB, which goes with the process.
std::vector<std::string> with_small_disk(const std::string& folder, const std::string& command) {
  const std::string flags = geteuid() == 0 ? "-m" : "-rm";
  return {"/usr/bin/unshare", flags, "sh", "-c",
          "mount -t tmpfs -o size=4m none " + folder + " && exec " + command};
}

boost::test_tools::assertion_result can_mount(boost::unit_test::test_unit_id) {
  const test::Folder folder;
  Process process(with_small_disk(folder.path(), "true"));
  boost::test_tools::assertion_result result(process.wait() == 0);
  result.message() << "file systems cannot be mounted here: " << process.output();
  return result;
}

// Writes until there is no room left.
void fill_disk(const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const std::string block(4096, 'x');
  while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) continue;
}

std::uint64_t virtual_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

// Whether allocations can be made to fail everywhere: a sanitizer's allocator ends the program, or stops
// it.
boost::test_tools::assertion_result memory_can_be_scarce(boost::unit_test::test_unit_id) {
  return !test::sanitized;
}

// From now on it gets no more than this besides what it has.
void limit_memory(const Process& process, std::uint64_t more) {
  const rlimit limited{virtual_bytes(process.id()) + more, RLIM_INFINITY};
  BOOST_REQUIRE(prlimit(process.id(), RLIMIT_AS, &limited, nullptr) == 0);
}
void lift_limit(const Process& process) {
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  BOOST_REQUIRE(prlimit(process.id(), RLIMIT_AS, &unlimited, nullptr) == 0);
}

// An `actorflow server`.
struct ServerProcess {
  ServerProcess(const std::string& cluster, const std::string& job)
      : process({"actorflow", "server", "--cluster", cluster, "--job", job, "--task", "0"}) {
    BOOST_REQUIRE_MESSAGE(process.prints("listening"), process.output());
  }
  void expect_end() {
    process.send_signal(SIGTERM);
    BOOST_TEST(process.wait() == 0, process.output());
  }
  Process process;
};

// Whether it prints the text so many times.
bool prints_often(Process& process, const std::string& text, int times) {
  for (const auto end = std::chrono::steady_clock::now() + test::hang_limit;
       std::chrono::steady_clock::now() < end;
       std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
    const std::string output = process.output();
    int found = 0;
    for (auto at = output.find(text); at != output.npos; at = output.find(text, at + 1)) ++found;
    if (found >= times) return true;
  }
  return false;
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const auto* part : parts)
    BOOST_TEST(text.find(part) != std::string::npos, text << " lacks '" << part << "'");
}

}  // namespace

BOOST_AUTO_TEST_CASE(disk_full_while_saving_names_path_and_bytes_and_training_goes_on,
                     *boost::unit_test::precondition(can_mount)) {
  const test::Folder folder;
  Process process(with_small_disk(
      folder.path(), ACTORFLOW_BIN_DIR "/actorflow train mnist --optimizer sgd --train-steps 1000000 "
                                       "--save-checkpoint-steps 20 --checkpoint-dir " +
                         folder.path()));
  BOOST_REQUIRE_MESSAGE(process.prints("saved " + folder.path()), process.output());
  const std::string disk = "/proc/" + std::to_string(process.id()) + "/root" + folder.path();
  fill_disk(disk + "/filler");
  BOOST_REQUIRE_MESSAGE(process.prints("was not saved, training goes on"), process.output());
  expect_parts(process.output(),
               {"cannot write", " bytes at ", "No space left on device", folder.path().c_str()});
  const auto before = load_latest_checkpoint(posix_storage(), disk);
  BOOST_REQUIRE(before.has_value());

  std::filesystem::remove(disk + "/filler");
  process.send_signal(SIGINT);  // saves, and leaves
  BOOST_TEST(process.wait() == 130, process.output());
  const auto failed = process.output().rfind("was not saved");
  BOOST_TEST(process.output().find("saved " + folder.path(), failed) != std::string::npos,
             process.output());
}

BOOST_AUTO_TEST_CASE(out_of_memory_on_the_host_fails_the_step_and_says_who_holds_what) {
  const auto address = test::free_addresses(1).front();
  Process server({"actorflow", "server", "--cluster", R"({"local": [")" + address + R"("]})", "--job",
                  "local", "--task", "0"});
  BOOST_REQUIRE(server.prints("listening"));
  Graph g;
  const Variable kept = g.variable("kept", fill(g, {16 << 20}, 1));  // 64 MiB
  const Output small = sum(kept);
  const Output size = g.placeholder(DType::float32, {1, Shape::unknown});
  const Output large = sum(matmul(transpose(size), size));
  Session session("actorflow://" + address, g);
  session.initialize_variables();
  BOOST_TEST(session.run(small).scalar<float>() == float{16 << 20});

  limit_memory(server, 512 * mib);
  const Tensor wide = Tensor::zeros(DType::float32, {1, 32 << 10});  // its product with itself: 4 GiB
  BOOST_CHECK_EXCEPTION(session.run(large, {{size, wide}}), Error, [](const Error& error) {
    expect_parts(error.what(), {"MatMul", "out of memory on CPU", "could not allocate 4294967296 bytes",
                                "tensors in use hold", "most of them in", "buffers of"});
    return error.code() == Code::resource_exhausted;
  });
  BOOST_TEST(session.run(small).scalar<float>() == float{16 << 20});
  server.send_signal(SIGTERM);
  BOOST_TEST(server.wait() == 0, server.output());
}

// A step that changes one row of a table of 256 MiB, for which the optimizer wants as much again, twice.
BOOST_AUTO_TEST_CASE(out_of_memory_in_a_shard_fails_the_update_and_changes_nothing,
                     *boost::unit_test::precondition(memory_can_be_scarce)) {
  const auto address = test::free_addresses(1).front();
  ServerProcess server(R"({"local": [")" + address + R"("]})", "local");
  Graph g;
  const Variable step = global_step(g);
  const Variable table = g.variable("table", fill(g, {4 << 20, 16}, 1));
  const Output row = embedding_lookup(table, g.constant(Tensor::of<std::int64_t>({1}, {7})));
  const TrainOp train = minimize(g, sum(square(row)), {table}, step, Adam{0.5});
  Session session("actorflow://" + address, g);
  session.initialize_variables();
  const auto values = [&] {
    const auto fetched = session.run({row, step});
    return std::pair(fetched[0].values<float>()[0], fetched[1].scalar<std::int64_t>());
  };

  limit_memory(server.process, 128 * mib);
  BOOST_CHECK_EXCEPTION(session.run(train), Error, [](const Error& error) {
    expect_parts(error.what(), {"node 'train/apply/table'", "could not allocate 268435456 bytes",
                                "the variables of /job:local/task:0 hold 2684",
                                "'table' with its slots 268435456 of them"});
    return error.code() == Code::resource_exhausted;
  });
  BOOST_TEST(values().first == 1);
  BOOST_TEST(values().second == 0);
  lift_limit(server.process);
  session.run(train);
  BOOST_TEST(values().first == 0.5, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(values().second == 1);
  server.expect_end();
}

// Of a client, and of another task.
BOOST_AUTO_TEST_CASE(out_of_memory_in_the_network_fails_the_step_that_sends_and_nothing_else,
                     *boost::unit_test::precondition(memory_can_be_scarce)) {
  const auto addresses = test::free_addresses(2);
  const auto cluster = R"({"ps": [")" + addresses[0] + R"("], "worker": [")" + addresses[1] + R"("]})";
  ServerProcess ps(cluster, "ps"), worker(cluster, "worker");
  Graph g;
  const Output length = g.placeholder(DType::float32, {Shape::unknown, 1}, "length");
  const auto total_on_ps = [&](Output x) { return g.on("/job:ps/task:0", [&] { return sum(x); }); };
  const Output of_client = total_on_ps(length);
  const Output square_of = g.on("/job:worker/task:0", [&] { return matmul(length, transpose(length)); });
  const Output of_worker = total_on_ps(square_of);
  const auto ones = [&](std::int64_t rows) {
    return Feeds{
        {length, Tensor::of<float>({rows, 1}, std::vector<float>(static_cast<std::size_t>(rows), 1))}};
  };
  Session to_ps("actorflow://" + addresses[0], g), to_worker("actorflow://" + addresses[1], g);
  const auto expect_all_well = [&] {
    BOOST_TEST(to_ps.run(of_client, ones(4)).scalar<float>() == 4);
    BOOST_TEST(to_worker.run(of_worker, ones(4)).scalar<float>() == 16);
  };
  expect_all_well();

  limit_memory(ps.process, 128 * mib);
  for (const auto& [session, fetch, rows] : {std::tuple{&to_ps, of_client, std::int64_t{96} << 20},
                                             {&to_worker, of_worker, std::int64_t{10'000}}}) {
    const auto status = test::status_of([&] { session->run(fetch, ones(rows)); });
    BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
    expect_parts(status.message, {"memory", " bytes"});
    expect_all_well();
  }
  worker.expect_end();
  ps.expect_end();
}

// One allocation fails in every other saving, of a task's file and of the manifest.
BOOST_AUTO_TEST_CASE(out_of_memory_while_saving_fails_the_saving_and_training_goes_on,
                     *boost::unit_test::precondition(memory_can_be_scarce)) {
  for (const char* part : {".safetensors", ".manifest"}) {
    const test::Folder folder;
    const std::string checkpoints = folder.file("checkpoints");
    Process process({"/usr/bin/env", "LD_PRELOAD=" ACTORFLOW_SCARCE_MEMORY,
                     std::string("SCARCE_MEMORY=") + part, ACTORFLOW_BIN_DIR "/actorflow", "train",
                     "mnist", "--data=digits", "--hidden=16", "--train-steps=1000000", "--ps=1",
                     "--workers=1", "--save-checkpoint-steps=20", "--checkpoint-dir=" + checkpoints});
    BOOST_REQUIRE_MESSAGE(prints_often(process, "was not saved, training goes on", 3), process.output());
    process.send_signal(SIGINT);
    BOOST_TEST(process.wait() == 130, process.output());
    expect_parts(process.output(), {"out of memory"});
    BOOST_TEST(process.output().find("a step was lost") == std::string::npos, process.output());
    for (const auto& path : list_checkpoints(posix_storage(), checkpoints))
      BOOST_TEST(verify_checkpoint(posix_storage(), path).empty(), path);
  }
}

// Wherever it is: the task lives on, or ends and is started again, but never waits without end. CAF ends
// the process itself (std::terminate) where it lacks the memory to end an actor.
BOOST_AUTO_TEST_CASE(allocations_that_fail_now_and_then_change_no_bit_of_a_synchronous_job,
                     *boost::unit_test::precondition(memory_can_be_scarce)) {
  const std::string steps = "--train_steps=3000", hidden = "--hidden=32", digits = "--data=digits";
  test::SupervisedJob job({"--sync_replicas", digits, hidden, steps}, nullptr, 200);
  {
    const test::ScopedEnvironment library("LD_PRELOAD", ACTORFLOW_SCARCE_MEMORY);
    const test::ScopedEnvironment scarce("SCARCE_MEMORY_EVERY", "200000");
    job.start_all();
  }
  // Each loss costs steps, and as much time as the machine takes.
  BOOST_REQUIRE_MESSAGE(test::comes_to_step(job.checkpoints(), 3000), job.output());
  job.expect_success();
  const std::string undisturbed =
      test::train_in_one_process({"--sync", "--ps=2", "--workers=3", digits, hidden, steps});
  BOOST_TEST(test::report_value(job.report(), "weights_hash") ==
             test::report_value(undisturbed, "weights_hash"));
  const std::string output = job.output();
  BOOST_TEST(output.find("an allocation fails here") != std::string::npos, output);
  BOOST_TEST(output.find("crashed by SIGSEGV") == std::string::npos, output);
}

BOOST_AUTO_TEST_SUITE_END()
