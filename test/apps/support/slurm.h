// A Slurm of its own for tests, on this machine or on machines of their own.
#pragma once

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apps/rehearsal/lan.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"
#include "test/support/ports.h"

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

// A controller and machines with 8 slots each, whatever cores there are. Its files, ports and keys are
// its own; all ends with the object.
class Slurm {
 public:
  // One machine: this one.
  Slurm() : Slurm(nullptr, {own_name()}) {}
  // On machines of their own: names[i] is machine i + 1, so that machine 0 is left for the controller
  // and for commands.
  Slurm(Lan& machines, const std::vector<std::string>& names) : Slurm(&machines, names) {}
  ~Slurm() {
    // The controller last: a machine waits until it has told it of the steps that have ended there.
    for (; !daemons_.empty(); daemons_.pop_back()) {
      daemons_.back()->send_signal(SIGTERM);
      daemons_.back()->wait();
    }
    munged_->send_signal(SIGTERM);
    munged_->wait();
  }

  // A command of Slurm, such as srun, which looks for this one.
  std::unique_ptr<Process> start(std::vector<std::string> command) const {
    return start_on(0, std::move(command));
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  Slurm(Lan* machines, const std::vector<std::string>& names) : machines_(machines) {
    for (std::size_t i = 0; machines && i < names.size(); ++i)
      machines->set_name(names[i], static_cast<int>(i) + 1);
    if (machines) machines->set_name(own_name(), 0);
    write_key();
    write_configuration(names);
    munged_ = start({"/usr/sbin/munged", "--foreground", "--force", "--key-file=" + file("key"),
                     "--socket=" + file("socket"), "--pid-file=" + file("munged.pid"),
                     "--log-file=" + file("munged.log"), "--seed-file=" + file("seed")});
    while (access(file("socket").c_str(), F_OK) != 0 && usleep(1'000) == 0) continue;
    daemons_.push_back(start({"/usr/sbin/slurmctld", "-D", "-i"}));
    for (std::size_t i = 0; i < names.size(); ++i)
      daemons_.push_back(start_on(static_cast<int>(i) + 1, {"/usr/sbin/slurmd", "-D", "-N", names[i]}));
  }

  static std::string own_name() {
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    return std::string(host).substr(0, std::string(host).find('.'));
  }
  std::unique_ptr<Process> start_on(int machine, std::vector<std::string> command) const {
    command.insert(command.begin(), {"/usr/bin/env", "SLURM_CONF=" + file("slurm.conf")});
    if (machines_) command = machines_->on(machine, std::move(command));
    return std::make_unique<Process>(std::move(command));
  }
  void write_key() const {
    std::random_device random;
    std::ofstream key(file("key"), std::ios::binary);
    for (int i = 0; i < 256; ++i) key.put(static_cast<char>(random()));
    key.close();
    std::filesystem::permissions(file("key"), std::filesystem::perms::owner_read);
  }
  void write_configuration(const std::vector<std::string>& names) const {
    const auto port = [](const std::string& address) { return address.substr(address.rfind(':') + 1); };
    const auto addresses = free_addresses(2);
    std::filesystem::create_directory(file("state"));
    const std::string controller = own_name() + (machines_ ? "" : "(127.0.0.1)");
    std::string nodes;
    for (const auto& name : names)
      nodes += "NodeName=" + name + " NodeAddr=" + (machines_ ? name : "127.0.0.1") +
               " CPUs=8 State=UNKNOWN\n";
    test::write_file(
        file("slurm.conf"),
        "ClusterName=test\nSlurmctldHost=" + controller + "\nSlurmctldPort=" + port(addresses[0]) +
            "\nSlurmdPort=" + port(addresses[1]) + "\nSlurmUser=root\nSlurmdUser=root\n" +
            "AuthType=auth/munge\nAuthInfo=socket=" + file("socket") + "\nCredType=cred/munge\n" +
            "MpiDefault=none\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n" +
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSwitchType=switch/none\n" +
            "StateSaveLocation=" + file("state") + "\nSlurmdSpoolDir=" + file("spool-%n") +
            "\nSlurmctldPidFile=" + file("slurmctld.pid") + "\nSlurmdPidFile=" + file("slurmd-%n.pid") +
            "\nSlurmctldLogFile=" + file("slurmctld.log") + "\nSlurmdLogFile=" + file("slurmd-%n.log") +
            "\nReturnToService=2\nSlurmdParameters=config_overrides\nMinJobAge=300\n" + nodes +
            "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n");
  }

  const Folder folder_;
  Lan* const machines_;  // null: this machine
  std::unique_ptr<Process> munged_;
  std::vector<std::unique_ptr<Process>> daemons_;
};

}  // namespace actorflow::test
