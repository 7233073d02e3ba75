// A disk whose scratch files give back something else than they got, a number of times.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "actors/runtime/storage.h"

namespace actorflow::test {

class BadDisk final : public Storage {
 public:
  // Of the reads of scratch files the one with this number, from 0 on, gets a wrong bit, and so do those
  // that follow, `times` in all.
  BadDisk(int first, int times) : first_(first), times_(times) {}
  // So far, of scratch files.
  int reads() const { return reads_; }

  std::unique_ptr<NewFile> create(const std::string& path) override { return disk_.create(path); }
  std::unique_ptr<OpenFile> open(const std::string& path) override { return disk_.open(path); }
  std::unique_ptr<ScratchFile> scratch(const std::string& folder) override {
    return std::make_unique<Scratch>(*this, disk_.scratch(folder));
  }
  void append(const std::string& path, std::span<const std::byte> bytes) override {
    disk_.append(path, bytes);
  }
  bool exists(const std::string& path) override { return disk_.exists(path); }
  std::vector<std::string> list(const std::string& folder) override { return disk_.list(folder); }
  void remove(const std::string& path) override { disk_.remove(path); }
  void sync(const std::string& folder) override { disk_.sync(folder); }
  double wall_time_s() override { return disk_.wall_time_s(); }

 private:
  class Scratch final : public ScratchFile {
   public:
    Scratch(BadDisk& disk, std::unique_ptr<ScratchFile> file) : disk_(disk), file_(std::move(file)) {}
    std::uint64_t append(std::span<const std::byte> bytes) override { return file_->append(bytes); }
    void read(std::uint64_t offset, std::span<std::byte> into) override {
      file_->read(offset, into);
      const int number = disk_.reads_++;
      if (number >= disk_.first_ && number < disk_.first_ + disk_.times_)
        into[into.size() / 2] ^= std::byte{4};
    }

   private:
    BadDisk& disk_;
    const std::unique_ptr<ScratchFile> file_;
  };

  Storage& disk_ = posix_storage();
  const int first_, times_;
  std::atomic<int> reads_{0};
};

}  // namespace actorflow::test
