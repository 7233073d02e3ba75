#include "apps/scenario/seed_runs.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <system_error>
#include <vector>

#include "actors/probes/point.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// A summary on its way from a child: a line for each figure, "what<tab>value<tab>name". A text's line
// ends are hidden meanwhile.
constexpr char hidden_line_end = '\x1f';

std::string hide_line_ends(std::string text) {
  std::ranges::replace(text, '\n', hidden_line_end);
  return text;
}

std::string show_line_ends(std::string text) {
  std::ranges::replace(text, hidden_line_end, '\n');
  return text;
}

std::string encode(const SeedSummary& summary) {
  std::string text = fmt::format("seeds\t{}\t\nsimulated\t{}\t\nmessages\t{}\t\n", summary.seeds,
                                 summary.simulated.count(), summary.messages);
  if (summary.too_late > 0) text += fmt::format("late\t{}\t\n", summary.too_late);
  for (const auto& [name, count] : summary.faults) text += fmt::format("fault\t{}\t{}\n", count, name);
  for (const auto& [name, count] : summary.points) text += fmt::format("point\t{}\t{}\n", count, name);
  for (const auto& [seed, error] : summary.errors)
    text += fmt::format("error\t{}\t{}\n", seed, hide_line_ends(error));
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
  if (what == "late") summary.too_late = value;
  if (what == "error") summary.errors[value] = show_line_ends(name);
  return summary;
}

// The smallest seed that has failed, in memory that forked processes share.
class SmallestFailure {
 public:
  SmallestFailure() {
    void* const memory =
        mmap(nullptr, sizeof(Seed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    seed_ = new (memory) Seed(~std::uint64_t{0});
  }
  SmallestFailure(const SmallestFailure&) = delete;
  SmallestFailure& operator=(const SmallestFailure&) = delete;
  ~SmallestFailure() { munmap(seed_, sizeof(Seed)); }

  bool is_below(std::uint64_t seed) const { return seed_->load() < seed; }
  void add(std::uint64_t seed) {
    std::uint64_t smallest = seed_->load();
    while (seed < smallest && !seed_->compare_exchange_weak(smallest, seed)) {
    }
  }

 private:
  using Seed = std::atomic<std::uint64_t>;
  static_assert(Seed::is_always_lock_free);
  Seed* seed_;
};

// A forked process, and the lines that it sends.
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

  // Takes what has come, for which it waits: whole lines.
  std::vector<std::string> read_lines() {
    char bytes[4096];
    const ssize_t size = read(from_, bytes, sizeof bytes);
    ended_ = size == 0 || (size < 0 && errno != EINTR);
    if (size > 0) text_.append(bytes, static_cast<std::size_t>(size));
    std::vector<std::string> lines;
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1))
      lines.push_back(text_.substr(0, end));
    return lines;
  }

  // After the end: how the process has died, if it has.
  std::optional<std::string> death() const {
    siginfo_t how{};
    while (waitid(P_PID, static_cast<id_t>(id_), &how, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    if (how.si_code == CLD_EXITED && how.si_status == 0) return std::nullopt;
    return fmt::format("the process of the simulation was ended by {} {}",
                       how.si_code == CLD_EXITED ? "itself with status" : "signal", how.si_status);
  }

 private:
  pid_t id_ = -1;
  int from_ = -1;
  bool ended_ = false;
  std::string text_;
};

void send(int to, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t size = write(to, text.data() + sent, text.size() - sent);
    if (size < 0 && errno != EINTR) _exit(1);  // nobody is interested any more
    if (size > 0) sent += static_cast<std::size_t>(size);
  }
}

SeedSummary summary_of(std::uint64_t seed, const std::function<SimStatistics()>& body) {
  SeedSummary summary;
  summary.seeds = 1;
  if (const auto error = run_seed(seed, [&] { summary.add(body()); })) summary.errors[seed] = *error;
  summary.points = Point::take_all();
  return summary;
}

// The seeds of a range that one process runs: each `step`-th from `first` on.
struct Share {
  std::uint64_t first, last, step;

  void run(const std::function<SimStatistics()>& body, SmallestFailure& failure, int report_to) const {
    for (std::uint64_t seed = first; !failure.is_below(seed); seed += step) {
      send(report_to, fmt::format("begin\t{}\t\n", seed));
      const SeedSummary summary = summary_of(seed, body);
      if (!summary.errors.empty()) failure.add(seed);
      send(report_to, encode(summary));
      if (last - seed < step) return;
    }
  }
};

// A process that runs its share, as its parent sees it.
struct Worker {
  std::unique_ptr<Child> process;
  std::uint64_t seed;  // that it runs

  void read_into(SeedSummary& sum, SmallestFailure& failure) {
    for (const auto& line : process->read_lines())
      if (line.starts_with("begin\t"))
        seed = std::stoull(line.substr(line.find('\t') + 1));
      else
        sum.add(decode(line));
    if (!process->ended()) return;
    if (const auto death = process->death()) {
      failure.add(seed);
      sum.errors[seed] = *death;
    }
  }
};

// Waits until some of them have sent something, for a second at most.
std::vector<Worker*> wait_for_some(std::vector<Worker>& workers) {
  std::vector<Worker*> running;
  std::vector<pollfd> ends;
  for (auto& worker : workers)
    if (!worker.process->ended()) {
      running.push_back(&worker);
      ends.push_back({worker.process->pipe_end(), POLLIN, 0});
    }
  if (poll(ends.data(), ends.size(), 1000) < 0 && errno != EINTR)
    throw std::system_error(errno, std::generic_category(), "poll");
  std::vector<Worker*> some;
  for (std::size_t i = 0; i < ends.size(); ++i)
    if (ends[i].revents != 0) some.push_back(running[i]);
  return some;
}

std::string explanation(std::uint64_t seed, const std::string& error,
                        const std::function<SimStatistics()>& body, const std::string& trace_path,
                        const std::string& program) {
  const auto failure = run_seeds(
      {seed, seed}, [&] { body(); }, trace_path);
  if (!failure)
    return fmt::format(
        "seed {} has failed once and then passed, so it depends on what is outside of the simulation "
        "(ACTORFLOW_TWICE=1 looks for that): {}",
        seed, error);
  return failure->to_string(program) + (failure->trace.empty() ? "" : "\n" + failure->trace);
}

}  // namespace

void SeedSummary::add(const SimStatistics& statistics) {
  simulated += statistics.simulated;
  messages += statistics.messages;
  too_late += statistics.too_late;
  for (const auto& [kind, count] : statistics.faults) faults[std::string(to_string(kind))] += count;
}

void SeedSummary::add(const SeedSummary& other) {
  seeds += other.seeds;
  simulated += other.simulated;
  messages += other.messages;
  too_late += other.too_late;
  for (const auto& [name, count] : other.faults) faults[name] += count;
  for (const auto& [name, count] : other.points) points[name] += count;
  errors.insert(other.errors.begin(), other.errors.end());
}

SeedSummary run_seeds_in_processes(SeedRange range, int processes,
                                   const std::function<SimStatistics()>& body,
                                   const std::function<void(const SeedSummary&)>& progress) {
  std::fflush(nullptr);  // or each child would print what is waiting
  Point::take_all();
  SmallestFailure failure;
  std::vector<Worker> workers;
  const auto step = static_cast<std::uint64_t>(processes);
  for (std::uint64_t i = 0; i < step && i <= range.last - range.first; ++i) {
    const Share share{range.first + i, range.last, step};
    workers.push_back(
        {std::make_unique<Child>([&](int report_to) { share.run(body, failure, report_to); }),
         share.first});
  }
  SeedSummary sum;
  while (std::ranges::any_of(workers, [](const auto& worker) { return !worker.process->ended(); })) {
    for (auto* worker : wait_for_some(workers)) worker->read_into(sum, failure);
    progress(sum);
  }
  return sum;
}

std::string explain_seed(std::uint64_t seed, const std::string& error,
                         const std::function<SimStatistics()>& body, const std::string& trace_path,
                         const std::string& program) {
  std::fflush(nullptr);
  Child process([&](int report_to) {
    send(report_to, hide_line_ends(explanation(seed, error, body, trace_path, program)) + "\n");
  });
  std::string told;
  while (!process.ended())
    for (const auto& line : process.read_lines()) told += show_line_ends(line);
  if (!told.empty()) return told;
  return fmt::format("seed {} fails: {}\nto see it again: ACTORFLOW_SEED={} {}", seed, error, seed,
                     program);
}

}  // namespace actorflow
