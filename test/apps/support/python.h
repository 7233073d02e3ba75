// Foreign readers of what the tests write: scripts of test/python, run in the tests' own Python
// environment.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "test/apps/support/process.h"
#include "test/support/folder.h"

namespace actorflow::test {

// A precondition of cases and suites that run scripts: without the packages they are skipped.
inline boost::test_tools::assertion_result has_python(boost::unit_test::test_unit_id) {
  const std::string wanted = read_file(ACTORFLOW_SOURCE_DIR "/test/python/requirements.txt");
  boost::test_tools::assertion_result result(
      read_file(ACTORFLOW_PYTHON_ENVIRONMENT "/requirements.txt") == wanted);
  result.message() << "no Python packages in " ACTORFLOW_PYTHON_ENVIRONMENT "; test/run installs them";
  return result;
}

// The command that runs a script.
inline std::vector<std::string> python(const std::string& script,
                                       const std::vector<std::string>& arguments) {
  std::vector<std::string> command{ACTORFLOW_PYTHON_ENVIRONMENT "/bin/python",
                                   ACTORFLOW_SOURCE_DIR "/test/python/" + script};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

// Runs a script and checks its exit status.
inline void check_with_python(const std::string& script, const std::vector<std::string>& arguments) {
  Process process(python(script, arguments));
  const int status = process.wait();
  BOOST_TEST_MESSAGE(process.output());
  BOOST_TEST(status == 0, script << ": " << process.output());
}

}  // namespace actorflow::test
