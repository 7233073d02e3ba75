// What programs bear when the disk or the memory is full, on real ones.
#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <fstream>
#include <thread>

#include "actors/actorflow.h"
#include "test/apps/support/ports.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

using namespace actorflow;
using test::Process;

namespace {

// A program whose folder is a file system of its own, of 4 MiB, which goes with the process.
std::vector<std::string> with_small_disk(const std::string& folder, const std::string& command) {
  const std::string flags = geteuid() == 0 ? "-m" : "-rm";
  return {"/usr/bin/unshare", flags, "sh", "-c", "mount -t tmpfs -o size=4m none " + folder + " && exec " + command};
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

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const auto* part : parts)
    BOOST_TEST(text.find(part) != std::string::npos, text << " lacks '" << part << "'");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resource_faults)

BOOST_AUTO_TEST_CASE(disk_full_while_saving_names_path_and_bytes_and_training_goes_on,
                     *boost::unit_test::precondition(can_mount)) {
  const test::Folder folder;
  Process process(with_small_disk(
      folder.path(), ACTORFLOW_BIN_DIR "/actorflow train mnist --optimizer sgd --train-steps 1000000 "
                                       "--save-checkpoint-steps 20 --checkpoint-dir " + folder.path()));
  BOOST_REQUIRE_MESSAGE(process.prints("saved " + folder.path()), process.output());
  const std::string disk = "/proc/" + std::to_string(process.id()) + "/root" + folder.path();
  fill_disk(disk + "/filler");
  BOOST_REQUIRE_MESSAGE(process.prints("was not saved, training goes on"), process.output());
  expect_parts(process.output(), {"cannot write", " bytes at ", "No space left on device", folder.path().c_str()});
  const auto before = load_latest_checkpoint(posix_storage(), disk);
  BOOST_REQUIRE(before.has_value());

  std::filesystem::remove(disk + "/filler");
  process.send_signal(SIGINT);  // saves, and leaves
  BOOST_TEST(process.wait() == 130, process.output());
  const auto failed = process.output().rfind("was not saved");
  BOOST_TEST(process.output().find("saved " + folder.path(), failed) != std::string::npos, process.output());
}

BOOST_AUTO_TEST_CASE(out_of_memory_on_the_host_fails_the_step_and_says_who_holds_what) {
  const auto address = test::free_addresses(1).front();
  Process server({"actorflow", "server", "--cluster", R"({"local": [")" + address + R"("]})", "--job", "local",
                  "--task", "0"});
  BOOST_REQUIRE(server.prints("listening"));
  Graph g;
  const Variable kept = g.variable("kept", fill(g, {16 << 20}, 1));  // 64 MiB
  const Output small = sum(kept);
  const Output size = g.placeholder(DType::float32, {1, Shape::unknown});
  const Output large = sum(matmul(transpose(size), size));
  Session session("actorflow://" + address, g);
  session.initialize_variables();
  BOOST_TEST(session.run(small).scalar<float>() == float{16 << 20});

  const std::uint64_t limit = virtual_bytes(server.id()) + (std::uint64_t{512} << 20);
  const rlimit limited{limit, limit};
  BOOST_REQUIRE(prlimit(server.id(), RLIMIT_AS, &limited, nullptr) == 0);
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

BOOST_AUTO_TEST_SUITE_END()
