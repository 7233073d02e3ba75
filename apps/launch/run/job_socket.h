// How other commands of a user reach a running job: a socket in a folder of the user's own. Both sides
// say frames (apps/launch/keeper/frames.h).
//
//   command to launcher
//     stop                        end the job; the connection ends when the launcher does
//     attach                      send what is printed from now on
//   launcher to command
//     attached
//     line STREAM COLOUR WHO TEXT as Console::print() has it
//     left_out COUNT              lines that this command was too slow for
//     ended STATUS                of the job: the last frame
#pragma once

#include <poll.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apps/launch/keeper/frames.h"
#include "apps/launch/keeper/spawn.h"

namespace actorflow {

// The launcher's side, which never waits for a command but at the end. The socket disappears with the
// object; what a killed launcher has left is cleared away by the next command. Not thread-safe.
class JobSocket {
 public:
  // The job is named by this process's number. Throws Error if the folder is not the user's own.
  JobSocket();
  JobSocket(const JobSocket&) = delete;
  JobSocket& operator=(const JobSocket&) = delete;
  ~JobSocket();

  const std::string& job() const { return job_; }
  // Adds what to wait for.
  void add_to(std::vector<pollfd>& list) const;
  // Does what can be done without waiting. Returns whether somebody has said that the job shall end.
  bool stop_is_wanted();
  // For all that follow the job.
  void show(int stream, std::string_view who, int colour, std::string_view line);
  // The same of how the job has ended. Gives them a second altogether to take the rest.
  void end(int status);

 private:
  struct Client {
    FileDescriptor socket;
    FrameReader frames{false};
    std::string outbox;
    bool follows = false;
    std::size_t left_out = 0;
  };

  void accept();
  // Returns whether it wants the job to end.
  static bool hear(Client& client);
  static void tell(Client& client, const Frame& frame);
  static void flush(Client& client);

  std::string job_, path_;
  FileDescriptor socket_;
  std::vector<Client> clients_;
};

// Where a job's socket is. Throws Error if the folder is not the user's own.
std::string job_socket_path(const std::string& job);
// A connection to the launcher that listens there, which does not wait; none if it is gone, in which
// case its socket is removed.
FileDescriptor connect_to_launcher(const std::string& path);

}  // namespace actorflow
