#include "actors/simulation/sim_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dataflow/error.h"

namespace actorflow {
namespace {

using namespace std::chrono_literals;

constexpr double bytes_per_second = 500e6;
constexpr auto sync_time = 2ms;

}  // namespace

class SimStorage::Writer final : public NewFile {
 public:
  Writer(SimStorage& storage, std::string path) : storage_(storage), path_(std::move(path)) {}
  ~Writer() override { storage_.used_ -= reserved_; }

  void write(std::span<const std::byte> bytes) override {
    storage_.reserve(path_, bytes.size());
    reserved_ += bytes.size();
    storage_.take_time(bytes.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void commit() override {
    storage_.world_.charge(sync_time);
    reserved_ = 0;
    storage_.replace(path_, std::move(bytes_));
  }

 private:
  SimStorage& storage_;
  const std::string path_;
  Bytes bytes_;
  std::size_t reserved_ = 0;
};

class SimStorage::Reader final : public OpenFile {
 public:
  Reader(SimStorage& storage, std::string path, std::shared_ptr<const Bytes> bytes)
      : storage_(storage), path_(std::move(path)), bytes_(std::move(bytes)) {}

  std::uint64_t size_bytes() override { return bytes_->size(); }
  void read(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset > bytes_->size() || into.size() > bytes_->size() - offset)
      throw Error(Code::data_loss,
                  fmt::format("{}: expected {} bytes at {}, but the file has {}", path_, into.size(),
                              offset, bytes_->size()));
    storage_.take_time(into.size());
    if (!into.empty()) std::memcpy(into.data(), bytes_->data() + offset, into.size());
  }

 private:
  SimStorage& storage_;
  const std::string path_;
  const std::shared_ptr<const Bytes> bytes_;
};

void SimStorage::take_time(std::size_t bytes) {
  world_.charge(std::chrono::nanoseconds(
      static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) / bytes_per_second)));
}

void SimStorage::reserve(const std::string& path, std::size_t bytes) {
  if (bytes > capacity_ || used_ > capacity_ - bytes)
    throw Error(Code::resource_exhausted,
                fmt::format("{}: cannot write {} bytes: no space left on the disk, which has {} of {} "
                            "bytes in use",
                            path, bytes, used_, capacity_));
  used_ += bytes;
}

// The bytes have been counted.
void SimStorage::replace(const std::string& path, Bytes bytes) {
  File& file = files_[path];
  if (file.bytes) used_ -= file.bytes->size();
  file = {std::make_shared<const Bytes>(std::move(bytes)), {}, 0};
  world_.trace().instant(world_.elapsed(), world_.current(), "writes " + path);
}

std::unique_ptr<NewFile> SimStorage::create(const std::string& path) {
  return std::make_unique<Writer>(*this, path);
}

std::unique_ptr<OpenFile> SimStorage::open(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) throw Error(Code::not_found, fmt::format("there is no file {}", path));
  return std::make_unique<Reader>(*this, path, found->second.bytes);
}

void SimStorage::append(const std::string& path, std::span<const std::byte> bytes) {
  reserve(path, bytes.size());
  take_time(bytes.size());
  File& file = files_[path];
  Bytes grown = file.bytes ? *file.bytes : Bytes{};
  const std::size_t before = grown.size();
  grown.insert(grown.end(), bytes.begin(), bytes.end());
  file = {std::make_shared<const Bytes>(std::move(grown)), world_.now(), before};
}

bool SimStorage::exists(const std::string& path) { return files_.contains(path); }

std::vector<std::string> SimStorage::list(const std::string& folder) {
  const std::string prefix = folder + "/";
  std::vector<std::string> names;
  for (const auto& entry : files_)
    if (entry.first.starts_with(prefix) && entry.first.find('/', prefix.size()) == std::string::npos)
      names.push_back(entry.first.substr(prefix.size()));
  return names;
}

void SimStorage::remove(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) return;
  used_ -= found->second.bytes->size();
  files_.erase(found);
}

double SimStorage::wall_time_s() {
  constexpr double year_2000 = 946'684'800;
  return year_2000 + std::chrono::duration<double>(world_.elapsed()).count();
}

void SimStorage::tear_appended() {
  for (auto& [path, file] : files_) {
    if (file.appended == World::Time{} || world_.now() - file.appended > 5s) continue;
    const auto grown = file.bytes->size() - file.size_before;
    Bytes torn = *file.bytes;
    torn.resize(file.size_before + static_cast<std::size_t>(world_.random().below(grown + 1)));
    used_ -= file.bytes->size() - torn.size();
    file = {std::make_shared<const Bytes>(std::move(torn)), {}, 0};
  }
}

bool SimStorage::flip_a_bit(const std::string& part) {
  std::vector<File*> candidates;
  for (auto& [path, file] : files_)
    if (path.find(part) != std::string::npos && !file.bytes->empty()) candidates.push_back(&file);
  if (candidates.empty()) return false;
  File& file = *candidates[world_.random().below(candidates.size())];
  Bytes damaged = *file.bytes;
  const auto bit = world_.random().below(damaged.size() * 8);
  damaged[bit / 8] ^= std::byte(1u << (bit % 8));
  file.bytes = std::make_shared<const Bytes>(std::move(damaged));
  return true;
}

}  // namespace actorflow
