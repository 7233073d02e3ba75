// What --explain prints of the example jobs, with --output as for a real run.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/apps/support/process.h"
#include "test/support/contains.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(explained_jobs)

using namespace actorflow::test;

namespace {

namespace fs = std::filesystem;

struct Explained {
  std::vector<std::string> command;  // without --output and --explain
  bool writes = true;                // takes --output
};

const std::string apps = ACTORFLOW_SOURCE_DIR "/apps";

std::string written(const Folder& folder, const std::string& name, const std::string& content) {
  write_file(folder.file(name), content);
  return folder.file(name);
}

std::string records(const Folder& folder, const std::string& name, std::size_t bytes) {
  return written(folder, name, std::string(10 * bytes, '\0'));
}

std::vector<Explained> examples(const Folder& folder) {
  const std::string text = apps + "/data/shakespeare", rows = written(folder, "rows", "a,1\n"),
                    hundred = records(folder, "hundred", 100),
                    line_items = written(folder, "lineitem",
                                         "l_orderkey,l_quantity,l_extendedprice,l_discount,l_tax,"
                                         "l_returnflag,l_linestatus,l_shipdate\n"),
                    orders =
                        written(folder, "orders", "o_orderkey,o_custkey,o_orderdate,o_shippriority\n"),
                    customers = written(folder, "customer", "c_custkey,c_mktsegment\n");
  return {{{"word_count", "--input", text}},
          {{"top_k", "--input", text, "--k", "3"}},
          {{"inverted_index", "--input", text}},
          {{"histogram", "--input", text}},
          {{"gensort", "gensort", "--records", "10"}},
          {{"gensort", "valsort", "--input", hundred}, false},
          {{"terasort", "--input", hundred}},
          {{"join", "--left", rows, "--right", rows, "--kind", "outer"}},
          {{"ranked", "--input", rows, "--k", "3"}},
          {{"sql", "q1", "--lineitem", line_items}},
          {{"sql", "q3", "--customer", customers, "--orders", orders, "--lineitem", line_items}},
          {{"mean", "--input", written(folder, "numbers", "1\n2\n")}},
          {{"k_means", "--input", records(folder, "points", 160), "--k", "2", "--rounds", "2"}},
          {{"logistic_regression", "--input", records(folder, "examples", 168), "--rate", "0.1"}},
          {{"sparse_regression", "--input", written(folder, "sparse", "1 3 4\n"), "--epochs", "2"}},
          {{"ensemble", "iris", "--members", "2"}, false}};
}

std::string explain(Explained job, const Folder& folder) {
  if (job.writes) job.command.insert(job.command.end(), {"--output", folder.file("out")});
  job.command.push_back("--explain");
  Process process(job.command);
  BOOST_TEST(process.wait() == 0, job.command[0] << ": " << process.output());
  return process.output();
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_example_is_explained_up_to_its_first_result) {
  const Folder folder;
  std::set<std::string> explained;
  for (const auto& job : examples(folder)) {
    const std::string output = explain(job, folder);
    const std::string end = "... up to the first result, of stage ";
    BOOST_TEST(output.starts_with("stage 1"), job.command[0] << ": " << output);
    BOOST_TEST(contains(output, "\n" + end), job.command[0] << ": " << output);
    BOOST_TEST(output.find("digraph job {") > output.find(end), job.command[0] << ": " << output);
    explained.insert(job.command[0]);
  }
  BOOST_TEST(!fs::exists(folder.file("out")));
  for (const auto& entry : fs::directory_iterator(apps))
    if (entry.path().extension() == ".cpp" && contains(read_file(entry.path().string()), "run_jobs("))
      BOOST_TEST(explained.contains(entry.path().stem().string()), entry.path().string());
}

BOOST_AUTO_TEST_CASE(a_job_of_a_program_of_several_has_a_name_of_one_word_too) {
  const Folder folder;
  const std::string rows = written(folder, "rows",
                                   "l_orderkey,l_quantity,l_extendedprice,l_discount,"
                                   "l_tax,l_returnflag,l_linestatus,l_shipdate\n");
  const std::string output = explain({{"actorflow", "job", "sql_q1", "--lineitem", rows}}, folder);
  BOOST_TEST(contains(output, "sql_q1.h"), output);
  BOOST_TEST(output == explain({{"sql", "q1", "--lineitem", rows}}, folder));
}

// Its program takes the words that are counted, and writes those itself.
BOOST_AUTO_TEST_CASE(what_depends_on_a_result_is_said_to_be_missing) {
  const Folder folder;
  const std::string output =
      explain({{"top_k", "--input", apps + "/data/shakespeare", "--k", "3"}}, folder);
  BOOST_TEST(contains(output,
                      "  gives the program\n"
                      "... up to the first result, of stage 2; later rounds, if there are any, depend "
                      "on it\ndigraph job {"),
             output);
  BOOST_TEST(!contains(output, "write_csv"), output);
}

BOOST_AUTO_TEST_CASE(a_misspelt_flag_is_refused_as_in_a_real_run) {
  const Folder folder;
  Process process({"top_k", "--input", apps + "/data/shakespeare", "--kk", "3", "--explain"});
  BOOST_TEST(process.wait() == 2);
  BOOST_TEST(contains(process.output(), "--kk was given, but the job does not ask for it"),
             process.output());
}

BOOST_AUTO_TEST_SUITE_END()
