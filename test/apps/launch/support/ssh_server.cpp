#include "test/apps/launch/support/ssh_server.h"

#include <sys/stat.h>
#include <unistd.h>

#include "test/support/ports.h"

namespace actorflow::test {
namespace {

constexpr const char* sshd = "/usr/sbin/sshd";
const std::vector<std::string> addresses{"127.0.0.2", "127.0.0.3", "127.0.0.4"};

void make_key(const std::string& path) {
  Process keygen({"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", path});
  BOOST_REQUIRE_MESSAGE(keygen.wait() == 0, keygen.output());
}

}  // namespace

SshServer::SshServer() {
  make_keys();
  const std::string address = free_addresses(1)[0];
  write_configs(std::stoi(address.substr(address.find(':') + 1)), addresses, addresses);
  servers_.push_back(std::make_unique<Process>(command()));
  BOOST_REQUIRE_MESSAGE(servers_[0]->prints("Server listening on 127.0.0.4"), servers_[0]->output());
}

SshServer::SshServer(Lan& machines, const std::vector<std::string>& names) {
  make_keys();
  write_configs(22, {"0.0.0.0"}, names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int machine = static_cast<int>(i) + 1;
    machines.set_name(names[i], machine);
    servers_.push_back(std::make_unique<Process>(machines.on(machine, command())));
    BOOST_REQUIRE_MESSAGE(servers_[i]->prints("Server listening on"), servers_[i]->output());
  }
}

std::vector<std::string> SshServer::command() const {
  return {sshd, "-D", "-e", "-f", folder_.file("server")};
}

void SshServer::make_keys() {
  make_key(folder_.file("host_key"));
  make_key(folder_.file("user_key"));
  write_file(folder_.file("authorized"), read_file(folder_.file("user_key.pub")));
  if (geteuid() == 0) mkdir("/run/sshd", 0755);  // sshd of root asks for it
}

void SshServer::write_configs(int port, const std::vector<std::string>& listen,
                              const std::vector<std::string>& names) {
  const std::string number = std::to_string(port);
  std::string server = "Port " + number + "\nHostKey " + folder_.file("host_key") +
                       "\nAuthorizedKeysFile " + folder_.file("authorized") +
                       "\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n"
                       "PermitRootLogin prohibit-password\nMaxStartups 100\n"
                       "SetEnv SHLVL=2\n";  // or bash runs whatever this user has in .bashrc
  std::string known;
  for (const auto& address : listen) server += "ListenAddress " + address + "\n";
  for (const auto& name : names)
    known +=
        (port == 22 ? name : "[" + name + "]:" + number) + " " + read_file(folder_.file("host_key.pub"));
  write_file(folder_.file("server"), server);
  write_file(folder_.file("known"), known);
  write_file(folder_.file("nobody_known"), "");
  const std::string client = "Host *\nPort " + number + "\nIdentityFile " + folder_.file("user_key") +
                             "\nIdentitiesOnly yes\nGlobalKnownHostsFile /dev/null\nUserKnownHostsFile ";
  write_file(folder_.file("client"), client + folder_.file("known") + "\n");
  write_file(folder_.file("stranger"), client + folder_.file("nobody_known") + "\n");
}

boost::test_tools::assertion_result has_ssh_server(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(access(sshd, X_OK) == 0);
  result.message() << "there is no sshd here: install openssh-server";
  return result;
}

}  // namespace actorflow::test
