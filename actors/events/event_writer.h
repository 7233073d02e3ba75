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

// The name of this machine.
std::string host_name();

struct EventWriterOptions {
  // The time of events, since 1970; the storage's by default.
  std::function<double()> now_s = {};
  // A part of the file's name.
  std::string host = host_name();
  // The end of the file's name, which distinguishes several writers of one folder.
  std::string suffix = {};
  // The longest time that an event waits before it is written to the file, when the next event comes.
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

  // Each throws what Storage throws. Events that could not be written are lost, and the next event
  // begins a new file, so that no reader finds half a record in the middle of a file.
  void write(std::int64_t step, std::vector<Summary> summaries);
  void scalar(std::int64_t step, std::string tag, double value);
  void graph(const GraphDef& graph);
  // Marks the start, or restart, of training at this step: TensorBoard drops earlier records of that
  // step and later ones.
  void session_start(std::int64_t step);
  // Writes all events to the file.
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
