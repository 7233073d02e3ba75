// How loss and accuracy change while a replica trains, in at most some hundred points.
#pragma once

#include <cstdint>
#include <vector>

namespace actorflow {

// Not thread-safe.
class LearningCurve {
 public:
  struct Point {
    std::int64_t step = 0;          // the last one of those that it stands for
    double loss = 0, accuracy = 0;  // their means
  };

  void record(std::int64_t step, double loss, double accuracy);
  // Those that are complete, in the order in which they were trained.
  const std::vector<Point>& points() const { return points_; }

 private:
  void merge_neighbours();

  std::vector<Point> points_;
  std::int64_t steps_per_point_ = 1;
  Point sum_;
  std::int64_t summed_ = 0;
};

}  // namespace actorflow
