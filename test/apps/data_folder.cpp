// What the option --data means.
#include "apps/cli/data_folder.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(data_folder)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// The current folder, as long as this lives.
class CurrentFolder {
 public:
  explicit CurrentFolder(const std::string& path) { std::filesystem::current_path(path); }
  CurrentFolder(const CurrentFolder&) = delete;
  CurrentFolder& operator=(const CurrentFolder&) = delete;
  ~CurrentFolder() { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_data_set_is_the_project_s_whatever_the_current_folder_has) {
  const Folder folder;
  const CurrentFolder here(folder.path());
  write_file("iris", "a program");
  for (const char* name : {"digits", "mnist", "shakespeare"}) std::filesystem::create_directory(name);
  BOOST_TEST(data_path("iris").ends_with("/iris.csv"));
  BOOST_TEST(data_path("shakespeare").ends_with("/shakespeare.txt.gz"));
  for (const char* name : {"digits", "mnist"}) {
    BOOST_TEST(data_path(name) == default_data_folder(name));
    BOOST_TEST(actorflow::data_folder(name) == default_data_folder(name));
  }
}

BOOST_AUTO_TEST_CASE(other_names_and_paths_are_of_the_current_folder) {
  const Folder folder;
  const CurrentFolder here(folder.path());
  for (const char* name : {"digits", "cifar10", "photos"}) std::filesystem::create_directory(name);
  write_file("iris.csv", "1,0\n");
  for (const char* path : {".", "./digits", "cifar10", "photos", "iris.csv", "nothing_there"})
    BOOST_TEST(data_path(path) == path);
  for (const char* path : {".", "./digits", "cifar10", "photos"})
    BOOST_TEST(actorflow::data_folder(path) == path);
}

BOOST_AUTO_TEST_CASE(the_project_s_few_images_of_cifar10_are_used_where_there_are_no_others) {
  const Folder folder;
  const CurrentFolder here(folder.path());
  BOOST_TEST(data_path("cifar10") == default_data_folder("cifar10"));
}

BOOST_AUTO_TEST_SUITE_END()
