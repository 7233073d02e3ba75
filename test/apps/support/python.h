// Scripts of test/python, run in the Python environment of the tests.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/apps/support/folder.h"

namespace actorflow::test {

// A precondition of cases that run scripts.
inline boost::test_tools::assertion_result has_python(boost::unit_test::test_unit_id) {
  const std::string wanted = read_file(ACTORFLOW_SOURCE_DIR "/test/python/requirements.txt");
  boost::test_tools::assertion_result result(
      read_file(ACTORFLOW_PYTHON_ENVIRONMENT "/requirements.txt") == wanted);
  result.message() << "no Python packages in " ACTORFLOW_PYTHON_ENVIRONMENT "; test/run installs them";
  return result;
}

// The command that runs a script.
inline std::vector<std::string> python(const std::string& script, const std::vector<std::string>& arguments) {
  std::vector<std::string> command{ACTORFLOW_PYTHON_ENVIRONMENT "/bin/python",
                                   ACTORFLOW_SOURCE_DIR "/test/python/" + script};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace actorflow::test
