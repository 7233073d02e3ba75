// Programs of map/reduce jobs whose input is larger than --memory: the resident memory of their
// processes is below that limit and 64 MiB, which also hold the program itself.
#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "test/apps/support/process.h"
#include "test/apps/support/process_memory.h"
#include "test/support/folder.h"
#include "test/support/sanitized.h"

BOOST_AUTO_TEST_SUITE(job_memory)

using namespace actorflow::test;

namespace {

constexpr int memory_mib = 96;  // the least that two threads may have

boost::test_tools::assertion_result memory_is_its_own(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(!sanitized);
  result.message() << "a sanitizer takes memory of its own";
  return result;
}

// Waits for its end.
std::int64_t peak_of(Process& process) {
  std::int64_t peak = 0;
  while (const std::int64_t now = peak_kib(process.id())) {
    peak = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return peak;
}

// Each with a folder of its own for what it reads and writes.
class BoundedJob {
 public:
  std::string file(const std::string& name) const { return folder_.file(name); }
  // The program must end well.
  void expect_bounded(std::vector<std::string> command) const {
    for (const auto& flag :
         std::vector<std::string>{"--output", file("out"), "--spill_folder", file("spill"), "--tasks",
                                  "2", "--memory", std::to_string(memory_mib) + "MiB"})
      command.push_back(flag);
    Process process(command);
    const std::int64_t peak = peak_of(process);
    BOOST_TEST_REQUIRE(process.wait() == 0, process.output());
    BOOST_TEST_MESSAGE(command[0] << ": " << peak / 1024 << " MiB of " << memory_mib << " and 64");
    BOOST_TEST(peak > 0);
    BOOST_TEST(peak <= (memory_mib + 64) * 1024, command[0] << " had " << peak / 1024 << " MiB");
  }

 private:
  const Folder folder_;
};

}  // namespace

// Of 150 MB.
BOOST_AUTO_TEST_CASE(a_sort, *boost::unit_test::precondition(memory_is_its_own)) {
  const BoundedJob job;
  Process gensort({"gensort", "gensort", "--records", "1500000", "--output", job.file("unsorted")});
  BOOST_TEST_REQUIRE(gensort.wait() == 0, gensort.output());
  job.expect_bounded({"terasort", "--input", job.file("unsorted")});
}

// Of 70 and 35 MB, which gives as much again as both.
BOOST_AUTO_TEST_CASE(a_join, *boost::unit_test::precondition(memory_is_its_own)) {
  constexpr unsigned keys = 1'000'000;
  const BoundedJob job;
  {
    std::minstd_rand random(1);
    std::ofstream left(job.file("left.csv")), right(job.file("right.csv"));
    for (unsigned row = 0; row < 2 * keys; ++row)
      left << "key" << random() % keys << ",left value number " << row << '\n';
    for (unsigned row = 0; row < keys; ++row)
      right << "key" << row << ",right value number " << row << '\n';
  }
  job.expect_bounded({"join", "--left", job.file("left.csv"), "--right", job.file("right.csv")});
}

// 192 MB of points, which cache() keeps from round to round.
BOOST_AUTO_TEST_CASE(rounds_over_kept_records, *boost::unit_test::precondition(memory_is_its_own)) {
  const BoundedJob job;
  {
    std::minstd_rand random(1);
    std::ofstream points(job.file("points"), std::ios::binary);
    for (int i = 0; i < 1'200'000; ++i) {
      std::array<double, 20> point;
      for (double& x : point) x = static_cast<double>(random() % 1000);
      points.write(reinterpret_cast<const char*>(point.data()), sizeof point);
    }
  }
  job.expect_bounded({"k_means", "--input", job.file("points"), "--k", "4", "--rounds", "2"});
}

// 100 files of 0.8 MB with 200,000 different words: seven million entries.
BOOST_AUTO_TEST_CASE(an_index_of_files, *boost::unit_test::precondition(memory_is_its_own)) {
  const BoundedJob job;
  std::filesystem::create_directory(job.file("texts"));
  std::minstd_rand random(1);
  for (int file = 0; file < 100; ++file) {
    std::ofstream text(job.file("texts/") + std::to_string(file));
    for (int word = 0; word < 80'000; ++word)
      text << "word" << random() % 200'000 << (word % 10 == 9 ? '\n' : ' ');
  }
  job.expect_bounded({"inverted_index", "--input", job.file("texts")});
}

BOOST_AUTO_TEST_SUITE_END()
