// A simulated disk that all tasks of a simulated world share, as they would a network file system.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/simulation/world.h"
#include "actors/storage.h"

namespace actorflow {

// Keeps the promises of storage.h: what was committed is there, whatever dies. A file in the making is
// gone with its process. Not thread-safe.
class SimStorage final : public Storage {
 public:
  explicit SimStorage(World& world) : world_(world) {}

  std::unique_ptr<NewFile> create(const std::string& path) override;
  std::unique_ptr<OpenFile> open(const std::string& path) override;
  void append(const std::string& path, std::span<const std::byte> bytes) override;
  bool exists(const std::string& path) override;
  std::vector<std::string> list(const std::string& folder) override;
  void remove(const std::string& path) override;
  // Begins on 1 January 2000.
  double wall_time_s() override;

  // Writes that would need more fail with resource_exhausted.
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  std::uint64_t used_bytes() const { return used_; }
  // A machine that loses its power may lose the end of what was appended last: cuts each file that grew
  // within the last 5 s at a random place of that growth.
  void tear_appended();
  // Inverts a random bit of a file, which is chosen at random among those whose path contains `part`.
  // False if there is none.
  bool flip_a_bit(const std::string& part);

 private:
  class Writer;
  class Reader;
  using Bytes = std::vector<std::byte>;
  struct File {
    std::shared_ptr<const Bytes> bytes;
    World::Time appended{};
    std::size_t size_before = 0;  // of the last append
  };

  void reserve(const std::string& path, std::size_t bytes);
  void take_time(std::size_t bytes);
  void replace(const std::string& path, Bytes bytes);

  World& world_;
  std::map<std::string, File> files_;
  std::uint64_t capacity_ = ~std::uint64_t{0};
  std::uint64_t used_ = 0;
};

}  // namespace actorflow
