#include "actors/simulation/sim_log.h"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <utility>

namespace actorflow {
namespace {

constexpr std::size_t kept_lines = 40;
constexpr std::ptrdiff_t kept_of_a_shape = 3;

std::string without_numbers(std::string text) {
  std::erase_if(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return text;
}

class Sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit Sink(SimLog& log) : log_(log) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    log_.line(std::string(message.payload.begin(), message.payload.end()));
  }
  void flush_() override {}

 private:
  SimLog& log_;
};

}  // namespace

SimLog::SimLog(World& world) : world_(world), before_(spdlog::default_logger()) {
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("simulation", std::make_shared<Sink>(*this)));
}

SimLog::~SimLog() { spdlog::set_default_logger(before_); }

void SimLog::line(const std::string& text) {
  const TrackId track = world_.current();
  const std::string who =
      track == outside ? "the world" : world_.track_names()[static_cast<std::size_t>(track)];
  keep({.seconds = static_cast<double>(world_.elapsed().count()) / 1e9,
        .who = who,
        .text = text,
        .shape = track == outside ? text : without_numbers(text)});  // faults are all kept
  world_.trace().instant(world_.elapsed(), track, text);
}

void SimLog::keep(Line line) {
  const auto alike = [&](const Line& other) {
    return other.who == line.who && other.shape == line.shape;
  };
  if (std::ranges::count_if(lines_, alike) >= kept_of_a_shape) {
    const auto newest = std::ranges::find_if(lines_.rbegin(), lines_.rend(), alike);
    line.left_out = newest->left_out + 1;
    lines_.erase(std::next(newest).base());
  }
  lines_.push_back(std::move(line));
  if (lines_.size() > kept_lines) lines_.erase(lines_.begin());
}

std::string SimLog::last_lines() const {
  if (lines_.empty()) return {};
  std::string text = "the last that the tasks said, in simulated seconds:";
  for (const auto& line : lines_) {
    text += fmt::format("\n{:12.6f}  {}: {}", line.seconds, line.who, line.text);
    if (line.left_out > 0) text += fmt::format(" ({} lines like it are left out)", line.left_out);
  }
  return text;
}

}  // namespace actorflow
