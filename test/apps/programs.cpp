// What the programs print.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "test/apps/support/trainers.h"
#include "test/support/contains.h"
#include "test/support/folder.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(programs)

using namespace actorflow::test;

namespace {

std::string output_of(const std::vector<std::string>& command) {
  Process process(command);
  BOOST_TEST(process.wait() == 0, process.output());
  return process.output();
}

}  // namespace

BOOST_AUTO_TEST_CASE(hello_cluster) {
  BOOST_TEST(output_of({"hello_cluster"}) == "Hello, distributed dataflow!\n");
}

BOOST_AUTO_TEST_CASE(every_program_says_its_version) {
  const std::string version =
      output_of({"actorflow", "version"}).substr(std::string("actorflow").size());
  std::size_t programs = 0;
  for (const auto& file : std::filesystem::directory_iterator(ACTORFLOW_SOURCE_DIR "/apps")) {
    if (file.path().extension() != ".cpp") continue;
    const std::string program = file.path().stem().string();
    BOOST_TEST(output_of({program, "--version"}) == program + version);
    ++programs;
  }
  BOOST_TEST(programs > 5u);
}

BOOST_AUTO_TEST_CASE(own_op_trains_with_an_op_and_an_optimizer_of_its_own) {
  BOOST_TEST(output_of({"own_op"}) == "5\n5\n");
}

BOOST_AUTO_TEST_CASE(eager_learns_the_exclusive_or) {
  const std::string output = output_of({"eager"});
  BOOST_TEST(contains(output, "loss 0.0"), output);
  BOOST_TEST(output.ends_with("\n0 1 1 0 \n"), output);
}

BOOST_AUTO_TEST_CASE(iris_is_learned) {
  const std::string output = output_of({"iris", "--epochs", "40"});
  BOOST_TEST(contains(output, "epoch 40/40"), output);
  const auto line = output.rfind('\n', output.size() - 2) + 1;
  BOOST_TEST(contains(output, "% of 150 flowers are right after 40 epochs"), output);
  BOOST_TEST(std::stod(output.substr(line)) > 95, output);
}

BOOST_AUTO_TEST_CASE(equations_in_one_process_and_on_two_tasks) {
  BOOST_TEST(output_of({"equations"}) == "238\n");
  BOOST_TEST(output_of({"equations", "--two-tasks"}) == "238\n");
}

BOOST_AUTO_TEST_CASE(equations_show_where_their_nodes_are) {
  const std::string table = output_of({"equations", "--two-tasks", "--placement", "table"});
  BOOST_TEST(contains(table, "/job:local/replica:0/task:0/device:CPU:0\n"), table);
  BOOST_TEST(contains(table, "/job:local/replica:0/task:1/device:CPU:0\n"), table);
  const std::string dot = output_of({"equations", "--two-tasks", "--placement=dot"});
  BOOST_TEST(contains(dot, "digraph actorflow {"), dot);
  BOOST_TEST(contains(dot, "}\n238\n"), dot);
}

BOOST_AUTO_TEST_CASE(actorflow_place_shows_where_a_training_step_is) {
  const std::string table = output_of({"actorflow", "place", "mlp", "--ps=2", "--sync"});
  for (const char* part : {"hidden1/weights", "ReadVariable", "/job:ps/replica:0/task:1/device:CPU:0",
                           "/job:worker/replica:0/task:0/device:CPU:0", "AccumulateGradient"})
    BOOST_TEST(contains(table, part), table);
  // By turns one server gets all weights, because biases come between them; by bytes it does not.
  BOOST_TEST(contains(table, "/job:ps/task:1                    2        813056"), table);
  const std::string greedy = output_of({"actorflow", "place", "mlp", "--ps=2", "--ps-strategy=greedy"});
  BOOST_TEST(!contains(greedy, "813056"), greedy);
  BOOST_TEST(contains(output_of({"actorflow", "place", "lenet", "--worker=1", "--dot"}),
                      "digraph actorflow {"));
  Process wrong({"actorflow", "place", "mlp", "--worker=2"});
  BOOST_TEST(wrong.wait() == 2);
  BOOST_TEST(wrong.prints("--worker is 2, but there are 2 workers"), wrong.output());
}

BOOST_AUTO_TEST_CASE(equations_on_two_servers_from_outside) {
  const auto addresses = free_addresses(2);
  const std::string cluster = R"({"local": [")" + addresses[0] + R"(", ")" + addresses[1] + R"("]})";
  Process first({"actorflow", "server", "--cluster", cluster, "--job", "local", "--task", "0"});
  Process second({"actorflow", "server", "--cluster", cluster, "--job", "local", "--task", "1"});
  BOOST_TEST(output_of({"equations", "--target", "actorflow://" + addresses[0]}) == "238\n");
  BOOST_TEST(output_of({"equations", "--target", "actorflow://" + addresses[1]}) == "238\n");
  for (Process* server : {&first, &second}) {
    server->send_signal(SIGTERM);
    BOOST_TEST(server->wait() == 0, server->output());
  }
  BOOST_TEST(!is_listening(addresses[0]));
}

BOOST_AUTO_TEST_CASE(a_session_says_for_which_server_it_waits) {
  const std::string address = free_addresses(1)[0];
  Process equations({"equations", "--target", "actorflow://" + address});
  BOOST_TEST(equations.prints("waiting for an answer of the master at " + address), equations.output());
  BOOST_TEST(equations.prints("at most: connect(): Connection refused"), equations.output());
}

BOOST_AUTO_TEST_CASE(what_is_printed_on_a_full_disk_is_an_error) {
  for (const std::string command :
       {"actorflow version", "actorflow help", "equations", "word_count --help",
        "actorflow place mlp --dot", "actorflow simulate --help",
        "actorflow launch --to slurm -np 2 trainer --insecure"}) {
    Process process({"/bin/sh", "-c", "exec " ACTORFLOW_BIN_DIR "/" + command + " >/dev/full"});
    BOOST_TEST(process.wait() == 1, command);
    BOOST_TEST(contains(process.output(), "standard output cannot be written: No space left"),
               command << ": " << process.output());
  }
  Process closed({"/bin/sh", "-c", "exec " ACTORFLOW_BIN_DIR "/equations >&-"});
  BOOST_TEST(closed.wait() == 0, closed.output());
}

// Descriptor 4 is a pipe without a reader. Its writers are told by an error, as in a program that
// connects to others: such a one ignores the signal.
BOOST_AUTO_TEST_CASE(a_reader_that_has_gone_ends_a_program_quietly) {
  const Folder folder;
  const std::string to_nobody = "trap '' PIPE; mkfifo pipe; exec 3<>pipe 4>pipe 3<&-; exec >&4; ";
  const auto run = [&](const std::string& command) {
    return std::vector<std::string>{
        "/bin/sh", "-c",
        "cd " + folder.path() + "; rm -f pipe; " + to_nobody + "exec " ACTORFLOW_BIN_DIR "/" + command};
  };
  for (const std::string command : {"equations", "word_count --help", "own_op", "eager"}) {
    Process process(run(command));
    BOOST_TEST(process.wait() == 0, command);
    BOOST_TEST(process.output() == "", command << ": " << process.output());
  }
  // More than a buffer of the C library holds.
  for (const std::string command : {"actorflow place mlp --dot", "actorflow simulate --help"}) {
    Process process(run(command));
    BOOST_TEST(process.wait() == 128 + SIGPIPE, command);
    BOOST_TEST(process.output() == "", command << ": " << process.output());
  }
}

BOOST_AUTO_TEST_CASE(map_reduce_mean_is_the_plain_mean) {
  const std::string output = output_of({"map_reduce_mean"});
  const std::string plain = output.substr(output.rfind(' ') + 1);
  BOOST_TEST(contains(output, "slices of 50 and 50: " + plain));
  BOOST_TEST(contains(output, "slices of 30 and 70: " + plain));
}

// Untrained the loss is 6 ln 2 = 4.16.
BOOST_AUTO_TEST_CASE(word_vectors_learn_the_neighbours_of_words) {
  const std::string output = output_of({"word_vectors", "--steps=600", "king", "nosuchword"});
  BOOST_TEST(contains(output, "each table in 2 parts"));
  const auto loss = output.find("\nloss ");
  BOOST_TEST_REQUIRE(loss != std::string::npos);
  BOOST_TEST(std::stod(output.substr(loss + 6)) < 2.8);
  BOOST_TEST(contains(output, "\nking: "));
  BOOST_TEST(contains(output, "nosuchword: not in the text"));
}

BOOST_AUTO_TEST_CASE(in_graph_replication_on_real_servers) {
  const auto addresses = free_addresses(4);
  const std::string cluster = R"({"ps": [")" + addresses[0] + R"(", ")" + addresses[1] +
                              R"("], "worker": [")" + addresses[2] + R"(", ")" + addresses[3] + R"("]})";
  std::vector<std::unique_ptr<Process>> servers;
  for (const char* job : {"ps", "worker"})
    for (const char* task : {"0", "1"})
      servers.push_back(std::make_unique<Process>(std::vector<std::string>{
          "actorflow", "server", "--cluster", cluster, "--job", job, "--task", task}));
  const std::string output =
      output_of({"in_graph", "--target", "actorflow://" + addresses[2], "--steps=300"});
  const auto accuracy = output.find("test accuracy ");
  BOOST_TEST_REQUIRE(accuracy != std::string::npos, output);
  BOOST_TEST(std::stod(output.substr(accuracy + 14)) > 90);
  for (const auto& server : servers) server->send_signal(SIGTERM);
}

BOOST_AUTO_TEST_CASE(where_variables_are_does_not_change_what_is_learnt) {
  const auto hash = [](const char* strategy) {
    return report_value(train_in_one_process({"--train-steps=20", "--ps_strategy", strategy}),
                        "weights_hash");
  };
  BOOST_TEST(hash("round_robin") == hash("greedy"));
}

BOOST_AUTO_TEST_CASE(a_program_of_jobs_that_is_not_built_is_named_with_the_command_that_builds_it) {
  Process process({"actorflow", "job", "no_such_job"});
  BOOST_TEST(process.wait() == 2);
  BOOST_TEST(contains(process.output(), "/no_such_job' cannot be run"));
  BOOST_TEST(contains(process.output(), "cmake --build build --target programs"));
}

BOOST_AUTO_TEST_CASE(the_help_of_jobs_names_every_program_of_jobs) {
  const std::string help = output_of({"actorflow", "job", "--help"});
  for (const auto& file : std::filesystem::directory_iterator(ACTORFLOW_SOURCE_DIR "/apps"))
    if (file.path().extension() == ".cpp" && contains(read_file(file.path().string()), "run_jobs(argc"))
      BOOST_TEST(contains(help, " " + file.path().stem().string()), help);
  BOOST_TEST(output_of({"actorflow", "help", "job"}) == help);
}

BOOST_AUTO_TEST_CASE(help_explains_every_flag) {
  const std::string help = output_of({"actorflow", "help", "train", "mnist"});
  for (const char* flag :
       {"--ps", "--workers", "--sync", "--async", "--epochs", "--batch-size", "--learning-rate",
        "--optimizer", "--hidden", "--seed", "--data", "--checkpoint-dir", "--report"})
    BOOST_TEST(contains(help, flag), flag << " is missing");
  BOOST_TEST(contains(help, "Usage: actorflow train mnist"));
  for (const char* command : {"train", "server", "version"})
    BOOST_TEST(contains(output_of({"actorflow", "help"}), command));
  BOOST_TEST(contains(output_of({"actorflow", "version"}), "actorflow "));
}

BOOST_AUTO_TEST_CASE(a_terminal_has_colors_unless_NO_COLOR_says_none) {
  for (const std::string program : {"actorflow train iris --epochs 1", "ensemble iris --members 2"}) {
    const auto shown = [&](const std::string& setting) {
      return output_of({"/bin/sh", "-c",
                        "TERM=xterm " + setting +
                            " script --quiet --return --command '" ACTORFLOW_BIN_DIR "/" + program +
                            "' /dev/null"});
    };
    BOOST_TEST(contains(shown("NO_COLOR= "), "\x1b[32minfo"), program);
    BOOST_TEST(!contains(shown("NO_COLOR=1"), "\x1b[32m"), program);
  }
}

BOOST_AUTO_TEST_CASE(progress_fits_into_a_narrow_terminal) {
  const std::string output =
      output_of({"/bin/sh", "-c",
                 "script --quiet --return --command 'stty cols 30; " ACTORFLOW_BIN_DIR
                 "/actorflow train digits --epochs 2' /dev/null"});
  const auto line = output.find("\rstep 22/22  loss ");
  BOOST_TEST_REQUIRE(line != output.npos, output);
  BOOST_TEST(output.find("\x1b[K", line) - line == 30U, output);  // of which one is the return
}

BOOST_AUTO_TEST_CASE(progress_in_a_pipe_is_plain_lines) {
  const std::string output = output_of({"actorflow", "train", "mnist", "--train-steps=20"});
  BOOST_TEST(contains(output, "step 20/20  loss "));
  BOOST_TEST(contains(output, " examples/s "));
  BOOST_TEST(contains(output, "test accuracy "));
  BOOST_TEST(!contains(output, "\r"));
}

BOOST_AUTO_TEST_CASE(a_report_has_every_key) {
  const std::string report = train_in_one_process({"--train-steps=20", "--async"});
  for (const char* key :
       {"test_accuracy", "loss", "examples_per_second", "train_seconds", "staleness_mean",
        "staleness_max", "max_lead", "dropped_gradients", "weights_hash"})
    BOOST_TEST(!report_value(report, key).empty());
  BOOST_TEST(report_value(report, "mode") == "\"async\"");
  BOOST_TEST(std::stoi(report_value(report, "global_step")) >= 20);
}

BOOST_AUTO_TEST_CASE(a_report_says_what_was_run) {
  const std::string report =
      train_in_one_process({"--train-steps=50", "--ps=1", "--workers=3", "--batch-size=400", "--seed=7",
                            "--hidden=8", "--precision=tf32"});
  const std::pair<const char*, const char*> expected[] = {{"model", "\"mlp\""},
                                                          {"settings", "\"hidden=8\""},
                                                          {"strategy", "\"parameter_server\""},
                                                          {"precision", "\"tf32\""},
                                                          {"optimizer", "\"adam\""},
                                                          {"learning_rate", "\"0.001\""},
                                                          {"device", "\"cpu\""},
                                                          {"workers", "3"},
                                                          {"batch_size", "400"},
                                                          {"train_steps", "50"},
                                                          {"epochs", "1.0"},
                                                          {"seed", "7"}};
  for (const auto& [key, value] : expected) BOOST_TEST(report_value(report, key) == value, key);
  BOOST_TEST(contains(report_value(report, "data"), "/mnist"));
  const auto version = nlohmann::json::parse(report)["version"].get<std::string>();
  BOOST_TEST(!version.empty());
  BOOST_TEST(contains(output_of({"actorflow", "version"}), version));
  for (const char* flag : {"--hidden=8", "--precision=tf32", "--batch-size=400"})
    BOOST_TEST(contains(report_value(report, "flags"), flag), flag);
}

BOOST_AUTO_TEST_CASE(every_optimizer_trains) {
  for (const char* optimizer : {"sgd", "momentum", "nesterov", "adagrad", "adam", "rmsprop"}) {
    const std::string report =
        train_in_one_process({"--train-steps=300", "--optimizer", optimizer, "--hidden=32"});
    BOOST_TEST(std::stod(report_value(report, "test_accuracy")) > 0.8, optimizer);
  }
}

BOOST_AUTO_TEST_SUITE_END()
