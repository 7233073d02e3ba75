#include "actors/jobs/engine/job_history.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "actors/jobs/engine/expect_folder.h"
#include "actors/jobs/engine/program_build.h"
#include "actors/jobs/messages/job_messages.h"
#include "dataflow/values/error.h"

namespace actorflow {

// The build comes last: what else differs says more.
std::vector<std::string> terms_of(const JobEngineOptions& options) {
  auto terms = options.terms;
  terms.push_back("build " + program_build() + " of the program");
  return terms;
}

namespace {

// What a job has done would be lost with a damaged journal, and so would a file that is somebody else's.
void remove_unreadable(Storage& storage, const JobHistory& history, bool overwrites) {
  if (history.unreadable.empty()) return;
  const std::string what = fmt::format("'{}' is named like a job's journal, but does not begin as one",
                                       history.unreadable.front());
  if (!overwrites)
    throw Error(Code::data_loss,
                what +
                    ": if it is a damaged journal, give --overwrite to do without it, which removes "
                    "it; else give another --work_folder");
  spdlog::warn("{}: the job does without it, and removes it", what);
  for (const std::string& path : history.unreadable) storage.remove(path);
}

}  // namespace

JobHistory open_history(Storage& storage, const JobEngineOptions& options) {
  const std::string& folder = options.work_folder;
  expect_folder(storage, "the work folder", "a folder", folder);
  JobHistory history = read_history(storage, folder);
  remove_unreadable(storage, history, options.overwrite);
  if (history.job && options.resume) {
    const auto [then, now] = first_difference(history.job->terms, terms_of(options));
    if (then != now)
      throw Error(
          Code::failed_precondition,
          fmt::format("--resume: the journal in '{}' is of another job: where that had '{}', this "
                      "one has '{}'. Give the same program, parameters and sizes, or begin anew "
                      "with --overwrite instead of --resume",
                      folder, then, now));
    spdlog::info("the job goes on: {} parts of {} stages are made", history.parts(),
                 history.stages.size());
    return history;
  }
  if (history.job && !options.overwrite)
    throw Error(
        Code::already_exists,
        fmt::format("'{}' has the journal of a job that has not ended: give --resume to go on with "
                    "it, or --overwrite to begin anew",
                    folder));
  if (options.resume)
    spdlog::info("there is no journal in '{}': the job begins at its beginning", folder);
  remove_history(storage, folder);
  return {};
}

}  // namespace actorflow
