// Event files as a table for a terminal.
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
  // The table: a line for each tag that contains `part`, with points, last step, last value, range and
  // course, and a line for the graph if there is one.
  std::string to_string(const std::string& part = {}) const;
  bool empty() const { return rows_.empty() && graph_nodes_ == 0; }

 private:
  // The course of a number; every other point is dropped when it grows long.
  struct Course {
    void add(double value);
    std::vector<double> values;
    std::int64_t stride = 1, seen = 0;
    double min = std::numeric_limits<double>::infinity(), max = -min;  // of the finite values
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
