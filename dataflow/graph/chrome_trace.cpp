#include "dataflow/graph/chrome_trace.h"

#include <algorithm>
#include <cstdio>

namespace actorflow {

std::string quoted_json(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(byte));
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + '"';
}

ChromeTrace::Place ChromeTrace::add(const Span& span) {
  const int process = process_of(span.task);
  const Place place{process, thread_of(process, span)};
  event("X", place, span.start_us,
        ",\"name\":" + quoted_json(span.name) + ",\"cat\":" + quoted_json(span.category) +
            ",\"dur\":" + std::to_string(span.end_us - span.start_us) + ",\"args\":" + span.arguments);
  return place;
}

void ChromeTrace::arrow_from(Place place, std::int64_t time_us, const std::string& name,
                             const std::string& id) {
  event("s", place, time_us, ",\"name\":" + quoted_json(name) + ",\"cat\":\"transfer\",\"id\":" + id);
}

void ChromeTrace::arrow_to(Place place, std::int64_t time_us, const std::string& name,
                           const std::string& id) {
  event("f", place, time_us,
        ",\"name\":" + quoted_json(name) + ",\"cat\":\"transfer\",\"id\":" + id + ",\"bp\":\"e\"");
}

std::string ChromeTrace::json() const { return "{\"traceEvents\":[" + events_ + "\n]}\n"; }

int ChromeTrace::process_of(const std::string& task) {
  const auto [found, fresh] = processes_.try_emplace(task, static_cast<int>(processes_.size()) + 1);
  if (fresh) name("process_name", {found->second, 0}, task);
  return found->second;
}

// The first line of the track on which nothing is left when the span starts.
int ChromeTrace::thread_of(int process, const Span& span) {
  auto& lines = lines_[{process, span.track}];
  auto line =
      std::ranges::find_if(lines, [&span](const Line& l) { return l.free_from_us <= span.start_us; });
  if (line == lines.end()) {
    line = lines.insert(line, {++threads_, 0});
    name("thread_name", {process, line->thread}, span.track);
  }
  line->free_from_us = span.end_us;
  return line->thread;
}

void ChromeTrace::name(const std::string& kind, Place place, const std::string& value) {
  event("M", place, 0,
        ",\"name\":" + quoted_json(kind) + ",\"args\":{\"name\":" + quoted_json(value) + "}");
}

void ChromeTrace::event(const char* phase, Place place, std::int64_t time_us, const std::string& rest) {
  events_ += (events_.empty() ? "\n{\"ph\":\"" : ",\n{\"ph\":\"") + std::string(phase) +
             "\",\"pid\":" + std::to_string(place.process) + ",\"tid\":" + std::to_string(place.thread) +
             ",\"ts\":" + std::to_string(time_us) + rest + "}";
}

}  // namespace actorflow
