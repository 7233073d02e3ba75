#include "schema/environment/elastic_words.h"

#include <algorithm>
#include <charconv>

#include "dataflow/values/comma_list.h"
#include "dataflow/values/joined.h"

namespace actorflow {
namespace {

// Takes the words of a line, from its beginning on.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view next() {
    const auto end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  std::string_view rest() const { return rest_; }
  // False after a word that was no number within the limits.
  bool ok() const { return ok_; }

  std::int64_t number(std::int64_t least, std::int64_t most) {
    const std::string_view word = next();
    std::int64_t value = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
    ok_ = ok_ && parsed.ec == std::errc() && parsed.ptr == word.data() + word.size() && value >= least &&
          value <= most;
    return value;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

constexpr std::int64_t no_limit = INT64_MAX;

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::optional<ElasticNews> parse_world(Words words) {
  ElasticNews news;
  news.world.epoch = words.number(1, no_limit);
  news.world.rank = static_cast<int>(words.number(0, 1 << 20));
  news.world.addresses = split_at_commas(words.next());
  const bool has_rank = static_cast<std::size_t>(news.world.rank) < news.world.addresses.size();
  if (!words.ok() || !has_rank) return std::nullopt;
  return news;
}

}  // namespace

std::string to_line(const ElasticRequest& request) {
  const std::string epoch = std::to_string(request.epoch);
  if (request.kind == ElasticRequest::Kind::leave) return "leave\n";
  if (request.kind == ElasticRequest::Kind::heard) return "heard " + epoch + "\n";
  return "join " + epoch + " " + std::to_string(request.step) + " " + std::to_string(request.port) +
         "\n";
}

std::string to_line(const ElasticNews& news) {
  const std::string epoch = std::to_string(news.world.epoch) + " ";
  if (news.kind == ElasticNews::Kind::world)
    return "world " + epoch + std::to_string(news.world.rank) + " " + joined(news.world.addresses, ",") +
           "\n";
  const std::string why = in_one_line(news.why) + "\n";
  if (news.kind == ElasticNews::Kind::end) return "end " + why;
  return (news.kind == ElasticNews::Kind::over ? "over " : "change ") + epoch + why;
}

std::optional<ElasticRequest> parse_request(std::string_view line) {
  using Kind = ElasticRequest::Kind;
  Words words(line);
  const std::string_view kind = words.next();
  ElasticRequest request;
  if (kind == "leave") return ElasticRequest{.kind = Kind::leave};
  if (kind == "heard") {
    request.kind = Kind::heard;
    request.epoch = words.number(1, no_limit);
  } else if (kind == "join") {
    request.epoch = words.number(0, no_limit);
    request.step = words.number(-1, no_limit);
    request.port = static_cast<std::uint16_t>(words.number(1, UINT16_MAX));
  } else {
    return std::nullopt;
  }
  return words.ok() ? std::optional(request) : std::nullopt;
}

std::optional<ElasticNews> parse_news(std::string_view line) {
  using Kind = ElasticNews::Kind;
  Words words(line);
  const std::string_view kind = words.next();
  if (kind == "world") return parse_world(words);
  ElasticNews news{.kind = kind == "end" ? Kind::end : kind == "over" ? Kind::over : Kind::change};
  if (news.kind == Kind::change && kind != "change") return std::nullopt;
  if (news.kind != Kind::end) news.world.epoch = words.number(1, no_limit);
  news.why = std::string(words.rest());
  return words.ok() ? std::optional(std::move(news)) : std::nullopt;
}

}  // namespace actorflow
