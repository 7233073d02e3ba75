// The files of `actorflow keygen`.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <thread>
#include <vector>

#include "schema/tls/tls_context.h"
#include "test/schema/support/keys.h"
#include "test/support/contains.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(keygen)

using namespace actorflow;
using namespace actorflow::test;

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t day = 86'400;

int made(const KeygenReport& report) {
  int count = 0;
  for (const auto& entry : report.entries) count += entry.made;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_task_and_the_client_get_files_that_only_their_owner_may_read) {
  const Keys keys;
  BOOST_TEST(mode_of(keys.folder()) == 0700);
  int files = 0;
  for (const auto& file : fs::directory_iterator(keys.folder())) {
    BOOST_TEST(mode_of(file.path()) == 0600, file.path());
    ++files;
  }
  BOOST_TEST(files == 2 * (1 + 4 + 1));
  for (const auto& task : keys.options.tasks)
    BOOST_TEST(TlsContext(keys.of(task), task).own().starts_with("actorflow:" + task.to_string() + ","));
  BOOST_TEST(TlsContext(keys.of({}), {}).own().starts_with("actorflow:client,"));
}

BOOST_AUTO_TEST_CASE(those_who_make_keys_in_one_folder_at_once_share_an_authority) {
  const Folder folder;
  Keys keys;
  keys.options.folder = folder.file("keys");
  constexpr int makers = 4;
  std::array<KeygenReport, makers> reports;
  std::array<Status, makers> outcomes;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < makers; ++i)
      threads.emplace_back(
          [&, i] { outcomes[i] = status_of([&] { reports[i] = generate_keys(keys.options); }); });
  }
  for (const Status& outcome : outcomes) BOOST_TEST(outcome.ok(), outcome.to_string());
  BOOST_TEST(std::ranges::count(reports, true, &KeygenReport::authority_made) == 1);
  for (const KeygenReport& report : reports) BOOST_TEST(made(report) == (report.authority_made ? 5 : 0));
}

BOOST_AUTO_TEST_CASE(certificates_are_added_to_an_authority_that_is_there) {
  Keys keys;
  const std::string authority = read_file(keys.file("ca.crt")),
                    worker = read_file(keys.file("worker-0.crt"));
  keys.options.tasks.push_back({"worker", 2});
  const auto report = generate_keys(keys.options);
  BOOST_TEST(!report.authority_made);
  BOOST_TEST(made(report) == 1);
  BOOST_TEST(report.entries.size() == 6u);
  BOOST_TEST(read_file(keys.file("ca.crt")) == authority);
  BOOST_TEST(read_file(keys.file("worker-0.crt")) == worker);
  TlsContext(keys.of(TaskName{"worker", 2}), TaskName{"worker", 2});
}

BOOST_AUTO_TEST_CASE(certificates_are_made_anew_when_asked_for_expired_or_damaged) {
  Keys keys;
  std::ofstream(keys.file("ps-0.crt")) << "no certificate";
  std::ofstream(keys.file("ps-1.key")) << read_file(keys.file("worker-0.key"));
  BOOST_TEST(made(generate_keys(keys.options)) == 2);
  keys.options.renew = true;
  BOOST_TEST(made(generate_keys(keys.options)) == 5);
  keys.options.renew = false;
  keys.options.now += 400 * day;
  BOOST_TEST(made(generate_keys(keys.options)) == 5);
}

BOOST_AUTO_TEST_CASE(an_authority_is_replaced_only_when_asked_for_and_every_certificate_with_it) {
  Keys keys;
  const std::string authority = read_file(keys.file("ca.crt"));
  keys.options.replace_authority = true;
  const auto report = generate_keys(keys.options);
  BOOST_TEST(report.authority_made);
  BOOST_TEST(made(report) == 5);
  BOOST_TEST(read_file(keys.file("ca.crt")) != authority);
  TlsContext(keys.of({}), {});
}

BOOST_AUTO_TEST_CASE(an_authority_that_cannot_sign_is_an_error_and_not_replaced) {
  Keys keys;
  const std::string authority = read_file(keys.file("ca.crt"));
  keys.options.now += 4000 * day;
  auto status = status_of([&] { generate_keys(keys.options); });
  BOOST_TEST((status.code == Code::failed_precondition));
  BOOST_TEST(contains(status.message, "ca.crt has expired, on 20"), status.message);
  keys.options.now -= 4000 * day;
  fs::remove(keys.file("ca.key"));
  status = status_of([&] { generate_keys(keys.options); });
  BOOST_TEST((status.code == Code::failed_precondition));
  BOOST_TEST(contains(status.message, "has no ca.key beside it"), status.message);
  BOOST_TEST(read_file(keys.file("ca.crt")) == authority);
}

BOOST_AUTO_TEST_CASE(a_certificate_does_not_outlive_its_authority) {
  Keys keys;
  keys.options.days = 10'000;
  keys.options.renew = true;
  const auto report = generate_keys(keys.options);
  for (const auto& entry : report.entries) BOOST_TEST(entry.valid_until == report.authority_valid_until);
}

BOOST_AUTO_TEST_CASE(a_folder_that_others_may_write_to_is_refused) {
  Keys keys;
  fs::permissions(keys.folder(), fs::perms::all);
  const auto status = status_of([&] { generate_keys(keys.options); });
  BOOST_TEST((status.code == Code::permission_denied));
  BOOST_TEST(contains(status.message, keys.folder()), status.message);
}

BOOST_AUTO_TEST_CASE(missing_files_are_named_with_the_way_to_make_them) {
  const Keys keys;
  const auto status = status_of([&] { keys.of(TaskName{"worker", 7}); });
  BOOST_TEST((status.code == Code::not_found));
  BOOST_TEST(contains(status.message, keys.file("worker-7.crt")), status.message);
  BOOST_TEST(contains(status.message, "actorflow keygen"), status.message);
}

BOOST_AUTO_TEST_CASE(a_key_that_everyone_can_read_is_refused) {
  const Keys keys;
  fs::permissions(keys.file("ps-0.key"), fs::perms::owner_read | fs::perms::others_read);
  const auto status = status_of([&] { keys.of(TaskName{"ps", 0}); });
  BOOST_TEST((status.code == Code::permission_denied));
  BOOST_TEST(contains(status.message, "chmod 600"), status.message);
}

BOOST_AUTO_TEST_CASE(credentials_that_others_would_refuse_are_refused_where_they_are_read) {
  const Keys keys, other, old(400);
  const TaskName ps{"ps", 0};
  const auto refusal = [&](const Credentials& credentials, const Holder& self) {
    const auto status = status_of([&] { TlsContext(credentials, self); });
    BOOST_TEST((status.code == Code::failed_precondition));
    return status.message;
  };
  Credentials mixed = keys.of(ps);
  mixed.authority = other.of(ps).authority;
  BOOST_TEST(contains(refusal(mixed, ps), "is not one of the authority beside it"));
  mixed = keys.of(ps);
  mixed.key = keys.of({}).key;
  BOOST_TEST(contains(refusal(mixed, ps), "the key does not belong to the certificate"));
  BOOST_TEST(contains(refusal(keys.of(ps), TaskName{"ps", 1}),
                      "is for actorflow:/job:ps/task:0, not for actorflow:/job:ps/task:1"));
  BOOST_TEST(contains(refusal(old.of(ps), ps), "has expired, on 20"));
  mixed = keys.of(ps);
  mixed.certificate = "rubbish";
  BOOST_TEST((status_of([&] { TlsContext(mixed, ps); }).code == Code::invalid_argument));
}

BOOST_AUTO_TEST_SUITE_END()
