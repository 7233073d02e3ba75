#include "apps/rehearsal/memory_disk.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statfs.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "apps/rehearsal/temporary_folder.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// It takes no more memory than what is written.
constexpr auto room = "75%";

// What this thread mounts is seen by it and its children alone. Empty, or why that cannot be.
std::string unshare_mounts() {
  if (unshare(CLONE_NEWNS) != 0) return fmt::format("a mount namespace: {}", std::strerror(errno));
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return fmt::format("mounts of one's own: {}", std::strerror(errno));
  return {};
}

std::string mount_memory(const std::string& folder) {
  if (mount("none", folder.c_str(), "tmpfs", 0, fmt::format("size={}", room).c_str()) != 0)
    return fmt::format("a tmpfs: {}", std::strerror(errno));
  return {};
}

}  // namespace

std::string MemoryDisk::why_none() {
  std::string why;
  const TemporaryFolder folder("actorflow-disk");
  std::thread([&] {  // its mounts end with it
    why = unshare_mounts();
    if (why.empty()) why = mount_memory(folder.path());
  })
      .join();
  return why;
}

MemoryDisk::MemoryDisk(std::string folder) : folder_(std::move(folder)) {
  static const std::string unshared = unshare_mounts();
  const std::string why = unshared.empty() ? mount_memory(folder_) : unshared;
  if (!why.empty())
    throw Error(Code::failed_precondition, fmt::format("cannot make a disk in memory: {}", why));
  std::ofstream(folder_ + "/in_use")
      << "so that the size of the full disk is not 0, which means no limit\n";
}

MemoryDisk::~MemoryDisk() { umount2(folder_.c_str(), MNT_DETACH); }

bool MemoryDisk::resize(const std::string& bytes) {
  return mount("none", folder_.c_str(), "tmpfs", MS_REMOUNT, fmt::format("size={}", bytes).c_str()) == 0;
}

void MemoryDisk::fill() {
  constexpr int attempts = 100;
  for (int i = 0; i < attempts; ++i) {
    struct statfs now {};
    if (statfs(folder_.c_str(), &now) != 0) break;
    const auto used = (now.f_blocks - now.f_bfree) * static_cast<std::uint64_t>(now.f_bsize);
    if (resize(std::to_string(used))) return;
    if (errno != EINVAL) break;  // else somebody has written meanwhile
  }
  throw Error(Code::failed_precondition,
              fmt::format("the disk {} cannot be made full: {}", folder_, std::strerror(errno)));
}

void MemoryDisk::make_room() {
  if (!resize(room))
    throw Error(Code::failed_precondition,
                fmt::format("no room can be made on {}: {}", folder_, std::strerror(errno)));
}

}  // namespace actorflow
