// Who waits for whom, in one group or in all groups of a task.
#include <fmt/format.h>

#include <memory>

#include "actors/collectives/engine/collectives.h"

namespace actorflow {
namespace {

// The lines of several groups, whose answers come one by one.
struct Report {
  ReplyTo to;
  std::shared_ptr<const Executable> executable;
  std::size_t open = 0;  // groups that have not answered
  std::vector<std::string> lines{};

  void end_if_complete() {
    if (open > 0) return;
    complete(to, {Tensor::of<std::string>({std::ssize(lines)}, lines)});
  }
};

}  // namespace

void Collectives::ask_waits(const std::string& group, RankGroup::WaitsReply reply) {
  this->group(group).ask_waits(std::move(reply));
  keep_ticking();
}

void Collectives::report_waits(const StateCall& message) {
  const auto report = std::make_shared<Report>(Report{message.reply_to, message.executable, 1});
  for (auto& [name, member] : groups_) {
    if (member.attempt != 0) {
      report->lines.push_back(why_not_open(member));
      continue;
    }
    ++report->open;
    member.group->ask_waits([report, title = fmt::format("group '{}'", name)](const Status& status,
                                                                              const GroupWaits& waits) {
      report->lines.push_back(status.ok() ? title : fmt::format("{}: {}", title, status.message));
      if (status.ok())
        for (const auto& line : lines_of(waits)) report->lines.push_back("  " + line);
      --report->open;
      report->end_if_complete();
    });
  }
  --report->open;
  report->end_if_complete();
  keep_ticking();
}

}  // namespace actorflow
