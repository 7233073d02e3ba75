#include "actors/jobs/context/job_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "dataflow/values/error.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

constexpr const char* asked_late = "output";

// "; did you mean '--k'?", or nothing.
std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  std::vector<std::string> flags;
  for (const auto& each : known) flags.push_back("--" + each);
  const std::vector<std::string_view> views(flags.begin(), flags.end());
  return did_you_mean("--" + name, views);
}

}  // namespace

bool JobParameters::is_asked(const std::string& name) const {
  return std::ranges::find(asked_, name, &AskedParameter::name) != asked_.end();
}

const std::string* JobParameters::ask(const std::string& name, std::optional<std::string> otherwise) {
  if (!is_asked(name)) {
    if (closed_ && name != asked_late)
      throw Error(Code::failed_precondition,
                  fmt::format("--{} is asked for when the job has a result already: ask for all "
                              "parameters but --{} before the first action, so that a misspelt one is "
                              "refused before anything runs",
                              name, asked_late));
    asked_.push_back({name, std::move(otherwise)});
  }
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

void JobParameters::close() {
  if (closed_) return;
  for (const auto& [name, text] : given_)
    if (name != asked_late) expect_asked(name);
  closed_ = true;
}

void JobParameters::expect_all_asked() const {
  for (const auto& [name, text] : given_) expect_asked(name);
}

void JobParameters::expect_asked(const std::string& given) const {
  if (is_asked(given)) return;
  std::vector<std::string> known;
  std::string list;
  for (const auto& parameter : asked_) {
    known.push_back(parameter.name);
    list += (list.empty() ? " It asks for --" : ", --") + parameter.name;
  }
  if (given != asked_late) known.push_back(asked_late);
  const std::string near = nearest(given, known);
  throw invalid_argument(fmt::format("--{} was given, but the job does not ask for it{}{}", given,
                                     near.empty() && !list.empty() ? "." : near, list));
}

void JobParameters::throw_wanted(const std::string& name) const {
  for (const auto& [given, text] : given_)
    if (const std::string near = is_asked(given) ? "" : nearest(given, {name}); !near.empty())
      throw invalid_argument(
          fmt::format("--{} was given, for which the job has not asked{}", given, near));
  throw invalid_argument(fmt::format("the job wants --{}", name));
}

}  // namespace actorflow
