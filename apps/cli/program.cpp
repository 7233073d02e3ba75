#include "apps/cli/program.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/core/crash_report.h"

namespace actorflow {
namespace {

void log_to_stderr() {
  spdlog::set_default_logger(spdlog::stderr_color_mt("actorflow"));
  spdlog::set_pattern("%H:%M:%S %^%l%$ %v");
}

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

}  // namespace

int run_program(CommandLine& line, int argc, char** argv, const std::function<int()>& body) {
  const std::string name = line.name();
  log_to_stderr();
  report_crashes();
  line.version(ACTORFLOW_VERSION);
  try {
    line.parse({argv + std::min(argc, 1), argv + argc});
    return body();
  } catch (const HelpRequest& help) {
    fmt::print("{}", help.text);
    return success;
  } catch (const CommandLineError& error) {
    return complain(name, fmt::format("{}; see {} --help", error.what(), error.command()), bad_usage);
  } catch (const UsageError& error) {
    return complain(name, error.what(), bad_usage);
  } catch (const PassingError& error) {
    return complain(name, error.what(), lost_task);
  } catch (const Error& error) {
    return complain(name, error.what(), exit_status_of(error.code()));
  } catch (const std::exception& error) {
    return complain(name, error.what(), failed_run);
  }
}

std::string both_spellings(const std::string& name) {
  std::string other = name;
  const bool dashed = name.find('-') != std::string::npos;
  std::ranges::replace(other, dashed ? '-' : '_', dashed ? '_' : '-');
  return other == name ? "--" + name : "--" + name + ",--" + other;
}

}  // namespace actorflow
