// Input of the benchmarks of jobs, and their programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace actorflow::bench {

inline constexpr int job_threads = 2;

// For files of the whole run.
const std::string& job_folder();
// Shakespeare, as often as fits into so many bytes: a file.
std::string text_of(std::uint64_t bytes);
// The same text in files of about one size, cut between lines: a folder.
std::string text_in_files(std::uint64_t bytes, int files);
// Records of the sort benchmark, with keys that are "uniform", "skewed" or "equal": a folder.
std::string records_of(std::uint64_t count, const std::string& keys = "uniform");

// Throws if it fails.
void run_command(const std::string& command);
// Of a program of apps/ or bench/ on job_threads threads.
double seconds_of_program(const std::string& name, const std::string& arguments);
// The lines of a job's part files, sorted.
std::vector<std::string> sorted_lines(const std::string& folder);
// Throws runtime_error if they are not those of the other folder.
void expect_lines(const std::string& folder, const std::string& expected);
// The same of the names and bytes of all files of two folders.
void expect_files(const std::string& folder, const std::string& expected);

}  // namespace actorflow::bench
