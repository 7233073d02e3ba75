// Between messages and Cap'n Proto (cluster.capnp, worker.capnp). Internal to schema/: includes Cap'n
// Proto.
#pragma once

#include <cstddef>
#include <optional>

#include "schema/codec/tensor_codec.h"
#include "schema/message.h"
#include "schema/worker.capnp.h"

namespace actorflow {

void write_task_name(const TaskName& name, wire::TaskName::Builder to);
TaskName read_task_name(wire::TaskName::Reader from);
void write_identity(const TaskIdentity& identity, wire::TaskIdentity::Builder to);
TaskIdentity read_identity(wire::TaskIdentity::Reader from);
// Of the text of a status; more is cut.
inline constexpr std::size_t max_text_bytes = std::size_t{4} << 20;
void write_status(const Status& status, wire::Status::Builder to);
// An unknown code becomes `unknown`.
Status read_status(wire::Status::Reader from);

void write_message(const Message& message, TensorWriter& tensors, wire::Envelope::Builder to);
// Throws invalid_argument for a message that is not understood.
Message read_message(wire::Envelope::Reader from, TensorReader& tensors, const OpRegistry& ops);

// The replacement of a message that cannot be sent, or that has arrived and cannot be accepted. It needs
// only the kind and the number of the message, which writers set first. None for a message that nobody
// waits for or that is never large.
std::optional<Message> in_place_of(wire::Envelope::Reader message, Status reason);

}  // namespace actorflow
