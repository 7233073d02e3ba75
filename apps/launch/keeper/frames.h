// What launcher and keeper say to each other over a pipe or a connection of ssh: frames, each a list of
// byte strings of which the first names its kind.
//
//   launcher to keeper
//     probe WORK DATA OUTPUT PORTS FIRST_PORT PROGRAM  look at the machine; hold PORTS free ports
//     reach ADDRESS...                          connect to ports that other keepers hold
//     credentials NAME BYTES ...                files of a folder that tasks see as
//                                               ACTORFLOW_CREDENTIALS; it ends with the keeper
//     job WATCH COUNT NAME=VALUE... ARGUMENT... what all tasks have; COUNT is of the variables; WATCH 1:
//                                               look for signs of life
//     elastic                                   each task gets a socket to the launcher
//     tell TASK BYTES                           to that socket
//     start TASK PORT PORT2 NAME=VALUE...       free its ports, and start it with further variables; its
//                                               sign of life may be at PORT; 0: none
//     signal TASK NUMBER                        to its process group
//     end                                       end all tasks: TERM, 5 s, KILL; the second one: KILL
//   keeper to launcher
//     hello VERSION
//     probed MISTAKES PORT...                   a mistake in each line; none: all is well
//     reached MISTAKES
//     secured MISTAKES
//     output TASK STREAM BYTES                  1: standard output, 2: standard error
//     told TASK BYTES                           from its socket to the launcher
//     alive TASK                                its first sign of life
//     ended TASK STATUS SIGNAL WHY              SIGNAL 0: it exited; WHY is not empty if it never began
//     tick                                      now and then: what is sent to a machine that is gone
//                                               ends the connection, silence would not
//     gone                                      all has ended; the keeper leaves
//
// A frame is its length and then each string after its length; a length is 4 bytes, the lowest first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

using Frame = std::vector<std::string>;

std::string encode(const Frame& frame);

// Takes frames out of bytes as they arrive. Before the first frame it skips what a login shell may
// print, up to `frames_begin`.
class FrameReader {
 public:
  static constexpr std::string_view frames_begin =
      "\x01"
      "actorflow keeper\x02\n";

  explicit FrameReader(bool skips_greeting) : begun_(!skips_greeting) {}
  void add(std::string_view bytes);
  // The next whole frame. Throws data_loss if the bytes are none.
  std::optional<Frame> next();
  bool has_begun() const { return begun_; }
  // What was printed where the first frame was expected, the last 512 bytes of it; "" once that frame
  // has come.
  std::string greeting() const { return begun_ ? "" : bytes_; }

 private:
  std::string bytes_;
  std::size_t taken_ = 0;
  bool begun_;
};

}  // namespace actorflow
