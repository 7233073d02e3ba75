#include "apps/launch/run/keeper_link.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <thread>

#include "apps/launch/allocation.h"
#include "apps/launch/keeper/machine_probe.h"
#include "apps/launch/shell_words.h"

namespace actorflow {
namespace {

constexpr std::size_t most_at_a_time = 256 << 10;
constexpr std::size_t most_said = 4096;
// How long an srun that has nothing to do any more may wait for its machine, which may be gone.
constexpr std::chrono::seconds srun_patience(3);

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string program_elsewhere(const LaunchOptions& options) {
  return options.actorflow.empty() ? own_program() : options.actorflow;
}

SpawnRequest with_own_environment() {
  SpawnRequest request;
  request.environment = own_environment();
  return request;
}

// By ssh with the user's own configuration of host keys, and without questions at the terminal.
SpawnRequest by_ssh(const LaunchHost& host, const LaunchOptions& options) {
  SpawnRequest request = with_own_environment();
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
  request.arguments.insert(
      request.arguments.end(),
      {"--", host.name, "exec " + shell_word(program_elsewhere(options)) + " keep"});
  request.dies_with_us = true;  // the keeper there then ends by itself
  return request;
}

// With all that the allocation has there, and without a wait for the ends of lines, which frames have
// not. srun outlives us: it passes on that our end of its input is gone, by which the keeper ends its
// tasks; without srun they would stay.
SpawnRequest by_srun(const LaunchHost& host, const LaunchOptions& options) {
  SpawnRequest request = with_own_environment();
  request.path = find_program("srun");
  std::erase_if(request.environment, is_request_to_srun);
  request.arguments = {"srun",
                       "--quiet",
                       "--unbuffered",
                       "--overlap",
                       "--nodes=1",
                       "--ntasks=1",
                       "--cpu-bind=none",
                       "--mpi=none",
                       "--nodelist=" + host.name,
                       program_elsewhere(options),
                       "keep"};
  return request;
}

SpawnRequest here() {
  SpawnRequest request = with_own_environment();
  request.path = own_program();
  request.arguments = {request.path, "keep"};
  return request;
}

SpawnRequest keeper_on(const LaunchHost& host, const LaunchOptions& options) {
  if (host.is_allocated) return by_srun(host, options);
  return is_this_machine(host) ? here() : by_ssh(host, options);
}

// Whether a child has ended by then; forgets it if so.
bool has_ended_by(pid_t id, std::chrono::steady_clock::time_point end) {
  while (waitpid(id, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace

bool is_this_machine(const LaunchHost& host) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return host.user.empty() && !host.is_allocated &&
         (host.name == "localhost" || host.name == name.data());
}

KeeperLink::KeeperLink(const LaunchHost& host, const LaunchOptions& options)
    : is_by_srun_(host.is_allocated) {
  SpawnRequest request = keeper_on(host, options);
  Pipe in = make_pipe(), out = make_pipe(), errors = make_pipe();
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
  close();
  if (is_by_srun_ && has_ended_by(id_, *end_)) return;
  if (is_by_srun_) ::kill(id_, SIGKILL);
  waitpid(id_, nullptr, 0);
}

void KeeperLink::close() {
  to_ = FileDescriptor();
  from_ = FileDescriptor();
  errors_ = FileDescriptor();
  if (!end_) end_ = Clock::now() + srun_patience;
}

// A keeper here is two processes of a group (keeper/guard.h), and ssh may have helpers.
void KeeperLink::kill() {
  if (is_by_srun_)
    ::kill(id_, SIGTERM);
  else
    ::kill(-id_, SIGKILL);
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
  // The keeper wrote its last words before it left, on another pipe, which may not have been read yet.
  while (errors_ && is_readable(errors_)) said_ += read_available(errors_, most_said);
  std::string line;
  for (const char c : said_ + "\n" + frames_.greeting())
    if (c == '\n' && !line.empty())
      line += ' ';
    else if (!std::iscntrl(static_cast<unsigned char>(c)))
      line += c;
  while (line.ends_with(' ')) line.pop_back();
  if (line.empty() && frames_.has_begun() && !is_open()) return "the connection to its keeper has ended";
  return line;
}

}  // namespace actorflow
