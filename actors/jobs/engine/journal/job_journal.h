// The journal of a job: which parts have been accepted, and what came of them, so that the job can go on
// after the loss of all its processes.
//
// It is some files in the job's work folder, `journal-00001` to `journal-99999`, beside the chunks that
// parts have handed over (chunk_file.h). Each run of the job begins a file; so does a run whose disk has
// refused to write, since nobody knows then how the last one ends.
//
//   file  := frame*          the first one is a JournaledJob
//   frame := XXH3 of the rest, run, kind, bytes: 8 bytes each, little-endian; record
//
// A file counts up to the first frame whose checksum does not hold: the rest was being written when the
// power went. Frames of other runs than that of their file's first one do not count: they are of a
// process that does not know that it has been replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "actors/jobs/messages/stage.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// The first frame of a file: which job it belongs to.
struct JournaledJob {
  std::vector<std::string> terms;  // that must be the same, for people to read
  std::uint64_t part_bytes = 0, chunk_bytes = 0;
};
// A stage has begun.
struct JournaledStage {
  StageNumber stage = 0;
  std::vector<std::string> fingerprint;
};
// An attempt was accepted.
struct JournaledPart {
  StageNumber stage = 0;
  std::uint64_t part = 0;
  std::vector<std::uint64_t> skips;  // records of its source that it has left out
  PartOutcome outcome;
};
// The job writes its files into this folder.
struct JournaledOutput {
  std::string folder;
};

// What the earlier runs of a job have achieved.
struct JobHistory {
  struct Stage {
    std::vector<std::string> fingerprint;
    std::map<std::uint64_t, JournaledPart> parts;
  };
  std::optional<JournaledJob> job;  // none: there is no journal
  std::map<StageNumber, Stage> stages;
  std::set<std::string> outputs, files;  // folders, and the files that accepted parts have there
  std::uint32_t last_file = 0;           // its number
  // Files that are named like the journal, but do not begin as one: damaged, or somebody else's.
  std::vector<std::string> unreadable;

  std::size_t parts() const;
};

// Reads the journal in the folder. Throws the errors of the disk.
JobHistory read_history(Storage& storage, const std::string& folder);
// Removes the journal, then the chunks: files whose whole names are those of such files. All else stays.
void remove_history(Storage& storage, const std::string& folder);
// The file for what an attempt of a part hands over.
std::string chunk_file_name(StageNumber stage, std::uint64_t part, std::uint64_t run,
                            std::uint32_t attempt);

// For one thread at a time.
class JobJournal {
 public:
  // `run`: a number that no other run has. Files get numbers above `last_file`.
  JobJournal(Storage& storage, std::string folder, std::uint64_t run, std::uint32_t last_file,
             const JournaledJob& job);

  void add(const JournaledStage& stage);
  void add(const JournaledPart& part);
  void add(const JournaledOutput& output);
  // Writes what was added: when this returns, it survives any crash. If it throws, the next call writes
  // it.
  void write();

  const std::string& folder() const { return folder_; }
  Storage& storage() { return storage_; }
  // Whether the journal has accepted parts, of this run or an earlier one.
  bool has_parts() const { return has_parts_; }

 private:
  void put(const std::vector<std::byte>& frame);

  Storage& storage_;
  const std::string folder_;
  const std::uint64_t run_;
  const std::uint32_t first_file_;
  std::uint32_t file_;  // its number
  bool begun_ = false;  // and may be added to
  bool has_parts_;
  const std::vector<std::byte> head_;  // of each file
  std::vector<std::byte> waiting_;
};

}  // namespace actorflow
