#include "actors/simulation/fault_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "actors/simulation/world/schedule.h"
#include "dataflow/values/error.h"
#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;
using Nanoseconds = std::chrono::nanoseconds;

struct KindName {
  FaultKind kind;
  std::string_view name;
  int least, most;  // how many tasks it names
  int drawn;        // how many of them, if it is drawn at random
  bool lasts;       // has a duration
  bool sized = false;
};
constexpr std::array kinds{
    KindName{FaultKind::kill, "kill", 1, 1, 1, false},
    KindName{FaultKind::restart, "restart", 1, 1, 1, false},
    KindName{FaultKind::pause, "pause", 1, 1, 1, true},
    KindName{FaultKind::partition, "partition", 2, 2, 2, true},
    KindName{FaultKind::partition_oneway, "partition_oneway", 2, 2, 2, true},
    KindName{FaultKind::delay, "delay", 0, 2, 1, true, true},
    KindName{FaultKind::lossy, "lossy", 0, 2, 0, true},
    KindName{FaultKind::duplicate, "duplicate", 0, 2, 0, true},
    KindName{FaultKind::late, "late", 0, 2, 0, true},
    KindName{FaultKind::slow, "slow", 1, 1, 1, true},
    KindName{FaultKind::clock, "clock", 1, 1, 1, true, true},
    KindName{FaultKind::disk_full, "disk_full", 0, 1, 0, true},
    KindName{FaultKind::disk_errors, "disk_errors", 0, 1, 0, true},
    KindName{FaultKind::disk_slow, "disk_slow", 0, 1, 1, true},
    KindName{FaultKind::disk_torn, "disk_torn", 0, 1, 1, true},
    KindName{FaultKind::power, "power", 0, 1, 0, true},
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

// "1 task", "0 to 2 tasks".
std::string tasks_of(const KindName& kind) {
  const std::string least = kind.least == kind.most ? "" : fmt::format("{} to ", kind.least);
  return fmt::format("{}{} task{}", least, kind.most, kind.most == 1 ? "" : "s");
}

bool names_as_many(const KindName& kind, std::size_t tasks) {
  return std::cmp_less_equal(kind.least, tasks) && std::cmp_greater_equal(kind.most, tasks);
}

Error not_understood(std::string_view fault, std::string_view why) {
  return invalid_argument(
      fmt::format("cannot read the fault '{}': {}; expected for example '30s kill /job:ps/task:0' or "
                  "'12.5s pause /job:ps/task:0 for 3s', with one of:{}",
                  fault, why, known_kinds()));
}

Nanoseconds parse_seconds(std::string_view word, std::string_view fault, bool may_be_negative = false) {
  constexpr double longest = 1e9;
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || std::string_view(end, word.data() + word.size()) != "s" ||
      !(value >= (may_be_negative ? -longest : 0) && value <= longest))  // nor NaN
    throw not_understood(fault, fmt::format("'{}' is not a time in seconds", word));
  return Nanoseconds(std::llround(value * 1e9));
}

// The words of a fault, one after the other.
class FaultWords {
 public:
  explicit FaultWords(const std::string& text) : text_(text) {
    std::istringstream stream(text);
    words_.assign(std::istream_iterator<std::string>(stream), {});
  }

  std::size_t left() const { return words_.size() - next_; }
  const std::string& take() { return words_[next_++]; }
  bool take_if(std::string_view word) {
    const bool is_next = left() > 0 && words_[next_] == word;
    if (is_next) ++next_;
    return is_next;
  }
  std::vector<TaskName> take_tasks() {
    std::vector<TaskName> tasks;
    while (left() > 0 && words_[next_] != "by" && words_[next_] != "for")
      tasks.push_back(TaskName::parse(take()));
    return tasks;
  }
  // The time after the word, if that is next.
  std::optional<Nanoseconds> take_time_after(std::string_view word, bool may_be_negative = false) {
    if (!take_if(word)) return std::nullopt;
    if (left() == 0) throw not_understood(text_, fmt::format("'{}' is followed by no time", word));
    return parse_seconds(take(), text_, may_be_negative);
  }

 private:
  const std::string& text_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

const KindName& parse_kind(const std::string& word, const std::string& text) {
  const auto kind = std::ranges::find(kinds, word, &KindName::name);
  if (kind == kinds.end()) throw not_understood(text, fmt::format("'{}' is no kind", word));
  return *kind;
}

Fault parse_fault(const std::string& text) {
  FaultWords words(text);
  if (words.left() < 2) throw not_understood(text, "it is too short");
  Fault fault;
  fault.at = parse_seconds(words.take(), text);
  const KindName& kind = parse_kind(words.take(), text);
  fault.kind = kind.kind;
  const auto tasks = words.take_tasks();
  if (!tasks.empty()) fault.task = tasks.front();
  if (tasks.size() > 1) fault.other = tasks[1];
  if (kind.sized) fault.by = words.take_time_after("by", kind.kind == FaultKind::clock).value_or(0ns);
  const auto duration = words.take_time_after("for");
  fault.duration = duration.value_or(0ns);
  if (!names_as_many(kind, tasks.size()) || duration.has_value() != kind.lasts || words.left() > 0)
    throw not_understood(text, fmt::format("'{}' names {}{}{}", kind.name, tasks_of(kind),
                                           kind.sized ? ", may say 'by' how much," : "",
                                           kind.lasts ? " and 'for' a time" : ""));
  return fault;
}

// Why the fault cannot happen to a cluster of these tasks; "" if it can.
std::string why_impossible(const Fault& fault, const std::vector<TaskName>& tasks) {
  const KindName& kind = describe(fault.kind);
  const std::size_t named = fault.task.job.empty() ? 0 : fault.other.job.empty() ? 1 : 2;
  if (fault.at < 0ns || fault.duration < 0ns) return "has a negative time";
  if (fault.by != 0ns && !kind.sized)
    return fmt::format("has a size, which '{}' does not take", kind.name);
  if (fault.by < 0ns && fault.kind != FaultKind::clock) return "has a negative size";
  if (!names_as_many(kind, named))
    return fmt::format("names {}, but '{}' names {}", named, kind.name, tasks_of(kind));
  if (named == 2 && fault.task == fault.other) return "names one task twice; expected two tasks";
  for (const auto& task : {fault.task, fault.other})
    if (!task.job.empty() && std::ranges::find(tasks, task) == tasks.end())
      return fmt::format("is about {}, which is not there; the last of {} tasks is {}", task.to_string(),
                         tasks.size(), tasks.back().to_string());
  return {};
}

void check_parameters(const std::vector<TaskName>& tasks, const RandomFaults& options) {
  if (options.count <= 0) return;
  if (tasks.empty())
    throw invalid_argument("random faults: there is no task to which they could happen");
  if (options.kinds.empty())
    throw invalid_argument("random faults: expected some kinds of faults, got none");
  if (options.from < 0ns || options.until < options.from || options.longest < 0ns)
    throw invalid_argument(
        fmt::format("random faults: expected times with 0 s <= from <= until, and a longest duration of "
                    "0 s or more, "
                    "got from {}, until {}, longest {}",
                    seconds(options.from), seconds(options.until), seconds(options.longest)));
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
  for (const auto& named : {task, other})
    if (!named.job.empty()) text += fmt::format(" {}", named.to_string());
  if (by != 0ns) text += fmt::format(" by {}", seconds(by));
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

void check_faults(const FaultPlan& plan, const std::vector<TaskName>& tasks) {
  for (const auto& fault : plan)
    if (const std::string why = why_impossible(fault, tasks); !why.empty())
      throw invalid_argument(fmt::format("the fault '{}' {}", fault.to_string(), why));
}

FaultPlan random_fault_plan(std::uint64_t seed, const std::vector<TaskName>& tasks,
                            const RandomFaults& options) {
  check_parameters(tasks, options);
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
    if (kind.drawn > 0) fault.task = tasks[random.below(tasks.size())];
    if (kind.drawn > 1) fault.other = tasks[random.below(tasks.size())];
    if (kind.drawn > 1 && fault.other == fault.task) continue;
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
