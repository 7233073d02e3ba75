// Jobs that go over records again and again, which they keep in memory: against plain loops in this
// process on as many threads, which read the same file once, and give the same to 1e-9.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/harness.h"
#include "bench/jobs/job_files.h"
#include "bench/jobs/job_peers.h"

namespace actorflow::bench {
namespace {

namespace fs = std::filesystem;

constexpr int job_rounds = 10;

using Point = std::array<double, 20>;
struct Example {
  Point x;
  double label;
};

// A pseudo-random number from 0 to 1, by SplitMix64's finalizer.
double number(std::uint64_t i) {
  i += 0x9e3779b97f4a7c15;
  i = (i ^ (i >> 30U)) * 0xbf58476d1ce4e5b9;
  i = (i ^ (i >> 27U)) * 0x94d049bb133111eb;
  return static_cast<double>((i ^ (i >> 31U)) >> 11U) / 0x1p53;
}

// Around one of 16 middles.
Point point(std::uint64_t i) {
  const auto middle = static_cast<std::uint64_t>(number(i) * 16);
  Point p;
  for (std::uint64_t d = 0; d < p.size(); ++d)
    p[d] = 10 * number(middle << 40U | d) + 3 * number(~(i * p.size() + d));
  return p;
}

Example example(std::uint64_t i) {
  Example e{};
  double z = number(i) - 0.5;
  for (std::uint64_t d = 0; d < e.x.size(); ++d) {
    e.x[d] = 4 * number(~(i * e.x.size() + d)) - 2;
    z += e.x[d] * (number(d) - 0.5);
  }
  e.label = z > 0;
  return e;
}

// A file of so many records.
template <class T>
std::string file_of(const std::string& name, T (*make)(std::uint64_t), std::uint64_t count) {
  const std::string path = fmt::format("{}/{}{}.bin", job_folder(), name, count);
  if (fs::exists(path)) return path;
  std::ofstream file(path, std::ios::binary);
  for (std::uint64_t i = 0; i < count; ++i) {
    const T record = make(i);
    file.write(reinterpret_cast<const char*>(&record), sizeof record);
  }
  return path;
}

template <class T>
std::vector<T> read_part(const std::string& path, std::size_t part, std::size_t parts) {
  const std::size_t count = fs::file_size(path) / sizeof(T);
  const std::size_t first = count * part / parts, last = count * (part + 1) / parts;
  std::vector<T> records(last - first);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(first * sizeof(T)));
  file.read(reinterpret_cast<char*>(records.data()),
            static_cast<std::streamsize>(records.size() * sizeof(T)));
  return records;
}

void on_threads(const std::function<void(std::size_t)>& body) {
  std::vector<std::thread> team;
  for (std::size_t i = 0; i < job_threads; ++i) team.emplace_back(body, i);
  for (auto& thread : team) thread.join();
}

// A file's records, half for each thread.
template <class T>
struct Halves {
  explicit Halves(const std::string& path) {
    on_threads([&](std::size_t i) { of[i] = read_part<T>(path, i, job_threads); });
  }
  // The results of f(records) for both threads' halves.
  template <class F>
  auto each(F f) const {
    std::array<std::invoke_result_t<F&, const std::vector<T>&>, job_threads> results;
    on_threads([&](std::size_t i) { results[i] = f(of[i]); });
    return results;
  }
  std::array<std::vector<T>, job_threads> of;
};

struct Cluster {
  Point sum{};
  double count = 0;
};

double distance(const Point& a, const Point& b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

std::vector<Cluster> clusters(const std::vector<Point>& points, const std::vector<Point>& centres) {
  std::vector<Cluster> sums(centres.size());
  for (const Point& p : points) {
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < centres.size(); ++c)
      if (const double d = distance(centres[c], p); d < least) {
        least = d;
        nearest = c;
      }
    for (std::size_t d = 0; d < p.size(); ++d) sums[nearest].sum[d] += p[d];
    ++sums[nearest].count;
  }
  return sums;
}

std::vector<double> plain_k_means(const std::string& path) {
  const Halves<Point> points(path);
  std::vector<Point> centres(points.of[0].begin(), points.of[0].begin() + 16);
  for (int round = 0; round < job_rounds; ++round) {
    const auto sums = points.each([&](const auto& half) { return clusters(half, centres); });
    for (std::size_t c = 0; c < centres.size(); ++c)
      for (std::size_t d = 0; d < centres[c].size(); ++d)
        centres[c][d] = (sums[0][c].sum[d] + sums[1][c].sum[d]) / (sums[0][c].count + sums[1][c].count);
  }
  std::vector<double> values;
  for (const Point& c : centres) values.insert(values.end(), c.begin(), c.end());
  return values;
}

using Weights = std::array<double, 21>;

Weights gradient(const std::vector<Example>& examples, const Weights& w) {
  Weights sum{};
  for (const Example& e : examples) {
    double z = w[20];
    for (std::size_t i = 0; i < 20; ++i) z += w[i] * e.x[i];
    const double error = 1 / (1 + std::exp(-z)) - e.label;
    for (std::size_t i = 0; i < 20; ++i) sum[i] += error * e.x[i];
    sum[20] += error;
  }
  return sum;
}

std::vector<double> plain_regression(const std::string& path) {
  const Halves<Example> examples(path);
  const auto count = static_cast<double>(examples.of[0].size() + examples.of[1].size());
  Weights w{};
  for (int round = 0; round < job_rounds; ++round) {
    const auto sums = examples.each([&](const auto& half) { return gradient(half, w); });
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= 0.5 * (sums[0][i] + sums[1][i]) / count;
  }
  return {w.begin(), w.end()};
}

// The `k` largest below `bound`, the smallest of them on top of a heap.
std::vector<double> largest(const std::vector<double>& numbers, std::size_t k, double bound) {
  std::vector<double> heap;
  for (const double x : numbers) {
    if (x >= bound || (heap.size() == k && x <= heap.front())) continue;
    if (heap.size() == k) {
      std::ranges::pop_heap(heap, std::greater());
      heap.pop_back();
    }
    heap.push_back(x);
    std::ranges::push_heap(heap, std::greater());
  }
  return heap;
}

constexpr std::size_t k = 100;

std::vector<double> plain_top(const std::string& path) {
  const Halves<double> numbers(path);
  std::vector<double> all;
  double bound = std::numeric_limits<double>::infinity();
  for (int round = 0; round < job_rounds; ++round) {
    auto best = numbers.each([&](const auto& half) { return largest(half, k, bound); });
    best[0].insert(best[0].end(), best[1].begin(), best[1].end());
    std::ranges::sort(best[0], std::greater());
    best[0].resize(std::min(best[0].size(), k));
    all.insert(all.end(), best[0].begin(), best[0].end());
    bound = all.back();
  }
  return all;
}

void expect_close(const std::string& folder, const std::vector<double>& expected) {
  std::vector<double> values;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::ranges::replace(line, ',', ' ');
      std::istringstream columns(line);
      for (double value = 0; columns >> value;) values.push_back(value);
    }
  }
  const auto close = [](double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(b)); };
  if (!std::ranges::equal(values, expected, close))
    throw std::runtime_error(folder + " differs from the plain loop's");
}

struct Rounds {
  std::string program;    // and its job
  std::string judged_by;  // a package of Python
  std::function<std::string(bool quick)> input;
  std::string arguments;  // beside input and output; may use {folder}, that of the input
  std::vector<double> (*plain)(const std::string& path);
};

Benchmark benchmark(const std::string& name, const Rounds& job) {
  return {"jobs/" + name, "s", "a plain loop on two threads", at_most(1.25), [=](bool quick) {
            const std::string path = job.input(quick), output = job_folder() + "/" + name;
            std::vector<double> expected;
            const std::size_t space = std::min(job.program.find(' '), job.program.size());
            const Measurement measured = in_turn(
                quick ? 1 : job_turns,
                [&] {
                  return seconds_of_program(job.program.substr(0, space),
                                            fmt::format("{} --input {} --output {} --memory 4GB {}",
                                                        job.program.substr(space), path, output,
                                                        fmt::format(fmt::runtime(job.arguments),
                                                                    fmt::arg("folder", job_folder()))));
                },
                [&] { return seconds_of([&] { expected = job.plain(path); }); });
            expect_close(output, expected);
            expect_judged(job.judged_by, name,
                          fmt::format("input={} output={} rounds={} count={}", path, output, job_rounds,
                                      k * job_rounds));
            return measured;
          }};
}

// Also the first of them, as the centres to start from.
std::string points(bool quick) {
  const std::string path = file_of("points", point, quick ? 6'250 : 6'250'000);
  fs::copy_file(path, job_folder() + "/start.bin", fs::copy_options::overwrite_existing);
  fs::resize_file(job_folder() + "/start.bin", 16 * sizeof(Point));
  return path;
}

}  // namespace

std::vector<Benchmark> round_job_benchmarks() {
  const std::string ten = fmt::format("--rounds {}", job_rounds);
  return {
      benchmark("k_means",
                {"k_means", "sklearn", points, ten + " --start {folder}/start.bin", plain_k_means}),
      benchmark("logistic_regression",
                {"logistic_regression", "numpy",
                 [](bool quick) { return file_of("examples", example, quick ? 6'000 : 6'000'000); }, ten,
                 plain_regression}),
      benchmark("top_numbers",
                {"bench_jobs top_numbers", "numpy",
                 [](bool quick) { return file_of("numbers", number, quick ? 125'000 : 125'000'000); },
                 ten + fmt::format(" --k {}", k), plain_top}),
  };
}

}  // namespace actorflow::bench
