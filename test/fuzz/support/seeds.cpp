// fuzz_seeds FOLDER: writes the seeds of all targets, each into the folder of its target.
#include "test/fuzz/support/seeds.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

using namespace actorflow;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "expected a folder to write to\n"), 2;
  const std::filesystem::path folder(argv[1]);
  std::filesystem::remove_all(folder);
  std::map<std::string, int> counts;
  const fuzz::AddSeed add = [&](const std::string& target, const fuzz::Bytes& bytes) {
    std::filesystem::create_directories(folder / target);
    std::ofstream file(folder / target / ("seed-" + std::to_string(++counts[target])), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw std::runtime_error("cannot write to " + folder.string());
  };
  fuzz::add_data_seeds(add);
  fuzz::add_cluster_seeds(add);
  fuzz::add_message_seeds(add);
  fuzz::add_wire_seeds(add);
  fuzz::add_checkpoint_seeds(add);
  for (const auto& [target, count] : counts) std::printf("%s: %d seeds\n", target.c_str(), count);
  return 0;
}
