#include "actors/jobs/engine/journal/job_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <regex>
#include <utility>

#include "actors/probes/point.h"
#include "schema/records/key.h"
#include "schema/records/record_codec.h"

namespace actorflow {
namespace {

constexpr const char* journal_name = "journal-";
constexpr const char* chunks_name = "stage-";
// Whole names, those of files in the making included: the folder may have files of others with such
// beginnings.
const std::regex journal_names(R"(journal-\d{5}(\..+-\d+\.tmp)?)"),
    chunks_names(R"(stage-\d{5,}-part-\d{5,}\.[0-9a-f]{16}-\d+(\..+-\d+\.tmp)?)");

Point torn("the end of a job's journal is torn"),
    another_file("a job's journal goes on in another file");

enum class Kind : std::uint64_t { job, stage, part, output };

struct FrameHead {
  std::uint64_t checksum = 0;  // of what follows it
  std::uint64_t run = 0;
  Kind kind{};
  std::uint64_t bytes = 0;  // of the record
};
static_assert(sizeof(FrameHead) == 32);

std::uint64_t checksum_of(std::span<const std::byte> frame) {
  return hash_bytes(frame.subspan(sizeof(FrameHead::checksum)));
}

template <class T>
std::vector<std::byte> frame_of(std::uint64_t run, Kind kind, const T& record) {
  FrameHead head{0, run, kind, encoded_size(record)};
  std::vector<std::byte> frame(sizeof head + head.bytes);
  encode(record, frame.data() + sizeof head);
  std::memcpy(frame.data(), &head, sizeof head);
  head.checksum = checksum_of(frame);
  std::memcpy(frame.data(), &head, sizeof head);
  return frame;
}

// The next frame of the bytes, which it leaves; nothing where none is whole.
std::optional<FrameHead> take_frame(std::span<const std::byte>& bytes,
                                    std::span<const std::byte>& record) {
  FrameHead head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.bytes > bytes.size() - sizeof head) return std::nullopt;
  const auto frame = bytes.first(sizeof head + head.bytes);
  if (head.checksum != checksum_of(frame)) return std::nullopt;
  record = frame.subspan(sizeof head);
  bytes = bytes.subspan(frame.size());
  return head;
}

template <class T>
T decoded(std::span<const std::byte> bytes) {
  RecordReader reader(bytes);
  return decode<T>(reader);
}

// What is said again replaces what was said before.
void take_record(JobHistory& history, Kind kind, std::span<const std::byte> record) {
  if (kind == Kind::job) history.job = decoded<JournaledJob>(record);
  if (kind == Kind::output) history.outputs.insert(decoded<JournaledOutput>(record).folder);
  if (kind == Kind::stage) {
    auto stage = decoded<JournaledStage>(record);
    history.stages[stage.stage].fingerprint = std::move(stage.fingerprint);
  }
  if (kind != Kind::part) return;
  auto part = decoded<JournaledPart>(record);
  for (const auto& file : part.outcome.files) history.files.insert(file.path);
  history.stages[part.stage].parts.insert_or_assign(part.part, std::move(part));
}

// False if the file does not begin as a journal does.
bool take_file(JobHistory& history, std::span<const std::byte> bytes) {
  std::span<const std::byte> record;
  std::optional<std::uint64_t> run;
  while (const auto head = take_frame(bytes, record)) {
    if (!run && head->kind != Kind::job) return false;
    if (!run) run = head->run;
    if (head->run == *run) take_record(history, head->kind, record);
  }
  if (!bytes.empty()) torn.hit();
  return run.has_value();
}

std::uint32_t number_of(const std::string& name) {
  return static_cast<std::uint32_t>(std::strtoul(name.c_str() + std::strlen(journal_name), nullptr, 10));
}

// Sorted.
std::vector<std::string> names_in(Storage& storage, const std::string& folder, const std::regex& form) {
  auto names = storage.list(folder);
  std::erase_if(names, [&](const std::string& name) { return !std::regex_match(name, form); });
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::size_t JobHistory::parts() const {
  std::size_t parts = 0;
  for (const auto& [number, stage] : stages) parts += stage.parts.size();
  return parts;
}

JobHistory read_history(Storage& storage, const std::string& folder) {
  JobHistory history;
  auto names = names_in(storage, folder, journal_names);
  std::ranges::stable_sort(names, {}, number_of);
  for (const auto& name : names) {
    history.last_file = std::max(history.last_file, number_of(name));
    if (name.ends_with(".tmp")) continue;
    std::string path = folder + "/" + name;
    if (!take_file(history, storage.read(path))) history.unreadable.push_back(std::move(path));
  }
  return history;
}

void remove_history(Storage& storage, const std::string& folder) {
  for (const std::regex* form : {&journal_names, &chunks_names}) {
    const auto names = names_in(storage, folder, *form);
    for (const auto& name : names) storage.remove(folder + "/" + name);
    if (!names.empty()) storage.sync(folder);
  }
}

std::string chunk_file_name(StageNumber stage, std::uint64_t part, std::uint64_t run,
                            std::uint32_t attempt) {
  return fmt::format("{}{:05}-part-{:05}.{:016x}-{}", chunks_name, stage, part, run, attempt);
}

JobJournal::JobJournal(Storage& storage, std::string folder, std::uint64_t run, std::uint32_t last_file,
                       const JournaledJob& job)
    : storage_(storage),
      folder_(std::move(folder)),
      run_(run),
      first_file_(last_file + 1),
      file_(last_file),
      has_parts_(last_file > 0),
      head_(frame_of(run, Kind::job, job)) {}

void JobJournal::add(const JournaledStage& stage) { put(frame_of(run_, Kind::stage, stage)); }

void JobJournal::add(const JournaledPart& part) {
  put(frame_of(run_, Kind::part, part));
  has_parts_ = true;
}

void JobJournal::add(const JournaledOutput& output) { put(frame_of(run_, Kind::output, output)); }

void JobJournal::put(const std::vector<std::byte>& frame) {
  waiting_.insert(waiting_.end(), frame.begin(), frame.end());
}

void JobJournal::write() {
  const auto path_of = [this](std::uint32_t file) {
    return fmt::format("{}/{}{:05}", folder_, journal_name, file);
  };
  if (std::exchange(begun_, false)) {
    if (!waiting_.empty()) storage_.append_synced(path_of(file_), waiting_);
  } else {
    const std::uint32_t next = file_ + 1;  // until it is written, however often that is tried
    if (next > first_file_) another_file.hit();
    std::vector<std::byte> bytes = head_;
    bytes.insert(bytes.end(), waiting_.begin(), waiting_.end());
    storage_.write_atomically(path_of(next), bytes);
    file_ = next;
  }
  waiting_.clear();
  begun_ = true;
}

}  // namespace actorflow
