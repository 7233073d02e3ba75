// Holds the example jobs to a length that is read at once.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

BOOST_AUTO_TEST_SUITE(short_jobs)

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_lines = 40;

// Lines that are neither blank nor a comment alone.
std::vector<std::string> lines_of_code(const fs::path& path) {
  std::ifstream file(path);
  BOOST_TEST_REQUIRE(file.good(), path.string());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != line.npos && line.compare(begin, 2, "//") != 0) lines.push_back(line);
  }
  return lines;
}

std::string include_of(const fs::path& header) {
  return "#include \"apps/jobs/" + header.filename().string() + "\"";
}

// The lines of the program that runs the job of this header; 0 if there is none. A program of several
// jobs counts as one of this job alone: without its includes of the others.
std::size_t lines_of_main(const fs::path& apps, const fs::path& header) {
  for (const auto& entry : fs::directory_iterator(apps)) {
    if (entry.path().extension() != ".cpp") continue;
    const auto lines = lines_of_code(entry.path());
    if (std::ranges::find(lines, include_of(header)) == lines.end()) continue;
    const auto others = std::ranges::count_if(lines, [&](const std::string& line) {
      return line.starts_with("#include \"apps/jobs/") && line != include_of(header);
    });
    return lines.size() - static_cast<std::size_t>(others);
  }
  return 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_job_and_its_program_have_at_most_40_lines_of_code_together) {
  const fs::path apps = fs::path(ACTORFLOW_SOURCE_DIR) / "apps";
  int programs = 0;
  for (const auto& entry : fs::directory_iterator(apps / "jobs")) {
    const fs::path& header = entry.path();
    if (header.extension() != ".h") continue;
    const std::size_t main = lines_of_main(apps, header);  // 0 for what several jobs share
    programs += main > 0;
    BOOST_TEST(lines_of_code(header).size() + main <= most_lines, header.string());
  }
  BOOST_TEST(programs == 13);
}

BOOST_AUTO_TEST_SUITE_END()
