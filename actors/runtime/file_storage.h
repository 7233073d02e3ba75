// A storage on system calls. It decides what is synced, and in which order.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "actors/runtime/file_calls.h"
#include "actors/runtime/file_times.h"
#include "actors/runtime/storage.h"

namespace actorflow {

class FileStorage : public Storage, public FileTimes {
 public:
  // The calls must outlive this.
  explicit FileStorage(FileCalls& calls) : calls_(calls) {}

  std::unique_ptr<NewFile> create(const std::string& path) override;
  std::unique_ptr<OpenFile> open(const std::string& path) override;
  std::unique_ptr<ScratchFile> scratch(const std::string& folder) override;
  void append(const std::string& path, std::span<const std::byte> bytes) override;
  void append_synced(const std::string& path, std::span<const std::byte> bytes) override;
  bool exists(const std::string& path) override;
  std::vector<std::string> list(const std::string& folder) override;
  void remove(const std::string& path) override;
  void sync(const std::string& folder) override;
  double wall_time_s() override { return calls_.wall_time_s(); }
  std::int64_t changed_ns(const std::string& path) override;

 private:
  // Makes missing folders. The names of all folders on the path survive a loss of power, whoever made
  // them.
  void create_folders(const std::string& folder);
  void make_folder(const std::string& folder, PathKind in_its_place);
  // Throws what no further try can change: a part of the path is a file, a pipe or a device.
  void expect_no_file_in(const std::string& path);
  bool is_synced(const std::string& folder);
  void note(const std::string& folder, bool synced);

  FileCalls& calls_;
  std::atomic<unsigned> next_temporary_{0};
  std::mutex mutex_;
  std::set<std::string> synced_;  // folders whose names are synced
};

}  // namespace actorflow
