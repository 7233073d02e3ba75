#include "apps/cli/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "actors/runtime/standard_output.h"
#include "dataflow/values/error.h"
#include "kernels/core/crash_report.h"

namespace actorflow {
namespace {

// Lines that follow one that ends with a colon are a list: "expected the same: a; b".
std::string on_one_line(const std::string& message) {
  std::string line;
  for (std::size_t at = 0; at < message.size(); ++at) {
    if (message[at] != '\n') {
      line += message[at];
      continue;
    }
    line += line.ends_with(':') ? " " : "; ";
    while (at + 1 < message.size() && message[at + 1] == ' ') ++at;
  }
  return line;
}

int complain(const std::string& program, const std::string& message, ExitStatus status) {
  fmt::print(stderr, "{}: error: {}\n", program, on_one_line(message));
  return status;
}

int parse_and_run(CommandLine& line, int argc, char** argv, const std::function<int()>& body) {
  try {
    line.parse({argv + std::min(argc, 1), argv + argc});
    return body();
  } catch (const HelpRequest& help) {
    fmt::print("{}", help.text);
    return success;
  }
}

int status_of(CommandLine& line, int argc, char** argv, const std::function<int()>& body) {
  const std::string name = line.name();
  try {
    return parse_and_run(line, argc, argv, body);
  } catch (const CommandLineError& error) {
    return complain(name, fmt::format("{}; see {} --help", error.what(), error.command()), bad_usage);
  } catch (const UsageError& error) {
    return complain(name, error.what(), bad_usage);
  } catch (const PassingError& error) {
    return complain(name, error.what(), lost_task);
  } catch (const Error& error) {
    return complain(name, error.what(), exit_status_of(error.code()));
  } catch (const std::exception& error) {
    if (is_of_output(error)) return status_without_output(name, error);
    return complain(name, error.what(), failed_run);
  }
}

}  // namespace

int run_program(CommandLine& line, int argc, char** argv, const std::function<int()>& body) {
  log_to_stderr("actorflow");
  report_crashes();
  line.version(ACTORFLOW_VERSION);
  return status_with_output(line.name(), status_of(line, argc, argv, body));
}

std::string both_spellings(const std::string& name) {
  std::string other = name;
  const bool dashed = name.find('-') != std::string::npos;
  std::ranges::replace(other, dashed ? '-' : '_', dashed ? '_' : '-');
  return other == name ? "--" + name : "--" + name + ",--" + other;
}

}  // namespace actorflow
