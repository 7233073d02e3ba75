// replay TARGET FOLDER...: runs a target, which is linked with this, on every file of the folders and on
// seeded mutations of them: without clang, in every run of the tests. What ends it is kept as a file.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "test/fuzz/support/target.h"

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t mutations = 1000;  // of all files together
constexpr std::size_t max_bytes = std::size_t{64} << 10;
constexpr unsigned seconds_per_input = 60;
constexpr long max_resident_kib = 1 << 20;

Bytes current;
std::string kept_as;

// Keeps the input that ends the program.
extern "C" void keep_input(int signal) {
  std::ofstream(kept_as, std::ios::binary)
      .write(reinterpret_cast<const char*>(current.data()), static_cast<std::streamsize>(current.size()));
  std::fprintf(stderr, "signal %d; the input is kept as %s\n", signal, kept_as.c_str());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(Bytes input) {
  current = std::move(input);
  alarm(seconds_per_input);
  LLVMFuzzerTestOneInput(current.data(), current.size());
}

std::vector<Bytes> read_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Bytes> files;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return files;
}

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  Bytes mutate(Bytes input, const Bytes& other) {
    for (auto changes = 1 + below(4); changes > 0; --changes) change(input, other);
    input.resize(std::min(input.size(), max_bytes));
    return input;
  }

 private:
  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

  void change(Bytes& input, const Bytes& other) {
    if (input.empty()) input.push_back(0);
    const std::size_t at = below(input.size());
    const std::size_t size = std::min(input.size() - at, std::size_t{1} << below(8));
    const auto first = input.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = first + static_cast<std::ptrdiff_t>(size);
    switch (below(6)) {
      case 0:
        *first = static_cast<std::uint8_t>(*first ^ 1U << below(8));
        break;
      case 1: {
        static constexpr std::uint8_t values[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff};
        std::fill(first, last, values[below(std::size(values))]);
        break;
      }
      case 2:
        input.erase(first, last);
        break;
      case 3: {
        const Bytes copy(first, last);
        input.insert(first, copy.begin(), copy.end());
        break;
      }
      case 4:
        input.resize(at);
        break;
      default: {
        const auto from = static_cast<std::ptrdiff_t>(below(other.size()));
        input.erase(first, input.end());
        input.insert(input.end(), other.begin() + from, other.end());
      }
    }
  }

  std::minstd_rand random_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "expected a target and folders of inputs\n"), 2;
  kept_as = std::string("crash-") + argv[1];
  for (const int signal : {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) std::signal(signal, keep_input);
  std::vector<Bytes> files;
  for (int i = 2; i < argc; ++i) std::ranges::move(read_folder(argv[i]), std::back_inserter(files));
  if (files.empty()) return std::fprintf(stderr, "%s has no inputs\n", argv[1]), 2;
  for (const auto& file : files) run(file);
  Mutator mutator(1);
  for (std::size_t i = 0; i < mutations; ++i)
    run(mutator.mutate(files[i % files.size()], files[(i + 1) % files.size()]));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%s: %zu inputs and %zu mutations of them, %ld MiB\n", argv[1], files.size(), mutations,
              usage.ru_maxrss >> 10);
  if (usage.ru_maxrss <= max_resident_kib) return 0;
  std::fprintf(stderr, "that is more memory than %ld MiB\n", max_resident_kib >> 10);
  return 1;
}
