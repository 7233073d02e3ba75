#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "actors/runtime/file_storage.h"
#include "actors/runtime/random.h"
#include "schema/replace_file.h"

namespace actorflow {
namespace {

int flags_of(OpenMode mode) {
  switch (mode) {
    case OpenMode::create:
      return O_WRONLY | O_CREAT | O_TRUNC;
    case OpenMode::append:
      return O_WRONLY | O_CREAT | O_APPEND;
    case OpenMode::scratch:
      return O_RDWR | O_CREAT | O_EXCL;
    case OpenMode::folder:
      return O_RDONLY | O_DIRECTORY;
    default:
      return O_RDONLY;
  }
}

template <class Result>
Result or_error(Result result) {
  return result < 0 ? -errno : result;
}

PathKind kind_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return PathKind::file;
  return S_ISDIR(status.st_mode) ? PathKind::folder : PathKind::other;
}

class PosixCalls final : public FileCalls {
 public:
  int open(const std::string& path, OpenMode mode) override {
    return or_error(::open(path.c_str(), flags_of(mode) | O_CLOEXEC, 0644));
  }
  int close(int file) override { return or_error(::close(file)); }
  std::int64_t write(int file, std::span<const std::byte> bytes) override {
    return or_error(::write(file, bytes.data(), bytes.size()));
  }
  std::int64_t write_at(int file, std::uint64_t offset, std::span<const std::byte> bytes) override {
    return or_error(::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset)));
  }
  std::int64_t read(int file, std::uint64_t offset, std::span<std::byte> into) override {
    return or_error(::pread(file, into.data(), into.size(), static_cast<off_t>(offset)));
  }
  std::int64_t size(int file) override {
    struct stat status {};
    return fstat(file, &status) == 0 ? status.st_size : -errno;
  }
  int changed(int file, std::int64_t& nanoseconds) override {
    struct stat status {};
    if (fstat(file, &status) != 0) return -errno;
    nanoseconds = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    return 0;
  }
  void write_back(int file, std::uint64_t offset, std::uint64_t bytes) override {
    sync_file_range(file, static_cast<off_t>(offset), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
  }
  int sync(int file) override { return or_error(fsync(file)); }
  int rename(const std::string& from, const std::string& to) override { return replace_file(from, to); }
  int unlink(const std::string& path) override { return or_error(::unlink(path.c_str())); }
  int make_folder(const std::string& path) override { return or_error(mkdir(path.c_str(), 0777)); }
  int may_change(const std::string& folder) override {
    return or_error(access(folder.c_str(), R_OK | W_OK));
  }

  int look(const std::string& path, PathKind& kind) override {
    struct stat status {};
    kind = PathKind::nothing;
    if (stat(path.c_str(), &status) != 0) return errno == ENOENT ? 0 : -errno;
    kind = kind_of(status);
    return 0;
  }

  int list(const std::string& folder, std::vector<std::string>& names) override {
    DIR* const entries = opendir(folder.c_str());
    if (!entries) return -errno;
    int result = 0;
    errno = 0;
    while (const dirent* const entry = readdir(entries)) {
      PathKind kind = PathKind::nothing;
      const bool is_unclear = entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK;
      // An unreadable entry is an error: callers take the list for complete.
      if (is_unclear) result = look(folder + "/" + entry->d_name, kind);
      if (result < 0) break;
      if (entry->d_type == DT_REG || kind == PathKind::file) names.emplace_back(entry->d_name);
      errno = 0;
    }
    if (result == 0) result = -errno;
    closedir(entries);
    return result;
  }

  // The number of a process is not enough: those of two containers may be the same.
  std::string process() override {
    static const std::uint64_t number = system_random().next();
    return fmt::format("{}-{:016x}", getpid(), number);
  }
  double wall_time_s() override {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
};

}  // namespace

// Never destroyed: servers may outlive other statics.
FileCalls& posix_calls() {
  static auto* calls = new PosixCalls;
  return *calls;
}

Storage& posix_storage() {
  static auto* storage = new FileStorage(posix_calls());
  return *storage;
}

}  // namespace actorflow
