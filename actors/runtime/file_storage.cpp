#include "actors/runtime/file_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

Code code_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Code::resource_exhausted;
    case ENOENT:
      return Code::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::permission_denied;
    case ENAMETOOLONG:
      return Code::invalid_argument;
    default:
      return Code::disk_error;
  }
}

// `result` as it came from a call; throws where that has failed.
template <class Result>
Result checked(Result result, const std::string& what, const std::string& path) {
  if (result >= 0) return result;
  const int error = static_cast<int>(-result);
  throw StorageError(code_of(error),
                     fmt::format("cannot {} '{}': {}", what, path, std::strerror(error)));
}

class Handle {
 public:
  Handle(FileCalls& calls, const std::string& path, OpenMode mode, const std::string& what)
      : calls_(calls), path_(path), file_(checked(calls.open(path, mode), what, path)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (file_ >= 0) calls_.close(file_);
  }

  // Throws for errors of bytes that were not synced.
  void close() { checked(calls_.close(std::exchange(file_, -1)), "close", path_); }

  void write_all(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto written = calls_.write(file_, bytes);
      if (written == -EINTR) continue;
      checked(written, fmt::format("write {} bytes at {} of", bytes.size(), position_), path_);
      position_ += static_cast<std::uint64_t>(written);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  // Starts writing to the disk while the next bytes are made, instead of all at the end.
  void write_back_large() {
    constexpr std::uint64_t large = std::uint64_t{8} << 20;
    if (position_ - written_back_ < large) return;
    calls_.write_back(file_, written_back_, position_ - written_back_);
    written_back_ = position_;
  }

  void write_all_at(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto written = calls_.write_at(file_, offset, bytes);
      if (written == -EINTR) continue;
      checked(written, fmt::format("write {} bytes at {} of", bytes.size(), offset), path_);
      offset += static_cast<std::uint64_t>(written);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  void read_all(std::uint64_t offset, std::span<std::byte> into) {
    while (!into.empty()) {
      const auto got = calls_.read(file_, offset, into);
      if (got == -EINTR) continue;
      checked(got, fmt::format("read {} bytes at {} of", into.size(), offset), path_);
      if (got == 0)
        throw Error(Code::data_loss, fmt::format("'{}' ends at {}, but {} more bytes were expected",
                                                 path_, offset, into.size()));
      offset += static_cast<std::uint64_t>(got);
      into = into.subspan(static_cast<std::size_t>(got));
    }
  }

  std::uint64_t size_bytes() const {
    return static_cast<std::uint64_t>(checked(calls_.size(file_), "look at", path_));
  }
  std::int64_t changed_ns() const {
    std::int64_t nanoseconds = 0;
    checked(calls_.changed(file_, nanoseconds), "look at", path_);
    return nanoseconds;
  }
  void sync() { checked(calls_.sync(file_), "sync", path_); }
  // Of a folder. Some file systems have no such sync, and say so.
  void sync_names() {
    if (const int result = calls_.sync(file_); result != -EINVAL) checked(result, "sync", path_);
  }

 private:
  FileCalls& calls_;
  const std::string path_;
  int file_;                    // -1: closed
  std::uint64_t position_ = 0;  // of the next write
  std::uint64_t written_back_ = 0;
};

std::string parent_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// Makes the names in a folder, and the absence of others, survive a loss of power.
void sync_folder(FileCalls& calls, const std::string& folder) {
  Handle(calls, folder, OpenMode::folder, "open").sync_names();
}

// False where no process like this one can have made a folder.
bool may_change(FileCalls& calls, const std::string& folder) {
  const int result = calls.may_change(folder);
  if (result == -EACCES || result == -EPERM || result == -EROFS) return false;
  checked(result, "look at", folder);
  return true;
}

// A process may have any number of files in the making, as parts of jobs do that divide their output. So
// many stay open; others are closed after each write.
constexpr int most_open_new_files = 64;
std::atomic<int> open_new_files = 0;

class FileInTheMaking final : public NewFile {
 public:
  FileInTheMaking(FileCalls& calls, std::string path, std::string temporary)
      : calls_(calls), path_(std::move(path)), temporary_(std::move(temporary)) {
    file_.emplace(calls_, temporary_, OpenMode::create, "create");
    ++open_new_files;
  }
  ~FileInTheMaking() override {
    if (file_) --open_new_files;
    if (!committed_) calls_.unlink(temporary_);
  }

  void write(std::span<const std::byte> bytes) override {
    if (!file_) {
      file_.emplace(calls_, temporary_, OpenMode::append, "open");
      ++open_new_files;
    }
    file_->write_all(bytes);
    file_->write_back_large();
    if (open_new_files > most_open_new_files) close();
  }

  void commit() override {
    if (file_) file_->sync();
    const int renamed = calls_.rename(temporary_, path_);
    if (renamed == -ENOTSUP)
      throw invalid_argument("'" + path_ + "' is a device, a pipe or a link to one; name a file");
    checked(renamed, "replace", path_);
    committed_ = true;
    sync_folder(calls_, parent_of(path_));
  }

 private:
  // Synced first: who opens the file again may not hear of bytes that are lost.
  void close() {
    file_->sync();
    file_->close();
    file_.reset();
    --open_new_files;
  }

  FileCalls& calls_;
  const std::string path_, temporary_;
  std::optional<Handle> file_;  // none: closed, and synced
  bool committed_ = false;
};

class FileOfHandle final : public OpenFile {
 public:
  FileOfHandle(FileCalls& calls, const std::string& path) : file_(calls, path, OpenMode::read, "open") {}

  std::uint64_t size_bytes() override { return file_.size_bytes(); }
  void read(std::uint64_t offset, std::span<std::byte> into) override { file_.read_all(offset, into); }

 private:
  Handle file_;
};

class NamelessFile final : public ScratchFile {
 public:
  NamelessFile(FileCalls& calls, const std::string& path)
      : file_(calls, path, OpenMode::scratch, "create") {
    checked(calls.unlink(path), "remove the name of", path);
  }

  std::uint64_t append(std::span<const std::byte> bytes) override {
    const std::uint64_t offset = end_.fetch_add(bytes.size());
    file_.write_all_at(offset, bytes);
    return offset;
  }
  void read(std::uint64_t offset, std::span<std::byte> into) override { file_.read_all(offset, into); }

 private:
  Handle file_;
  std::atomic<std::uint64_t> end_{0};
};

}  // namespace

bool FileStorage::is_synced(const std::string& folder) {
  const std::scoped_lock lock(mutex_);
  return synced_.contains(folder);
}

void FileStorage::note(const std::string& folder, bool synced) {
  const std::scoped_lock lock(mutex_);
  if (synced)
    synced_.insert(folder);
  else
    synced_.erase(folder);
}

// The name of a folder that is there is synced once, too: whoever made it may have been killed before.
void FileStorage::create_folders(const std::string& folder) {
  PathKind kind = PathKind::nothing;
  checked(calls_.look(folder, kind), "look at", folder);
  const bool is_there = kind == PathKind::folder;
  const std::string parent = parent_of(folder);
  if (is_there && (parent == folder || is_synced(folder))) return;
  if (parent != folder) create_folders(parent);
  if (!is_there) make_folder(folder, kind);
  if (!is_there || may_change(calls_, parent)) sync_folder(calls_, parent);
  note(folder, true);
}

void FileStorage::make_folder(const std::string& folder, PathKind in_its_place) {
  note(folder, false);  // one of this name that was removed
  const int made = calls_.make_folder(folder);
  if (made != -EEXIST || in_its_place != PathKind::nothing)  // else another task has been faster
    checked(made == -EEXIST ? -ENOTDIR : made, "create the folder", folder);
}

std::unique_ptr<NewFile> FileStorage::create(const std::string& path) {
  create_folders(parent_of(path));
  return std::make_unique<FileInTheMaking>(
      calls_, path, fmt::format("{}.{}-{}.tmp", path, calls_.process(), next_temporary_++));
}

std::int64_t FileStorage::changed_ns(const std::string& path) {
  return Handle(calls_, path, OpenMode::read, "open").changed_ns();
}

std::unique_ptr<OpenFile> FileStorage::open(const std::string& path) {
  return std::make_unique<FileOfHandle>(calls_, path);
}

std::unique_ptr<ScratchFile> FileStorage::scratch(const std::string& folder) {
  create_folders(folder);
  return std::make_unique<NamelessFile>(
      calls_, fmt::format("{}/scratch.{}-{}.tmp", folder, calls_.process(), next_temporary_++));
}

void FileStorage::append(const std::string& path, std::span<const std::byte> bytes) {
  create_folders(parent_of(path));
  Handle file(calls_, path, OpenMode::append, "open");
  file.write_all(bytes);
  file.close();
}

void FileStorage::append_synced(const std::string& path, std::span<const std::byte> bytes) {
  Handle file(calls_, path, OpenMode::append, "open");
  file.write_all(bytes);
  file.sync();
}

bool FileStorage::exists(const std::string& path) {
  PathKind kind = PathKind::nothing;
  checked(calls_.look(path, kind), "look at", path);
  return kind == PathKind::file;
}

void FileStorage::expect_no_file_in(const std::string& path) {
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string part = path.substr(0, end);
    PathKind kind = PathKind::nothing;
    checked(calls_.look(part, kind), "look at", part);
    if (kind == PathKind::file)
      throw StorageError(Code::not_found, "'" + part + "' is a file, not a folder");
    if (kind == PathKind::other)
      throw invalid_argument("'" + part +
                             "' is neither a file nor a folder: pipes and devices give their bytes "
                             "once, and keep none; write these to a file");
  }
}

std::vector<std::string> FileStorage::list(const std::string& folder) {
  std::vector<std::string> names;
  const int result = calls_.list(folder, names);
  if (result == -ENOTDIR) expect_no_file_in(folder);
  if (result != -ENOENT) checked(result, "list", folder);
  return names;
}

void FileStorage::remove(const std::string& path) {
  if (const int result = calls_.unlink(path); result != -ENOENT) checked(result, "remove", path);
}

void FileStorage::sync(const std::string& folder) { sync_folder(calls_, folder); }

}  // namespace actorflow
