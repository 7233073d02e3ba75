// Checks of the values that options take.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace actorflow {

template <class T, class... Types>
concept OneOfTypes = (std::same_as<T, Types> || ...);

// What a value must be. `name` stands in the help; `mistake` says what is wrong with a text, "" if
// nothing.
struct Check {
  std::string name;
  std::function<std::string(const std::string&)> mistake;
};

// Accepts the texts of finite numbers that a Number can be.
template <OneOfTypes<int, std::int64_t, std::uint16_t, std::uint64_t, double> Number>
Check number_that_fits();
// Accepts finite numbers above 0.
Check positive_number();
// Accepts finite numbers of 0 or more.
Check nonnegative_number();
// Accepts numbers from `least` to `most`.
template <OneOfTypes<int, std::int64_t, std::size_t, double> Number>
Check in_range(Number least, Number most);
Check one_of(const std::vector<std::string>& texts);
// Accepts the names of these.
template <class T>
Check one_of(const std::map<std::string, T>& by_name) {
  std::vector<std::string> names;
  for (const auto& named : by_name) names.push_back(named.first);
  return one_of(names);
}
// Accepts paths of files that are there and are no folders.
Check existing_file();

}  // namespace actorflow
