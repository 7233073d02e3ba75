// Saving and restoring on disks that fail, are damaged, or are not those of the tasks.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/checkpoint/folder.h"
#include "actors/checkpoint/folder_epoch.h"
#include "actors/checkpoint/newest_whole.h"
#include "actors/checkpoint/saver.h"
#include "test/actors/support/memory_storage.h"
#include "test/actors/support/saver_counter.h"

BOOST_AUTO_TEST_SUITE(saver_disks)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A disk of which a call fails that is about a path with `part` in it.
class FailingStorage final : public Storage {
 public:
  enum class Call { none, commit, after_commit, remove, read };

  std::unique_ptr<NewFile> create(const std::string& path) override {
    return std::make_unique<Failing>(*this, path, disk.create(path));
  }
  std::unique_ptr<OpenFile> open(const std::string& path) override {
    check(Call::read, path);
    return disk.open(path);
  }
  void append(const std::string& path, std::span<const std::byte> bytes) override {
    disk.append(path, bytes);
  }
  bool exists(const std::string& path) override { return disk.exists(path); }
  std::vector<std::string> list(const std::string& in) override {
    ++listings;
    return disk.list(in);
  }
  void remove(const std::string& path) override {
    check(Call::remove, path);
    disk.remove(path);
  }
  void sync(const std::string& in) override { disk.sync(in); }
  double wall_time_s() override { return disk.wall_time_s(); }

  // Every checkpoint that has a manifest is whole.
  void expect_whole() {
    failing = Call::none;
    for (const auto& path : list_checkpoints(disk, run_folder))
      BOOST_TEST(verify_checkpoint(disk, path).empty(), path);
  }

  MemoryStorage disk;
  Call failing = Call::none;
  std::string part;
  int listings = 0;
  std::function<void()> before_manifest;  // runs once

 private:
  void check(Call call, const std::string& path) const {
    if (call == failing && path.find(part) != std::string::npos)
      throw Error(Code::disk_error, path + ": Input/output error");
  }
  struct Failing final : NewFile {
    Failing(FailingStorage& storage, std::string name, std::unique_ptr<NewFile> file)
        : owner(storage), path(std::move(name)), inner(std::move(file)) {}
    void write(std::span<const std::byte> bytes) override { inner->write(bytes); }
    void commit() override {
      if (owner.before_manifest && path.ends_with(".manifest"))
        std::exchange(owner.before_manifest, nullptr)();
      owner.check(Call::commit, path);
      inner->commit();
      owner.check(Call::after_commit, path);
    }
    FailingStorage& owner;
    std::string path;
    std::unique_ptr<NewFile> inner;
  };
};

// `after` is the epoch of a chief that fell back behind step 100, `before` that of the one that saved
// it.
void expect_a_turn_for_whole_ones(bool is_missing, std::int64_t before, std::int64_t after) {
  FailingStorage storage;
  const auto save = [&](std::int64_t step, std::int64_t epoch) {
    save_checkpoint(storage, run_folder, {step, {{"w", Tensor::scalar(1.0F)}}}, {.max_to_keep = 2},
                    epoch);
  };
  save(10, before);
  save(100, before);
  auto& files = storage.disk.files;
  const auto data = read_manifest(storage, manifest_path(run_folder, 100, before)).files.front().name;
  if (is_missing)
    files.erase(run_folder + "/" + data);
  else
    files.at(run_folder + "/" + data).back() ^= std::byte{1};
  storage.failing = FailingStorage::Call::read;  // which may pass: it is not damage
  storage.part = "step-100";
  save(20, after);
  BOOST_TEST(storage.exists(manifest_path(run_folder, 100, before)));
  storage.failing = FailingStorage::Call::none;
  save(30, after);
  BOOST_TEST(
      list_checkpoints(storage, run_folder) ==
          (std::vector{manifest_path(run_folder, 30, after), manifest_path(run_folder, 20, after)}),
      boost::test_tools::per_element());
  storage.expect_whole();
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_error_after_the_manifest_was_published_costs_no_checkpoint) {
  using Call = FailingStorage::Call;
  FailingStorage storage;
  SavedCounter c(storage, {.keep = {.max_to_keep = 1}});
  c.session.initialize_variables();
  c.saver.save(c.session, storage, run_folder);
  c.session.run(c.next);
  storage.part = ".manifest";
  storage.failing = Call::after_commit;
  BOOST_CHECK_EXCEPTION(c.saver.save(c.session, storage, run_folder), Error,
                        error_with(Code::disk_error, {"step-1.manifest"}));
  storage.expect_whole();
  BOOST_TEST(load_latest_checkpoint(storage, run_folder)->global_step == 1);
  storage.failing = Call::commit;
  c.session.run(c.next);
  BOOST_CHECK_THROW(c.saver.save(c.session, storage, run_folder), Error);
  storage.expect_whole();
  BOOST_TEST(load_latest_checkpoint(storage, run_folder)->global_step == 1);
  BOOST_TEST(storage.disk.files.size() == 4u);  // of steps 0 and 1
}

BOOST_AUTO_TEST_CASE(a_checkpoint_that_cannot_be_removed_stays_whole_and_fails_no_saving) {
  for (const auto* part : {".manifest", ".safetensors"}) {
    FailingStorage storage;
    SavedCounter c(storage, {.keep = {.max_to_keep = 1}});
    c.session.initialize_variables();
    storage.part = part;
    for (const int step : {0, 1, 2}) {
      storage.failing = FailingStorage::Call::remove;
      BOOST_TEST(c.saver.save(c.session, storage, run_folder).path == manifest_path(run_folder, step));
      storage.expect_whole();
      c.session.run(c.next);
    }
    c.saver.save(c.session, storage, run_folder);
    BOOST_TEST(list_checkpoints(storage, run_folder).size() == 1u);
    BOOST_TEST(storage.disk.files.size() == 2u);
  }
}

BOOST_AUTO_TEST_CASE(nobody_removes_the_files_of_a_newer_epoch) {
  MemoryStorage storage;
  const auto put = [&](const std::string& name) { storage.files[run_folder + "/" + name]; };
  put("step-7.epoch-4.1-of-1.safetensors");
  put("step-7.epoch-6.1-of-1.safetensors");
  remove_leftovers(storage, run_folder, storage.list(run_folder), 4);
  BOOST_TEST(!storage.exists(run_folder + "/step-7.epoch-4.1-of-1.safetensors"));
  BOOST_TEST(storage.exists(run_folder + "/step-7.epoch-6.1-of-1.safetensors"));
  save_checkpoint(storage, run_folder, {8, {{"w", Tensor::scalar(1.0F)}}}, {.max_to_keep = 1});
  BOOST_TEST(storage.exists(run_folder + "/step-7.epoch-6.1-of-1.safetensors"));
  BOOST_TEST(free_file_prefix(storage, run_folder, 8, 6) == "step-8.epoch-6.");
  remove_leftovers(storage, run_folder, storage.list(run_folder), 6);
  BOOST_TEST(!storage.exists(run_folder + "/step-7.epoch-6.1-of-1.safetensors"));
}

// It has asked for the folder's epoch for the last time, and goes on when its successor has saved that
// step.
BOOST_AUTO_TEST_CASE(a_chief_that_was_stopped_before_it_published_does_not_replace_its_successor) {
  FailingStorage storage;
  SavedCounter stopped(storage), successor(storage);
  stopped.session.initialize_variables();
  stopped.session.set_fencing_epoch(1);
  successor.session.initialize_variables();
  successor.session.run(successor.more);
  successor.session.set_fencing_epoch(2);
  storage.before_manifest = [&] {
    raise_folder_epoch(storage, run_folder, 2);
    successor.saver.save(successor.session, storage, run_folder);
  };
  const std::string late = stopped.saver.save(stopped.session, storage, run_folder).path;
  const std::string newest = latest_checkpoint(storage, run_folder).value();
  BOOST_TEST(late == manifest_path(run_folder, 0, 1));
  BOOST_TEST(newest == manifest_path(run_folder, 0, 2));
  BOOST_TEST(load_checkpoint(storage, newest).tensors.at("count").values<float>()[0] == 11);
  successor.saver.save(successor.session, storage, run_folder);
  BOOST_TEST(list_checkpoints(storage, run_folder) == std::vector{newest},
             boost::test_tools::per_element());
  storage.expect_whole();
}

// Training was restored from an earlier step while it stood still, and has not come as far again.
BOOST_AUTO_TEST_CASE(a_late_chief_of_a_later_step_does_not_win_over_its_successor) {
  MemoryStorage storage;
  const auto put = [&](std::int64_t step, std::int64_t epoch) {
    Manifest manifest;
    manifest.global_step = step;
    return commit_checkpoint(storage, run_folder, manifest, {.max_to_keep = 2}, epoch);
  };
  const auto before = put(90, 1), of_successor = put(95, 2), late = put(100, 1);
  const auto listed = [&] { return list_checkpoints(storage, run_folder); };
  BOOST_TEST(latest_checkpoint(storage, run_folder).value() == of_successor);
  BOOST_TEST(listed() == (std::vector{of_successor, before, late}), boost::test_tools::per_element());
  const auto next = put(97, 2);
  BOOST_TEST(listed() == (std::vector{next, of_successor, late}), boost::test_tools::per_element());
  const auto passed = put(101, 2);
  BOOST_TEST(listed() == (std::vector{passed, next}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_saved_without_an_epoch_counts_though_a_chief_has_saved_that_step) {
  MemoryStorage storage;
  SavedCounter chief(storage);
  chief.session.initialize_variables();
  chief.session.set_fencing_epoch(3);
  chief.saver.save(chief.session, storage, run_folder);
  BOOST_TEST(latest_checkpoint(storage, run_folder).value() == manifest_path(run_folder, 0, 3));
  save_checkpoint(storage, run_folder, {0, {{"count", Tensor::of<float>({2}, {7, 8})}}});
  BOOST_TEST(latest_checkpoint(storage, run_folder).value() == manifest_path(run_folder, 0));
  chief.saver.save(chief.session, storage, run_folder);
  BOOST_TEST(list_checkpoints(storage, run_folder).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_folder_whose_epoch_was_removed_knows_it_from_its_files) {
  MemoryStorage storage;
  SavedCounter chief(storage);
  chief.session.initialize_variables();
  chief.session.set_fencing_epoch(3);
  BOOST_TEST(folder_epoch(storage, run_folder) == 0);
  chief.saver.save(chief.session, storage, run_folder);
  BOOST_TEST(folder_epoch(storage, run_folder) == 3);
  raise_folder_epoch(storage, run_folder, 5);
  BOOST_TEST(folder_epoch(storage, run_folder) == 5);
  storage.remove(run_folder + "/epoch");
  BOOST_CHECK_EXCEPTION(check_folder_epoch(storage, run_folder, 2), Error,
                        error_with(Code::aborted, {"which is at epoch 3 now"}));
  BOOST_CHECK_NO_THROW(check_folder_epoch(storage, run_folder, 3));
}

// Before it writes for the epoch and for leftovers, then once more for the epoch, and at the end for
// what goes.
BOOST_AUTO_TEST_CASE(a_saving_lists_its_folder_once_for_each_moment) {
  FailingStorage storage;
  SavedCounter c(storage);
  c.session.initialize_variables();
  c.saver.save(c.session, storage, run_folder);
  BOOST_TEST(std::exchange(storage.listings, 0) == 2);
  c.session.set_fencing_epoch(3);
  c.saver.save(c.session, storage, run_folder);
  BOOST_TEST(storage.listings == 3);
}

BOOST_AUTO_TEST_CASE(restoring_falls_back_to_the_newest_whole_checkpoint_unless_strict) {
  FailingStorage storage;
  SavedCounter c(storage);
  c.session.initialize_variables();
  for (int step = 0; step < 4; ++step) {
    c.saver.save(c.session, storage, run_folder);
    c.session.run(std::vector<Output>{}, {}, {c.next, c.more});
  }
  storage.disk.files.at(run_folder + "/step-3.1-of-1.safetensors").back() ^= std::byte{1};
  storage.disk.files.erase(run_folder + "/step-2.1-of-1.safetensors");
  BOOST_CHECK_EXCEPTION(c.saver.restore(c.session, storage, run_folder, true), Error,
                        error_with(Code::data_loss, {"step-3.1-of-1.safetensors"}));
  BOOST_TEST(c.saver.restore(c.session, storage, run_folder).value() == 1);
  BOOST_TEST(c.session.run(c.count).values<float>()[0] == 11);
  storage.failing = FailingStorage::Call::read;
  storage.part = "step-1.1-of-1";
  BOOST_TEST(c.saver.restore(c.session, storage, run_folder).value() == 0);
  storage.part = ".safetensors";  // none is left
  BOOST_CHECK_EXCEPTION(c.saver.restore(c.session, storage, run_folder), Error,
                        error_with(Code::disk_error, {"step-3"}));
}

BOOST_AUTO_TEST_CASE(who_loads_waits_for_a_disk_before_an_older_checkpoint_is_taken) {
  FailingStorage storage;
  for (const std::int64_t step : {1, 2, 3})
    save_checkpoint(storage, run_folder, {step, {{"w", Tensor::scalar(1.0F)}}});
  std::vector<std::chrono::seconds> pauses;
  int failures = 2;
  const auto loaded = [&] {
    storage.failing = FailingStorage::Call::read;
    storage.part = "step-3";
    return load_newest_whole_checkpoint(storage, run_folder, [&](std::chrono::seconds pause) {
      pauses.push_back(pause);
      if (static_cast<int>(pauses.size()) == failures) storage.failing = FailingStorage::Call::none;
    });
  };
  using std::chrono_literals::operator""s;
  BOOST_TEST(loaded()->global_step == 3);
  BOOST_TEST((std::exchange(pauses, {}) == std::vector{1s, 2s}));
  failures = 100;
  BOOST_TEST(loaded()->global_step == 2);
  BOOST_TEST((std::exchange(pauses, {}) == std::vector{1s, 2s, 4s, 8s}));
  storage.disk.files.at(run_folder + "/step-3.1-of-1.safetensors").back() ^= std::byte{1};
  storage.failing = FailingStorage::Call::none;
  BOOST_TEST(load_newest_whole_checkpoint(storage, run_folder)->global_step == 2);  // damage stays
}

// Else it would be the newest, and with few to keep the only other one, until training passes its step.
BOOST_AUTO_TEST_CASE(a_damaged_checkpoint_of_a_later_step_takes_no_turn_of_a_whole_one) {
  for (const bool is_missing : {false, true}) {
    expect_a_turn_for_whole_ones(is_missing, 0, 0);
    expect_a_turn_for_whole_ones(is_missing, 2, 4);
  }
}

// The chief of epoch 4 could not read step 100, and saves at once what it has restored.
BOOST_AUTO_TEST_CASE(what_training_fell_back_from_for_an_error_of_the_disk_stays_until_it_is_passed) {
  FailingStorage storage;
  const auto save = [&](std::int64_t step, std::int64_t epoch) {
    save_checkpoint(storage, run_folder, {step, {{"w", Tensor::scalar(1.0F)}}}, {.max_to_keep = 1},
                    epoch);
    return manifest_path(run_folder, step, epoch);
  };
  const auto listed = [&] { return list_checkpoints(storage, run_folder); };
  const auto newest = save(100, 2);
  storage.failing = FailingStorage::Call::read;
  storage.part = "step-100";
  save(90, 4);
  storage.failing = FailingStorage::Call::none;
  const auto restored = save(91, 4);
  BOOST_TEST(listed() == (std::vector{restored, newest}), boost::test_tools::per_element());
  storage.expect_whole();
  const auto passed = save(101, 4);
  BOOST_TEST(listed() == std::vector{passed}, boost::test_tools::per_element());
  BOOST_TEST(storage.disk.files.size() == 2u);  // no file of step 100 either
}

BOOST_AUTO_TEST_CASE(a_whole_checkpoint_of_a_later_step_stays) {
  MemoryStorage storage;
  for (const std::int64_t step : {10, 100, 20})
    save_checkpoint(storage, run_folder, {step, {{"w", Tensor::scalar(1.0F)}}}, {.max_to_keep = 2});
  BOOST_TEST(latest_checkpoint(storage, run_folder).value() == manifest_path(run_folder, 100));
  BOOST_TEST(storage.exists(manifest_path(run_folder, 20)));
}

BOOST_AUTO_TEST_CASE(a_disk_that_tasks_do_not_share_is_named) {
  MemoryStorage theirs, ours;
  SavedCounter c(theirs);
  c.session.initialize_variables();
  BOOST_CHECK_EXCEPTION(
      c.saver.save(c.session, ours, run_folder), Error,
      error_with(Code::failed_precondition, {"step-0.1-of-1.safetensors", "all tasks share"}));
  save_checkpoint(
      ours, run_folder,
      {5,
       {{"count", Tensor::of<float>({2}, {1, 2})}, {"global_step", Tensor::scalar<std::int64_t>(5)}}});
  BOOST_CHECK_EXCEPTION(c.saver.restore(c.session, ours, run_folder), Error,
                        error_with(Code::not_found, {"/job:local/task:0", "step-5.1-of-1.safetensors",
                                                     "every task needs", run_folder}));
}

BOOST_AUTO_TEST_CASE(a_damaged_file_is_named_with_the_task_that_read_it) {
  MemoryStorage storage;
  SavedCounter c(storage);
  c.session.initialize_variables();
  c.saver.save(c.session, storage, run_folder);
  storage.files.at(run_folder + "/step-0.1-of-1.safetensors").back() ^= std::byte{1};
  BOOST_CHECK_EXCEPTION(
      c.saver.restore(c.session, storage, run_folder), Error,
      error_with(Code::data_loss, {"/job:local/task:0", "step-0.1-of-1.safetensors", "checksum",
                                   "delete " + run_folder + "/step-0.manifest"}));
  storage.remove(run_folder + "/step-0.1-of-1.safetensors");
  BOOST_CHECK_EXCEPTION(c.saver.restore(c.session, storage, run_folder), Error,
                        error_with(Code::data_loss, {"step-0.1-of-1.safetensors", "missing"}));
}

BOOST_AUTO_TEST_SUITE_END()
