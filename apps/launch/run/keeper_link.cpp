#include "apps/launch/run/keeper_link.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "apps/launch/keeper/machine_probe.h"
#include "apps/launch/shell_words.h"

namespace actorflow {
namespace {

constexpr std::size_t most_at_a_time = 256 << 10;
constexpr std::size_t most_said = 4096;

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

// Host keys are checked as the user's configuration says, and nobody is asked anything.
SpawnRequest by_ssh(const LaunchHost& host, const LaunchOptions& options) {
  const std::string program = options.actorflow.empty() ? own_program() : options.actorflow;
  SpawnRequest request;
  request.path = find_program("ssh");
  request.arguments = {"ssh",
                       "-T",
                       "-oBatchMode=yes",
                       "-oConnectTimeout=10",
                       "-oServerAliveInterval=5",
                       "-oServerAliveCountMax=2"};
  const auto add = [&request](const char* flag, const std::string& value) {
    if (!value.empty()) request.arguments.insert(request.arguments.end(), {flag, value});
  };
  add("-F", options.ssh_config);
  add("-l", host.user);
  request.arguments.insert(request.arguments.end(),
                           {"--", host.name, "exec " + shell_word(program) + " keep"});
  request.dies_with_us = true;  // the keeper there then ends by itself
  return request;
}

SpawnRequest here() {
  SpawnRequest request;
  request.path = own_program();
  request.arguments = {request.path, "keep"};
  return request;
}

}  // namespace

bool is_this_machine(const LaunchHost& host) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return host.user.empty() && (host.name == "localhost" || host.name == name.data());
}

KeeperLink::KeeperLink(const LaunchHost& host, const LaunchOptions& options) {
  SpawnRequest request = is_this_machine(host) ? here() : by_ssh(host, options);
  Pipe in = make_pipe(), out = make_pipe(), errors = make_pipe();
  request.environment = own_environment();
  request.descriptors = {{in.reading.get(), STDIN_FILENO},
                         {out.writing.get(), STDOUT_FILENO},
                         {errors.writing.get(), STDERR_FILENO}};
  id_ = spawn(request);
  to_ = std::move(in.writing);
  from_ = std::move(out.reading);
  errors_ = std::move(errors.reading);
  for (const auto* each : {&to_, &from_, &errors_}) set_nonblocking(*each);
}

KeeperLink::~KeeperLink() {
  to_ = FileDescriptor();
  from_ = FileDescriptor();
  errors_ = FileDescriptor();
  if (id_ > 0) waitpid(id_, nullptr, 0);
}

void KeeperLink::kill() {
  if (id_ > 0) ::kill(id_, SIGKILL);
}

void KeeperLink::send(const Frame& frame) {
  if (to_) outbox_ += encode(frame);
  flush();
}

void KeeperLink::flush() {
  if (outbox_.empty() || !to_) return;
  const ssize_t size = write(to_.get(), outbox_.data(), outbox_.size());
  if (size > 0) outbox_.erase(0, static_cast<std::size_t>(size));
  if (size < 0 && errno != EAGAIN && errno != EINTR) to_ = FileDescriptor();
}

void KeeperLink::add_to(std::vector<pollfd>& list) const {
  if (from_) list.push_back({from_.get(), POLLIN, 0});
  if (errors_) list.push_back({errors_.get(), POLLIN, 0});
  if (to_ && !outbox_.empty()) list.push_back({to_.get(), POLLOUT, 0});
}

void KeeperLink::move_bytes() {
  flush();
  if (from_) frames_.add(read_available(from_, most_at_a_time));
  if (errors_) said_ += read_available(errors_, most_said);
  if (said_.size() > most_said) said_.erase(0, said_.size() - most_said);
}

std::string KeeperLink::words() {
  // It has said so before it left, but the pipe is another one.
  while (errors_ && is_readable(errors_)) said_ += read_available(errors_, most_said);
  std::string line;
  for (const char c : said_)
    if (c != '\r') line += c == '\n' ? ' ' : c;
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace actorflow
