// Simulated files with the faults of real disks: calls that fail, names and bytes that are lost with the
// power unless they were synced, and writes that are torn within a block.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/runtime/file_calls.h"
#include "actors/simulation/world/world.h"

namespace actorflow {

// What goes wrong with the disk's calls of a task, or of all. A call that fails answers with one of the
// errors of real disks, and half of the failed changes have been made all the same. A failed fsync has
// lost the bytes, and the next one does not report it.
struct DiskFaults {
  bool full = false;    // every write fails
  double failures = 0;  // the probability that a call fails
  double torn = 0;      // the probability that a write stores a part of its bytes, and fails
  double slowness = 1;  // by which the time of each call is multiplied
};

// Files that all tasks of a simulated world share, as a network file system. A process that dies leaves
// its files as they are. A piece of computing that writes, reads or syncs waits for the disk before the
// call returns (under a Computing mark it is charged for that), and may be killed meanwhile; it must
// hold no lock there. Not thread-safe.
class SimFiles final : public FileCalls {
 public:
  explicit SimFiles(World& world) : world_(world) {}

  int open(const std::string& path, OpenMode mode) override;
  int close(int file) override {
    handles_.erase(file);
    return 0;
  }
  std::int64_t write(int file, std::span<const std::byte> bytes) override;
  std::int64_t write_at(int file, std::uint64_t offset, std::span<const std::byte> bytes) override;
  std::int64_t read(int file, std::uint64_t offset, std::span<std::byte> into) override;
  std::int64_t size(int file) override;
  int changed(int file, std::int64_t& nanoseconds) override;
  int sync(int file) override;
  int rename(const std::string& from, const std::string& to) override;
  int unlink(const std::string& path) override;
  int make_folder(const std::string& path) override;
  int may_change(const std::string&) override { return 0; }
  int look(const std::string& path, PathKind& kind) override;
  int list(const std::string& folder, std::vector<std::string>& names) override;
  // Another name each time, as if each caller were a process of its own.
  std::string process() override { return "sim" + std::to_string(next_process_++); }
  // The wall clock of the running task's machine (World::set_clock_ahead); begins on 1 January 2000.
  double wall_time_s() override;

  // Sets the capacity: writes that need more find the disk full.
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  // The faults of the calls of a task, or of all with `outside`; of both, the worse ones count.
  DiskFaults& faults(TrackId task) { return faults_[task]; }
  // Makes each call of every task fail with this probability.
  void set_failures(double probability) { faults(outside).failures = probability; }
  // Loses unsynced names and sectors, each at random. Closes all handles.
  void lose_power();
  // Loses sectors that this task has written and nobody has synced, each at random.
  void lose_power_of(TrackId task);
  // Inverts a random bit of a random file whose path contains `part`. False if there is none.
  bool flip_a_bit(const std::string& part);

 private:
  using Bytes = std::vector<std::byte>;
  struct File {
    Bytes bytes, synced;
    bool sync_failed = false;
    double changed_s = 0;
    std::set<TrackId> writers;  // of bytes that are not synced
  };
  using FileRef = std::shared_ptr<File>;
  struct Handle {
    FileRef file;  // none of a folder
    std::string folder;
  };
  using Names = std::map<std::string, FileRef>;

  // The faults that the running task meets now.
  DiskFaults present_faults() const;
  // Draws whether a call fails: 0, or -errno.
  int error();
  // Draws how many of so many bytes are written.
  std::size_t written_part(std::size_t bytes);
  double server_time_s() const;
  void leave_torn(File& file);
  bool is_folder(const std::string& path) const;
  int sync_now(int file);
  int sync_folder(const std::string& folder);
  void lose_folders();
  Bytes torn(const File& file);
  // The disk works for that long: a piece of computing waits for it here, what else runs is busy.
  void work_for(World::Duration time);
  void move(std::size_t bytes);
  std::uint64_t used() const;

  World& world_;
  Names names_, synced_names_;           // by path
  std::map<std::string, bool> folders_;  // by path: whether the name was synced
  std::map<int, Handle> handles_;
  int next_handle_ = 3;
  int next_process_ = 0;
  std::uint64_t capacity_ = ~std::uint64_t{0};
  std::map<TrackId, DiskFaults> faults_;  // those of all are those of `outside`
};

}  // namespace actorflow
