#include "actors/jobs/slices/scratch_folders.h"

#include <spdlog/spdlog.h>

#include <cstdint>
#include <span>
#include <utility>

#include "dataflow/values/comma_list.h"

namespace actorflow {

struct ScratchFolders::Folder {
  explicit Folder(std::string p) : path(std::move(p)) {}

  void note(const StorageError& error) {
    if (!refuses.exchange(true))
      spdlog::warn("nothing more is put aside in '{}' while another folder takes it: {}", path,
                   error.what());
  }

  const std::string path;
  std::atomic<bool> refuses{false};
};

// Notes what its folder refuses. The part that has the file begins again, with another one.
class ScratchFolders::File final : public ScratchFile {
 public:
  File(std::unique_ptr<ScratchFile> file, std::shared_ptr<Folder> folder)
      : file_(std::move(file)), folder_(std::move(folder)) {}

  std::uint64_t append(std::span<const std::byte> bytes) override {
    try {
      return file_->append(bytes);
    } catch (const StorageError& error) {
      folder_->note(error);
      throw;
    }
  }
  void read(std::uint64_t offset, std::span<std::byte> into) override {
    try {
      file_->read(offset, into);
    } catch (const StorageError& error) {
      folder_->note(error);
      throw;
    }
  }

 private:
  const std::unique_ptr<ScratchFile> file_;
  const std::shared_ptr<Folder> folder_;
};

ScratchFolders::ScratchFolders(Storage& storage, const std::string& list) : storage_(storage) {
  for (std::string& folder : split_at_commas(list))
    if (!folder.empty()) folders_.push_back(std::make_shared<Folder>(std::move(folder)));
  if (folders_.empty()) folders_.push_back(std::make_shared<Folder>(std::string()));
}

// Where all have refused, each may have room again.
std::shared_ptr<ScratchFolders::Folder> ScratchFolders::next() {
  for (std::size_t i = 0; i < folders_.size(); ++i)
    if (const auto& folder = folders_[files_++ % folders_.size()]; !folder->refuses) return folder;
  for (const auto& folder : folders_) folder->refuses = false;
  return folders_[files_++ % folders_.size()];
}

std::unique_ptr<ScratchFile> ScratchFolders::file() {
  if (folders_.size() == 1) return storage_.scratch(folders_.front()->path);
  for (std::size_t tries = folders_.size();;) {
    auto folder = next();
    try {
      auto file = storage_.scratch(folder->path);
      return std::make_unique<File>(std::move(file), std::move(folder));
    } catch (const StorageError& error) {
      if (--tries == 0) throw;
      folder->note(error);
    }
  }
}

}  // namespace actorflow
