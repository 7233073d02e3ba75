#include "test/apps/launch/support/launched.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "test/support/hang_limit.h"

namespace actorflow::test {
namespace {

using Clock = std::chrono::steady_clock;

std::string next_mark() {
  static std::atomic<int> count = 0;
  return std::to_string(getpid()) + "-" + std::to_string(++count);
}

bool has(const std::string& environment, const std::string& assignment) {
  return ('\0' + environment).find('\0' + assignment + '\0') != std::string::npos;
}

// Of processes that have ended the environment is empty.
std::string environment_of(const std::filesystem::path& process) {
  return read_file((process / "environ").string());
}

std::vector<std::string> with_mark(std::vector<std::string> flags, const std::string& mark,
                                   const std::vector<std::string>& program) {
  flags.insert(flags.begin(), {"--env", "ACTORFLOW_TEST_MARK=" + mark});
  flags.insert(flags.end(), program.begin(), program.end());
  return launch_command(std::move(flags));
}

std::vector<int> processes_with(const std::string& first, const std::string& second) {
  std::vector<int> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc()) continue;
    const std::string environment = environment_of(entry.path());
    if (has(environment, first) && has(environment, second)) found.push_back(number);
  }
  return found;
}

}  // namespace

std::vector<std::string> launch_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"actorflow", "launch"});
  return arguments;
}

std::vector<int> marked_processes(const std::string& mark) {
  const std::string assignment = "ACTORFLOW_TEST_MARK=" + mark;
  return processes_with(assignment, assignment);
}

Launched::Launched(std::vector<std::string> flags, const std::vector<std::string>& program)
    : mark_(next_mark()), process_(with_mark(std::move(flags), mark_, program)) {}

std::string Launched::last_line() {
  std::string text = output();
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

void expect_marked(const std::string& mark, std::size_t count) {
  const auto end = Clock::now() + hang_limit;
  while (marked_processes(mark).size() != count) {
    BOOST_REQUIRE_MESSAGE(Clock::now() < end, "there are not " << count << " processes of the job but "
                                                               << marked_processes(mark).size());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

int Launched::task_with(const std::string& assignment) {
  const auto end = Clock::now() + hang_limit;
  while (true) {
    for (const int process : processes_with("ACTORFLOW_TEST_MARK=" + mark_, assignment))
      if (getpgid(process) == process && getsid(process) != process) return process;
    BOOST_REQUIRE_MESSAGE(Clock::now() < end, "no task of the job has " << assignment);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

int parent_of(int process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/stat");
  std::string number, program, state;
  int parent = 0;
  status >> number >> program >> state >> parent;
  return parent;
}

std::string name_of_this_machine() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

void expect(const std::string& text, const std::string& part) {
  BOOST_TEST(text.find(part) != std::string::npos, "'" << part << "' is not in:\n" << text);
}

std::string rest_of_line(const std::string& text, const std::string& before) {
  const auto at = text.find(before);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, "'" << before << "' is not in:\n" << text);
  const auto begin = at + before.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace actorflow::test
