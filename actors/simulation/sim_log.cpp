#include "actors/simulation/sim_log.h"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <mutex>

namespace actorflow {
namespace {

constexpr std::size_t kept_lines = 40;

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
  lines_.push_back(
      fmt::format("{:12.6f}  {}: {}", static_cast<double>(world_.elapsed().count()) / 1e9, who, text));
  if (lines_.size() > kept_lines) lines_.pop_front();
  world_.trace().instant(world_.elapsed(), track, text);
}

std::string SimLog::last_lines() const {
  if (lines_.empty()) return {};
  std::string text = "the last that the tasks said, in simulated seconds:";
  for (const auto& line : lines_) text += "\n" + line;
  return text;
}

}  // namespace actorflow
