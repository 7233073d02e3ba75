// Processes, and the descriptors that join us to them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/file_descriptor.h"

namespace actorflow {

struct Pipe {
  FileDescriptor reading, writing;
};
// Both ends are closed in programs that we start. Throws Error.
Pipe make_pipe();
void set_nonblocking(const FileDescriptor& descriptor);

// The bytes that a keeper reads from a pipe at a time.
inline constexpr std::size_t keeper_read_bytes = 64 << 10;

// Reads what is there, at most `most` bytes; "" if nothing is there yet. Closes the descriptor at the
// end of the file.
std::string read_available(FileDescriptor& descriptor, std::size_t most);

// Whether a read would not wait.
bool is_readable(const FileDescriptor& descriptor);
// Writes all bytes; false if the reader is gone.
bool write_all(const FileDescriptor& descriptor, std::string_view bytes);
// Where one of 0, 1 and 2 is closed, opens /dev/null there, so that no other descriptor takes its place.
void open_standard_streams();
// Raises the limit of our descriptors as far as it goes; programs that we start get the one before.
void allow_many_descriptors();
// Another descriptor of the same file, which programs that we start do not inherit.
FileDescriptor copy_of(int number);

struct SpawnRequest {
  std::string path;                    // of the program
  std::vector<std::string> arguments;  // the first is the program's name
  std::vector<std::string> environment;
  std::vector<std::pair<int, int>> descriptors;  // ours, and its number there
  bool dies_with_us = false;                     // however this thread ends
};

// Starts a program in a process group of its own, with default signals. Throws Error that names the
// program and the system's words.
pid_t spawn(const SpawnRequest& request);

// This process's environment, as NAME=VALUE.
std::vector<std::string> own_environment();
// Replaces or adds a NAME=VALUE; removes the variable.
void set_variable(std::vector<std::string>& environment, const std::string& assignment);
void remove_variable(std::vector<std::string>& environment, std::string_view name);

}  // namespace actorflow
