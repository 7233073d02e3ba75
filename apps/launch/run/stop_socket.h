// How `actorflow stop` finds a running job and tells it to end: a socket in a folder of the user's own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "apps/launch/keeper/spawn.h"

namespace actorflow {

// The launcher's side. The socket disappears with the object; what a killed launcher has left is cleared
// away by the next stop.
class StopSocket {
 public:
  // The job is named by this process's number. Throws Error if the folder is not the user's own.
  StopSocket();
  StopSocket(const StopSocket&) = delete;
  StopSocket& operator=(const StopSocket&) = delete;
  ~StopSocket();

  const std::string& job() const { return job_; }
  // Readable when somebody wants something.
  int descriptor() const { return socket_.get(); }
  // Takes who has connected; they see the end of the connection when this object ends.
  void accept();
  // Whether one of them has said that the job shall end. Does not wait.
  bool stop_is_wanted();
  // The descriptors on which they may say so.
  std::vector<int> descriptors() const;

 private:
  std::string job_, path_;
  FileDescriptor socket_;
  std::vector<FileDescriptor> clients_;
};

// The jobs of this user on this machine, by the numbers of their launchers.
std::vector<std::string> running_jobs();
// Ends the job and waits until its launcher has ended. Throws not_found that names the running jobs.
void stop_job(const std::string& job);

}  // namespace actorflow
