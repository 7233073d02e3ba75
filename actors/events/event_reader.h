// Reads event files, also while they are being written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/runtime/storage.h"
#include "schema/event.h"
#include "schema/tfrecord.h"

namespace actorflow {

// The events of one folder, as they arrive. Not thread-safe.
class EventReader {
 public:
  EventReader(Storage& storage, std::string folder);

  // The events that were added since the last call, file by file in the order of their names. A record
  // that is cut off waits for its rest. Throws what Storage throws. A damaged file throws data_loss
  // once, with its name, and is ignored from then on; the next call returns the events that this one had
  // read.
  std::vector<Event> poll();

 private:
  struct File {
    explicit File(const std::string& path) : records(path) {}
    TfRecordReader records;
    std::uint64_t read_bytes = 0;
    bool damaged = false;
  };
  void read(const std::string& path, File& file);

  Storage& storage_;
  std::string folder_;
  std::map<std::string, File> files_;  // by name
  std::vector<Event> events_;          // read, not returned yet
};

}  // namespace actorflow
