// Rare situations of the actors, counted, so that who tests knows which of them he has seen.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace actorflow {

// A situation. A static of a source file: all that a program could reach are known before it reaches them.
// Thread-safe.
class Point {
 public:
  explicit Point(const char* name);
  Point(const Point&) = delete;
  Point& operator=(const Point&) = delete;

  void hit() { hits_.fetch_add(1, std::memory_order_relaxed); }
  // How often each was hit since the last call, also those that were not.
  static std::map<std::string, std::uint64_t> take_all();

 private:
  const char* const name_;
  std::atomic<std::uint64_t> hits_{0};
  Point* const next_;
};

}  // namespace actorflow
