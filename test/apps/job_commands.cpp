// The commands of apps/jobs/README.md, run one after the other in a folder that is as a clone with a
// build: each ends well and leaves its output.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "test/apps/support/command_lines.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(job_commands)

using namespace actorflow::test;

namespace {

boost::test_tools::assertion_result has_python3(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(std::system("python3 --version >/dev/null 2>&1") == 0);
  result.message() << "no python3, which makes inputs";
  return result;
}

std::vector<std::string> commands_of(const std::string& path) {
  std::ifstream document(path);
  return command_lines(document);
}

// What the command names after --output, or "".
std::string output_of(const std::string& command) {
  std::smatch match;
  return std::regex_search(command, match, std::regex("--output ([^ ]+)")) ? match[1].str() : "";
}

std::size_t bytes_of_parts(const std::string& folder) {
  std::size_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("part-")) bytes += entry.file_size();
  return bytes;
}

// The root of the project, with nothing in it but what the commands need.
class Clone {
 public:
  Clone() {
    std::filesystem::create_directory(folder_.file("build"));
    std::filesystem::create_symlink(ACTORFLOW_BIN_DIR, folder_.file("build/bin"));
    std::filesystem::create_symlink(ACTORFLOW_SOURCE_DIR "/apps", folder_.file("apps"));
  }

  // Returns what it prints.
  std::string run(const std::string& command) const {
    Process process({"/bin/bash", "-c", "cd " + folder_.path() + " && set -o pipefail && " + command});
    BOOST_TEST(process.wait() == 0, command << ": " << process.output());
    if (const std::string output = output_of(command); !output.empty()) {
      BOOST_TEST_REQUIRE(std::filesystem::exists(folder_.file(output + "/_SUCCESS")), command);
      BOOST_TEST(bytes_of_parts(folder_.file(output)) > 0u, command);
    }
    return process.output();
  }

 private:
  const Folder folder_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(each_command_of_the_jobs_does_what_it_says,
                     *boost::unit_test::precondition(has_python3)) {
  const Clone clone;
  std::size_t outputs = 0;
  std::string printed;
  for (const auto& command : commands_of(ACTORFLOW_SOURCE_DIR "/apps/jobs/README.md")) {
    outputs += !output_of(command).empty();
    printed += clone.run(command);
  }
  BOOST_TEST(outputs >= 12u);
  BOOST_TEST(printed.find("SUCCESS - all records are in order") != std::string::npos, printed);
  BOOST_TEST(printed.find("3.758 is the mean of 150 numbers") != std::string::npos, printed);
}

BOOST_AUTO_TEST_SUITE_END()
