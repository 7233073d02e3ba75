// Holds the example jobs to a length that is read at once.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>

BOOST_AUTO_TEST_SUITE(short_jobs)

namespace {

namespace fs = std::filesystem;

constexpr int most_lines = 40;

// Lines that are neither blank nor a comment alone.
int lines_of_code(const fs::path& path) {
  std::ifstream file(path);
  BOOST_TEST_REQUIRE(file.good(), path.string());
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    lines += begin != line.npos && line.compare(begin, 2, "//") != 0;
  }
  return lines;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_job_has_at_most_40_lines_of_code) {
  const fs::path apps = fs::path(ACTORFLOW_SOURCE_DIR) / "apps";
  int jobs = 0;
  for (const auto& entry : fs::directory_iterator(apps / "jobs")) {
    if (entry.path().extension() != ".h") continue;
    ++jobs;
    BOOST_TEST(lines_of_code(entry.path()) <= most_lines, entry.path().string());
  }
  BOOST_TEST(jobs > 0);
  for (const char* program : {"histogram.cpp", "sparse_regression.cpp"})
    BOOST_TEST(lines_of_code(apps / program) <= most_lines, program);
}

BOOST_AUTO_TEST_SUITE_END()
