// The parameters of a job: those that it asks for by name, and those that it was given.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace actorflow {

// A parameter that a job has asked for, and its default; none: it must be given.
struct AskedParameter {
  std::string name;
  std::optional<std::string> otherwise;
};

// A job asks for all of them before its first result, so that a misspelt one is refused before anything
// runs; but for "output", for which it may ask when it has something to write. For one thread.
class JobParameters {
 public:
  explicit JobParameters(std::map<std::string, std::string> given) : given_(std::move(given)) {}

  // The text of a parameter; null if it was not given. Throws failed_precondition for a name that is new
  // after close().
  const std::string* ask(const std::string& name, std::optional<std::string> otherwise);
  // Called before the first result. Throws invalid_argument, with the nearest name, for a parameter that
  // was given but not asked for.
  void close();
  // Whether the job has come to its first result.
  bool is_closed() const { return closed_; }
  // Called at the end of the job: the same for all parameters, "output" included.
  void expect_all_asked() const;
  // Throws invalid_argument: the job cannot do without it.
  [[noreturn]] void throw_wanted(const std::string& name) const;

  const std::vector<AskedParameter>& asked() const { return asked_; }

 private:
  bool is_asked(const std::string& name) const;
  void expect_asked(const std::string& given) const;

  const std::map<std::string, std::string> given_;
  std::vector<AskedParameter> asked_;  // in this order
  bool closed_ = false;
};

}  // namespace actorflow
