// Files by which Kubernetes, Slurm and Docker start a job: what they say, and whether their judges take
// them.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "apps/cli/program.h"
#include "apps/launch/deploy/deploy_command.h"
#include "apps/launch/deploy/formats.h"
#include "apps/launch/deploy/quoting.h"
#include "test/apps/support/process.h"
#include "test/apps/support/python.h"
#include "test/apps/support/slurm.h"
#include "test/support/contains.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(deploy)

using namespace actorflow;
using namespace actorflow::test;
using Json = nlohmann::json;

namespace {

using Words = std::vector<std::string>;

const Words& hostile_words() {
  static const Words all{"",      " ",       "a b",      "'",       "\"",        "''\"\"'",
                         "$HOME", "$(HOME)", "$$(HOME)", "${HOME}", "`id`",      "a\nb",
                         "\t",    "\\",      "\\n",      "*",       "~",         "#",
                         "!",     "&&",      "-n",       "--",      "é漢🦊", "{\"a\": [1]}",
                         "no",    "1e3",     ": ",       "- x",     "%s",        "<>|;()"};
  return all;
}

// Of three workers.
JobSpec job_of(Words command) {
  JobSpec job;
  job.command = std::move(command);
  job.workers = 3;
  return job;
}

JobSpec hostile_job(const std::string& program) {
  JobSpec job = job_of({program});
  job.command.insert(job.command.end(), hostile_words().begin(), hostile_words().end());
  return job;
}

DeployOptions to(const std::string& whom) {
  DeployOptions options;
  options.to = whom;
  if (whom == "kubernetes" || whom == "tfjob") options.image = "registry/actorflow:1";
  return options;
}

// What the command writes to a file.
std::string written(DeployOptions options, const JobSpec& job) {
  const Folder folder;
  options.output = folder.file("out");
  BOOST_TEST(deploy_command(options, job) == 0);
  return read_file(options.output);
}

void judge(const std::string& manifest, const JobSpec& job) {
  const Folder folder;
  write_file(folder.file("manifest.json"), manifest);
  check_with_python("kubernetes_manifest.py", {folder.file("manifest.json"), Json(job.command).dump()});
}

void check_refused(const DeployOptions& options, const JobSpec& job, const std::string& what) {
  BOOST_CHECK_EXCEPTION(deploy_command(options, job), UsageError, [&](const UsageError& error) {
    BOOST_TEST_MESSAGE(error.what());
    return contains(error.what(), what);
  });
}

const JobSpec three_workers = job_of({"build/bin/trainer", "--insecure"});

Words split(const std::string& text, char separator) {
  Words words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_kind_of_job_is_a_valid_manifest,
                     *boost::unit_test::precondition(has_python)) {
  JobSpec all = three_workers;
  all.ps = 2;
  all.chief = all.evaluator = true;
  all.num_gpus = 2;
  all.restarts = 4;
  all.folders = {.work = "/work", .data = "/data/mnist", .output = "/out", .logs = ""};
  all.environment = {{"MODE", "$(RANK) fast"}};
  DeployOptions with_claim = to("kubernetes");
  with_claim.claim = "checkpoints:/out";
  with_claim.name = "my-job";
  for (const char* whom : {"kubernetes", "tfjob"}) {
    judge(written(to(whom), three_workers), three_workers);
    with_claim.to = whom;
    judge(written(with_claim, all), all);
  }
}

BOOST_AUTO_TEST_CASE(hostile_arguments_survive_a_manifest, *boost::unit_test::precondition(has_python)) {
  const JobSpec job = hostile_job("/opt/actorflow/bin/trainer");
  judge(written(to("kubernetes"), job), job);
  judge(written(to("tfjob"), job), job);
}

BOOST_AUTO_TEST_CASE(credentials_become_secrets_of_the_tasks_that_they_are_for,
                     *boost::unit_test::precondition(has_python)) {
  const Folder folder;
  JobSpec job = three_workers;
  job.ps = 1;
  DeployOptions options = to("kubernetes");
  options.credentials = folder.file("keys");
  options.output = folder.file("manifest.json");
  BOOST_TEST(deploy_command(options, job) == 0);
  struct stat file {};
  stat(options.output.c_str(), &file);
  BOOST_TEST((file.st_mode & 0777) == 0600u);
  const std::string text = read_file(options.output);
  judge(text, job);
  int secrets = 0;
  const Json manifest = Json::parse(text);
  for (const auto& item : manifest["items"]) {
    if (item["kind"] != "Secret") continue;
    ++secrets;
    const std::string role = item["metadata"]["name"] == "trainer-ps-tls" ? "ps" : "worker";
    BOOST_TEST(item["data"].size() == (role == "ps" ? 3u : 7u));
    for (const auto& [name, value] : item["data"].items()) {
      BOOST_TEST((name == "ca.crt" || name.starts_with(role + "-")), name);
      BOOST_TEST(value == base64(read_file(options.credentials + "/" + name)));
    }
  }
  BOOST_TEST(secrets == 2);
}

BOOST_AUTO_TEST_CASE(base64_is_that_of_the_standard) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
      {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfd", "//79"}};
  for (const auto& [bytes, text] : rows) BOOST_TEST(base64(bytes) == text);
}

// The file runs with a program in srun's place that says what it gets.
BOOST_AUTO_TEST_CASE(hostile_arguments_survive_a_batch_file) {
  const Folder folder;
  JobSpec job = hostile_job("/bin/true");
  for (std::size_t i = 0; i < hostile_words().size(); ++i)
    job.environment.push_back({"HOSTILE_" + std::to_string(i), hostile_words()[i]});
  write_file(folder.file("batch"), slurm_batch_file(to("slurm"), job));
  write_file(folder.file("srun"),
             "#!/bin/bash\nprintf '%s\\0' \"$@\"\nfor ((i = 0; i < " +
                 std::to_string(hostile_words().size()) +
                 "; ++i)); do name=HOSTILE_$i; printf '%s\\0' \"${!name}\"; done\n");
  std::filesystem::permissions(folder.file("srun"), std::filesystem::perms::owner_all);
  Process process(
      {"/usr/bin/env", "PATH=" + folder.path() + ":/usr/bin:/bin", "/bin/bash", folder.file("batch")});
  BOOST_TEST(process.wait() == 0, process.output());
  Words expected = job.command;
  expected.insert(expected.end(), hostile_words().begin(), hostile_words().end());
  Words words = split(process.output(), '\0');
  BOOST_TEST_REQUIRE(words.size() > expected.size());
  BOOST_TEST(words[0] == "--kill-on-bad-exit=1");
  BOOST_TEST(words[1] == "--wait=60");
  words.erase(words.begin(), words.end() - static_cast<std::ptrdiff_t>(expected.size()));
  BOOST_TEST(words == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_file_begins_again_while_its_budget_lasts_and_only_if_that_is_of_use) {
  const Folder folder;
  JobSpec job = three_workers;
  job.command = {"/bin/sh", "-c", "exit $RANK_ENDS_WITH"};
  job.restarts = 2;
  write_file(folder.file("batch"), slurm_batch_file(to("slurm"), job));
  // Runs one rank, and ends others, whose status it returns.
  write_file(folder.file("srun"),
             "#!/bin/sh\nwhile [ \"$1\" != bash ]; do shift; done\n\"$@\" && exit 0\nexit 143\n");
  write_file(folder.file("scontrol"), "#!/bin/sh\necho \"$@\"\nexit 1\n");
  for (const char* program : {"srun", "scontrol"})
    std::filesystem::permissions(folder.file(program), std::filesystem::perms::owner_all);
  const auto requeues = [&](int status, int starts) {
    Process process(
        {"/usr/bin/env", "--chdir=" + folder.path(), "PATH=" + folder.path() + ":/usr/bin:/bin",
         "SLURM_JOB_ID=17", "RANK_ENDS_WITH=" + std::to_string(status),
         "SLURM_RESTART_COUNT=" + std::to_string(starts), "/bin/bash", folder.file("batch")});
    const int ended_with = process.wait();
    BOOST_TEST(ended_with == (status > 127 ? 143 : status));
    BOOST_TEST_MESSAGE(process.output());
    return contains(process.output(), "requeue 17");
  };
  BOOST_TEST(!requeues(0, 0));
  BOOST_TEST(!requeues(1, 0));
  BOOST_TEST(!requeues(2, 0));
  BOOST_TEST(requeues(130, 0));
  BOOST_TEST(requeues(138, 1));
  BOOST_TEST(!requeues(138, 2));
}

BOOST_AUTO_TEST_CASE(a_batch_file_runs_to_its_end_under_slurm,
                     *boost::unit_test::precondition(has_slurm)) {
  const Slurm slurm;
  JobSpec job = job_of({ACTORFLOW_BIN_DIR "/actorflow", "train", "digits", "--epochs", "2"});
  job.ps = 1;
  DeployOptions options = to("slurm");
  options.name = "digits";
  options.time_limit = "10:00";
  options.output = slurm.file("batch");
  BOOST_TEST(deploy_command(options, job) == 0);
  const auto submitted = slurm.start({"/usr/bin/sbatch", "--wait",
                                      "--chdir=" + std::filesystem::path(slurm.file("")).string(),
                                      "--output=" + slurm.file("log"), slurm.file("batch")});
  BOOST_TEST(submitted->wait() == 0, submitted->output() + read_file(slurm.file("log")));
  BOOST_TEST(contains(read_file(slurm.file("log")), "/job:ps/task:0"), read_file(slurm.file("log")));
}

BOOST_AUTO_TEST_CASE(a_dockerfile_takes_the_steps_of_the_bare_machine) {
  const std::string text = written(to("docker"), hostile_job("actorflow"));
  BOOST_TEST(contains(text, "source apps/setup; install_packages"));
  BOOST_TEST(!contains(text, "\nSHELL"));  // images of the OCI's format have none
  // What a bare machine is told to build with, word for word.
  const std::string quickstart = read_file(ACTORFLOW_SOURCE_DIR "/apps/quickstart");
  BOOST_TEST(contains(quickstart, "\ninstall_packages\n"));
  for (const std::string step : {"cmake --preset release ", "cmake --build --preset release --target ",
                                 "-DACTORFLOW_TESTS=OFF -DACTORFLOW_BENCH=OFF", "-DACTORFLOW_CUDA="}) {
    BOOST_TEST(contains(text, step), step);
    BOOST_TEST(contains(quickstart, step), step);
  }
  std::string command;
  for (const auto& line : split(text, '\n')) {
    if (line.starts_with("CMD ")) command = line.substr(4);
    if (!line.starts_with("COPY ") || line.starts_with("COPY --from")) continue;
    Words words = split(line, ' ');
    for (std::size_t i = 1; i + 1 < words.size(); ++i)
      BOOST_TEST(std::filesystem::exists(ACTORFLOW_SOURCE_DIR "/" + words[i]), words[i]);
  }
  BOOST_TEST(Json::parse(command).get<Words>() == hostile_job("actorflow").command,
             boost::test_tools::per_element());
}

// All that the build needs is copied into the image: it is configured there.
BOOST_AUTO_TEST_CASE(the_folder_of_an_image_can_be_configured) {
  namespace fs = std::filesystem;
  const Folder folder;
  std::string configure;
  for (const auto& line : split(written(to("docker"), three_workers), '\n')) {
    if (line.starts_with("RUN cmake --preset")) configure = line.substr(4);
    if (!line.starts_with("COPY ") || line.starts_with("COPY --from")) continue;
    const Words words = split(line, ' ');
    const std::string to = folder.file(words.back());
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      const fs::path from = fs::path(ACTORFLOW_SOURCE_DIR) / words[i];
      fs::create_directories(to);
      fs::copy(from, fs::is_directory(from) ? fs::path(to) : to / from.filename(),
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    }
  }
  BOOST_TEST_REQUIRE(!configure.empty());
  Process process({"/bin/bash", "-euo", "pipefail", "-c", "cd " + folder.path() + "; " + configure});
  BOOST_TEST(process.wait() == 0, process.output());
}

// With one program in the place of all of them.
BOOST_AUTO_TEST_CASE(the_image_has_the_libraries_that_its_programs_need) {
  const std::string text = written(to("docker"), three_workers);
  const auto begin = text.find("RUN bash -euo pipefail -c 'mkdir -p /image/bin"),
             end = text.find("\n\n", begin);
  BOOST_TEST_REQUIRE((begin != text.npos && end != text.npos));
  std::string step = text.substr(begin + 4, end - begin - 4);
  const Folder folder;
  std::filesystem::create_directory(folder.file("built"));
  std::filesystem::create_symlink(ACTORFLOW_BIN_DIR "/equations", folder.file("built/equations"));
  const auto replace = [&step](const std::string& part, const std::string& by) {
    for (auto at = step.find(part); at != step.npos; at = step.find(part, at + by.size()))
      step.replace(at, part.size(), by);
  };
  replace("/image", folder.file("image"));
  replace("build/bin", folder.file("built"));
  replace("apps/data", ACTORFLOW_SOURCE_DIR "/apps/data/digits");
  Process copies({"/bin/bash", "-euo", "pipefail", "-c", step});
  BOOST_TEST(copies.wait() == 0, copies.output());
  Process program({"/usr/bin/env", "-i", "LD_LIBRARY_PATH=" + folder.file("image/lib"),
                   folder.file("image/bin/equations")});
  BOOST_TEST(program.wait() == 0, program.output());
  BOOST_TEST(contains(program.output(), "238"), program.output());
  const std::string ldd = "LD_LIBRARY_PATH=" + folder.file("image/lib") + " ldd " +
                          folder.file("image/bin/equations") + " | grep '=> /'";
  Process libraries({"/bin/bash", "-c", ldd});
  BOOST_TEST(libraries.wait() == 0);
  for (const auto& line : split(libraries.output(), '\n')) {
    const bool is_of_libc = contains(line, "libc.so") || contains(line, "libm.so") ||
                            contains(line, "libdl.so") || contains(line, "librt.so") ||
                            contains(line, "libpthread.so");
    BOOST_TEST((is_of_libc || contains(line, folder.file("image/lib"))), line);
  }
}

BOOST_AUTO_TEST_CASE(the_name_is_that_of_the_program_unless_one_is_given) {
  JobSpec job = three_workers;
  job.command[0] = "/opt/My_Program.2";
  BOOST_TEST(contains(slurm_batch_file(to("slurm"), job), "--job-name=my-program-2\n"));
  job.command[0] = "./12_...";
  BOOST_TEST(contains(slurm_batch_file(to("slurm"), job), "--job-name=job\n"));
}

BOOST_AUTO_TEST_CASE(a_mistake_says_what_was_expected_and_what_came) {
  const auto changed = [](const char* whom, auto change) {
    DeployOptions options = to(whom);
    change(options);
    return options;
  };
  for (const char* name : {"Digits", "1job", "job-", "a_b", "a.b", "naïve", "a\n#SBATCH --uid=0"})
    check_refused(changed("kubernetes", [&](auto& o) { o.name = name; }), three_workers,
                  "--name: expected");
  check_refused(changed("tfjob", [](auto& o) { o.name = std::string(60, 'a'); }), three_workers,
                "at most 63 characters");
  check_refused(changed("kubernetes", [](auto& o) { o.image = ""; }), three_workers,
                "--image: expected");
  check_refused(changed("kubernetes", [](auto& o) { o.claim = "data"; }), three_workers,
                "--claim: expected NAME:/PATH of a persistent volume claim, got 'data'");
  check_refused(changed("slurm", [](auto& o) { o.time_limit = "1h\n#"; }), three_workers,
                "--time: expected");
  check_refused(changed("slurm", [](auto& o) { o.image = "x"; }), three_workers,
                "omit them with --to slurm");
  check_refused(changed("docker", [](auto& o) { o.credentials = "keys"; }), three_workers,
                "no place for keys");

  JobSpec job = three_workers;
  job.environment = {{"A B", "x"}};
  check_refused(to("slurm"), job, "--env: expected a name of letters, digits and '_', got 'A B'");
  job = three_workers;
  job.evaluator = true;
  check_refused(to("slurm"), job, "--evaluator: srun starts ranks that are alike");
  job = three_workers;
  job.hybrid = true;
  check_refused(to("kubernetes"), job, "--ps N -np N");
  job = three_workers;
  job.max_workers = 4;
  check_refused(to("kubernetes"), job, "fixed by -np");
  job = three_workers;
  job.command.emplace_back("\xff");
  check_refused(to("kubernetes"), job, "UTF-8");
  job.command.clear();
  check_refused(to("slurm"), job, "expected a program");
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written_is_named_with_the_reason) {
  DeployOptions options = to("slurm");
  options.output = "/nowhere/batch";
  BOOST_CHECK_EXCEPTION(deploy_command(options, three_workers), Error, [](const Error& error) {
    return contains(error.what(), "'/nowhere/batch' cannot be written: No such file");
  });
}

BOOST_AUTO_TEST_SUITE_END()
