// What a task of an elastic job and its launcher say to each other: a line of text for each.
//
//   task to launcher
//     join EPOCH STEP PORT     wants the next world. EPOCH: of the last one that it was in, 0 = none;
//                              STEP: of the state that it holds, -1 = none; PORT: where it will listen
//     heard EPOCH              has read "world", "change" or "over": an answer to each
//     leave                    will end by its own wish, and is no loss
//   launcher to task
//     world EPOCH RANK ADDRESS,ADDRESS,...   its next world: its rank, and the addresses of all ranks
//     change EPOCH WHY         that world shall end after a step that all its members choose
//     over EPOCH WHY           that world has lost a member: no further step of it can end
//     end WHY                  there will be no further world
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace actorflow {

struct ElasticRequest {
  enum class Kind : std::uint8_t { join, heard, leave };
  Kind kind = Kind::join;
  std::int64_t epoch = 0, step = -1;
  std::uint16_t port = 0;

  bool operator==(const ElasticRequest&) const = default;
};

// The members of an elastic job from one change to the next.
struct ElasticWorld {
  std::int64_t epoch = 0;  // 1, 2, ...
  int rank = 0;            // of the task that is told
  std::vector<std::string> addresses{};

  bool operator==(const ElasticWorld&) const = default;
};

struct ElasticNews {
  enum class Kind : std::uint8_t { world, change, over, end };
  Kind kind = Kind::world;
  ElasticWorld world{};  // of `change` and `over` only the epoch counts
  std::string why{};

  bool operator==(const ElasticNews&) const = default;
};

// With the newline.
std::string to_line(const ElasticRequest& request);
std::string to_line(const ElasticNews& news);
// Without it; nothing if it is no such line.
std::optional<ElasticRequest> parse_request(std::string_view line);
std::optional<ElasticNews> parse_news(std::string_view line);

}  // namespace actorflow
