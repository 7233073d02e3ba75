// Input of the benchmarks of jobs, and their programs.
#pragma once

#include <cstdint>
#include <string>

namespace actorflow::bench {

inline constexpr int job_threads = 2;

// For files of the whole run.
const std::string& job_folder();
// Shakespeare, as often as fits into so many bytes: a file.
std::string text_of(std::uint64_t bytes);
// Records of the sort benchmark: a folder.
std::string records_of(std::uint64_t count);

// Throws if it fails.
void run_command(const std::string& command);
// Of a program of apps/ on job_threads threads.
double seconds_of_program(const std::string& name, const std::string& arguments);

}  // namespace actorflow::bench
