#include "apps/launch/run/job_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::size_t most_with_ports = 16, most_named = 16;

std::string with_port(const LaunchedTask& task) {
  return task.port ? fmt::format("{} (port {})", task.label(), task.port) : task.label();
}

// Whether the task's index follows that of the task before it, of the same job.
bool continues_row(const std::vector<LaunchedTask>& own, std::size_t i) {
  return i > 0 && own[i].name.job == own[i - 1].name.job &&
         own[i].name.index == own[i - 1].name.index + 1;
}

}  // namespace

std::string tasks_of_host(const std::vector<LaunchedTask>& tasks, int host) {
  std::vector<LaunchedTask> own;
  std::ranges::copy_if(tasks, std::back_inserter(own),
                       [host](const LaunchedTask& task) { return task.host == host; });
  std::string text;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own.size() <= most_with_ports) {
      text += (text.empty() ? "" : ", ") + with_port(own[i]);
      continue;
    }
    if (continues_row(own, i)) {
      if (i + 1 == own.size() || !continues_row(own, i + 1))
        text += fmt::format("-{}", own[i].name.index);
    } else {
      text += (text.empty() ? "" : ", ") + own[i].label();
    }
  }
  return text.empty() ? "no tasks" : text;
}

std::string lost_words(const std::string& words) {
  if (words.empty())
    return "its keeper has ended without a word; by ssh, see whether `ssh HOST true` succeeds: an "
           "account "
           "may have no login shell";
  const auto say = [&words](std::string_view what) { return words.find(what) != words.npos; };
  // Debian's nologin.
  if (say("account is currently not available"))
    return words + " It has no login shell; name another one, as user@host";
  if (say("not found") || say("No such file"))
    return words + "; install the same actorflow there, or say with --actorflow where it is";
  return words;
}

std::string waiting_words(const std::vector<std::string>& whom, const std::string& what) {
  const std::size_t shown = std::min(whom.size(), most_named);
  const std::span named(whom.data(), shown);
  return fmt::format("waiting for {}{} {}", fmt::join(named, ", "),
                     shown < whom.size() ? fmt::format(" and {} more", whom.size() - shown) : "", what);
}

std::string silent_words(const std::string& words, std::chrono::seconds limit) {
  return fmt::format(
      "no answer for {} s{}; see whether `ssh HOST true`, or srun, returns at once: a login shell may "
      "wait",
      limit.count(), words.empty() ? "" : ": " + words);
}

void throw_mistakes(const Keepers& keepers, const std::vector<std::string>& mistakes) {
  std::string lines;
  for (std::size_t host = 0; host < mistakes.size(); ++host)
    if (!mistakes[host].empty())
      lines += fmt::format("{}{}: {}", lines.empty() ? "" : "\n", keepers.name(static_cast<int>(host)),
                           mistakes[host]);
  if (!lines.empty()) throw Error(Code::failed_precondition, lines);
}

}  // namespace actorflow
