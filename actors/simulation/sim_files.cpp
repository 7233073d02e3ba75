#include "actors/simulation/sim_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>

namespace actorflow {
namespace {

using namespace std::chrono_literals;

constexpr double bytes_per_second = 500e6;
constexpr auto half_a_sync = 500us;
constexpr std::size_t sector_bytes = 512;
constexpr std::array disk_errors{EIO, EPERM, EACCES, ENOTDIR, EMFILE, ESTALE, ENOSPC, EROFS};

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == path.npos ? "." : path.substr(0, slash);
}

}  // namespace

DiskFaults SimFiles::present_faults() const {
  DiskFaults worst;
  for (const TrackId of : {outside, world_.current()}) {
    const auto found = faults_.find(of);
    if (found == faults_.end()) continue;
    const DiskFaults& faults = found->second;
    worst = {worst.full || faults.full, std::max(worst.failures, faults.failures),
             std::max(worst.torn, faults.torn), std::max(worst.slowness, faults.slowness)};
  }
  return worst;
}

int SimFiles::error() {
  if (!world_.random().chance(present_faults().failures)) return 0;
  return -disk_errors[world_.random().below(disk_errors.size())];
}

bool SimFiles::is_folder(const std::string& path) const {
  return path == "." || path == "/" || folders_.contains(path);
}

void SimFiles::work_for(World::Duration time) {
  world_.charge(
      World::Duration(std::llround(static_cast<double>(time.count()) * present_faults().slowness)));
  world_.pass_charged();
}

void SimFiles::move(std::size_t bytes) {
  work_for(std::chrono::nanoseconds(
      static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) / bytes_per_second)));
}

std::uint64_t SimFiles::used() const {
  std::uint64_t bytes = 0;
  std::set<const File*> counted;
  const auto count = [&](const FileRef& file) {
    if (file && counted.insert(file.get()).second) bytes += file->bytes.size();
  };
  for (const auto& [path, file] : names_) count(file);
  for (const auto& [number, handle] : handles_) count(handle.file);  // also those without a name
  return bytes;
}

int SimFiles::open(const std::string& path, OpenMode mode) {
  if (const int failed = error()) return failed;
  Handle handle;
  if (mode == OpenMode::folder) {
    if (!is_folder(path)) return names_.contains(path) ? -ENOTDIR : -ENOENT;
    handle.folder = path;
  } else if (mode == OpenMode::read) {
    const auto found = names_.find(path);
    if (found == names_.end()) return -ENOENT;
    handle.file = found->second;
  } else {
    if (!is_folder(folder_of(path))) return -ENOENT;
    if (mode == OpenMode::scratch && names_.contains(path)) return -EEXIST;
    FileRef& file = names_[path];
    if (!file || mode == OpenMode::create) file = std::make_shared<File>();
    handle.file = file;
  }
  handles_[next_handle_] = std::move(handle);
  return next_handle_++;
}

std::int64_t SimFiles::write(int file, std::span<const std::byte> bytes) {
  const auto found = handles_.find(file);
  return write_at(file, found == handles_.end() ? 0 : found->second.file->bytes.size(), bytes);
}

std::int64_t SimFiles::write_at(int file, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (const int failed = error()) return failed;
  const auto found = handles_.find(file);
  if (found == handles_.end()) return -EBADF;
  File& written = *found->second.file;
  Bytes& to = written.bytes;
  const std::size_t stored = written_part(bytes.size());
  const auto end = std::max<std::uint64_t>(to.size(), offset + stored);
  if (present_faults().full) return -ENOSPC;
  if (capacity_ != ~std::uint64_t{0} && used() + (end - to.size()) > capacity_) return -ENOSPC;
  written.changed_s = server_time_s();
  written.writers.insert(world_.current());
  to.resize(end);
  std::ranges::copy(bytes.first(stored), to.begin() + static_cast<std::ptrdiff_t>(offset));
  move(stored);
  return stored < bytes.size() ? -EIO : static_cast<std::int64_t>(stored);
}

std::size_t SimFiles::written_part(std::size_t bytes) {
  if (bytes == 0 || !world_.random().chance(present_faults().torn)) return bytes;
  return static_cast<std::size_t>(world_.random().below(bytes));
}

std::int64_t SimFiles::read(int file, std::uint64_t offset, std::span<std::byte> into) {
  if (const int failed = error()) return failed;
  const auto found = handles_.find(file);
  if (found == handles_.end()) return -EBADF;
  const Bytes& from = found->second.file->bytes;
  if (offset >= from.size()) return 0;
  const auto size = std::min<std::uint64_t>(into.size(), from.size() - offset);
  std::memcpy(into.data(), from.data() + offset, size);
  move(size);
  return static_cast<std::int64_t>(size);
}

std::int64_t SimFiles::size(int file) {
  if (const int failed = error()) return failed;
  const auto found = handles_.find(file);
  return found == handles_.end() ? -EBADF : static_cast<std::int64_t>(found->second.file->bytes.size());
}

int SimFiles::changed(int file, std::int64_t& nanoseconds) {
  if (const int failed = error()) return failed;
  const auto found = handles_.find(file);
  if (found == handles_.end()) return -EBADF;
  nanoseconds = static_cast<std::int64_t>(found->second.file->changed_s * 1e9);
  return 0;
}

// What is to be safe is so half-way: a crash in the second half finds it safe, with no answer sent.
int SimFiles::sync(int file) {
  work_for(half_a_sync);
  const int result = sync_now(file);
  work_for(half_a_sync);
  return result;
}

int SimFiles::sync_now(int file) {
  const auto found = handles_.find(file);
  if (found == handles_.end()) return -EBADF;
  const int failed = error();
  if (!found->second.file) {
    if (!failed || world_.random().chance(0.5)) sync_folder(found->second.folder);
    return failed;
  }
  File& synced = *found->second.file;
  synced.sync_failed |= failed != 0;
  if (synced.sync_failed) return failed;
  synced.synced = synced.bytes;
  synced.writers.clear();
  return failed;
}

int SimFiles::sync_folder(const std::string& folder) {
  const auto is_in = [&](const auto& entry) { return folder_of(entry.first) == folder; };
  std::erase_if(synced_names_, is_in);
  std::ranges::copy_if(names_, std::inserter(synced_names_, synced_names_.end()), is_in);
  for (auto& [path, synced] : folders_) synced |= folder_of(path) == folder;
  return 0;
}

int SimFiles::rename(const std::string& from, const std::string& to) {
  const int failed = error();
  if (failed && world_.random().chance(0.5)) return failed;
  const auto found = names_.find(from);
  if (found == names_.end()) return -ENOENT;
  names_[to] = found->second;
  names_.erase(from);
  world_.trace().instant(world_.elapsed(), world_.current(), "writes " + to);
  return failed;
}

int SimFiles::unlink(const std::string& path) {
  const int failed = error();
  if (failed && world_.random().chance(0.5)) return failed;
  return names_.erase(path) == 0 ? -ENOENT : failed;
}

int SimFiles::make_folder(const std::string& path) {
  if (const int failed = error()) return failed;
  if (is_folder(path) || names_.contains(path)) return -EEXIST;
  if (!is_folder(folder_of(path))) return -ENOENT;
  folders_[path] = false;
  return 0;
}

int SimFiles::look(const std::string& path, PathKind& kind) {
  kind = names_.contains(path) ? PathKind::file : is_folder(path) ? PathKind::folder : PathKind::nothing;
  return error();
}

int SimFiles::list(const std::string& folder, std::vector<std::string>& names) {
  if (const int failed = error()) return failed;
  if (!is_folder(folder)) return names_.contains(folder) ? -ENOTDIR : -ENOENT;
  for (const auto& [path, file] : names_)
    if (folder_of(path) == folder) names.push_back(path.substr(path.find_last_of('/') + 1));
  return 0;
}

double SimFiles::server_time_s() const {
  constexpr double year_2000 = 946'684'800;
  return year_2000 + std::chrono::duration<double>(world_.elapsed()).count();
}

double SimFiles::wall_time_s() {
  return server_time_s() + std::chrono::duration<double>(world_.clock_ahead()).count();
}

void SimFiles::lose_folders() {
  std::set<std::string> lost;
  for (auto& [path, synced] : folders_) {  // parents come before what is in them
    if (lost.contains(folder_of(path)) || (!synced && world_.random().chance(0.5))) lost.insert(path);
    synced = true;
  }
  const auto is_lost = [&](const auto& entry) { return lost.contains(folder_of(entry.first)); };
  std::erase_if(names_, is_lost);
  std::erase_if(synced_names_, is_lost);
  for (const auto& path : lost) folders_.erase(path);
}

// What is left of the bytes: of each sector that was not synced the old or the new one.
SimFiles::Bytes SimFiles::torn(const File& file) {
  if (file.bytes == file.synced) return file.bytes;
  const auto [least, most] = std::minmax({file.bytes.size(), file.synced.size()});
  Bytes left(least + world_.random().below(most - least + 1));
  for (std::size_t at = 0; at < left.size(); at += sector_bytes) {
    const Bytes& from = world_.random().chance(0.5) ? file.bytes : file.synced;
    const std::size_t end = std::min({at + sector_bytes, left.size(), from.size()});
    if (at < end) std::copy(from.data() + at, from.data() + end, left.data() + at);
  }
  return left;
}

void SimFiles::lose_power() {
  handles_.clear();
  lose_folders();
  std::set<std::string> paths;
  for (const auto* names : {&names_, &synced_names_})
    for (const auto& entry : *names) paths.insert(entry.first);
  Names left;
  for (const auto& path : paths) {
    const auto now = names_.find(path), synced = synced_names_.find(path);
    const FileRef fresh = now == names_.end() ? nullptr : now->second;
    const FileRef old = synced == synced_names_.end() ? nullptr : synced->second;
    const FileRef& file = fresh == old || world_.random().chance(0.5) ? fresh : old;
    if (file) left[path] = file;
  }
  for (auto& [path, file] : left) leave_torn(*file);
  names_ = synced_names_ = std::move(left);
}

void SimFiles::lose_power_of(TrackId task) {
  for (auto& [path, file] : names_)
    if (file->writers.contains(task)) leave_torn(*file);
}

void SimFiles::leave_torn(File& file) {
  file.bytes = torn(file);
  file.synced = file.bytes;
  file.sync_failed = false;
  file.writers.clear();
}

bool SimFiles::flip_a_bit(const std::string& part) {
  std::vector<File*> candidates;
  for (auto& [path, file] : names_)
    if (path.find(part) != std::string::npos && !file->bytes.empty()) candidates.push_back(file.get());
  if (candidates.empty()) return false;
  Bytes& damaged = candidates[world_.random().below(candidates.size())]->bytes;
  const auto bit = world_.random().below(damaged.size() * 8);
  damaged[bit / 8] ^= std::byte(1u << (bit % 8));
  return true;
}

}  // namespace actorflow
