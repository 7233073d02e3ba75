// What is refused since it is too much, and how it is said.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <filesystem>
#include <string>

#include "test/jobs/support/test_job.h"
#include "test/support/log_lines.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(limits)

using namespace actorflow;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

}  // namespace

BOOST_AUTO_TEST_CASE(too_little_memory_is_refused_with_what_is_needed) {
  JobOptions options;
  options.threads = 2;
  options.memory_bytes = 10 * mib;
  const Status status = test::status_of([&] { Job job(options); });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(status.message.find("--memory of 10 MiB is too little for 2 parts at a time") !=
             status.message.npos);
  BOOST_TEST(status.message.find("at least 96 MiB") != status.message.npos);
}

// A part of this job may hold records of 12 MiB.
BOOST_AUTO_TEST_CASE(a_record_for_which_there_is_too_little_memory_is_refused) {
  const test::Folder folder;
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = 48 * mib;
  const auto expect = [](const Status& status, const std::string& text) {
    BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
    BOOST_TEST(status.message.find(text) != status.message.npos, status.message);
    BOOST_TEST(status.message.find("ive more --memory") != status.message.npos, status.message);
  };
  test::write_file(folder.file("in.txt"), "short\n" + std::string(13 * mib, 'x') + "\n");
  expect(test::status_of([&] { Job(options).read_text(folder.file("in.txt")).count(); }),
         "in.txt: the line at byte 6 is longer than 12582912 bytes");
  test::write_file(folder.file("in.csv"),
                   "a\n\"" + std::string(11 * mib, 'x') + "\n" + std::string(11 * mib, 'x') + "\n");
  expect(test::status_of([&] {
           Job(options).read_csv<std::string>(folder.file("in.csv"), {.line_breaks = true}).count();
         }),
         "in.csv' at byte 2: a row of CSV has 23068675 bytes or more, above the limit of 12582912: are "
         "all of its quotes closed?");
  const auto large = [](int) { return std::string(13 * mib, 'x'); };
  const std::string too_large = "a record of 13631492 bytes is larger than a part may hold: 12582912";
  expect(test::status_of([&] {
           Job(options).from(std::vector{1}).map(large).cache().count();
         }),
         too_large);
  const auto medium = [](int) { return std::string(5 * mib, 'x'); };
  expect(test::status_of([&] {
           Job(options).from(std::vector{1, 2, 3}).map(medium).top(3).count();
         }),
         "is larger than a part may hold: 12582912");
}

// It would be as large for another attempt, and is no record that may be left out.
BOOST_AUTO_TEST_CASE(what_is_too_large_for_a_part_ends_the_job_at_once) {
  const test::Folder folder;
  test::write_file(folder.file("in.txt"), "short\n" + std::string(13 * mib, 'x') + "\n");
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = 48 * mib;
  options.skip_bad_records = 5;
  const auto expect_one_attempt = [&](const auto& action, const std::string& text) {
    test::LogLines log;
    const Status status = test::status_of([&] { action(Job(options)); });
    BOOST_TEST(status.message.find(text) != status.message.npos, status.to_string());
    BOOST_TEST(log.all().find("runs again") == std::string::npos, log.all());
  };
  expect_one_attempt([&](const Job& job) { job.read_text(folder.file("in.txt")).count(); },
                     "in.txt: the line at byte 6 is longer than 12582912 bytes");
  std::atomic<int> made = 0;
  const auto large = [&made](int) {
    ++made;
    return std::string(13 * mib, 'x');
  };
  expect_one_attempt([&](const Job& job) { job.from(std::vector{1}).map(large).cache().count(); },
                     "a record of 13631492 bytes is larger than a part may hold");
  BOOST_TEST(made == 1);
  expect_one_attempt(
      [&](const Job& job) {
        job.from(std::vector<std::int64_t>(2'000'000))
            .map([](std::int64_t i) {
              return std::pair{i, i};
            })
            .group_by_key()
            .count();
      },
      "the group of the key 0 of ");
}

// A part of this job may hold 12 MiB, and so may the program of what the parts bring.
BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_where_it_grows) {
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = 48 * mib;
  const auto refused = [&](const auto& action, const std::string& text) {
    const Job job(options);
    const auto numbers = job.from(std::vector<std::int64_t>(20), 1).flat_map([](std::int64_t) {
      return std::views::iota(std::int64_t{0}, std::int64_t{100'000});
    });
    const Status status = test::status_of([&] { action(numbers); });
    BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
    BOOST_TEST(status.message.find(text) != status.message.npos, status.message);
  };
  refused([](const auto& n) { n.top(100'000'000).count(); }, "a list of the largest records of ");
  refused([](const auto& n) { n.sample(100'000'000, 1).count(); }, "a sample of ");
  refused(
      [](const auto& n) {
        n.fold(
            std::vector<std::int64_t>(), [](auto& all, std::int64_t i) { all.push_back(i); },
            [](auto all, const auto&) { return all; });
      },
      "a state of ");
  refused(
      [](const auto& n) {
        n.map([](std::int64_t i) { return std::pair{std::int64_t{0}, i}; }).group_by_key().count();
      },
      "the group of the key 0 of ");

  const Job job(options);
  const auto texts = job.from(std::vector<int>(20), 20).map([](int) { return std::string(mib, 'x'); });
  const Status status = test::status_of([&] { texts.top(1).count(); });
  BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
  BOOST_TEST(status.message.find("top() brings what each part has to the program, 12582912 bytes") !=
                 status.message.npos,
             status.message);
}

// Where its slices lie is known in memory: 24 bytes for each partition.
BOOST_AUTO_TEST_CASE(chunks_on_disk_take_memory_too) {
  const test::Folder folder;
  const auto store = std::make_shared<ChunkStore>(posix_storage(), ChunkStoreOptions{0, folder.path()});
  PartitionBuffer buffer(1000, mib, store->allocator());
  std::memset(buffer.append(7, 100), 1, 100);
  std::shared_ptr<ScratchFile> file;
  {
    const auto chunk = store->keep(buffer.take(), file);
    BOOST_TEST(!chunk->in_memory());
    BOOST_TEST(store->memory_in_use() >= 24'000u);
  }
  BOOST_TEST(store->memory_in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(an_index_of_chunks_has_its_share_of_the_memory) {
  const test::Folder folder;
  const auto store = std::make_shared<ChunkStore>(
      posix_storage(), ChunkStoreOptions{.spill_folder = folder.path(), .index_bytes = 60'000});
  PartitionBuffer buffer(1000, mib, store->allocator());
  std::shared_ptr<ScratchFile> file;
  const auto keep = [&] {
    std::memset(buffer.append(7, 100), 1, 100);
    return store->keep(buffer.take(), file);
  };
  auto first = keep();
  const auto second = keep();
  const Status third = test::status_of([&] { keep(); });
  BOOST_TEST((third.code == Code::resource_exhausted), third.to_string());
  BOOST_TEST(third.message.find("--memory leaves 60000 for that: give more --memory, or fewer "
                                "--partitions") != std::string::npos,
             third.message);
  first = nullptr;
  BOOST_TEST(keep()->records(7) == 1u);  // there is room again, and nothing of the third one is left
}

BOOST_AUTO_TEST_CASE(several_folders_get_what_is_put_aside_in_turn) {
  const test::Folder folder;
  const auto store = std::make_shared<ChunkStore>(
      posix_storage(),
      ChunkStoreOptions{.spill_folder = folder.file("a") + ",," + folder.file("b") + ","});
  store->scratch();
  BOOST_TEST(std::filesystem::exists(folder.file("a")));
  BOOST_TEST(!std::filesystem::exists(folder.file("b")));
  store->scratch();
  BOOST_TEST(std::filesystem::exists(folder.file("b")));
  std::filesystem::remove(folder.file("a"));
  test::write_file(folder.file("a"), "no folder");
  store->scratch();  // it is passed over
  store->scratch();
}

BOOST_AUTO_TEST_CASE(a_quota_on_disk_ends_the_job_and_names_folder_and_bytes) {
  const test::Folder folder;
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = 48 * mib;
  options.spill_bytes = mib;
  options.spill_folder = folder.file("spills");
  Job job(options);
  const auto numbers =
      job.from(std::vector<std::int64_t>{0, 1, 2, 3}, 4).flat_map([](std::int64_t quarter) {
        return std::views::iota(quarter * 2'000'000, (quarter + 1) * 2'000'000);
      });
  const Status status = test::status_of([&] { numbers.cache().count(); });
  BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
  BOOST_TEST(status.message.find("'" + folder.file("spills") + "'") != status.message.npos,
             status.message);
  BOOST_TEST(status.message.find("--spill_bytes allows 1048576") != status.message.npos, status.message);
  BOOST_TEST(!std::filesystem::exists(folder.file("spills")));
}

BOOST_AUTO_TEST_CASE(more_than_64_MiB_are_not_collected) {
  JobOptions options;
  options.threads = 1;
  Job job(options);
  const auto texts =
      job.from(std::vector<std::int64_t>(70), 7).map([](std::int64_t) { return std::string(mib, 'x'); });
  const Status status = test::status_of([&] { texts.collect(); });
  BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
  BOOST_TEST(status.message.find("collect() brings at most 64 MiB") != status.message.npos);
}

BOOST_AUTO_TEST_SUITE_END()
