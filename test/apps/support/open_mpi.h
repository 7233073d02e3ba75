// Open MPI for tests.
#pragma once

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "test/support/folder.h"

namespace actorflow::test {

// Debian's.
inline const std::string open_mpi = "/usr/bin/mpirun.openmpi";

// A precondition: Debian's openmpi-bin (test/optional_packages).
inline boost::test_tools::assertion_result has_open_mpi(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(std::filesystem::exists(open_mpi));
  result.message() << "no Open MPI here, see test/optional_packages";
  return result;
}

// The command by which an mpirun starts ranks on this machine, whatever cores it has. Its files are in a
// folder of this test's own: in the one that all share, two that begin at once fail. One at a time.
inline std::vector<std::string> with_mpirun(const std::string& mpirun, int ranks,
                                            const std::vector<std::string>& command) {
  static const Folder files;
  std::vector<std::string> words{"/usr/bin/env",        "TMPDIR=" + files.path(), mpirun,
                                 "--allow-run-as-root", "--oversubscribe",        "-np",
                                 std::to_string(ranks)};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace actorflow::test
