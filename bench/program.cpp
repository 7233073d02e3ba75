#include "bench/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "bench/network/raw_socket.h"
#include "dataflow/values/error.h"

namespace actorflow::bench {

std::string path_of_program(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

Program::Program(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{path_of_program(name)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const int error = posix_spawn(&id_, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw Error(Code::unavailable, words[0] + " does not start; build it with cmake --build");
}

Program::~Program() {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (waitpid(id_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) kill(id_, SIGKILL);
    std::this_thread::sleep_for(10ms);
  }
}

std::string output_of(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string output;
  for (int c = 0; pipe && (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  if (!pipe || pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return output;
}

std::vector<std::string> free_addresses(int count) {
  std::deque<RawListener> listeners;  // all at once, so that no port comes twice
  std::vector<std::string> addresses;
  for (int i = 0; i < count; ++i)
    addresses.push_back("127.0.0.1:" + std::to_string(listeners.emplace_back().port()));
  return addresses;
}

}  // namespace actorflow::bench
