// A disk in memory that tests can inspect, damage and let fail. A full one takes half of what is
// appended.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "actors/runtime/storage.h"
#include "dataflow/values/error.h"

namespace actorflow {

class MemoryStorage final : public Storage {
 public:
  using Bytes = std::vector<std::byte>;

  std::unique_ptr<NewFile> create(const std::string& path) override {
    return std::make_unique<New>(*this, path);
  }
  std::unique_ptr<OpenFile> open(const std::string& path) override {
    const std::scoped_lock lock(mutex);
    const auto found = files.find(path);
    if (found == files.end()) throw Error(Code::not_found, path + ": no such file");
    return std::make_unique<Open>(path, found->second);
  }
  void append(const std::string& path, std::span<const std::byte> bytes) override {
    const std::scoped_lock lock(mutex);
    const bool fits = commits_left > 0;
    const std::size_t written = fits ? bytes.size() : bytes.size() / 2;
    auto& file = files[path];
    file.insert(file.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(written));
    expect_room(path);
  }
  bool exists(const std::string& path) override {
    const std::scoped_lock lock(mutex);
    return files.contains(path);
  }
  std::vector<std::string> list(const std::string& folder) override {
    const std::scoped_lock lock(mutex);
    if (failing_lists > 0) {
      --failing_lists;
      throw Error(Code::disk_error, folder + ": input/output error");
    }
    std::vector<std::string> names;
    for (const auto& [path, file] : files)
      if (path.starts_with(folder + "/")) names.push_back(path.substr(folder.size() + 1));
    return names;
  }
  void remove(const std::string& path) override {
    const std::scoped_lock lock(mutex);
    files.erase(path);
  }
  void sync(const std::string&) override {}
  double wall_time_s() override { return 1.7e9; }

  std::mutex mutex;
  std::map<std::string, Bytes> files;
  // Tests set these while tasks may still be at work.
  std::atomic<int> commits_left = std::numeric_limits<int>::max();  // before the disk is full
  std::atomic<int> failing_lists = 0;                               // of folders, before one succeeds

 private:
  void expect_room(const std::string& path) const {
    if (commits_left == 0) throw Error(Code::resource_exhausted, path + ": no space left on device");
  }
  struct New final : NewFile {
    New(MemoryStorage& to, std::string name) : storage(to), path(std::move(name)) {}
    void write(std::span<const std::byte> more) override {
      bytes.insert(bytes.end(), more.begin(), more.end());
    }
    void commit() override {
      const std::scoped_lock lock(storage.mutex);
      storage.expect_room(path);
      --storage.commits_left;
      storage.files[path] = std::move(bytes);
    }
    MemoryStorage& storage;
    std::string path;
    Bytes bytes;
  };
  struct Open final : OpenFile {
    Open(std::string name, Bytes content) : path(std::move(name)), bytes(std::move(content)) {}
    std::uint64_t size_bytes() override { return bytes.size(); }
    void read(std::uint64_t offset, std::span<std::byte> into) override {
      if (offset > bytes.size() || into.size() > bytes.size() - offset)
        throw Error(Code::data_loss, path + ": the file ends early");
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
    }
    std::string path;
    Bytes bytes;
  };
};

}  // namespace actorflow
