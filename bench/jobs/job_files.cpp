#include "bench/jobs/job_files.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "apps/cli/data_folder.h"
#include "apps/rehearsal/temporary_folder.h"
#include "bench/harness.h"
#include "bench/program.h"
#include "schema/text_file.h"

namespace actorflow::bench {

namespace fs = std::filesystem;

void run_command(const std::string& command) {
  if (std::system((command + " >/dev/null").c_str()) != 0)
    throw std::runtime_error("failed: " + command);
}

double seconds_of_program(const std::string& name, const std::string& arguments) {
  return seconds_of([&] {
    run_command(fmt::format("{} {} --tasks {} --quiet --overwrite", path_of_program(name), arguments,
                            job_threads));
  });
}

const std::string& job_folder() {
  static const TemporaryFolder files("actorflow-bench");
  static const std::string path = files.path();
  return path;
}

std::string text_of(std::uint64_t bytes) {
  const std::string path = fmt::format("{}/text{}", job_folder(), bytes);
  if (fs::exists(path)) return path;
  const std::string data = default_data_folder("shakespeare");
  if (data.empty()) throw Skipped("no apps/data/shakespeare");
  const std::string once = read_text_file(data + "/shakespeare.txt").value();
  std::ofstream file(path, std::ios::binary);
  for (std::uint64_t written = 0; written < bytes; written += once.size()) file << once;
  return path;
}

std::string records_of(std::uint64_t count) {
  const std::string path = fmt::format("{}/records{}", job_folder(), count);
  if (!fs::exists(path))
    seconds_of_program("gensort", fmt::format("gensort --records {} --output {}", count, path));
  return path;
}

}  // namespace actorflow::bench
