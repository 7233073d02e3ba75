// A real ssh server on loopback.
#pragma once

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apps/rehearsal/lan.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

namespace actorflow::test {

// Debian's sshd as this user, with keys and a configuration of its own.
class SshServer {
 public:
  // On a free port of 127.0.0.2 to 127.0.0.4: each address is a host for the launcher.
  SshServer();
  // On machines of their own: names[i] is machine i + 1, so that machine 0 is left for the launcher.
  SshServer(Lan& machines, const std::vector<std::string>& names);

  // For launch --ssh_config: knows the server's key, and has a key that the server takes.
  std::string client_config() const { return folder_.file("client"); }
  // The same, but it does not know the server.
  std::string config_of_a_stranger() const { return folder_.file("stranger"); }

 private:
  void make_keys();
  void write_configs(int port, const std::vector<std::string>& listen,
                     const std::vector<std::string>& names);
  std::vector<std::string> command() const;

  Folder folder_;
  std::vector<std::unique_ptr<Process>> servers_;
};

// A precondition of suites: they are skipped, with a message, where sshd is missing.
boost::test_tools::assertion_result has_ssh_server(boost::unit_test::test_unit_id);

}  // namespace actorflow::test
