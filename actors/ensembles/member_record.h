// What travels between tasks: the work for a member, and its result.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "actors/models/logs/logs.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

class Job;

struct StoredTensor {
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};
StoredTensor stored_tensor(std::string name, const Tensor& tensor);
Tensor tensor_of(const StoredTensor& stored);

struct MemberWork {
  std::int64_t member = 0;
  std::int64_t fold = -1;  // stacking: what the member does not learn; -1: it learns all
};

struct StoredLog {
  std::string name;
  double value = 0;
};

struct MemberRecord {
  MemberWork work;
  std::uint64_t data_hash = 0;        // of the examples that the task has
  std::vector<StoredTensor> weights;  // none of what was only trained for what it predicts
  std::vector<std::vector<StoredLog>> epochs;
  std::vector<std::int64_t> held_out;     // the examples that it has not learned
  std::vector<StoredTensor> predictions;  // of these: one tensor, or none
};
std::vector<StoredLog> stored_logs(const Logs& logs);
History history_of(const MemberRecord& record);
std::map<std::string, Tensor> weights_of(const MemberRecord& record);

// Does a piece of work: a pure function, on any thread, which may be one of several at once.
using Trainer = std::function<std::vector<MemberRecord>(const MemberWork&)>;

// Trains each piece of work as a part of the job. Returns the records in the order of the work, on all
// tasks.
std::vector<MemberRecord> train_members(Job& job, const std::vector<MemberWork>& work,
                                        const Trainer& train);

// What each member predicts, in the order of `members`: each is a part of the job.
std::vector<Tensor> predict_by_members(Job& job, const std::vector<int>& members,
                                       const std::function<Tensor(int member)>& predict);

}  // namespace actorflow
