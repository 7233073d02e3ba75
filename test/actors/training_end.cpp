// The mark that training is complete: what it says, to whom it counts, and what damage does.
#include "actors/monitored/training_end.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "test/actors/support/memory_storage.h"
#include "test/support/log_lines.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(training_end)

using namespace actorflow;
using test::LogLines;
using test::says;

namespace {

const std::string folder = "checkpoints", mark = folder + "/training-complete";

// A folder with a checkpoint of step 10.
struct Saved {
  MemoryStorage disk;

  Saved() { save(10); }
  void save(std::int64_t step) {
    save_checkpoint(disk, folder,
                    {.global_step = step, .tensors = {{"w", Tensor::of<float>({1}, {2.0F})}}});
  }
  void write(const std::string& text) { disk.write_atomically(mark, std::as_bytes(std::span(text))); }
  std::string text() {
    const auto bytes = disk.read(mark);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

// A disk that answers nothing.
class LostDisk final : public Storage {
 public:
  std::unique_ptr<NewFile> create(const std::string&) override { refuse(); }
  std::unique_ptr<OpenFile> open(const std::string&) override { refuse(); }
  void append(const std::string&, std::span<const std::byte>) override { refuse(); }
  bool exists(const std::string&) override { refuse(); }
  std::vector<std::string> list(const std::string&) override { refuse(); }
  void remove(const std::string&) override { refuse(); }
  void sync(const std::string&) override { refuse(); }
  double wall_time_s() override { return 1.7e9; }

 private:
  [[noreturn]] static void refuse() { throw StorageError(Code::disk_error, "the disk is lost"); }
};

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// What is said when it is asked for three times.
std::string said_of(Storage& disk) {
  LogLines log;
  EndMark end_mark(disk, folder);
  for (int look = 0; look < 3; ++look) BOOST_TEST(end_mark.why_complete(10).empty());
  return log.all();
}

}  // namespace

BOOST_AUTO_TEST_CASE(it_counts_for_as_many_steps_or_fewer) {
  Saved saved;
  BOOST_TEST(!is_complete(saved.disk, folder, 10));
  mark_complete(saved.disk, folder, 10);
  BOOST_TEST(is_complete(saved.disk, folder, 10));
  BOOST_TEST(is_complete(saved.disk, folder, 9));
  BOOST_TEST(!is_complete(saved.disk, folder, 11));
  BOOST_TEST(EndMark(saved.disk, folder).why_complete(9) ==
             "training is complete: " + mark + " says so of 10 steps, and 9 are wanted");
}

BOOST_AUTO_TEST_CASE(without_a_folder_or_steps_nothing_is_complete) {
  Saved saved;
  mark_complete(saved.disk, folder, 10);
  BOOST_TEST(!is_complete(saved.disk, "", 10));
  BOOST_TEST(!is_complete(saved.disk, folder, 0));
  BOOST_TEST(!is_complete(saved.disk, "another", 10));
}

BOOST_AUTO_TEST_CASE(training_that_has_ended_early_is_complete_for_all_its_steps) {
  Saved saved;
  mark_complete(saved.disk, folder, 50);
  BOOST_TEST(is_complete(saved.disk, folder, 50));
  BOOST_TEST(read_training_end(saved.disk, folder)->checkpoint == "step-10.manifest");
}

// Whoever removes the checkpoints begins another training, whose first steps must not look complete.
BOOST_AUTO_TEST_CASE(a_mark_whose_checkpoint_has_gone_is_of_another_training) {
  Saved saved;
  mark_complete(saved.disk, folder, 10);
  std::erase_if(saved.disk.files,
                [](const auto& file) { return file.first.find("/step-") != file.first.npos; });
  saved.save(3);
  const std::string said = said_of(saved.disk);
  BOOST_TEST(
      times(said, "is of another training, whose last checkpoint, step-10.manifest, is not there") == 1,
      said);
}

BOOST_AUTO_TEST_CASE(later_checkpoints_beside_the_last_one_change_nothing) {
  Saved saved;
  mark_complete(saved.disk, folder, 10);
  saved.save(12);
  BOOST_TEST(is_complete(saved.disk, folder, 10));
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_is_found) {
  Saved saved;
  mark_complete(saved.disk, folder, 10);
  const std::string whole = saved.text();
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    saved.write(damaged);
    BOOST_CHECK_EXCEPTION(read_training_end(saved.disk, folder), Error,
                          says("'" + mark + "' should say that training is complete, but is damaged"));
  }
}

BOOST_AUTO_TEST_CASE(every_truncation_and_foreign_bytes_are_found) {
  Saved saved;
  mark_complete(saved.disk, folder, 10);
  const std::string whole = saved.text();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    saved.write(whole.substr(0, size));
    BOOST_CHECK_THROW(read_training_end(saved.disk, folder), Error);
  }
  for (const std::string& foreign :
       {std::string(" "), std::string("ten\n"), std::string("10"), std::string("10\n\n"),
        std::string("99999999999999999999\n"), std::string(64, '\0'), whole + whole}) {
    saved.write(foreign);
    BOOST_CHECK_THROW(read_training_end(saved.disk, folder), Error);
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_mark_is_named_once_and_counts_for_nothing) {
  Saved saved;
  saved.write("10 steps");
  const std::string said = said_of(saved.disk);
  BOOST_TEST(times(said, "goes on as if training were not complete: '" + mark) == 1, said);
}

BOOST_AUTO_TEST_CASE(a_mark_that_cannot_be_read_counts_for_nothing) {
  LostDisk disk;
  const std::string said = said_of(disk);
  BOOST_TEST(times(said, "goes on as if training were not complete: the disk is lost") == 1, said);
}

BOOST_AUTO_TEST_CASE(the_number_that_an_earlier_version_wrote_counts) {
  Saved saved;
  saved.write("10\n");
  BOOST_TEST(is_complete(saved.disk, folder, 10));
  BOOST_TEST(!is_complete(saved.disk, folder, 11));
}

BOOST_AUTO_TEST_SUITE_END()
