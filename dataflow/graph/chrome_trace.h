// Events in the Trace Event Format, for chrome://tracing and ui.perfetto.dev: a process per task.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace actorflow {

// The text as a JSON string, with its quotes.
std::string quoted_json(std::string_view text);

// Collects events, and writes them as one file, an event per line. Times are in microseconds.
class ChromeTrace {
 public:
  struct Span {
    std::string task, track;  // a track of that name has several lines where its spans overlap
    std::int64_t start_us = 0, end_us = 0;
    std::string name, category;
    std::string arguments = "{}";  // a JSON object
  };
  // A line of the picture.
  struct Place {
    int process = 0, thread = 0;
  };
  // REQUIRES: spans of a track come in the order of their starts.
  Place add(const Span& span);
  // The ends of arrows; each lies on the span at that place and time. Both ends have the same name and
  // id, a JSON value.
  void arrow_from(Place place, std::int64_t time_us, const std::string& name, const std::string& id);
  void arrow_to(Place place, std::int64_t time_us, const std::string& name, const std::string& id);

  std::string json() const;

 private:
  struct Line {
    int thread = 0;
    std::int64_t free_from_us = 0;  // the end of its last span
  };

  int process_of(const std::string& task);
  int thread_of(int process, const Span& span);
  void name(const std::string& kind, Place place, const std::string& value);
  void event(const char* phase, Place place, std::int64_t time_us, const std::string& rest);

  std::string events_;
  std::map<std::string, int> processes_;  // by task
  std::map<std::pair<int, std::string>, std::vector<Line>> lines_;
  int threads_ = 0;
};

}  // namespace actorflow
