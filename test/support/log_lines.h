// The log of this process, kept instead of printed.
#pragma once

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "test/support/hang_limit.h"

namespace actorflow::test {

// From its beginning to its end, while which no other thread may begin or end to log.
class LogLines {
 public:
  LogLines() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::make_shared<Sink>(*this)));
  }
  ~LogLines() { spdlog::set_default_logger(before_); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  // Waits until a line has the text; false if none has it within `hang_limit`. Any thread.
  bool come_to_say(const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hang_limit, [&] {
      return std::ranges::any_of(lines_, [&](const auto& line) { return line.find(text) != line.npos; });
    });
  }
  std::string all() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& line : lines_) text += line + "\n";
    return text;
  }

 private:
  class Sink final : public spdlog::sinks::base_sink<std::mutex> {
   public:
    explicit Sink(LogLines& lines) : lines_(lines) {}

   protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
      lines_.add({message.payload.begin(), message.payload.end()});
    }
    void flush_() override {}

   private:
    LogLines& lines_;
  };

  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }

  const std::shared_ptr<spdlog::logger> before_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

}  // namespace actorflow::test
