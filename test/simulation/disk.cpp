// What real disks do, to the Saver itself: what it was told is saved is there, whatever happens, and
// every checkpoint that has a manifest is whole.
#include <boost/test/unit_test.hpp>
#include <string>

#include "actors/simulation/sim_storage.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/values/error.h"
#include "test/simulation/support/saving_job.h"
#include "test/simulation/support/synced_log.h"

BOOST_AUTO_TEST_SUITE(disk)

using namespace actorflow;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string text_of(Storage& storage, const std::string& path) {
  const auto bytes = storage.read(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A disk without a cluster.
struct Disk {
  explicit Disk(std::uint64_t seed) : world(seed, std::make_unique<RandomSchedule>(seed), false) {}

  World world;
  SimStorage disk{world};
};

}  // namespace

SIMULATION_TEST(a_loss_of_power_costs_no_saved_checkpoint, seeds(1, 100)) {
  test::save_through_faults({FaultKind::power});
}

SIMULATION_TEST(errors_of_the_disk_cost_no_saved_checkpoint, seeds(1, 100)) {
  test::save_through_faults({FaultKind::power, FaultKind::disk_errors, FaultKind::disk_full});
}

BOOST_AUTO_TEST_CASE(what_was_committed_survives_every_loss_of_power) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Disk d(seed);
    d.disk.write_atomically("new/folder/file", bytes_of("committed"));
    d.disk.files().lose_power();
    BOOST_REQUIRE(d.disk.exists("new/folder/file"));
    BOOST_TEST(text_of(d.disk, "new/folder/file") == "committed");
  }
}

SIMULATION_TEST(what_was_appended_and_synced_survives_a_loss_of_power, seeds(1, 100)) {
  test::append_through_a_loss_of_power();
}

BOOST_AUTO_TEST_CASE(a_folder_whose_sync_failed_is_synced_with_the_next_file) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Disk d(seed);
    d.disk.files().set_failures(0.3);
    try {
      d.disk.write_atomically("new/folder/file", bytes_of("first"));
    } catch (const Error&) {
    }
    d.disk.files().set_failures(0);
    d.disk.write_atomically("new/folder/file", bytes_of("committed"));
    d.disk.files().lose_power();
    BOOST_TEST_REQUIRE(d.disk.exists("new/folder/file"), "seed " << seed);
    BOOST_TEST(text_of(d.disk, "new/folder/file") == "committed");
  }
}

BOOST_AUTO_TEST_CASE(a_folder_whose_maker_was_killed_before_its_sync_is_synced_by_the_next_process) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Disk d(seed);
    BOOST_REQUIRE(d.disk.files().make_folder("new") == 0);
    FileStorage(d.disk.files()).write_atomically("new/folder/file", bytes_of("committed"));
    d.disk.files().lose_power();
    BOOST_TEST_REQUIRE(d.disk.exists("new/folder/file"), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(what_was_not_synced_may_be_lost_or_torn_within_a_block) {
  int lost = 0, torn = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Disk d(seed);
    d.disk.write_atomically("folder/other", bytes_of("x"));
    const std::string text(2000, 'a');
    d.disk.append("folder/log", bytes_of(text));
    d.disk.files().lose_power();
    if (!d.disk.exists("folder/log")) {
      ++lost;
      continue;
    }
    const auto left = text_of(d.disk, "folder/log");
    torn += left.find('\0') < left.find_last_of('a');
  }
  BOOST_TEST(lost > 0);
  BOOST_TEST(torn > 0);
}

BOOST_AUTO_TEST_CASE(a_removal_that_was_not_synced_may_be_undone) {
  int back = 0, gone = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    for (const bool synced : {false, true}) {
      Disk d(seed);
      d.disk.write_atomically("folder/file", bytes_of("x"));
      d.disk.remove("folder/file");
      if (synced) d.disk.sync("folder");
      d.disk.files().lose_power();
      const bool exists = d.disk.exists("folder/file");
      BOOST_TEST(!(synced && exists));
      (exists ? back : gone) += 1;
    }
  BOOST_TEST(back > 0);
  BOOST_TEST(gone > 50);
}

// Each kind of call, with the code of its error; a file that was there stays as it was or becomes the
// new one.
BOOST_AUTO_TEST_CASE(every_call_fails_with_the_code_of_its_error) {
  std::map<Code, int> codes;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Disk d(seed);
    d.disk.write_atomically("folder/file", bytes_of("old"));
    d.disk.files().set_failures(0.3);
    try {
      d.disk.write_atomically("folder/file", bytes_of("new"));
      d.disk.list("folder");
      d.disk.read("folder/file");
      d.disk.remove("folder/other");
      ++codes[Code::ok];
    } catch (const Error& error) {
      ++codes[error.code()];
      BOOST_TEST(std::string(error.what()).find("folder") != std::string::npos, error.what());
    }
    d.disk.files().set_failures(0);
    d.disk.files().lose_power();
    const auto left = text_of(d.disk, "folder/file");
    BOOST_TEST((left == "old" || left == "new"), left);
  }
  for (const auto code : {Code::ok, Code::disk_error, Code::permission_denied, Code::resource_exhausted})
    BOOST_TEST(codes[code] > 0, to_string(code));
  BOOST_TEST(codes[Code::unavailable] == 0);
}

BOOST_AUTO_TEST_SUITE_END()
