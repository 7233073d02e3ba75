#include "apps/launch/keeper/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

Error system_error(const std::string& what, int number) {
  return Error(Code::failed_precondition, what + ": " + std::strerror(number));
}

// Advice about a program that is there, but cannot be run.
const char* advice_about(int number) {
  if (number == ENOEXEC) return "; a script must begin with a line such as #!/bin/sh";
  if (number == ENOENT) return "; the interpreter that its first line names is not there";
  return "";
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

std::optional<rlimit> limit_before;  // before it was raised; none if it was not

struct Child {
  const char* path;
  char* const* arguments;
  char* const* environment;
  int* descriptors;  // ours, its, ours, its, ...
  std::size_t num_descriptors;
  pid_t parent;
  bool dies_with_parent;
  int failure;     // the pipe for errno
  int first_copy;  // above the numbers that the program sees
};

[[noreturn]] void give_up(const Child& child) {
  const int number = errno;
  [[maybe_unused]] const auto ignored = write(child.failure, &number, sizeof number);
  _exit(127);
}

// The child's side of fork(): system calls only.
[[noreturn]] void become(Child child) {
  setpgid(0, 0);
  if (child.dies_with_parent) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (child.dies_with_parent && getppid() != child.parent) _exit(127);  // the parent died before
  const int failure = fcntl(child.failure, F_DUPFD_CLOEXEC, child.first_copy);
  if (failure < 0) give_up(child);
  child.failure = failure;
  // Copies first: the number of one descriptor may be the target of another.
  for (std::size_t i = 0; i < child.num_descriptors; ++i)
    if ((child.descriptors[2 * i] = fcntl(child.descriptors[2 * i], F_DUPFD_CLOEXEC, child.first_copy)) <
        0)
      give_up(child);
  for (std::size_t i = 0; i < child.num_descriptors; ++i)
    if (dup2(child.descriptors[2 * i], child.descriptors[2 * i + 1]) < 0) give_up(child);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (limit_before) setrlimit(RLIMIT_NOFILE, &*limit_before);
  execve(child.path, child.arguments, child.environment);
  give_up(child);
}

bool is_of(const std::string& assignment, std::string_view name) {
  return assignment.size() > name.size() && assignment.starts_with(name) &&
         assignment[name.size()] == '=';
}

}  // namespace

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) < 0) throw system_error("a pipe cannot be made", errno);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

void set_nonblocking(const FileDescriptor& descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

std::string read_available(FileDescriptor& descriptor, std::size_t most) {
  std::string bytes(most, '\0');
  const ssize_t size = read(descriptor.get(), bytes.data(), bytes.size());
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) descriptor = FileDescriptor();
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

bool is_readable(const FileDescriptor& descriptor) {
  pollfd wait{descriptor.get(), POLLIN, 0};
  return poll(&wait, 1, 0) > 0;
}

bool write_all(const FileDescriptor& descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = write(descriptor.get(), bytes.data(), bytes.size());
    if (size < 0 && errno != EINTR) return false;
    if (size > 0) bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

void open_standard_streams() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number)
    if (fcntl(number, F_GETFD) < 0) [[maybe_unused]]
      const int lowest = open("/dev/null", O_RDWR);
}

void allow_many_descriptors() {
  rlimit limit{};
  if (limit_before || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit_before = limit;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

FileDescriptor copy_of(int number) {
  return FileDescriptor(fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

pid_t spawn(const SpawnRequest& request) {
  Pipe failure = make_pipe();
  std::vector<int> descriptors;
  int last = STDERR_FILENO;
  for (const auto& [ours, its] : request.descriptors) {
    descriptors.insert(descriptors.end(), {ours, its});
    last = std::max(last, its);
  }
  const std::vector<char*> arguments = pointers(request.arguments);
  const std::vector<char*> environment = pointers(request.environment);
  const Child child{request.path.c_str(), arguments.data(),       environment.data(),
                    descriptors.data(),   descriptors.size() / 2, getpid(),
                    request.dies_with_us, failure.writing.get(),  last + 1};
  const pid_t id = fork();
  if (id < 0) throw system_error("a process cannot be started", errno);
  if (id == 0) become(child);
  setpgid(id, id);  // parent and child both do this; whoever is first
  failure.writing = FileDescriptor();
  int number = 0;
  ssize_t size = 0;
  do size = read(failure.reading.get(), &number, sizeof number);
  while (size < 0 && errno == EINTR);
  if (size <= 0) return id;
  waitpid(id, nullptr, 0);
  throw Error(Code::failed_precondition, fmt::format("'{}' cannot be run: {}{}", request.path,
                                                     std::strerror(number), advice_about(number)));
}

std::vector<std::string> own_environment() {
  std::vector<std::string> list;
  for (char** variable = environ; *variable; ++variable) list.emplace_back(*variable);
  return list;
}

void remove_variable(std::vector<std::string>& environment, std::string_view name) {
  std::erase_if(environment, [name](const std::string& each) { return is_of(each, name); });
}

void set_variable(std::vector<std::string>& environment, const std::string& assignment) {
  remove_variable(environment, std::string_view(assignment).substr(0, assignment.find('=')));
  environment.push_back(assignment);
}

}  // namespace actorflow
