#include "apps/scenario/seed_runs.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <sstream>
#include <system_error>

#include "actors/probes/point.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// A summary on its way from a child: a line for each figure, "what<tab>value<tab>name". A text's line
// ends are hidden meanwhile.
constexpr char hidden_line_end = '\x1f';

std::string encode(const SeedSummary& summary) {
  std::string text = fmt::format("seeds\t{}\t\nsimulated\t{}\t\nmessages\t{}\t\n", summary.seeds,
                                 summary.simulated.count(), summary.messages);
  for (const auto& [name, count] : summary.faults) text += fmt::format("fault\t{}\t{}\n", count, name);
  for (const auto& [name, count] : summary.points) text += fmt::format("point\t{}\t{}\n", count, name);
  for (std::string failure : summary.failures) {
    std::ranges::replace(failure, '\n', hidden_line_end);
    text += fmt::format("failure\t0\t{}\n", failure);
  }
  return text;
}

SeedSummary decode(const std::string& line) {
  SeedSummary summary;
  std::istringstream fields(line);
  std::string what, name;
  std::uint64_t value = 0;
  fields >> what >> value;
  fields.get();
  std::getline(fields, name);
  if (what == "seeds") summary.seeds = value;
  if (what == "simulated") summary.simulated = std::chrono::nanoseconds(value);
  if (what == "messages") summary.messages = value;
  if (what == "fault") summary.faults[name] = value;
  if (what == "point") summary.points[name] = value;
  if (what == "failure") {
    std::ranges::replace(name, hidden_line_end, '\n');
    summary.failures.push_back(name);
  }
  return summary;
}

// A forked process with a pipe from it.
class Child {
 public:
  explicit Child(const std::function<void(int)>& work) {
    int ends[2];
    if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    id_ = fork();
    if (id_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (id_ == 0) {
      close(ends[0]);
      work(ends[1]);
      _exit(0);
    }
    close(ends[1]);
    from_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    close(from_);
  }

  int pipe_end() const { return from_; }
  bool ended() const { return ended_; }

  // Takes over what has come, and the news that it has died before its work was done.
  void read_into(SeedSummary& sum) {
    char bytes[4096];
    const ssize_t size = read(from_, bytes, sizeof bytes);
    if (size > 0) text_.append(bytes, static_cast<std::size_t>(size));
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1))
      sum.add(decode(text_.substr(0, end)));
    if (size > 0 || (size < 0 && errno == EINTR)) return;
    ended_ = true;
    note_end(sum);
  }

 private:
  void note_end(SeedSummary& sum) const {
    siginfo_t how{};
    while (waitid(P_PID, static_cast<id_t>(id_), &how, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    if (how.si_code == CLD_EXITED && how.si_status == 0) return;
    sum.failures.push_back(fmt::format("a process of the simulation was ended by {} {}",
                                       how.si_code == CLD_EXITED ? "itself with status" : "signal",
                                       how.si_status));
  }

  pid_t id_ = -1;
  int from_ = -1;
  bool ended_ = false;
  std::string text_;
};

void send(int to, const SeedSummary& summary) {
  const std::string text = encode(summary);
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t size = write(to, text.data() + sent, text.size() - sent);
    if (size < 0 && errno != EINTR) _exit(1);  // nobody is interested any more
    if (size > 0) sent += static_cast<std::size_t>(size);
  }
}

// False if it has failed.
bool run_seed(std::uint64_t seed, const std::function<SimStatistics()>& body,
              const std::string& trace_path, int report_to) {
  SeedSummary summary;
  const auto failure = run_seeds({seed, seed}, [&] { summary.add(body()); }, trace_path);
  if (failure)
    summary.failures.push_back(failure->to_string() +
                               (failure->trace.empty() ? "" : "\n" + failure->trace));
  summary.seeds = 1;
  summary.points = Point::take_all();
  send(report_to, summary);
  return !failure;
}

}  // namespace

void SeedSummary::add(const SimStatistics& statistics) {
  simulated += statistics.simulated;
  messages += statistics.messages;
  for (const auto& [kind, count] : statistics.faults) faults[std::string(to_string(kind))] += count;
}

void SeedSummary::add(const SeedSummary& other) {
  seeds += other.seeds;
  simulated += other.simulated;
  messages += other.messages;
  for (const auto& [name, count] : other.faults) faults[name] += count;
  for (const auto& [name, count] : other.points) points[name] += count;
  failures.insert(failures.end(), other.failures.begin(), other.failures.end());
}

SeedSummary run_seeds_in_processes(SeedRange range, int processes,
                                   const std::function<SimStatistics()>& body,
                                   const std::string& trace_path,
                                   const std::function<void(const SeedSummary&)>& progress) {
  std::fflush(nullptr);  // or each child would print what is waiting
  Point::take_all();
  std::vector<std::unique_ptr<Child>> children;
  const auto step = static_cast<std::uint64_t>(processes);
  for (std::uint64_t first = range.first; first < range.first + step && first <= range.last; ++first)
    children.push_back(std::make_unique<Child>([&, first](int report_to) {
      for (auto seed = first; seed <= range.last && run_seed(seed, body, trace_path, report_to);
           seed += step) {
      }
    }));
  SeedSummary sum;
  while (sum.failures.empty() &&
         std::ranges::any_of(children, [](const auto& child) { return !child->ended(); })) {
    std::vector<pollfd> ends;
    for (const auto& child : children)
      if (!child->ended()) ends.push_back({child->pipe_end(), POLLIN, 0});
    if (poll(ends.data(), ends.size(), 1000) < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "poll");
    for (const auto& child : children)
      for (const auto& end : ends)
        if (end.fd == child->pipe_end() && end.revents != 0) child->read_into(sum);
    progress(sum);
  }
  return sum;
}

}  // namespace actorflow
