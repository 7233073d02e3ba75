#include "actors/jobs/messages/job_mail.h"

#include "actors/named/switchboard.h"

namespace actorflow {

std::pair<std::string, std::string> first_difference(const std::vector<std::string>& ours,
                                                     const std::vector<std::string>& theirs) {
  std::size_t line = 0;
  while (line < ours.size() && line < theirs.size() && ours[line] == theirs[line]) ++line;
  const auto text = [line](const auto& lines) { return line < lines.size() ? lines[line] : "nothing"; };
  return {text(ours), text(theirs)};
}

std::string JobMail::name_of(int task) const {
  return task_ ? task_->name_of(static_cast<TaskId>(task)).to_string() : "this process";
}

void JobMail::refuse_slices(int task, const ActorMessage& request, Status why) const {
  tell(*task_, static_cast<TaskId>(task),
       ActorMessage{.to = agent_name,
                    .from = slices_name,
                    .type = not_found_type,
                    .request = request.request,
                    .content = {},
                    .payload = {},
                    .status = std::move(why)});
}

void JobMail::post(int task, std::string_view to, std::string type, Tensor content,
                   Tensor payload) const {
  ActorMessage letter;
  letter.to = to;
  if (to == slices_name) letter.from = agent_name;  // who hears that there is no such actor
  letter.type = std::move(type);
  letter.request = run_;
  letter.content = std::move(content);
  letter.payload = std::move(payload);
  tell(*task_, static_cast<TaskId>(task), std::move(letter));
}

}  // namespace actorflow
