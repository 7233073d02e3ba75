// Standard output and error of the launcher.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace actorflow {

// Writes whole lines, each after the name of the task that prints it, in colours on a terminal. Waits
// for a slow reader, but not for ever once the job is to end.
class Console {
 public:
  // `look` is called every 100 ms while a terminal or a pipe takes nothing. It may call hurry(), but
  // prints nothing.
  explicit Console(std::function<void()> look) : look_(std::move(look)) {}

  // Gets all that is printed from now on, before anybody is waited for.
  using Copy = std::function<void(int stream, std::string_view who, int colour, std::string_view line)>;
  void copy_to(Copy copy) { copy_ = std::move(copy); }

  // Stream 1 or 2. `colour` counts tasks.
  void print(int stream, std::string_view who, int colour, std::string_view line);
  // Prints a line of the launcher itself.
  void say(std::string_view line) { print(2, "launch", -1, line); }
  // From now on a slow reader may hold the launcher up for one second altogether, and after a second
  // call not at all: then the rest of the stream is dropped.
  void hurry();
  // Why a stream cannot be written any more, as errno; 0 while both can.
  int failure() const { return failure_; }

 private:
  void write(int stream, std::string_view bytes);
  // Whether the stream takes bytes; false if it is given up.
  bool wait_for_reader(int stream);

  std::function<void()> look_;
  Copy copy_;
  std::optional<int> waits_left_;  // none: as many as it takes
  int failure_ = 0;
  std::array<bool, 3> given_up_{};  // by stream
};

}  // namespace actorflow
