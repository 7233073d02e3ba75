// The words of a text, and texts made of several.
#pragma once

#include <functional>
#include <iterator>
#include <ranges>
#include <string>
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

// Joins texts, with a separator between them. Keeps its memory from one call to the next, so that a
// function of a job may join for each record. For one thread; copies have memory of their own.
class TextJoiner {
 public:
  explicit TextJoiner(char separator) : separator_(separator) {}

  // Joins `text_of(part)` of each part, a std::string_view or what becomes one. The result lives until
  // the next call.
  template <std::ranges::input_range Parts, class TextOf = std::identity>
  std::string_view operator()(const Parts& parts, const TextOf& text_of = {}) {
    joined_.clear();
    for (const auto& part : parts) (joined_ += std::string_view(text_of(part))) += separator_;
    if (!joined_.empty()) joined_.pop_back();
    return joined_;
  }

 private:
  char separator_;
  std::string joined_;
};

}  // namespace actorflow

template <>
inline constexpr bool std::ranges::enable_view<actorflow::Words> = true;
