// The calls of this machine, of which a test changes some.
#pragma once

#include <string>
#include <vector>

#include "actors/runtime/file_calls.h"

namespace actorflow::test {

class RealCalls : public FileCalls {
 public:
  int open(const std::string& path, OpenMode mode) override { return real_.open(path, mode); }
  int close(int file) override { return real_.close(file); }
  std::int64_t write(int file, std::span<const std::byte> bytes) override {
    return real_.write(file, bytes);
  }
  std::int64_t write_at(int file, std::uint64_t offset, std::span<const std::byte> bytes) override {
    return real_.write_at(file, offset, bytes);
  }
  std::int64_t read(int file, std::uint64_t offset, std::span<std::byte> into) override {
    return real_.read(file, offset, into);
  }
  std::int64_t size(int file) override { return real_.size(file); }
  int changed(int file, std::int64_t& nanoseconds) override { return real_.changed(file, nanoseconds); }
  int sync(int file) override { return real_.sync(file); }
  int rename(const std::string& from, const std::string& to) override { return real_.rename(from, to); }
  int unlink(const std::string& path) override { return real_.unlink(path); }
  int make_folder(const std::string& path) override { return real_.make_folder(path); }
  int may_change(const std::string& folder) override { return real_.may_change(folder); }
  int look(const std::string& path, PathKind& kind) override { return real_.look(path, kind); }
  int list(const std::string& folder, std::vector<std::string>& names) override {
    return real_.list(folder, names);
  }
  std::string process() override { return real_.process(); }
  double wall_time_s() override { return real_.wall_time_s(); }

 private:
  FileCalls& real_ = posix_calls();
};

}  // namespace actorflow::test
