#include "actors/jobs/outputs/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include "actors/jobs/engine/expect_folder.h"
#include "actors/jobs/outputs/column_folders.h"
#include "schema/checksum.h"
#include "schema/json.h"

namespace actorflow {
namespace {

constexpr const char* success_mark = "_SUCCESS";

// What an earlier job has left: its files, and those in the making of one that was killed.
bool is_of_a_job(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return name.starts_with(success_mark) || (name.starts_with("part-") && name.find("-of-") != name.npos);
}

void expect_output(Storage& storage, const std::string& folder) {
  expect_folder(storage, "the output", "a folder that is empty or not there", folder);
}

// The folder under one name, whichever the job has given it. Only real disks have links.
std::filesystem::path place_of(Storage& storage, const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code failure;
  fs::path place = fs::absolute(folder);
  if (&storage == &posix_storage())
    if (fs::path resolved = fs::weakly_canonical(place, failure); !failure) place = std::move(resolved);
  return (place / "").lexically_normal();
}

// Before all the work whose result could not be written. Only the first task has to: parts run again
// where they may write.
void expect_writable(JobContext& job, const std::string& folder) {
  namespace fs = std::filesystem;
  if (&job.storage() != &posix_storage() || !job.engine().coordinates()) return;
  std::error_code unknown;
  fs::path there = fs::absolute(folder);
  while (!fs::exists(there, unknown) && there.has_relative_path()) there = there.parent_path();
  const int refusal = access(there.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
  if (refusal == EACCES || refusal == EROFS)
    throw Error(Code::permission_denied,
                fmt::format("the output folder '{}' cannot be written: '{}': {}; give another one",
                            folder, there.string(), std::strerror(refusal)));
}

// A job reads its files when it needs them, and again after a loss: they must stay until it has ended.
void expect_nothing_of_this_job(JobContext& job, const std::string& folder) {
  const auto place = place_of(job.storage(), folder);
  const auto is_here = [&](const std::string& other) { return place_of(job.storage(), other) == place; };
  if (std::ranges::any_of(job.folders().read, is_here))
    throw invalid_argument(
        fmt::format("the output folder '{}' has files that the job reads: give another folder", folder));
  if (std::ranges::any_of(job.folders().written, is_here))
    throw invalid_argument(fmt::format(
        "the job has written a result to '{}' already: give each result a folder of its own", folder));
}

// Attempts whose process was killed have left files in the making.
void remove_unfinished(Storage& storage, const std::string& folder,
                       const std::vector<PartOutcome>& outcomes) {
  std::set<std::string> made, folders{folder};  // all attempts of a part write into the same folders
  for (const auto& outcome : outcomes)
    for (const auto& file : outcome.files) {
      made.insert(file.path);
      folders.insert(file.path.substr(0, file.path.find_last_of('/')));
    }
  for (const auto& each : folders)
    for (const auto& name : storage.list(each))
      if (const std::string path = each + "/" + name; is_of_a_job(name) && !made.contains(path))
        storage.remove(path);
}

// A job that is resumed, but had ended when its process was lost, finds its own result.
const char* advice_for_output(JobContext& job, const std::vector<std::string>& names) {
  if (std::ranges::find(names, success_mark) == names.end())
    return "it is what a job has left that has not ended, which --overwrite removes; a job with "
           "--work_folder and --resume goes on there";
  if (job.options().resume)
    return "a job has ended there, and there is nothing to resume: if it was this one, all is done; "
           "else give a new one, or --overwrite";
  return "give a new one, or --overwrite";
}

}  // namespace

std::string part_name(std::size_t part, std::size_t parts, const char* extension) {
  return fmt::format("part-{:05}-of-{:05}{}", part, parts, extension);
}

void detail::throw_line_break(std::string_view text) {
  constexpr std::size_t around = 40;  // bytes on both sides are shown
  throw OperatorFailure(
      Code::invalid_argument,
      fmt::format("write_text: expected texts of one line, got {:?}: replace its line breaks, or write "
                  "the records by write_parquet()",
                  text.substr(std::max(text.find('\n'), around) - around, 2 * around)));
}

// Where the bytes of the file end up, compressed or not.
class PartFile::OnDisk final : public ByteSink {
 public:
  OnDisk(NewFile& file, FileMade& made) : file_(file), made_(made) {}

  void write(std::span<const std::byte> bytes) override {
    file_.write(bytes);
    checksum_.update(bytes);
    made_.bytes += bytes.size();
  }
  void finish() override { made_.checksum = checksum_.value(); }

 private:
  NewFile& file_;
  FileMade& made_;
  Checksum checksum_;
};

PartFile::PartFile(Part& part, const std::string& folder, std::string name, Compression compression)
    : part_(part) {
  made_.path = folder + "/" + std::move(name) + extension_of(compression);
  sink_ = compressed(std::make_unique<OnDisk>(part.create(made_.path), made_), compression);
}

void PartFile::write(std::span<const char> bytes, std::uint64_t records) {
  sink_->write(std::as_bytes(bytes));
  made_.records += records;
}

void PartFile::finish() {
  sink_->finish();
  part_.made(std::move(made_));
}

void expect_output(JobContext& job) {
  const auto& given = job.options().parameters;
  const auto output = given.find("output");
  if (output == given.end() || job.options().explain || !job.engine().coordinates()) return;
  expect_output(job.storage(), output->second);
  expect_writable(job, output->second);
}

void prepare_output(JobContext& job, const std::string& folder) {
  job.expect_known_parameters();
  if (folder.empty()) throw invalid_argument("the job writes files: give --output");
  Storage& storage = job.storage();
  expect_output(storage, folder);
  expect_writable(job, folder);
  expect_nothing_of_this_job(job, folder);
  const auto names = output_files(storage, folder);
  const auto foreign = std::ranges::find_if_not(names, is_of_a_job);
  if (foreign != names.end())
    throw Error(
        Code::already_exists,
        fmt::format("the output folder '{}' has a file that is of no job, '{}': give a new folder",
                    folder, *foreign));
  const auto made = job.engine().earlier_files(folder);
  if (!names.empty() && !made && !job.options().overwrite)
    throw Error(Code::already_exists, fmt::format("the output folder '{}' is not empty: {}", folder,
                                                  advice_for_output(job, names)));
  if (!made) job.engine().begin_output(folder);
  if (std::ranges::find(names, success_mark) != names.end()) {
    storage.remove(folder + "/" + success_mark);  // first: what is left is no whole result
    storage.sync(folder);                         // nor is it after a loss of power
  }
  for (const auto& name : names)
    if (!made || !made->contains(folder + "/" + name)) storage.remove(folder + "/" + name);
}

void finish_output(JobContext& job, const std::string& folder,
                   const std::vector<PartOutcome>& outcomes) {
  job.folders().written.insert(folder);
  std::vector<std::int64_t> records, bytes;
  std::vector<std::string> names, checksums;  // these in digits, as xxhsum prints them
  for (const auto& outcome : outcomes)
    for (const auto& file : outcome.files) {
      names.push_back(file.path.substr(folder.size() + 1));
      records.push_back(static_cast<std::int64_t>(file.records));
      bytes.push_back(static_cast<std::int64_t>(file.bytes));
      checksums.push_back(fmt::format("{:016x}", file.checksum));
    }
  JsonMembers members{{"files", names}, {"records", records}, {"bytes", bytes}, {"xxh64", checksums}};
  for (const auto& [name, count] : job.counters()) members.emplace_back("counter " + name, count);
  const std::string text = json_object(members);
  job.engine().insist_on_disk([&] {
    remove_unfinished(job.storage(), folder, outcomes);
    job.storage().write_atomically(folder + "/" + success_mark, std::as_bytes(std::span(text)));
  });
}

}  // namespace actorflow
