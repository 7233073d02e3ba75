#include "actors/simulation/fault_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "actors/simulation/schedule.h"
#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;
using Nanoseconds = std::chrono::nanoseconds;

struct KindName {
  FaultKind kind;
  std::string_view name;
  int tasks;   // how many it names
  bool lasts;  // has a duration
};
constexpr std::array kinds{
    KindName{FaultKind::kill, "kill", 1, false},
    KindName{FaultKind::restart, "restart", 1, false},
    KindName{FaultKind::pause, "pause", 1, true},
    KindName{FaultKind::partition, "partition", 2, true},
    KindName{FaultKind::delay, "delay", 1, true},
    KindName{FaultKind::slow, "slow", 1, true},
    KindName{FaultKind::lossy, "lossy", 0, true},
    KindName{FaultKind::duplicate, "duplicate", 0, true},
    KindName{FaultKind::late, "late", 0, true},
    KindName{FaultKind::disk_full, "disk_full", 0, true},
    KindName{FaultKind::disk_errors, "disk_errors", 0, true},
    KindName{FaultKind::power, "power", 0, true},
};

const KindName& describe(FaultKind kind) { return *std::ranges::find(kinds, kind, &KindName::kind); }

std::string seconds(Nanoseconds time) {
  return fmt::format("{}s", static_cast<double>(time.count()) / 1e9);
}

std::string known_kinds() {
  std::string known;
  for (const auto& kind : kinds) known += fmt::format(" {}", kind.name);
  return known;
}

Error not_understood(std::string_view fault, std::string_view why) {
  return invalid_argument(
      fmt::format("cannot read the fault '{}': {}; expected for example '30s kill /job:ps/task:0' or "
                  "'12.5s pause /job:ps/task:0 for 3s', with one of:{}",
                  fault, why, known_kinds()));
}

Nanoseconds parse_seconds(std::string_view word, std::string_view fault) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || std::string_view(end, word.data() + word.size()) != "s" ||
      !(value >= 0 && value <= 1e9))  // nor NaN
    throw not_understood(fault, fmt::format("'{}' is not a time in seconds", word));
  return Nanoseconds(static_cast<std::int64_t>(value * 1e9 + 0.5));
}

Fault parse_fault(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  if (words.size() < 2) throw not_understood(text, "it is too short");
  const auto kind = std::ranges::find(kinds, words[1], &KindName::name);
  if (kind == kinds.end()) throw not_understood(text, fmt::format("'{}' is no kind", words[1]));
  const auto tasks = static_cast<std::size_t>(kind->tasks);
  if (words.size() != 2 + tasks + (kind->lasts ? 2 : 0) || (kind->lasts && words[2 + tasks] != "for"))
    throw not_understood(text, fmt::format("'{}' names {} tasks{}", kind->name, kind->tasks,
                                           kind->lasts ? " and 'for' a time" : ""));
  Fault fault{parse_seconds(words[0], text), kind->kind, {}, {}, {}};
  if (tasks > 0) fault.task = TaskName::parse(words[2]);
  if (tasks > 1) fault.other = TaskName::parse(words[3]);
  if (kind->lasts) fault.duration = parse_seconds(words.back(), text);
  return fault;
}

// Whether the part has a kill, but not the restart that follows it in the whole plan: a task that stays
// away would be another kind of failure.
bool leaves_dead(const FaultPlan& whole, const FaultPlan& part) {
  const auto restarted_after = [](const FaultPlan& plan, const Fault& kill) {
    return std::ranges::any_of(plan, [&kill](const Fault& fault) {
      return fault.kind == FaultKind::restart && fault.task == kill.task && fault.at >= kill.at;
    });
  };
  return std::ranges::any_of(part, [&](const Fault& fault) {
    return fault.kind == FaultKind::kill && restarted_after(whole, fault) &&
           !restarted_after(part, fault);
  });
}

}  // namespace

std::string_view to_string(FaultKind kind) { return describe(kind).name; }

FaultKind parse_fault_kind(std::string_view name) {
  const auto found = std::ranges::find(kinds, name, &KindName::name);
  if (found == kinds.end())
    throw invalid_argument(
        fmt::format("'{}' is no kind of fault; expected one of:{}", name, known_kinds()));
  return found->kind;
}

std::string Fault::to_string() const {
  const KindName& name = describe(kind);
  std::string text = fmt::format("{} {}", seconds(at), name.name);
  if (name.tasks > 0) text += fmt::format(" {}", task.to_string());
  if (name.tasks > 1) text += fmt::format(" {}", other.to_string());
  if (name.lasts) text += fmt::format(" for {}", seconds(duration));
  return text;
}

std::string to_string(const FaultPlan& plan) { return joined(plan, "; ", &Fault::to_string); }

FaultPlan parse_fault_plan(std::string_view text) {
  FaultPlan plan;
  std::istringstream stream{std::string(text)};
  for (std::string fault; std::getline(stream, fault, ';');)
    if (fault.find_first_not_of(" \n\t") != std::string::npos) plan.push_back(parse_fault(fault));
  std::ranges::stable_sort(plan, {}, &Fault::at);
  return plan;
}

FaultPlan random_fault_plan(std::uint64_t seed, const std::vector<TaskName>& tasks,
                            const RandomFaults& options) {
  SeededRandom random(seed);
  // Whole milliseconds, so that a plan is the same after it has been written down.
  const auto between = [&random](Nanoseconds low, Nanoseconds high) {
    const auto ms = std::max<std::int64_t>((high - low) / 1ms, 1);
    return low + 1ms * static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(ms)));
  };
  FaultPlan plan;
  for (int i = 0; i < options.count; ++i) {
    Fault fault;
    fault.at = between(options.from, options.until);
    fault.kind = options.kinds[random.below(options.kinds.size())];
    const KindName& kind = describe(fault.kind);
    if (kind.tasks > 0) fault.task = tasks[random.below(tasks.size())];
    if (kind.tasks > 1) fault.other = tasks[random.below(tasks.size())];
    if (kind.tasks > 1 && fault.other == fault.task) continue;
    if (kind.lasts) fault.duration = between(1ms, options.longest);
    plan.push_back(fault);
    if (fault.kind == FaultKind::kill)
      plan.push_back({fault.at + between(1ms, options.longest), FaultKind::restart, fault.task, {}, {}});
  }
  std::ranges::stable_sort(plan, {}, &Fault::at);
  return plan;
}

FaultPlan shrink(FaultPlan plan, const std::function<bool(const FaultPlan&)>& fails) {
  std::size_t chunk = (plan.size() + 1) / 2;
  while (!plan.empty() && chunk > 0) {
    bool smaller = false;
    for (std::size_t begin = 0; begin < plan.size();) {
      FaultPlan without = plan;
      const auto end = std::min(begin + chunk, plan.size());
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(begin),
                    without.begin() + static_cast<std::ptrdiff_t>(end));
      if (!leaves_dead(plan, without) && fails(without)) {
        plan = std::move(without);
        smaller = true;
      } else {
        begin = end;
      }
    }
    if (chunk == 1 && !smaller) break;
    chunk = chunk == 1 ? 1 : (chunk + 1) / 2;
  }
  return plan;
}

}  // namespace actorflow
