// Event files: how they are written, and read while they grow.
#include "actors/events/event_writer.h"

#include <boost/test/unit_test.hpp>

#include "actors/events/event_reader.h"
#include "dataflow/values/error.h"
#include "test/actors/support/memory_storage.h"

using namespace actorflow;

namespace {

// A clock that stands still until it is told to go on.
struct WrittenEvents {
  EventWriterOptions options() {
    return {.now_s = [this] { return now_s; }, .host = "host", .flush_interval_s = 10};
  }
  std::vector<Event> events() { return EventReader(storage, "logs").poll(); }

  MemoryStorage storage;
  double now_s = 1'700'000'000.5;
};

double scalar_of(const Event& event) {
  const auto& summaries = std::get<std::vector<Summary>>(event.what);
  return std::get<ScalarSummary>(summaries.at(0).value).value;
}

// Once told to, it fails after it has written half of what comes.
class FullStorage final : public Storage {
 public:
  std::unique_ptr<NewFile> create(const std::string& path) override { return disk.create(path); }
  std::unique_ptr<OpenFile> open(const std::string& path) override { return disk.open(path); }
  void append(const std::string& path, std::span<const std::byte> bytes) override {
    disk.append(path, full ? bytes.first(bytes.size() / 2) : bytes);
    if (full) throw Error(Code::resource_exhausted, path + ": no space left on device");
  }
  bool exists(const std::string& path) override { return disk.exists(path); }
  std::vector<std::string> list(const std::string& folder) override { return disk.list(folder); }
  void remove(const std::string& path) override { disk.remove(path); }
  void sync(const std::string& folder) override { disk.sync(folder); }
  double wall_time_s() override { return disk.wall_time_s(); }

  MemoryStorage disk;
  bool full = false;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(event_writer, WrittenEvents)

BOOST_AUTO_TEST_CASE(events_come_back_with_step_and_time) {
  {
    EventWriter writer(storage, "logs", options());
    writer.scalar(3, "loss", 0.5);
    now_s += 1;
    writer.scalar(4, "loss", 0.25);
  }
  BOOST_TEST(storage.exists("logs/events.out.tfevents.1700000000.host"));
  const auto all = events();
  BOOST_TEST_REQUIRE(all.size() == 3u);
  BOOST_TEST(std::get<Event::Version>(all[0].what).name == "brain.Event:2");
  BOOST_TEST(all[1].step == 3);
  BOOST_TEST(all[1].wall_time_s == 1'700'000'000.5);
  BOOST_TEST(scalar_of(all[1]) == 0.5);
  BOOST_TEST(all[2].step == 4);
  BOOST_TEST(all[2].wall_time_s == 1'700'000'001.5);
}

BOOST_AUTO_TEST_CASE(a_writer_without_events_makes_no_file) {
  { EventWriter writer(storage, "logs", options()); }
  BOOST_TEST(storage.files.empty());
}

BOOST_AUTO_TEST_CASE(events_reach_the_file_when_the_interval_is_over) {
  EventWriter writer(storage, "logs", options());
  writer.scalar(1, "loss", 1);
  BOOST_TEST(storage.files.empty());
  now_s += 10;
  writer.scalar(2, "loss", 2);
  BOOST_TEST(events().size() == 3u);
  writer.scalar(3, "loss", 3);
  BOOST_TEST(events().size() == 3u);
  writer.flush();
  BOOST_TEST(events().size() == 4u);
}

BOOST_AUTO_TEST_CASE(many_events_reach_the_file_before) {
  EventWriter writer(storage, "logs", options());
  for (int step = 0; step < 100; ++step) writer.scalar(step, std::string(50'000, 'x'), 0);
  BOOST_TEST(events().size() > 50u);
}

BOOST_AUTO_TEST_CASE(each_writer_has_a_file_of_its_own) {
  for (const char* suffix : {"", "", ".eval"}) {
    auto named = options();
    named.suffix = suffix;
    EventWriter(storage, "logs", named).scalar(1, "loss", 1);
  }
  BOOST_TEST(
      storage.list("logs") == (std::vector<std::string>{"events.out.tfevents.1700000000.host",
                                                        "events.out.tfevents.1700000000.host.1",
                                                        "events.out.tfevents.1700000000.host.eval"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_torn_tail_waits_for_its_rest) {
  EventWriter(storage, "logs", options()).scalar(1, "loss", 0.5);
  auto& file = storage.files.begin()->second;
  const auto whole = file;
  EventReader reader(storage, "logs");
  std::size_t read = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    file.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    read += reader.poll().size();
  }
  BOOST_TEST(read == 2u);
  BOOST_TEST(reader.poll().empty());
}

BOOST_AUTO_TEST_CASE(a_damaged_file_is_named_and_the_others_are_read) {
  for (int i = 0; i < 2; ++i) EventWriter(storage, "logs", options()).scalar(i, "loss", i);
  storage.files.begin()->second.back() ^= std::byte{1};
  EventReader reader(storage, "logs");
  BOOST_CHECK_EXCEPTION(reader.poll(), Error, [](const Error& error) {
    return error.code() == Code::data_loss &&
           std::string_view(error.what()).find("logs/events.out.tfevents.1700000000.host'") !=
               std::string_view::npos;
  });
  const auto rest = reader.poll();
  BOOST_TEST(rest.size() == 3u);  // two versions and the good event
  BOOST_TEST(scalar_of(rest.back()) == 1);
}

BOOST_AUTO_TEST_CASE(after_a_full_disk_a_new_file_begins) {
  FullStorage disk;
  EventWriter writer(disk, "logs", options());
  disk.full = true;
  writer.scalar(1, "loss", 1);
  BOOST_CHECK_THROW(writer.flush(), Error);
  disk.full = false;
  writer.scalar(2, "loss", 2);
  writer.flush();
  BOOST_TEST(disk.list("logs").size() == 2u);
  const auto all = EventReader(disk, "logs").poll();
  BOOST_TEST_REQUIRE(!all.empty());
  BOOST_TEST(all.back().step == 2);
}

BOOST_AUTO_TEST_SUITE_END()
