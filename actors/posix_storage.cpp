#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "actors/storage.h"
#include "dataflow/error.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

Error failure(const std::string& what, const std::string& path, int error) {
  const Code code = error == ENOSPC || error == EDQUOT ? Code::resource_exhausted
                    : error == ENOENT                  ? Code::not_found
                    : error == EACCES                  ? Code::permission_denied
                                                       : Code::unavailable;
  return Error(code, fmt::format("cannot {} '{}': {}", what, path, std::strerror(error)));
}

class File {
 public:
  File(const std::string& path, int flags, const char* what)
      : path_(path), descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) throw failure(what, path, errno);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(descriptor_); }

  void write_all(std::span<const std::byte> bytes, std::size_t total) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw failure(fmt::format("write {} bytes to", total), path_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  // Reads to the end, whatever size the file seems to have.
  std::vector<std::byte> read_all() {
    std::error_code ignored;
    const auto expected = fs::file_size(path_, ignored);
    std::vector<std::byte> bytes(ignored ? 0 : expected);
    std::size_t size = 0;
    while (true) {
      if (size == bytes.size()) bytes.resize(size + chunk_bytes);
      const ssize_t got = ::read(descriptor_, bytes.data() + size, bytes.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw failure("read", path_, errno);
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    bytes.resize(size);
    return bytes;
  }

  void sync() {
    if (fsync(descriptor_) != 0) throw failure("sync", path_, errno);
  }

 private:
  static constexpr std::size_t chunk_bytes = 4096;

  std::string path_;
  int descriptor_;
};

std::string parent_of(const std::string& path) {
  const auto parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// Makes a file's name, or its absence, survive a crash.
void sync_folder(const std::string& folder) { File(folder, O_RDONLY | O_DIRECTORY, "open").sync(); }

void create_folders(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw failure("create the folder", folder, error.value());
}

class PosixStorage final : public Storage {
 public:
  void write_atomically(const std::string& path,
                        std::span<const std::span<const std::byte>> parts) override {
    create_folders(parent_of(path));
    const std::string temporary = fmt::format("{}.{}-{}.tmp", path, getpid(), next_temporary_++);
    try {
      write_and_sync(temporary, parts);
      if (rename(temporary.c_str(), path.c_str()) != 0) throw failure("replace", path, errno);
    } catch (...) {
      unlink(temporary.c_str());
      throw;
    }
    sync_folder(parent_of(path));
  }

  std::vector<std::byte> read(const std::string& path) override {
    return File(path, O_RDONLY, "open").read_all();
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
      if (entry->is_regular_file()) names.push_back(entry->path().filename().string());
    if (error && error != std::errc::no_such_file_or_directory)
      throw failure("list", folder, error.value());
    return names;
  }

  void remove(const std::string& path) override {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) throw failure("remove", path, errno);
  }

 private:
  static void write_and_sync(const std::string& path,
                             std::span<const std::span<const std::byte>> parts) {
    std::size_t total = 0;
    for (const auto& part : parts) total += part.size();
    File file(path, O_WRONLY | O_CREAT | O_TRUNC, "create");
    for (const auto& part : parts) file.write_all(part, total);
    file.sync();
  }

  std::atomic<unsigned> next_temporary_{0};
};

}  // namespace

Storage& posix_storage() {
  static PosixStorage storage;
  return storage;
}

}  // namespace actorflow
