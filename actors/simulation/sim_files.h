// Simulated files with the faults of real disks: calls that fail, names and bytes that are lost with the
// power unless they were synced, and writes that are torn within a block.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/runtime/file_calls.h"
#include "actors/simulation/world.h"

namespace actorflow {

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
  // The wall clock; begins on 1 January 2000.
  double wall_time_s() override;

  // Sets the capacity: writes that need more find the disk full.
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  // Makes each call fail with this probability, with one of the errors of real disks; half of the failed
  // changes have been made all the same. A failed fsync has lost the bytes, and the next one does not
  // report it.
  void set_failures(double probability) { failures_ = probability; }
  // Loses unsynced names and sectors, each at random. Closes all handles.
  void lose_power();
  // Inverts a random bit of a random file whose path contains `part`. False if there is none.
  bool flip_a_bit(const std::string& part);

 private:
  using Bytes = std::vector<std::byte>;
  struct File {
    Bytes bytes, synced;
    bool sync_failed = false;
    double changed_s = 0;
  };
  using FileRef = std::shared_ptr<File>;
  struct Handle {
    FileRef file;  // none of a folder
    std::string folder;
  };
  using Names = std::map<std::string, FileRef>;

  int error();
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
  double failures_ = 0;
};

}  // namespace actorflow
