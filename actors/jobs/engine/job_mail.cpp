#include "actors/jobs/engine/job_mail.h"

namespace actorflow {

std::string JobMail::name_of(int task) const {
  return task_ ? task_->name_of(static_cast<TaskId>(task)).to_string() : "this process";
}

void JobMail::post(int task, const char* to, std::string type, Tensor content, Tensor payload) const {
  ActorMessage letter;
  letter.to = to;
  letter.type = std::move(type);
  letter.request = run_;
  letter.content = std::move(content);
  letter.payload = std::move(payload);
  tell(*task_, static_cast<TaskId>(task), std::move(letter));
}

}  // namespace actorflow
