// What the ranks of a group say to each other. But for those of opening (Hello to Probed) and Heard a
// message travels with the group's life (ActorMessage::request), and one of another life is dropped. A
// message may come twice, and a later one before an earlier one: everything here can be told by its
// numbers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/collectives/agreement.h"
#include "dataflow/collectives/group_waits.h"
#include "dataflow/collectives/link_cost.h"
#include "dataflow/collectives/schedule.h"
#include "dataflow/values/error.h"

namespace actorflow {

inline constexpr int leading_rank = 0;

namespace rank_messages {

// A rank -> the leader, rank 0: I open the group. `attempt` tells this opening from the rank's others.
struct Hello {
  std::string group;
  std::uint64_t attempt;
  std::vector<std::string> members;
  std::vector<std::string> hosts;  // of the ranks, as the program says; none: by their addresses
};
// A rank -> the leader: I no longer wait for it.
struct Goodbye {
  std::string group;
  std::uint64_t attempt;
};
// The leader -> each rank: all have said hello.
struct Welcome {
  std::string group;
  std::uint64_t attempt;
  std::uint64_t life;
  std::vector<std::uint64_t> incarnations;  // of the ranks' tasks
  CostModel costs;                          // by which the leader chooses algorithms
};
struct NotWelcome {
  std::string group;
  std::uint64_t attempt;
  Status why;
  std::uint64_t news = 0;  // as Broken::news
};

// The leader, when all have said hello -> a rank, and its answer once it has read the payload: measures
// how long messages take. `digest`: of the payload.
struct Probe {
  std::string group;
  std::uint64_t attempt;  // the leader's
  std::uint32_t number;
};
struct Probed {
  std::string group;
  std::uint64_t attempt;
  std::uint32_t number;
  std::uint64_t digest;
};

// The uses of a name are numbered from 1 on. Those below belong to one use.
struct UseOf {
  std::string name;
  std::uint64_t use;

  auto operator<=>(const UseOf&) const = default;
};

// A rank -> the leader: I do this, which we have not agreed on.
struct Propose {
  UseOf of;
  std::int32_t rank;
  CollectiveCall call;
  // A thread does nothing else meanwhile, and would look at pages of the others and show one (board.h).
  bool would_look = false;
};
// The leader -> all: a rank wants something else than we have agreed on as `version`. Propose what you
// do.
struct Revise {
  UseOf of;
  std::uint32_t version;
};
// The leader -> all: from this use on we do this, in this way.
struct Agreed {
  UseOf of;
  std::uint32_t version;
  CollectiveCall call;
  Algorithm algorithm;
  std::int32_t chunks;
  std::vector<std::int32_t> hosts{};  // of a hierarchical all-reduce (SchedulePlan)
};
// The leader, or a rank that cannot go on -> all: this use fails.
struct Failed {
  UseOf of;
  Status why;
};

// A message of the schedule, number `number` of its sender to its receiver. The pieces' bytes follow
// each other in the payload.
struct Part {
  UseOf of;
  std::uint32_t version;
  std::int32_t from;
  std::uint32_t number;
  std::vector<std::int64_t> rows;  // of each piece
};

// A rank -> the others: my page of the board (board.h), the payload, for what we have agreed on as
// `version`.
struct Page {
  UseOf of;
  std::uint32_t version;
  std::int32_t from;
};

// A rank -> the others: the payload, which you may be reading where it is, is no longer on my board.
// They have done so when this is their turn.
struct LetGo {};

// A rank -> all: I have no more data in this round. -> all: everybody is in it, `last` came last.
struct Joined {
  std::int32_t rank;
  std::uint32_t round;
};
struct AllJoined {
  std::int32_t last;
  std::uint32_t round;
};
// A rank -> those that have joined: take part with zeros.
struct Wake {
  UseOf of;
  std::uint32_t version;
  std::uint32_t round;
};

// A rank that waits for long -> all, and what they answer.
struct Inquire {
  UseOf of;
  std::int32_t rank;
  std::string call;
};
struct Standing {
  UseOf of;
  std::int32_t rank;
  bool entered;
  std::string last;  // what it finished last, and when
};

// A rank -> the leader: who waits for whom? The leader -> all: what do you wait for? Their answers, and
// the leader's to whoever has asked since the survey before.
struct AskWaits {
  std::int32_t rank;
  std::uint64_t question;  // of those of the rank
};
struct Survey {
  std::uint64_t survey;
};
struct Account {
  std::int32_t rank;
  std::uint64_t survey;
  RankAccount account;
};
struct Waits {
  std::uint64_t question;
  GroupWaits waits;
};

// A rank -> all: I have left, after these uses and in this round of joining.
struct Left {
  std::int32_t rank;
  std::uint32_t round;
  std::vector<UseOf> entered;
};
// A rank -> the others: the group is over. `news` is the number by which they confirm that they have
// heard it (unheard_news.h); 0: they need not.
struct Broken {
  Status why;
  std::uint64_t news = 0;
};
struct Heard {
  std::uint64_t news;
};

// The rank in whose name a message speaks: that which it says, or the leader, who alone may say some.
// `sender` where any rank may say it.
template <class M>
int claimed_rank(const M& message, int sender) {
  if constexpr (requires { message.from; })
    return message.from;
  else if constexpr (requires { message.rank; })
    return message.rank;
  else
    return sender;
}
inline int claimed_rank(const Revise&, int) { return leading_rank; }
inline int claimed_rank(const Agreed&, int) { return leading_rank; }
inline int claimed_rank(const AllJoined&, int) { return leading_rank; }
inline int claimed_rank(const Survey&, int) { return leading_rank; }
inline int claimed_rank(const Waits&, int) { return leading_rank; }

}  // namespace rank_messages
}  // namespace actorflow
