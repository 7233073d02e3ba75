#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include "actors/storage.h"
#include "dataflow/error.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

Error failure(const std::string& what, const std::string& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const Code code = is_full                             ? Code::resource_exhausted
                    : error == ENOENT                   ? Code::not_found
                    : error == EACCES || error == EROFS ? Code::permission_denied
                                                        : Code::unavailable;
  return Error(code, fmt::format("cannot {} '{}': {}", what, path, std::strerror(error)));
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, const char* what)
      : path_(path), descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) throw failure(what, path, errno);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(descriptor_); }

  void write_all(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0)
        throw failure(fmt::format("write {} bytes at {} of", bytes.size(), position_), path_, errno);
      position_ += static_cast<std::uint64_t>(written);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  void read_all(std::uint64_t offset, std::span<std::byte> into) {
    while (!into.empty()) {
      const ssize_t got = pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0)
        throw failure(fmt::format("read {} bytes at {} of", into.size(), offset), path_, errno);
      if (got == 0)
        throw Error(Code::data_loss, fmt::format("'{}' ends at {}, but {} more bytes were expected",
                                                 path_, offset, into.size()));
      offset += static_cast<std::uint64_t>(got);
      into = into.subspan(static_cast<std::size_t>(got));
    }
  }

  std::uint64_t size_bytes() const {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) throw failure("look at", path_, errno);
    return static_cast<std::uint64_t>(status.st_size);
  }

  void sync() {
    if (fsync(descriptor_) != 0) throw failure("sync", path_, errno);
  }

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t position_ = 0;  // of the next write
};

std::string parent_of(const std::string& path) {
  const auto parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// Makes a file's name, or its absence, survive a crash.
void sync_folder(const std::string& folder) {
  Descriptor(folder, O_RDONLY | O_DIRECTORY, "open").sync();
}

void create_folders(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw failure("create the folder", folder, error.value());
}

class PosixNewFile final : public NewFile {
 public:
  PosixNewFile(std::string path, std::string temporary)
      : path_(std::move(path)),
        temporary_(std::move(temporary)),
        file_(temporary_, O_WRONLY | O_CREAT | O_TRUNC, "create") {}
  ~PosixNewFile() override {
    if (!committed_) unlink(temporary_.c_str());
  }

  void write(std::span<const std::byte> bytes) override { file_.write_all(bytes); }

  void commit() override {
    file_.sync();
    if (rename(temporary_.c_str(), path_.c_str()) != 0) throw failure("replace", path_, errno);
    committed_ = true;
    sync_folder(parent_of(path_));
  }

 private:
  const std::string path_, temporary_;
  Descriptor file_;
  bool committed_ = false;
};

class PosixOpenFile final : public OpenFile {
 public:
  explicit PosixOpenFile(const std::string& path) : file_(path, O_RDONLY, "open") {}

  std::uint64_t size_bytes() override { return file_.size_bytes(); }
  void read(std::uint64_t offset, std::span<std::byte> into) override { file_.read_all(offset, into); }

 private:
  Descriptor file_;
};

class PosixStorage final : public Storage {
 public:
  std::unique_ptr<NewFile> create(const std::string& path) override {
    create_folders(parent_of(path));
    return std::make_unique<PosixNewFile>(
        path, fmt::format("{}.{}-{}.tmp", path, getpid(), next_temporary_++));
  }

  std::unique_ptr<OpenFile> open(const std::string& path) override {
    return std::make_unique<PosixOpenFile>(path);
  }

  void append(const std::string& path, std::span<const std::byte> bytes) override {
    create_folders(parent_of(path));
    Descriptor(path, O_WRONLY | O_CREAT | O_APPEND, "open").write_all(bytes);
  }

  bool exists(const std::string& path) override {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
  }

  std::vector<std::string> list(const std::string& folder) override {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
      if (std::error_code ignored; entry->is_regular_file(ignored))
        names.push_back(entry->path().filename().string());
    if (error && error != std::errc::no_such_file_or_directory)
      throw failure("list", folder, error.value());
    return names;
  }

  void remove(const std::string& path) override {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) throw failure("remove", path, errno);
  }

  double wall_time_s() override {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }

 private:
  std::atomic<unsigned> next_temporary_{0};
};

}  // namespace

Storage& posix_storage() {
  static PosixStorage storage;
  return storage;
}

}  // namespace actorflow
