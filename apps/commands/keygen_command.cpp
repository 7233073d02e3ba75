#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <optional>

#include "apps/cli/cluster_flags.h"
#include "apps/cli/program.h"
#include "apps/commands/commands.h"
#include "schema/cluster_json.h"
#include "schema/tls/keygen.h"

namespace actorflow {
namespace {

struct KeygenCommand {
  std::optional<std::string> cluster, ps_hosts, worker_hosts;
  KeygenOptions options;
};

ClusterSpec cluster_of(const KeygenCommand& command) {
  if (command.cluster && (command.ps_hosts || command.worker_hosts))
    throw UsageError("give either --cluster, or --ps_hosts and --worker_hosts");
  if (command.cluster) return read_cluster(*command.cluster);
  if (command.ps_hosts || command.worker_hosts)
    return cluster_of_hosts(command.ps_hosts.value_or(""), command.worker_hosts.value_or(""));
  if (const auto environment = tf_config()) return parse_tf_config(*environment).cluster;
  throw UsageError("--cluster, or --ps_hosts and --worker_hosts, or TF_CONFIG must name the tasks");
}

std::string date(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

int run(KeygenCommand& command) {
  KeygenOptions& options = command.options;
  check_usage([&] { options.tasks = cluster_of(command).all_tasks(); });
  options.now = std::chrono::duration_cast<std::chrono::seconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count();
  const KeygenReport report = generate_keys(options);
  fmt::print("{} {}/ca.crt, valid until {}\n", report.authority_made ? "made" : "kept", options.folder,
             date(report.authority_valid_until));
  for (const auto& entry : report.entries)
    fmt::print("{} {}, valid until {}: {}\n", entry.made ? "made" : "kept", entry.certificate,
               date(entry.valid_until),
               entry.holder ? entry.holder->to_string() : "clients, such as remote sessions");
  fmt::print(
      "Give each task --credentials={0}, or ACTORFLOW_CREDENTIALS={0}. On another machine that folder\n"
      "holds ca.crt and the task's own .crt and .key; ca.key stays here.\n",
      options.folder);
  return success;
}

}  // namespace

void add_keygen_command(Command& program) {
  auto command = std::make_shared<KeygenCommand>();
  KeygenOptions& options = command->options;
  Command keygen = program.command(
      "keygen", "Make the certificates by which tasks and clients know each other, for mutual TLS");
  keygen.option("--cluster", command->cluster, "Jobs and addresses: JSON, or a file with it");
  keygen.option(both_spellings("ps_hosts"), command->ps_hosts, "As trainer takes it");
  keygen.option(both_spellings("worker_hosts"), command->worker_hosts, "As trainer takes it");
  keygen.option("--output", options.folder, "Folder for the certificates and keys").required();
  constexpr int most_days = 36'500;
  add_count(keygen, "days", options.days, "How long certificates are valid", most_days);
  add_count(keygen, "authority-days", options.authority_days, "How long a new authority is", most_days);
  keygen.flag("--renew", options.renew, "Make certificates anew that are there already");
  keygen.flag(both_spellings("replace-authority"), options.replace_authority,
              "Replace an authority that is there: every task and client needs its new files then");
  keygen.footer("Where there is an authority already, certificates that are missing are added to it.");
  keygen.runs([command] { return run(*command); });
}

}  // namespace actorflow
