#include <sys/stat.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "schema/parquet/parquet_file.h"
#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(errors)

using namespace actorflow;
using test::small_parts;

namespace {

bool has(const Status& status, const std::string& part) {
  return status.message.find(part) != std::string::npos;
}

std::int64_t number(std::string_view text) {
  if (text == "bad") throw std::out_of_range("no number");
  return std::stoll(std::string(text));
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_function_throws_names_operator_file_byte_and_record) {
  const test::Folder folder;
  test::write_file(folder.file("in.txt"), "1\n22\nbad\n4\n");
  Job job(small_parts());
  const Status status =
      test::status_of([&] { job.read_text(folder.file("in.txt")).map(number).count(); });
  BOOST_TEST((status.code == Code::unknown), status.to_string());
  BOOST_TEST(has(status, "map at errors.cpp:"), status.message);
  BOOST_TEST(has(status, "threw: no number"));
  BOOST_TEST(has(status, "file '" + folder.file("in.txt") + "' at byte 5: \"bad\""), status.message);
}

BOOST_AUTO_TEST_CASE(a_function_behind_another_is_the_one_that_is_named) {
  Job job(small_parts());
  const auto mapped =
      job.from(std::vector<std::string>{"1", "bad"}).map([](const std::string& text) { return text; });
  const Status in_flat_map = test::status_of([&] {
    mapped.flat_map([](const std::string& text) { return std::vector{number(text)}; }).count();
  });
  BOOST_TEST(has(in_flat_map, "flat_map at errors.cpp"), in_flat_map.message);
  const Status in_fold = test::status_of([&] {
    mapped.flat_map([](const std::string& text) {
            return std::vector{text, text};
          })
        .map([](std::string text) {
          return std::pair{1, std::move(text)};
        })
        .reduce_by_key(
            [](const std::string&, const std::string& b) { return std::to_string(number(b)); })
        .count();
  });
  BOOST_TEST(has(in_fold, "reduce_by_key at errors.cpp"), in_fold.message);
}

BOOST_AUTO_TEST_CASE(what_a_function_of_a_key_throws_is_treated_like_any_other) {
  const test::Folder folder;
  test::write_file(folder.file("in.txt"), "1\n22\nbad\n4\n");
  JobOptions options = small_parts();
  options.partitions = 3;
  for (const bool sorts : {true, false}) {
    const std::string op = sorts ? "sort_by at errors.cpp:" : "top at errors.cpp:";
    const auto result_of = [&](const Job& job) {
      const auto lines = job.read_text(folder.file("in.txt"));
      return sorts ? lines.sort_by(number).collect() : lines.top(9, number).collect();
    };
    options.skip_bad_records = 0;
    const Status status = test::status_of([&] { result_of(Job(options)); });
    BOOST_TEST(has(status, op), status.message);
    BOOST_TEST(has(status, "threw: no number"), status.message);
    BOOST_TEST(has(status, "file '" + folder.file("in.txt") + "' at byte 5: \"bad\""), status.message);
    options.skip_bad_records = 1;
    const Job job(options);
    BOOST_TEST(result_of(job).size() == 3u);
    BOOST_TEST(job.counters()["skipped records"] == 1);
  }
}

BOOST_AUTO_TEST_CASE(bad_records_are_skipped_up_to_their_number_and_leave_nothing_behind) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) texts.push_back(i % 250 == 7 ? "bad" : "1");
  JobOptions options = small_parts();
  options.skip_bad_records = 4;
  Job job(options);
  const Counter seen = job.counter("seen");
  // Half of a bad record is given away before it throws; it must not count.
  const auto numbers = job.from(texts, 3).flat_map([seen](const std::string& text) {
    seen.add();
    return std::views::iota(0, 2) |
           std::views::transform([text](int i) { return i == 0 ? 1 : number(text); });
  });
  BOOST_TEST(numbers.count() == 2u * 996);
  BOOST_TEST(job.counters()["skipped records"] == 4);
  BOOST_TEST(job.counters()["seen"] == 996);

  options.skip_bad_records = 3;
  options.threads = 1;
  Job strict(options);
  const Status status = test::status_of([&] { strict.from(texts, 3).map(number).count(); });
  BOOST_TEST(has(status, "no number"), status.message);
  BOOST_TEST(has(status,
                 "; 3 bad records were left out before it, which is all that --skip_bad_records "
                 "3 allows: record 7 of part 0 of from, map, count, record 257 of part 0 of "
                 "from, map, count, record 174 of part 1 of from, map, count"),
             status.message);
}

BOOST_AUTO_TEST_CASE(one_bad_record_too_many_names_where_the_first_of_them_are) {
  const test::Folder folder;
  const std::string file = folder.file("in.txt");
  test::write_file(file, "1\nbad\nbad\n2\nbad\nbad\nbad\n");
  JobOptions options = small_parts();
  options.split_bytes = 1 << 20;
  for (const std::uint64_t allowed : {0, 1, 4}) {
    options.skip_bad_records = allowed;
    const Status status = test::status_of([&] { Job(options).read_text(file).map(number).count(); });
    const auto places = status.message.find("; " + std::to_string(allowed) + " bad record");
    const std::string said = places == std::string::npos ? "" : status.message.substr(places);
    BOOST_TEST(said == (allowed == 0   ? ""
                        : allowed == 1 ? "; 1 bad record was left out before it, which is all that "
                                         "--skip_bad_records 1 allows: file '" +
                                             file + "' at byte 2"
                                       : "; 4 bad records were left out before it, which is all that "
                                         "--skip_bad_records 4 allows: file '" +
                                             file + "' at byte 2, file '" + file +
                                             "' at byte 6, file '" + file + "' at byte 12, ..."));
  }
}

BOOST_AUTO_TEST_CASE(bad_records_are_skipped_where_they_were_kept_and_shuffled) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1000; ++i) texts.push_back(i % 250 == 7 ? "bad" : std::to_string(i));
  JobOptions options = small_parts();
  options.skip_bad_records = 8;
  Job job(options);
  const auto sum = [](const auto& of) {
    return of.map(number).fold(std::int64_t{0}, std::plus<>(), std::plus<>());
  };
  const std::int64_t expected = 999 * 500 - (7 + 257 + 507 + 757);
  const auto input = job.from(texts, 3);
  BOOST_TEST(sum(input.cache()) == expected);
  BOOST_TEST(sum(input.partition_by(5)) == expected);
  BOOST_TEST(job.counters()["skipped records"] == 8);
}

BOOST_AUTO_TEST_CASE(a_row_that_does_not_fit_names_its_column) {
  const test::Folder folder;
  test::write_file(folder.file("in.csv"), "a,1\nb,x\n");
  Job job(small_parts());
  const Status status = test::status_of(
      [&] { job.read_csv<std::pair<std::string, std::int64_t>>(folder.file("in.csv")).count(); });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(has(status, "column 2: expected int64, got 'x'"), status.message);
  BOOST_TEST(has(status, "at byte 4: \"b,x\""), status.message);
}

BOOST_AUTO_TEST_CASE(an_input_that_can_be_read_once_only_is_refused) {
  const test::Folder folder;
  BOOST_TEST_REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  Job job(small_parts());
  for (const std::string& path : {folder.file("pipe"), std::string("/dev/null")}) {
    const Status status = test::status_of([&] { job.read_text(path); });
    BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
    BOOST_TEST(has(status, "'" + path + "' is neither a file nor a folder"), status.message);
  }
}

BOOST_AUTO_TEST_CASE(an_input_that_is_not_there_is_named) {
  const test::Folder folder;
  Job job(small_parts());
  for (const std::string name : {"nothing.txt", "*.txt", "folder/"}) {
    const Status status = test::status_of([&] { job.read_text(folder.file(name)); });
    BOOST_TEST((status.code == Code::not_found), status.to_string());
    BOOST_TEST(has(status, "there is no file for the input '" + folder.file(name) + "'"),
               status.message);
  }
  BOOST_TEST((test::status_of([&] { job.read_text(""); }).code == Code::invalid_argument));
  BOOST_TEST(has(test::status_of([&] { job.read_text("a*/b"); }), "in the last component only"));
}

BOOST_AUTO_TEST_CASE(files_of_fixed_records_that_are_cut_are_refused) {
  const test::Folder folder;
  test::write_file(folder.file("in.bin"), std::string(8 * 10 + 3, 'x'));
  Job job(small_parts());
  const Status status =
      test::status_of([&] { job.read_records<std::int64_t>(folder.file("in.bin")).count(); });
  BOOST_TEST((status.code == Code::data_loss), status.to_string());
  BOOST_TEST(has(status, "the file has 83 bytes or more and ends 3 bytes into a record"),
             status.message);
}

BOOST_AUTO_TEST_CASE(files_without_their_headers_were_cut) {
  const test::Folder folder;
  const Job job(small_parts());
  const auto expect_cut = [&](const std::string& name, const auto& read) {
    test::write_file(folder.file(name), "");
    const Status status = test::status_of([&] { read(folder.file(name)); });
    BOOST_TEST((status.code == Code::data_loss), status.to_string());
    BOOST_TEST(has(status, "'" + folder.file(name) + "' has no bytes"), status.message);
  };
  const auto read_text = [&](const std::string& path) { job.read_text(path); };
  for (const char* name : {"a.gz", "a.csv.zst", "a.lz4"}) expect_cut(name, read_text);
  expect_cut("a.npy", [&](const std::string& path) { job.read_npy<double>(path); });
  expect_cut("a.idx", [&](const std::string& path) { job.read_idx<std::uint8_t>(path); });
  test::write_file(folder.file("a.txt"), "");
  BOOST_TEST(job.read_text(folder.file("a.txt")).count() == 0u);
}

BOOST_AUTO_TEST_CASE(an_output_folder_that_is_not_empty_is_refused_before_anything_is_computed) {
  const test::Folder folder;
  JobOptions options = small_parts();
  std::atomic<int> computed = 0;
  const auto write = [&] {
    Job job(options);
    job.from(std::vector<int>{1, 2, 3})
        .map([&computed](int n) {
          ++computed;
          return n;
        })
        .write_csv(folder.file("out"));
  };
  write();
  BOOST_TEST(computed == 3);
  const Status status = test::status_of(write);
  BOOST_TEST((status.code == Code::already_exists), status.to_string());
  BOOST_TEST(has(status, "'" + folder.file("out") + "' is not empty"), status.message);
  BOOST_TEST(computed == 3);
  // Without _SUCCESS it is what a lost job has left.
  BOOST_TEST(!has(status, "has not ended"));
  std::filesystem::remove(folder.file("out/_SUCCESS"));
  BOOST_TEST(has(test::status_of(write), "has not ended, which --overwrite removes"));
  options.overwrite = true;
  write();
  BOOST_TEST(computed == 6);

  test::write_file(folder.file("out/letter.txt"), "dear");
  BOOST_TEST(has(test::status_of(write), "'letter.txt'"));
  BOOST_TEST(read_text_file(folder.file("out/letter.txt")).value() == "dear");
}

BOOST_AUTO_TEST_CASE(what_a_job_reads_is_not_overwritten_under_any_name) {
  const test::Folder folder;
  const std::string output = folder.file("out");
  Job(small_parts()).from(std::vector<std::string>{"a", "b"}).write_text(output);
  const auto before = test::files_of(output);
  std::filesystem::create_directory_symlink(output, folder.file("link"));
  JobOptions options = small_parts();
  options.overwrite = true;
  for (const std::string name : {"out", "out/", "./out", "out/../out/part-*", "link"}) {
    const Job job(options);
    const auto lines = job.read_text(folder.file(name));
    const Status status = test::status_of([&] { lines.write_text(output); });
    BOOST_TEST((status.code == Code::invalid_argument), name << ": " << status.to_string());
    BOOST_TEST(has(status, "'" + output + "' has files that the job reads"), status.message);
    BOOST_TEST((test::files_of(output) == before));
    lines.write_text(folder.file("copy"));
  }
}

BOOST_AUTO_TEST_CASE(a_job_does_not_overwrite_a_result_of_its_own) {
  const test::Folder folder;
  JobOptions options = small_parts();
  options.overwrite = true;
  const Job job(options);
  job.from(std::vector<int>{1}).write_csv(folder.file("out"));
  const Status status =
      test::status_of([&] { job.from(std::vector<int>{2}).write_csv(folder.file("./out")); });
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(has(status, "has written a result to '" + folder.file("./out") + "' already"),
             status.message);
  BOOST_TEST(test::files_of(folder.file("out")).at("part-00000-of-00001.csv") == "1\n");
}

BOOST_AUTO_TEST_CASE(an_output_that_is_a_file_is_refused_before_anything_is_computed) {
  const test::Folder folder;
  test::write_file(folder.file("letter"), "dear");
  std::atomic<int> computed = 0;
  const auto check_refused = [&](const std::string& output, const std::string& what, const auto& write) {
    JobOptions options = small_parts();
    options.overwrite = true;
    const Job job(options);
    const auto numbers = job.from(std::vector<int>{1, 2, 3}).map([&computed](int n) {
      ++computed;
      return n;
    });
    const Status status = test::status_of([&] { write(numbers, output); });
    BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
    BOOST_TEST(
        has(status, "the output '" + output + "': expected a folder that is empty or not there, but " +
                        what + " a file: give another one"),
        status.message);
  };
  for (const std::string name : {"letter", "letter/sums"}) {
    const std::string output = folder.file(name),
                      what = name == "letter" ? "it is" : "'" + folder.file("letter") + "' is";
    check_refused(output, what, [](const auto& n, const auto& to) { n.write_csv(to); });
    check_refused(output, what, [](const auto& n, const auto& to) { n.write_records(to); });
    check_refused(output, what, [](const auto& n, const auto& to) {
      n.map([](int i) { return std::to_string(i); }).write_text(to);
    });
    if (reads_parquet())
      check_refused(output, what, [](const auto& n, const auto& to) { n.write_parquet(to); });
  }
  BOOST_TEST(computed == 0);
  BOOST_TEST(read_text_file(folder.file("letter")).value() == "dear");
}

BOOST_AUTO_TEST_CASE(a_job_that_fails_leaves_no_success_and_no_half_file) {
  const test::Folder folder;
  Job job(small_parts());
  const auto texts = job.from(std::vector<std::string>{"1", "2", "bad"}, 3);
  BOOST_TEST(!test::status_of([&] { texts.map(number).write_csv(folder.file("out")); }).ok());
  for (const auto& [name, text] : test::files_of(folder.file("out"))) {
    BOOST_TEST(name.ends_with("-of-00003.csv"), name);
    BOOST_TEST((text == "1\n" || text == "2\n"));
  }
}

BOOST_AUTO_TEST_CASE(a_number_of_things_is_one_at_least) {
  JobOptions options = small_parts();
  options.parameters = {{"k", "0"}, {"epochs", "-1"}, {"rows", "many"}};
  const Job job(options);
  BOOST_TEST(test::error_of([&] { job.count_param("k", 3); }) == "--k: expected 1 or more, got 0");
  BOOST_TEST(test::error_of([&] { job.count_param("epochs", 3); }) ==
             "--epochs: expected 1 or more, got -1");
  BOOST_TEST(test::error_of([&] { job.count_param("rows", 3); }) ==
             "--rows: expected a whole number (int64), got 'many'");
  BOOST_TEST(job.count_param("parts", 3) == 3);
}

BOOST_AUTO_TEST_CASE(a_rate_is_finite_and_not_below_0) {
  JobOptions options = small_parts();
  options.parameters = {{"a", "-0.5"}, {"b", "nan"}, {"c", "inf"}, {"d", "fast"}, {"e", "0"}};
  const Job job(options);
  const auto mistake = [&](const char* name) {
    return test::error_of([&] { job.rate_param(name, 0.1); });
  };
  BOOST_TEST(mistake("a") == "--a: expected a number of 0 or more, got -0.5");
  BOOST_TEST(mistake("b") == "--b: expected a number of 0 or more, got nan");
  BOOST_TEST(mistake("c") == "--c: expected a number of 0 or more, got inf");
  BOOST_TEST(mistake("d") == "--d: expected a number, got 'fast'");
  BOOST_TEST(job.rate_param("e", 0.1) == 0);
  BOOST_TEST(job.rate_param("f", 0.1) == 0.1);
}

BOOST_AUTO_TEST_CASE(parameters_are_asked_for_by_name_and_others_refused) {
  JobOptions options = small_parts();
  options.parameters = {{"k", "12"}, {"rate", "0.5"}, {"kk", "1"}, {"n", "many"}};
  Job job(options);
  BOOST_TEST(job.param<std::size_t>("k", 3) == 12u);
  BOOST_TEST(job.param("rate", 0.1) == 0.5);
  BOOST_TEST(job.param("other", 7) == 7);
  BOOST_TEST(job.count_param("k", 3) == 12);
  BOOST_TEST(has(test::status_of([&] { job.param("n", 1); }),
                 "--n: expected a whole number (int32), got 'many'"));
  BOOST_TEST(has(test::status_of([&] { job.param<std::size_t>("n", 1); }),
                 "--n: expected a whole number of 0 or more (uint64), got 'many'"));
  BOOST_TEST(has(test::status_of([&] { job.param("input"); }), "the job wants --input"));
  const Status status = test::status_of([&] { job.from(std::vector{1}).count(); });
  BOOST_TEST(has(status,
                 "--kk was given, but the job does not ask for it; did you mean '--k'? It asks for --k, "
                 "--rate, --other, --n, --input"),
             status.message);
}

BOOST_AUTO_TEST_CASE(a_misspelt_parameter_is_refused_before_anything_runs) {
  const test::Folder folder;
  test::write_file(folder.file("in"), "1\n");
  std::filesystem::create_directory(folder.file("out"));
  test::write_file(folder.file("out/part-00000-of-00001.txt"), "of an earlier job");
  JobOptions options = small_parts();
  options.overwrite = true;
  options.parameters = {{"input", folder.file("in")}, {"rouds", "3"}};
  std::atomic<int> lines = 0;
  Job job(options);
  const auto all = job.read_text(job.param("input")).map([&lines](std::string_view line) {
    ++lines;
    return line;
  });
  job.param("rounds", 10);
  const std::string why = "--rouds was given, but the job does not ask for it; did you mean '--rounds'?";
  BOOST_TEST(has(test::status_of([&] { all.write_text(folder.file("out")); }), why));
  BOOST_TEST(has(test::status_of([&] { all.count(); }), why));
  BOOST_TEST(lines == 0);
  BOOST_TEST(test::files_of(folder.file("out")).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_misspelt_parameter_is_named_where_it_is_wanted) {
  JobOptions options = small_parts();
  options.parameters = {{"inptu", "in"}, {"k", "3"}};
  Job job(options);
  const Status status = test::status_of([&] { job.param("input"); });
  BOOST_TEST(has(status, "--inptu was given, for which the job has not asked; did you mean '--input'?"),
             status.message);
}

// The output may come later: records.top(10).write_csv(job.param("output")).
BOOST_AUTO_TEST_CASE(a_job_asks_for_all_parameters_but_its_output_before_its_first_result) {
  JobOptions options = small_parts();
  options.parameters = {{"output", "out"}};
  Job job(options);
  job.param("k", 3);
  BOOST_TEST(job.from(std::vector{1}).count() == 1u);
  BOOST_TEST(job.param("output") == "out");
  BOOST_TEST(job.param("k", 3) == 3);
  const Status status = test::status_of([&] { job.param("rounds", 10); });
  BOOST_TEST((status.code == Code::failed_precondition));
  BOOST_TEST(has(status, "--rounds is asked for when the job has a result already"), status.message);
}

BOOST_AUTO_TEST_CASE(a_job_that_is_stopped_fails_as_cancelled) {
  Job job(small_parts());
  const Status status = test::status_of([&] {
    job.from(std::vector<int>(1000), 100)
        .map([&job](int n) {
          job.stop();
          return n;
        })
        .count();
  });
  BOOST_TEST((status.code == Code::cancelled), status.to_string());
}

BOOST_AUTO_TEST_CASE(a_part_ends_when_its_job_is_stopped_whatever_it_does) {
  constexpr std::size_t many = 100'000, few = 1000;
  const std::vector<int> numbers(many);
  Job from_values(small_parts());
  std::atomic<std::size_t> passed = 0;
  BOOST_TEST(!test::status_of([&] {
                from_values.from(numbers)
                    .map([&](int n) {
                      from_values.stop();
                      ++passed;
                      return n;
                    })
                    .count();
              }).ok());
  BOOST_TEST(passed < few);

  Job joins(small_parts());  // every number of one side with every one of the other
  const auto pairs = joins.from(std::vector<int>(few)).key_by([](int) { return 1; });
  passed = 0;
  BOOST_TEST(!test::status_of([&] {
                pairs.join(pairs)
                    .filter([&](const auto&) {
                      joins.stop();
                      return ++passed > 0;
                    })
                    .count();
              }).ok());
  BOOST_TEST(passed < few);
}

BOOST_AUTO_TEST_CASE(a_plan_that_is_explained_runs_nothing) {
  JobOptions options = small_parts();
  options.explain = true;
  Job job(options);
  const auto counts = job.from(std::vector<std::string>{"a"})
                          .map([](const std::string& text) -> std::pair<std::string, std::int64_t> {
                            throw std::runtime_error("ran on " + text);
                          })
                          .reduce_by_key(std::plus<>());
  BOOST_CHECK_THROW(counts.write_csv("nowhere"), PlanIsComplete);
  const std::string text = to_text(job.plan());
  BOOST_TEST(text.find("stage 1\n  from at errors.cpp:") == 0u, text);
  BOOST_TEST(text.find("map at errors.cpp") != text.npos);
  BOOST_TEST(text.find("-> pair<string,int64>\n  gives a shuffle by key, combined, in 1 partition\n") !=
             text.npos);
  BOOST_TEST(text.find("stage 2, reads stage 1\n  reduce_by_key") != text.npos);
  BOOST_TEST(text.find("gives files in 'nowhere'") != text.npos);
}

BOOST_AUTO_TEST_CASE(a_plan_may_be_complete_before_the_job_asks_for_its_output) {
  const JobFunction counts_and_writes = [](Job& job) {
    const auto numbers = job.from(std::vector{1, 2, 3});
    if (numbers.count() > 0) numbers.write_csv(job.param("output"));
  };
  JobOptions options = small_parts();
  options.explain = true;
  options.parameters = {{"output", "nowhere"}};
  Job job(options);
  run_function(job, counts_and_writes);
  BOOST_TEST(job.plan().size() == 1u);

  options.parameters["colour"] = "red";
  Job coloured(options);
  BOOST_TEST(has(test::status_of([&] { run_function(coloured, counts_and_writes); }),
                 "--colour was given, but the job does not ask for it"));
}

BOOST_AUTO_TEST_CASE(a_plan_says_how_much_there_is_to_read_and_how_it_is_divided) {
  const test::Folder folder;
  test::write_file(folder.file("in.txt"), std::string(4999, 'x') + "\n");
  JobOptions options = small_parts();
  options.explain = true;
  Job job(options);
  const auto lines = job.read_text(folder.file("in.txt")).key_by([](auto line) { return line.size(); });
  BOOST_CHECK_THROW(lines.join(lines).count_by_key().count(), PlanIsComplete);
  const std::string text = to_text(job.plan());
  BOOST_TEST(text.find("stage 1, 5 parts of 5000 bytes in all\n  read_text") == 0u, text);
  BOOST_TEST(text.find("gives a shuffle by key, in 5 partitions\nstage 2") != text.npos, text);
  BOOST_TEST(text.find("gives a shuffle by key, combined\n") != text.npos, text);  // nobody knows yet
  BOOST_TEST(to_dot(job.plan()).find("a shuffle by key, in 5 partitions") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(no_sample_is_taken_for_a_plan_that_is_explained) {
  JobOptions options = small_parts();
  options.explain = true;
  options.partitions = 4;
  Job job(options);
  const auto pairs = job.from(std::vector<std::string>{"a", "b"})
                         .map([](const std::string& text) -> std::pair<std::string, int> {
                           throw std::runtime_error("ran on " + text);
                         });
  BOOST_CHECK_THROW(pairs.sort_by([](const auto& pair) { return pair.first; }).count(), PlanIsComplete);
  BOOST_CHECK_THROW(pairs.join(pairs).count(), PlanIsComplete);
}

BOOST_AUTO_TEST_SUITE_END()
