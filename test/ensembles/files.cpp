// Ensembles on disk.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "actors/ensembles/ensemble.h"
#include "test/ensembles/support/flowers.h"
#include "test/support/folder.h"
#include "test/support/says.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(files)

using namespace actorflow;
using namespace actorflow::test;
namespace fs = std::filesystem;

namespace {

Ensemble trained(const EnsembleOptions& options) {
  const auto [x, y] = three_clouds(60, 1);
  const Model model = small_model(3);
  Ensemble members = ensemble(model, options);
  members.fit({x, y}, quiet(2));
  return members;
}

Ensemble untrained(const EnsembleOptions& options) { return ensemble(small_model(3), options); }

std::string weights_file(const std::string& folder, const std::string& part) {
  for (const auto& entry : fs::directory_iterator(folder + "/" + part))
    if (entry.path().extension() == ".safetensors") return entry.path();
  return {};
}

constexpr auto with_all_in_them = fs::copy_options::recursive | fs::copy_options::overwrite_existing;

void flip_a_bit(const std::string& path) {
  std::string bytes = read_file(path);
  bytes[bytes.size() - 5] ^= 1;
  write_file(path, bytes);
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_was_saved_answers_the_same) {
  const Tensor x = three_clouds(40, 3).x;
  for (const EnsembleMethod method :
       {EnsembleMethod::bagging, EnsembleMethod::stacking, EnsembleMethod::snapshot}) {
    const EnsembleOptions options{.members = 2, .method = method, .passthrough = true};
    const Folder folder;
    Ensemble first = trained(options);
    first.save(folder.path());
    Ensemble second = untrained(options);
    BOOST_TEST(second.load(folder.path()).empty());
    BOOST_TEST(identical(first.predict_proba(x), second.predict_proba(x)));
    BOOST_TEST((first.oob_score() == second.oob_score()));
  }
}

// As if the program had died before the vote: it saves the members first.
BOOST_AUTO_TEST_CASE(a_save_that_was_interrupted_leaves_the_ensemble_before_it) {
  const Tensor x = three_clouds(40, 3).x;
  const EnsembleOptions options{.members = 2, .method = EnsembleMethod::bagging};
  const Folder folder;
  EnsembleOptions other = options;
  other.seed = 7;
  Ensemble before = trained(options), after = trained(other);
  before.save(folder.path());
  fs::copy(folder.file("vote"), folder.file("old_vote"));
  after.save(folder.path());
  Ensemble read = untrained(options);
  read.load(folder.path());
  BOOST_TEST(identical(read.predict_proba(x), after.predict_proba(x)));
  BOOST_TEST(!identical(before.predict_proba(x), after.predict_proba(x)));
  fs::remove_all(folder.file("vote"));
  fs::rename(folder.file("old_vote"), folder.file("vote"));
  BOOST_CHECK_EXCEPTION(read.load(folder.path()), Error, says("save number 0"));
}

// As if the program had died just after the vote, before it removed the save before.
BOOST_AUTO_TEST_CASE(a_damaged_vote_is_passed_over_where_the_save_before_is_still_there) {
  const Tensor x = three_clouds(40, 3).x;
  const EnsembleOptions options{.members = 2, .method = EnsembleMethod::bagging};
  const Folder folder, earlier;
  EnsembleOptions other = options;
  other.seed = 7;
  Ensemble before = trained(options);
  before.save(folder.path());
  fs::copy(folder.path(), earlier.path(), with_all_in_them);
  trained(other).save(folder.path());
  flip_a_bit(weights_file(folder.path(), "vote"));
  fs::copy(earlier.path(), folder.path(), with_all_in_them);
  Ensemble read = untrained(options);
  BOOST_TEST(read.load(folder.path()).empty());
  BOOST_TEST(identical(read.predict_proba(x), before.predict_proba(x)));
}

BOOST_AUTO_TEST_CASE(a_smaller_ensemble_leaves_nothing_of_a_larger_one_in_its_folder) {
  const Tensor x = three_clouds(40, 3).x;
  const Folder folder;
  trained({.members = 12}).save(folder.path());
  write_file(folder.file("member-11/notes"), "of the user");
  Ensemble smaller = trained({.members = 2});
  smaller.save(folder.path());
  Ensemble read = untrained({.members = 2});
  BOOST_TEST(read.load(folder.path()).empty());
  BOOST_TEST(identical(read.predict_proba(x), smaller.predict_proba(x)));
  for (int member = 2; member < 11; ++member)
    BOOST_TEST(!fs::exists(folder.file("member-" + std::to_string(member))));
  BOOST_TEST(weights_file(folder.path(), "member-11").empty());
  BOOST_TEST(fs::exists(folder.file("member-11/notes")));
}

// Of the larger ensemble members 2 and 3 alone are there.
BOOST_AUTO_TEST_CASE(a_save_has_another_number_than_what_is_left_of_any_member) {
  const Folder folder;
  trained({.members = 2}).save(folder.path());
  trained({.members = 4}).save(folder.path());
  for (const char* part : {"vote", "member-0", "member-1"}) fs::remove_all(folder.file(part));
  trained({.members = 2}).save(folder.path());
  Ensemble read = untrained({.members = 2});
  BOOST_TEST(read.load(folder.path()).empty());
  BOOST_TEST(
      fs::path(weights_file(folder.path(), "member-0")).filename().string().starts_with("step-2."));
}

BOOST_AUTO_TEST_CASE(an_ensemble_of_several_inputs_is_saved_too) {
  const auto [x, y] = three_clouds(60, 1);
  const Folder folder;
  const Model model = model_of_two_inputs(3);
  const EnsembleOptions options{.members = 2};
  Ensemble first = ensemble(model, options), second = ensemble(model, options);
  first.fit({columns_of(x), {y}}, quiet(1));
  first.save(folder.path());
  second.load(folder.path());
  BOOST_TEST(identical(first.predict_proba(columns_of(x)), second.predict_proba(columns_of(x))));
  second.export_onnx(folder.file("onnx"));
  BOOST_TEST(fs::exists(folder.file("onnx/model.onnx")));
}

BOOST_AUTO_TEST_CASE(a_folder_of_another_ensemble_is_refused_and_changes_nothing) {
  const auto [x, y] = three_clouds(60, 1);
  const Folder seeing, other, two;
  EnsembleOptions options{.members = 2, .method = EnsembleMethod::stacking, .passthrough = true};
  trained(options).save(seeing.path());
  options.passthrough = false;
  Ensemble blind = trained(options);
  const Tensor before = blind.predict_proba(x);
  BOOST_CHECK_EXCEPTION(blind.load(seeing.path()), Error, says("expected 'passthrough' to be 0, got 1"));
  BOOST_TEST(identical(blind.predict_proba(x), before));
  const Model of_two = model_of_two_inputs(3);
  Ensemble pair = ensemble(of_two, {.members = 2}), single = untrained({.members = 2});
  trained({.members = 2}).save(other.path());
  BOOST_CHECK_EXCEPTION(pair.load(other.path()), Error, says("'example_1' is missing"));
  pair.fit({columns_of(x), {y}}, quiet(1));
  pair.save(two.path());
  BOOST_CHECK_EXCEPTION(single.load(two.path()), Error, says("more than 1 inputs"));
}

BOOST_AUTO_TEST_CASE(members_that_are_left_must_have_a_weight) {
  EnsembleOptions options{.members = 2, .weights = {1, 0}};
  const Folder folder;
  trained(options).save(folder.path());
  fs::remove_all(folder.file("member-0"));
  Ensemble members = untrained(options);
  const std::string error = error_of([&] { members.load(folder.path(), DamagedMembers::left_out); });
  BOOST_TEST(error.find("the members that are left have no weight") != std::string::npos, error);
}

BOOST_AUTO_TEST_CASE(a_damaged_or_missing_member_is_named_and_the_others_answer_if_asked_to) {
  const EnsembleOptions options{.members = 4};
  const Folder folder;
  trained(options).save(folder.path());
  flip_a_bit(weights_file(folder.path(), "member-2"));
  Ensemble members = untrained(options);
  std::string error = error_of([&] { members.load(folder.path()); });
  BOOST_TEST(error.find("1 of 4 members") != std::string::npos, error);
  BOOST_TEST(error.find("member-2: ") != std::string::npos, error);
  BOOST_TEST(
      error.ends_with("; load it with DamagedMembers::left_out, or train and save the ensemble again"),
      error);
  BOOST_TEST(error.find("the checkpoint before it") == std::string::npos, error);
  fs::remove_all(folder.file("member-0"));
  const auto left_out = members.load(folder.path(), DamagedMembers::left_out);
  BOOST_TEST_REQUIRE(left_out.size() == 2u);
  BOOST_TEST(left_out[0].starts_with("member-0: there is no folder '"), left_out[0]);
  BOOST_TEST(left_out[1].starts_with("member-2: "), left_out[1]);
  BOOST_TEST((members.members() == std::vector<int>{1, 3}));
  BOOST_TEST(members.predict(three_clouds(9, 3).x).elements() == 9);
  for (const char* member : {"member-1", "member-3"}) flip_a_bit(weights_file(folder.path(), member));
  error = error_of([&] { members.load(folder.path(), DamagedMembers::left_out); });
  BOOST_TEST(error.find("4 of 4 members") != std::string::npos, error);
  BOOST_TEST(error.ends_with("; train and save the ensemble again"), error);
  BOOST_TEST(error.find("left_out") == std::string::npos, error);
  flip_a_bit(weights_file(folder.path(), "vote"));
  error = error_of([&] { members.load(folder.path()); });
  BOOST_TEST(error.ends_with("; train and save the ensemble again"), error);
  BOOST_TEST(error.find("the checkpoint before it") == std::string::npos, error);
}

BOOST_AUTO_TEST_CASE(a_member_of_another_model_is_named_and_the_others_answer_if_asked_to) {
  const auto [x, y] = three_clouds(60, 1);
  const EnsembleOptions options{.members = 3};
  const Folder folder, of_wide;
  trained(options).save(folder.path());
  Ensemble wide = ensemble(small_model(3, 24), options);
  wide.fit({x, y}, quiet(1));
  wide.save(of_wide.path());
  fs::remove_all(folder.file("member-1"));
  fs::copy(of_wide.file("member-2"), folder.file("member-1"));
  Ensemble members = untrained(options);
  BOOST_CHECK_EXCEPTION(members.load(folder.path()), Error, says("member-1: it is of another model"));
  BOOST_TEST(members.load(folder.path(), DamagedMembers::left_out).size() == 1u);
  BOOST_TEST((members.members() == std::vector<int>{0, 2}));
  BOOST_TEST(members.predict(x).elements() == 60);
  BOOST_CHECK_EXCEPTION(members.load(of_wide.path(), DamagedMembers::left_out), Error,
                        says("is of another ensemble: member-0"));
  BOOST_TEST((members.members() == std::vector<int>{0, 2}));
}

BOOST_AUTO_TEST_CASE(a_folder_of_another_ensemble_is_refused) {
  const Folder folder;
  trained({.members = 2}).save(folder.path());
  Ensemble three = untrained({.members = 3});
  std::string error = error_of([&] { three.load(folder.path()); });
  BOOST_TEST(error.find("expected 'members' to be 3, got 2") != std::string::npos, error);
  Ensemble hard = untrained({.members = 2, .vote = Vote::hard});
  error = error_of([&] { hard.load(folder.path()); });
  BOOST_TEST(error.find("of another ensemble: expected 'vote' to be") != std::string::npos, error);
  Ensemble two = untrained({.members = 2});
  const std::string nothing = folder.file("nothing"), of_vote = folder.file("vote");
  BOOST_CHECK_EXCEPTION(two.load(nothing), Error, says("there is no folder '" + nothing + "'"));
  BOOST_CHECK_EXCEPTION(two.load(of_vote), Error, says("there is no folder '" + of_vote + "/vote'"));
}

BOOST_AUTO_TEST_SUITE_END()
