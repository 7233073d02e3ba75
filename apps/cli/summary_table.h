// What event files say, as a table for a terminal.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "schema/event.h"

namespace actorflow {

// The events of one run. Its size is bounded by the number of tags, not of events. Not thread-safe.
class SummaryTable {
 public:
  void add(const Event& event);
  // A line for each tag that contains `part`: points, last step, last value, range and course. With a
  // line for the graph if there is one.
  std::string to_string(const std::string& part = {}) const;
  bool empty() const { return rows_.empty() && graph_nodes_ == 0; }

 private:
  // The course of a number, thinned out by halves when it grows long.
  struct Course {
    void add(double value);
    std::vector<double> values;
    std::int64_t stride = 1, seen = 0;
    double min = std::numeric_limits<double>::infinity(), max = -min;  // of the finite ones
  };
  struct Row {
    std::int64_t points = 0, last_step = 0;
    Course course;  // of a scalar
    Summary last;
  };

  static std::string describe_scalar(double last, const Course& course);

  std::map<std::string, Row> rows_;
  std::size_t graph_nodes_ = 0;
};

}  // namespace actorflow
