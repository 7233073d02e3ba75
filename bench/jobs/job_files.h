// Input of the benchmarks of jobs, and their programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace actorflow::bench {

inline constexpr int job_threads = 2;
// How often a job and its baseline are measured in turn.
inline constexpr int job_turns = 3;
// A record of the sort benchmark, and its key.
inline constexpr std::size_t record_bytes = 100, key_bytes = 10;

// The folder for the files of the whole run.
const std::string& job_folder();
// A file of Shakespeare's plays, all of them, repeated until it has that many bytes. Returns its path.
std::string text_of(std::uint64_t bytes);
// The same text in files of about equal size, cut between lines. Returns their folder.
std::string text_in_files(std::uint64_t bytes, int files);
// Records of the sort benchmark whose keys are "uniform", "skewed" or "equal". Returns their folder.
std::string records_of(std::uint64_t count, const std::string& keys = "uniform");

// Runs a command of the shell. Throws if it fails.
void run_command(const std::string& command);
// The seconds that a program of apps/ or bench/ takes on job_threads threads.
double seconds_of_program(const std::string& name, const std::string& arguments);
// The lines of a job's part files, sorted.
std::vector<std::string> sorted_lines(const std::string& folder);
// Throws runtime_error unless both folders have the same sorted lines.
void expect_lines(const std::string& folder, const std::string& expected);
// Throws runtime_error unless both folders have files of the same names and bytes.
void expect_files(const std::string& folder, const std::string& expected);

}  // namespace actorflow::bench
