#include "apps/cli/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"
#include "dataflow/values/spelling.h"
#include "kernels/core/crash_report.h"
#include "schema/environment/command_line.h"

namespace actorflow {
namespace {

void log_to_stderr() {
  spdlog::set_default_logger(spdlog::stderr_color_mt("actorflow"));
  spdlog::set_pattern("%H:%M:%S %^%l%$ %v");
}

int complain(const std::string& program, std::string message, ExitStatus status) {
  for (std::size_t at = 0; (at = message.find('\n', at)) != std::string::npos;)
    message.replace(at, 1, "; ");
  fmt::print(stderr, "{}: error: {}\n", program, message);
  return status;
}

// The last of the commands that were named, and all of them: "actorflow train mnist".
std::pair<const CLI::App*, std::string> named_command(const CLI::App& app) {
  std::pair<const CLI::App*, std::string> named{&app, app.get_name()};
  for (auto below = app.get_subcommands(); !below.empty(); below = named.first->get_subcommands())
    named = {below.front(), named.second + " " + below.front()->get_name()};
  return named;
}

std::vector<std::string_view> commands_of(const CLI::App& app) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) names.push_back(command->get_name());  // no group: hidden
  return names;
}

std::vector<std::string> flag_names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// CLI11 names what is left over from behind, and not what could have been there.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto& [command, names] = named_command(app);
  const std::string help = "; see " + names + " --help";
  const std::vector<std::string> rest = app.remaining(true);
  const std::vector<std::string_view> known = commands_of(*command);
  if (!known.empty() && !rest.empty() && !rest[0].starts_with("-"))
    return fmt::format("expected one of {}, got '{}'{}{}", fmt::join(known, ", "), rest[0],
                       did_you_mean(rest[0], known), help);
  if (!known.empty() && command != &app)
    return fmt::format("expected one of {}{}{}", fmt::join(known, ", "),
                       rest.empty() ? "" : fmt::format(" before '{}'", rest[0]), help);
  const bool is_rest = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (!is_rest || rest.empty()) return error.what() + help;
  const std::vector<std::string> flags = flag_names_of(*command);
  const std::vector<std::string_view> views(flags.begin(), flags.end());
  return fmt::format("did not expect '{}'{}{}", fmt::join(rest, " "),
                     did_you_mean(rest[0].substr(0, rest[0].find('=')), views), help);
}

}  // namespace

int run_program(CLI::App& app, int argc, char** argv, const std::function<int()>& body) {
  const std::string& name = app.get_name();
  log_to_stderr();
  report_crashes();
  app.set_version_flag("--version", name + " " + ACTORFLOW_VERSION);
  try {
    app.parse(backward_arguments({argv + std::min(argc, 1), argv + argc}));
    return body();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return complain(name, explain(app, error), bad_usage);
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
