#include "actors/simulation/world/trace.h"

#include <fmt/format.h>

#include <span>

#include "actors/runtime/storage.h"

namespace actorflow {
namespace {

double us(Trace::Time time) { return static_cast<double>(time.count()) / 1000; }

// The text as a JSON string. Only texts of users have characters that must be escaped.
std::string json_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (result += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result += '"';
}

}  // namespace

// A step of xorshift-multiply (as in MurmurHash3's finalizer): cheap, and every bit counts.
void Trace::mix(std::uint64_t value) {
  hash_ = (hash_ ^ value) * 0xff51afd7ed558ccdu;
  hash_ ^= hash_ >> 32;
}

void Trace::instant(Time at, int track, std::string_view what) {
  if (recording_) entries_.push_back({Kind::instant, at, at, track, track, std::string(what)});
}

void Trace::span(Time begin, Time end, int track, std::string_view what) {
  if (recording_) entries_.push_back({Kind::span, begin, end, track, track, std::string(what)});
}

void Trace::message(Time sent, int from, Time received, int to, std::string_view what) {
  if (recording_) entries_.push_back({Kind::message, sent, received, from, to, std::string(what)});
}

std::string Trace::to_json(const Entry& e, std::size_t number) {
  const std::string name = json_text(e.what);
  switch (e.kind) {
    case Kind::instant:
      return fmt::format(R"({{"ph":"i","s":"p","name":{},"ts":{:.3f},"pid":{},"tid":0}})", name,
                         us(e.begin), e.from + 1);
    case Kind::span:
      // Asynchronous, since cores of a task compute at the same time.
      return fmt::format(
          R"({{"ph":"b","id":{0},"name":{1},"cat":"computing","ts":{2:.3f},"pid":{4},"tid":0}},)"
          "\n"
          R"({{"ph":"e","id":{0},"name":{1},"cat":"computing","ts":{3:.3f},"pid":{4},"tid":0}})",
          number, name, us(e.begin), us(e.end), e.from + 1);
    case Kind::message:
      // Arrows bind to slices: one of a microsecond at both ends.
      return fmt::format(
          R"({{"ph":"X","name":{0},"ts":{1:.3f},"dur":1,"pid":{2},"tid":1}},)"
          "\n"
          R"({{"ph":"s","id":{5},"name":{0},"cat":"message","ts":{1:.3f},"pid":{2},"tid":1}},)"
          "\n"
          R"({{"ph":"X","name":{0},"ts":{3:.3f},"dur":1,"pid":{4},"tid":2}},)"
          "\n"
          R"({{"ph":"f","bp":"e","id":{5},"name":{0},"cat":"message","ts":{3:.3f},"pid":{4},"tid":2}})",
          name, us(e.begin), e.from + 1, us(e.end), e.to + 1, number);
  }
  return {};
}

void Trace::write(Storage& storage, const std::string& path,
                  const std::vector<std::string>& tracks) const {
  std::string text = "{\"traceEvents\":[\n";
  text += R"({"ph":"M","name":"process_name","pid":0,"args":{"name":"faults"}})";
  constexpr std::string_view threads[] = {"runs", "sends", "receives"};
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    text += fmt::format(
        ",\n"
        R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})",
        i + 1, json_text(tracks[i]));
    for (std::size_t t = 0; t < std::size(threads); ++t)
      text += fmt::format(
          ",\n"
          R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
          i + 1, t, threads[t]);
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) text += ",\n" + to_json(entries_[i], i);
  text += "\n]}\n";
  storage.write_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace actorflow
