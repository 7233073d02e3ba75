// The parameters of a job: what it asks for by name, and what it was given.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace actorflow {

// What a job has asked for, and what stands for it if it is not given; none: it must be given.
struct AskedParameter {
  std::string name;
  std::optional<std::string> otherwise;
};

// A job asks for all of them before its first result, so that a misspelt one is refused before anything
// runs; but for "output", for which it may ask when it has something to write. For one thread.
class JobParameters {
 public:
  explicit JobParameters(std::map<std::string, std::string> given) : given_(std::move(given)) {}

  // Its text; null if it was not given. Throws failed_precondition for a name that is new after close().
  const std::string* ask(const std::string& name, std::optional<std::string> otherwise);
  // The first result is wanted. Throws invalid_argument, with the nearest name, for what was given, but
  // not asked for.
  void close();
  // The end of the job: the same for all of them.
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
