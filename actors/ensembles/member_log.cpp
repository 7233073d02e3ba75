#include "actors/ensembles/member_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "actors/runtime/runtime.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

std::string text_of(const Logs& logs) {
  std::string text;
  for (const auto& [name, value] : logs.values()) text += fmt::format("  {} {:.4g}", name, value);
  return text;
}

class LoggedTraining final : public Callback {
 public:
  LoggedTraining(MemberLog& log, std::string what) : log_(log), what_(std::move(what)) {}

  void on_train_begin(FitContext& fit) override {
    epochs_ = fit.last_epoch();
    clock_ = &fit.runtime().clock();
    began_ = said_ = clock_->now();
    spdlog::info("{} begins{}, number {} of this task", what_, log_.task(), log_.count_begun());
  }
  void on_epoch_begin(FitContext&, int epoch) override { epoch_ = epoch; }
  bool looks_at_batches() const override { return true; }
  void on_batch_end(FitContext&, std::int64_t batch, const Logs& logs) override {
    if (is_time(within_epoch)) say(fmt::format("  step {}", batch), logs);
  }
  void on_epoch_end(FitContext&, int, Logs& logs) override {
    logs_ = logs;
    if (is_time(between_epochs)) say("", logs);
  }
  // Not of one that was interrupted: it is no member.
  void on_train_end(FitContext& fit) override {
    if (fit.interrupted()) return;
    spdlog::info("{} is trained{}  {:.1f} s{}", what_, log_.task(),
                 std::chrono::duration<double>(clock_->now() - began_).count(), text_of(logs_));
  }

 private:
  static constexpr std::chrono::seconds between_epochs = 5s, within_epoch = 20s;

  bool is_time(std::chrono::seconds after) {
    const auto now = clock_->now();
    if (now - said_ < after) return false;
    said_ = now;
    return true;
  }

  void say(const std::string& step, const Logs& logs) const {
    spdlog::info("{}{}  epoch {}/{}{}{}", what_, log_.task(), epoch_, epochs_, step, text_of(logs));
  }

  MemberLog& log_;
  const std::string what_;
  Clock* clock_ = nullptr;
  Clock::time_point began_, said_;
  int epoch_ = 0, epochs_ = 0;
  Logs logs_;  // of the last epoch
};

}  // namespace

CallbackRef MemberLog::callback_for(const std::string& what) {
  return std::make_shared<LoggedTraining>(*this, what);
}

std::string describe(const MemberWork& work) {
  const std::string member = fmt::format("member {}", work.member);
  return work.fold < 0 ? member : fmt::format("{} without fold {}", member, work.fold);
}

}  // namespace actorflow
