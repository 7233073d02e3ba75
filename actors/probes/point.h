// Coverage points: counters of rare situations that a test reached.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace actorflow {

// A point, a static of a source file, so that all points of a program are known before it reaches them.
// Thread-safe.
class Point {
 public:
  explicit Point(const char* name);
  Point(const Point&) = delete;
  Point& operator=(const Point&) = delete;

  void hit() { hits_.fetch_add(1, std::memory_order_relaxed); }
  // Returns how often each point was hit since the last call, including points that were not.
  static std::map<std::string, std::uint64_t> take_all();

 private:
  const char* const name_;
  std::atomic<std::uint64_t> hits_{0};
  Point* const next_;
};

}  // namespace actorflow
