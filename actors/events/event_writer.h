// Writes the event files that TensorBoard reads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "actors/runtime/storage.h"
#include "dataflow/graph/graph.h"
#include "schema/event.h"

namespace actorflow {

std::string host_name();

struct EventWriterOptions {
  // The time of events, since 1970; the storage's by default.
  std::function<double()> now_s = {};
  // A part of the file's name.
  std::string host = host_name();
  // At the end of the file's name: tells the files of several writers of one folder apart.
  std::string suffix = {};
  // What is written reaches the file after so long at the latest, when the next event comes.
  double flush_interval_s = 10;
};

// Appends to one file of a folder, "events.out.tfevents.<seconds>.<host>[.<number>]<suffix>", which is
// new for each writer: TensorBoard takes all such files of a folder for one run. Events reach the file
// whole and in order; a process that is killed leaves a file whose last record may be cut off, which
// readers of event files expect. Not thread-safe.
class EventWriter {
 public:
  // Writes nothing yet.
  EventWriter(Storage& storage, std::string folder, EventWriterOptions options = {});
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  ~EventWriter();  // flushes; a failure is logged

  // Each throws what Storage throws. What could then not be written is lost, and the next event begins a
  // new file, so that no reader finds half a record in the middle of one.
  void write(std::int64_t step, std::vector<Summary> summaries);
  void scalar(std::int64_t step, std::string tag, double value);
  void graph(const GraphDef& graph);
  // Training begins at this step, perhaps anew: TensorBoard drops what it has of it and later ones.
  void session_start(std::int64_t step);
  // Brings everything into the file.
  void flush();

  // The file; "" before the first event.
  const std::string& path() const { return path_; }

 private:
  void add(std::int64_t step, decltype(Event::what) what);
  void append_event(const Event& event);
  void open(double now_s);

  Storage& storage_;
  std::string folder_;
  EventWriterOptions options_;
  std::string path_;
  std::vector<std::byte> waiting_;  // records that are not in the file yet
  double flushed_s_ = 0;
};

}  // namespace actorflow
