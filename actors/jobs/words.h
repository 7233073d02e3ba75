// The words of a text.
#pragma once

#include <iterator>
#include <ranges>
#include <string_view>

namespace actorflow {

// What white space separates: space, \t, \n, \v, \f and \r, as in Python's bytes.split(). The words
// point into the text.
class Words {
 public:
  explicit Words(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  class Iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const char* at, const char* end) : stop_(at), end_(end) { ++*this; }

    std::string_view operator*() const { return {at_, static_cast<std::size_t>(stop_ - at_)}; }
    Iterator& operator++() {
      for (at_ = stop_; at_ != end_ && is_space(*at_);) ++at_;
      for (stop_ = at_; stop_ != end_ && !is_space(*stop_);) ++stop_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }
    bool operator==(std::default_sentinel_t) const { return at_ == end_; }

   private:
    static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

    const char *at_ = nullptr, *stop_ = nullptr, *end_ = nullptr;
  };
  Iterator begin() const { return {at_, end_}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  const char *at_, *end_;
};

// For flat_map.
inline constexpr auto words = [](std::string_view text) { return Words(text); };

}  // namespace actorflow

template <>
inline constexpr bool std::ranges::enable_view<actorflow::Words> = true;
