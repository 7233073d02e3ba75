// A Slurm of its own for tests, on this machine.
#pragma once

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "test/apps/support/ports.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

namespace actorflow::test {

// A precondition: Debian's slurmctld, slurmd, slurm-client and munge (test/optional_packages), and root.
inline boost::test_tools::assertion_result has_slurm(boost::unit_test::test_unit_id) {
  std::string missing = geteuid() == 0 ? "" : " root,";
  for (const char* program :
       {"/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged", "/usr/bin/srun"})
    if (access(program, X_OK) != 0) missing += std::string(" ") + program + ",";
  // slurmd ends without it; a bare chroot has none.
  if (access("/sys/fs/cgroup/cgroup.procs", F_OK) != 0 && access("/sys/fs/cgroup/devices", F_OK) != 0)
    missing += " /sys/fs/cgroup,";
  boost::test_tools::assertion_result result(missing.empty());
  result.message() << "no Slurm here, this lacks" << missing << " see test/optional_packages";
  return result;
}

// A controller and a machine with 8 slots, whatever cores there are. Its files, ports and keys are its
// own; all ends with the object.
class Slurm {
 public:
  Slurm() {
    write_key();
    write_configuration();
    munged_ = start({"/usr/sbin/munged", "--foreground", "--force", "--key-file=" + file("key"),
                     "--socket=" + file("socket"), "--pid-file=" + file("munged.pid"),
                     "--log-file=" + file("munged.log"), "--seed-file=" + file("seed")});
    while (access(file("socket").c_str(), F_OK) != 0 && usleep(1'000) == 0) continue;
    controller_ = start({"/usr/sbin/slurmctld", "-D", "-i"});
    machine_ = start({"/usr/sbin/slurmd", "-D"});
  }
  ~Slurm() {
    for (auto* daemon : {&machine_, &controller_, &munged_}) {
      (*daemon)->send_signal(SIGTERM);
      (*daemon)->wait();
    }
  }

  // A command of Slurm, such as srun, which looks for this one.
  std::unique_ptr<Process> start(std::vector<std::string> command) const {
    command.insert(command.begin(), {"/usr/bin/env", "SLURM_CONF=" + file("slurm.conf")});
    return std::make_unique<Process>(std::move(command));
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  void write_key() const {
    std::random_device random;
    std::ofstream key(file("key"), std::ios::binary);
    for (int i = 0; i < 256; ++i) key.put(static_cast<char>(random()));
    key.close();
    std::filesystem::permissions(file("key"), std::filesystem::perms::owner_read);
  }
  void write_configuration() const {
    const auto port = [](const std::string& address) { return address.substr(address.rfind(':') + 1); };
    const auto addresses = free_addresses(2);
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    const std::string name = std::string(host).substr(0, std::string(host).find('.'));
    for (const char* folder : {"state", "spool"}) std::filesystem::create_directory(file(folder));
    test::write_file(
        file("slurm.conf"),
        "ClusterName=test\nSlurmctldHost=" + name + "(127.0.0.1)\nSlurmctldPort=" + port(addresses[0]) +
            "\nSlurmdPort=" + port(addresses[1]) + "\nSlurmUser=root\nSlurmdUser=root\n" +
            "AuthType=auth/munge\nAuthInfo=socket=" + file("socket") + "\nCredType=cred/munge\n" +
            "MpiDefault=none\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n" +
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSwitchType=switch/none\n" +
            "StateSaveLocation=" + file("state") + "\nSlurmdSpoolDir=" + file("spool") +
            "\nSlurmctldPidFile=" + file("slurmctld.pid") + "\nSlurmdPidFile=" + file("slurmd.pid") +
            "\nSlurmctldLogFile=" + file("slurmctld.log") + "\nSlurmdLogFile=" + file("slurmd.log") +
            "\nReturnToService=2\nSlurmdParameters=config_overrides\nMinJobAge=300\n" +
            "NodeName=" + name + " NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN\n" +
            "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n");
  }

  const Folder folder_;
  std::unique_ptr<Process> munged_, controller_, machine_;
};

}  // namespace actorflow::test
