#include "actors/events/event_writer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"
#include "schema/tfrecord.h"

namespace actorflow {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

EventWriter::EventWriter(Storage& storage, std::string folder, EventWriterOptions options)
    : storage_(storage),
      folder_(expect_path("EventWriter", std::move(folder))),
      options_(std::move(options)) {
  if (!options_.now_s) options_.now_s = [&storage] { return storage.wall_time_s(); };
}

EventWriter::~EventWriter() {
  try {
    flush();
  } catch (const std::exception& error) {
    spdlog::warn("the last events are lost: {}", error.what());
  }
}

void EventWriter::write(std::int64_t step, std::vector<Summary> summaries) {
  add(step, std::move(summaries));
}

void EventWriter::scalar(std::int64_t step, std::string tag, double value) {
  write(step, {{std::move(tag), ScalarSummary{value}}});
}

void EventWriter::graph(const GraphDef& graph) {
  add(0, Event::GraphEvent{encode_tensorflow_graph(graph)});
}

void EventWriter::session_start(std::int64_t step) { add(step, Event::SessionStart()); }

void EventWriter::add(std::int64_t step, decltype(Event::what) what) {
  constexpr std::size_t max_waiting_bytes = 1 << 20;
  const double now_s = options_.now_s();
  if (path_.empty()) open(now_s);
  append_event({now_s, step, std::move(what)});
  if (waiting_.size() >= max_waiting_bytes || now_s - flushed_s_ >= options_.flush_interval_s) flush();
}

void EventWriter::append_event(const Event& event) { append_record(waiting_, encode_event(event)); }

// A file of that name may be there: of a writer that came before in the same second.
void EventWriter::open(double now_s) {
  const auto name = fmt::format("{}/events.out.tfevents.{:010}.{}", folder_,
                                static_cast<std::int64_t>(now_s), options_.host);
  std::string path = name + options_.suffix;
  for (int number = 1; storage_.exists(path); ++number)
    path = fmt::format("{}.{}{}", name, number, options_.suffix);
  path_ = std::move(path);
  flushed_s_ = now_s;
  append_event({now_s, 0, Event::Version()});
}

void EventWriter::flush() {
  if (waiting_.empty()) return;
  const auto records = std::exchange(waiting_, {});
  const std::string path = std::exchange(path_, {});
  storage_.append(path, records);
  path_ = path;
  flushed_s_ = options_.now_s();
}

}  // namespace actorflow
