// A task's part in a group of ranks: the operations that it has entered, until they are done.
//
// A name (of a gradient, say) is used again and again (named_operation.h). A rank whose call is what was
// agreed on begins at once; otherwise it proposes, and the leader (negotiator.h) answers everybody.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "actors/collectives/engine/group_call.h"
#include "actors/collectives/engine/negotiator.h"
#include "actors/collectives/engine/operation_names.h"
#include "actors/collectives/engine/rank_mail.h"

namespace actorflow {

// The time between two reports of the same wait.
inline constexpr std::chrono::seconds stall_report_interval{10};

// Used by the actor, or by the thread that holds its lock (collectives.h). Every function may call
// replies, which only pass results on.
class RankGroup {
 public:
  RankGroup(RankMail mail, std::string name, const PlanOptions& options);
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  const RankMail& mail() const { return mail_; }
  const std::string& name() const { return name_; }
  bool is_open() const { return mail_.life() != 0; }
  const Status& broken() const { return broken_; }
  // Whether no call is in flight.
  bool idle() const { return in_flight_ == 0 && !join_reply_; }
  // Whether it has to be called now and then (tick()).
  bool needs_ticks() const { return !idle() || !questions_.empty() || survey_; }

  // The leader's: whether it chooses algorithms by costs that its program has not given.
  bool needs_costs() const;
  const std::optional<CostModel>& costs_by_program() const { return options_.costs; }
  // Opens the group with this life, which its messages carry from now on. Earlier calls begin now.
  void open(std::uint64_t life, std::vector<std::uint64_t> incarnations, const CostModel& costs);
  void call(GroupCall call);
  // The attempt to finish a call of a waiting thread by a board alone. If all other ranks show their
  // contributions the result is there and the call is done. Otherwise other ranks know of the call at
  // most from this rank's page; with `must_call` they may count on it, and call() must follow before
  // anything else.
  struct Glance {
    std::optional<Tensor> sum{};
    bool must_call = false;
  };
  Glance glance(GroupCall& call);
  // Calls reply(last rank) when every rank has called it. `step`: of a graph's node; 0: a program's
  // call.
  void join(std::function<void(Status, int last)> reply, StepId step = 0);

  // Asks the leader who waits for whom. The reply comes within 4 s: unavailable, if the leader does not
  // answer.
  using WaitsReply = std::function<void(Status, const GroupWaits&)>;
  void ask_waits(WaitsReply reply);

  // A message of this life.
  void take(const Sender& from, const ActorMessage& message);
  void lose(const PeerLost& lost);
  // Call judge_suspects() this long after lose(): by then the last message of a rank that was leaving
  // has come, too. True if it is too early for some ranks.
  static constexpr std::chrono::milliseconds last_words{500};
  bool judge_suspects();
  // Ends the group: everything in flight fails with the reason, and later calls; on every rank.
  void break_up(const Status& why);
  // Gives up the calls and the join of a graph's step that has ended without answers.
  void give_up(StepId step);
  // Leaves the group.
  void close();
  // Call every second while needs_ticks(): logs which ranks it waits for.
  void tick();

 private:
  // rank_group.cpp
  NamedOperation& operation(const std::string& name);
  void enter(NamedOperation& named, GroupCall call, bool of_zeros);
  void propose(const NamedOperation& named);
  void begin(NamedOperation& named);
  void advance(NamedOperation& named);
  void finish(NamedOperation& named, CollectiveResult result);
  void note_done(const NamedOperation& named, CollectiveKind kind);
  void fail(NamedOperation& named, const Status& why);
  void take_letter(int sender, const ActorMessage& message);
  void on_part(const rank_messages::Part& part, const Tensor& payload);
  void on_propose(const rank_messages::Propose& message);
  void on_revise(const rank_messages::Revise& message);
  void on_agreed(const rank_messages::Agreed& message);
  void on_failed(const rank_messages::Failed& message);
  void on_broken(const rank_messages::Broken& message);

  // rank_group_board.cpp
  std::size_t page_bytes() const;
  BufferRef memory_for_page(const CollectiveCall& call) const;
  bool would_show(const GroupCall& call) const;
  void enter_board(NamedOperation& named);
  void make_page(const NamedOperation& named, Board& board) const;
  void drop_board(NamedOperation& named);
  void on_page(const rank_messages::Page& page, const Tensor& memory);
  bool look_at_board(NamedOperation& named);
  std::chrono::microseconds time_to_look(const NamedOperation& named, std::uint64_t use) const;
  NamedOperation* operation_for_glance(GroupCall& call);
  bool look_at_pages(NamedOperation& named, GroupCall& call, std::span<Bytes> contributions);

  // rank_group_join.cpp
  bool takes_zeros(const CollectiveCall& call) const;
  void wake_joined(NamedOperation& named, const std::set<int>& ranks);
  void try_to_join();
  void on_joined(const rank_messages::Joined& message);
  void on_all_joined(const rank_messages::AllJoined& message);
  void on_wake(const rank_messages::Wake& message);
  void wake_up(NamedOperation& named);
  void end_join();
  void give_up_join();

  // rank_group_end.cpp
  void end_with(const Status& why);
  void drop_names();
  void on_left(const rank_messages::Left& message);
  std::optional<Status> left_before(const rank_messages::UseOf& use) const;
  // rank_group_stall.cpp
  void on_inquire(const rank_messages::Inquire& message);
  void on_standing(const rank_messages::Standing& message);
  void report(const NamedOperation& named);
  std::string last_done() const;
  // rank_group_waits.cpp
  void on_ask_waits(const rank_messages::AskWaits& message);
  void on_survey(const rank_messages::Survey& message);
  void on_account(const rank_messages::Account& message);
  void on_waits(const rank_messages::Waits& message);
  RankAccount account() const;
  void end_survey();
  void end_late_questions();
  void answer_questions(const Status& why);

  Clock::time_point now() const { return mail_.task()->clock->now(); }
  double seconds_since(Clock::time_point then) const {
    return std::chrono::duration<double>(now() - then).count();
  }
  std::string who() const { return mail_.name_of(mail_.rank()); }

  RankMail mail_;
  const std::string name_;
  const PlanOptions options_;
  std::optional<Negotiator> negotiator_;  // the leader's
  Status broken_;
  OperationNames names_;
  std::vector<GroupCall> waiting_;  // for the group to open
  std::size_t in_flight_ = 0;
  CollectiveKind last_kind_{};  // of the newest operation that is done
  std::string last_name_;       // none: there is none
  Clock::time_point last_time_{};
  std::map<int, std::map<std::string, std::uint64_t>> left_;  // the uses after which ranks have left
  // A rank whose connection has broken: it is lost, unless a message that it leaves is still under way.
  struct Suspect {
    Status why;
    Clock::time_point since{};
  };
  std::map<int, Suspect> suspects_;

  struct Question {
    WaitsReply reply;
    Clock::time_point since{};
  };
  std::map<std::uint64_t, Question> questions_;  // to the leader, by number
  std::uint64_t last_question_ = 0;
  // The leader's, of all ranks.
  struct SurveyOfRanks {
    std::uint64_t number = 0;
    Clock::time_point since{};
    std::vector<std::optional<RankAccount>> accounts;
    std::vector<rank_messages::AskWaits> askers;
  };
  std::optional<SurveyOfRanks> survey_;
  std::uint64_t last_survey_ = 0;

  std::function<void(Status, int)> join_reply_;
  StepId join_step_ = 0;
  Clock::time_point joined_since_{};
  bool joined_ = false;  // we have told so
  std::uint32_t round_ = 1;
  std::optional<int> last_joined_;                       // of the round that has ended
  std::set<int> never_joins_;                            // ranks that have left before it has
  std::map<std::uint32_t, std::set<int>> joined_ranks_;  // by round
};

}  // namespace actorflow
