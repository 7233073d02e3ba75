// What happened in a simulated world: a hash of all of it, and a record for people.
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

  // Without a record only the hash is kept.
  explicit Trace(bool recording) : recording_(recording) {}

  // Equal for two runs in which the same things happened in the same order at the same times.
  std::uint64_t hash() const { return hash_; }
  void mix(std::uint64_t value);

  // Tracks are tasks, by position in `tracks`; -1 is the world itself.
  void instant(Time at, int track, std::string_view what);
  void span(Time begin, Time end, int track, std::string_view what);
  // An arrow between two tracks.
  void message(Time sent, int from, Time received, int to, std::string_view what);

  bool recording() const { return recording_; }
  // In the JSON of Chrome's trace viewer, which Perfetto opens: a process per track.
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
