// Libraries that are loaded when they are first needed, and what is said of those that cannot be.
#include "kernels/devices/shared_library.h"

#include <dlfcn.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "test/support/folder.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(shared_library)

using namespace actorflow;
using namespace actorflow::test;

namespace {

bool says(const Status& status, const std::string& text) {
  return status.message.find(text) != std::string::npos;
}

SharedLibrary c_library() { return {"libm.so.6", {}, "install the C library"}; }

using Function = double(double);

Function* square_root_of(const SharedLibrary& library) {
  Function* function = nullptr;
  library.find("sqrt", function);
  return function;
}

// The file that a function was loaded from.
std::string path_of(Function* function) {
  Dl_info info{};
  BOOST_REQUIRE(dladdr(reinterpret_cast<void*>(function), &info) != 0);
  return info.dli_fname;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_function_of_a_library_is_called) {
  BOOST_TEST(square_root_of(c_library())(16) == 4);
}

BOOST_AUTO_TEST_CASE(a_missing_library_is_named_with_where_it_was_looked_for_and_what_to_install) {
  const std::vector<std::string> folders = {"/nowhere/first", "/nowhere/second"};
  const Status status =
      status_of([&] { SharedLibrary("libmissing.so.7", folders, "install Missing 7"); });
  BOOST_TEST((status.code == Code::failed_precondition), status.to_string());
  BOOST_TEST(says(status, "cannot load libmissing.so.7: install Missing 7, or name its folder"),
             status.message);
  BOOST_TEST(says(status, "/nowhere/first/libmissing.so.7"), status.message);
  BOOST_TEST(says(status, "/nowhere/second/libmissing.so.7"), status.message);
}

BOOST_AUTO_TEST_CASE(a_library_that_is_no_library_is_said_to_be_none) {
  const Folder folder;
  write_file(folder.file("libbroken.so.7"), "no library");
  const std::vector folders = {folder.path()};
  const Status status = status_of([&] { SharedLibrary("libbroken.so.7", folders, "install Broken 7"); });
  BOOST_TEST((status.code == Code::failed_precondition), status.to_string());
  BOOST_TEST(says(status, folder.file("libbroken.so.7")), status.message);
}

BOOST_AUTO_TEST_CASE(a_library_is_found_in_the_folders_that_are_named) {
  const Folder folder;
  std::filesystem::create_symlink(path_of(square_root_of(c_library())), folder.file("libmine.so.7"));
  const std::vector<std::string> folders = {"/nowhere", folder.path()};
  BOOST_TEST(square_root_of(SharedLibrary("libmine.so.7", folders, "install Mine 7"))(16) == 4);
}

BOOST_AUTO_TEST_CASE(a_missing_function_is_named_with_its_library) {
  void (*function)() = nullptr;
  const Status status = status_of([&] { c_library().find("compute_everything", function); });
  BOOST_TEST((status.code == Code::unimplemented), status.to_string());
  BOOST_TEST(says(status, "libm.so.6 has no function compute_everything"), status.message);
  BOOST_TEST((function == nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
