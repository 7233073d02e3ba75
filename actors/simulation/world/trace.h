// Traces of simulated worlds: a hash of all events, and a record for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

class Storage;

// Not thread-safe.
class Trace {
 public:
  using Time = std::chrono::nanoseconds;  // since the world began

  // Keeps a record if `recording`, otherwise only the hash.
  explicit Trace(bool recording) : recording_(recording) {}

  // A hash that is equal for two runs with the same events in the same order at the same times.
  std::uint64_t hash() const { return hash_; }
  void mix(std::uint64_t value);

  // Adds an event. Tracks are tasks, by position in `tracks`; -1 is the world itself.
  void instant(Time at, int track, std::string_view what);
  void span(Time begin, Time end, int track, std::string_view what);
  // Adds an arrow between two tracks.
  void message(Time sent, int from, Time received, int to, std::string_view what);

  bool recording() const { return recording_; }
  // Writes the JSON of Chrome's trace viewer, which Perfetto opens, with a process per track.
  void write(Storage& storage, const std::string& path, const std::vector<std::string>& tracks) const;

 private:
  enum class Kind : std::uint8_t { instant, span, message };
  struct Entry {
    Kind kind;
    Time begin, end;
    int from, to;
    std::string what;
  };
  static std::string to_json(const Entry& entry, std::size_t number);

  bool recording_;
  std::uint64_t hash_ = 0xcbf29ce484222325u;
  std::vector<Entry> entries_;
};

}  // namespace actorflow
