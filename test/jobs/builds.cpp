// Whether two tasks run the same program.
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "actors/jobs/engine/program_build.h"
#include "test/jobs/support/test_job.h"

BOOST_AUTO_TEST_SUITE(builds)

using namespace actorflow;

BOOST_AUTO_TEST_CASE(a_build_is_told_by_the_program_and_the_library_that_it_runs) {
  const test::Folder folder;
  test::write_file(folder.file("program"), "hello");
  test::write_file(folder.file("library"), "engine 1");
  test::write_file(folder.file("other"), "engine 2");
  const auto build = [&](const std::string& library) {
    return build_of({folder.file("program"), folder.file(library)});
  };
  BOOST_TEST(build("library") == build("library"));
  BOOST_TEST(build("library") != build("other"));
  BOOST_TEST(program_build() == build_of({"/proc/self/exe"}));  // the engine of tests is their own
}

BOOST_AUTO_TEST_CASE(the_library_of_some_code_is_found) {
  const std::string library = library_of(std::bit_cast<const void*>(&std::getenv));
  BOOST_TEST(library.find("/libc.so") != library.npos, library);
  BOOST_TEST(library_of(std::bit_cast<const void*>(&program_build)).empty());
}

BOOST_AUTO_TEST_SUITE_END()
