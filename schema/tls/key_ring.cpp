#include "schema/tls/key_ring.h"

#include <algorithm>

#include "dataflow/values/error.h"

namespace actorflow {

std::shared_ptr<const TlsContext> KeyRing::context(const Holder& holder) {
  if (empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[holder];
  const CredentialFiles files(folder_, holder);
  std::error_code ignored;
  const auto changed = std::max(std::filesystem::last_write_time(files.certificate, ignored),
                                std::filesystem::last_write_time(files.authority, ignored));
  if (entry.context && entry.changed == changed) return entry.context;
  entry.changed = changed;
  reload(holder, entry);
  return entry.context;
}

void KeyRing::reload(const Holder& holder, Entry& entry) {
  try {
    entry.context = std::make_shared<const TlsContext>(read_credentials(folder_, holder), holder);
  } catch (const Error& error) {
    const std::string what =
        "the credentials of " + holder_name(holder) + " in " + folder_ + ": " + error.what();
    if (!entry.context) throw Error(error.code(), what);
    on_warning_("what was read before stays in use; " + what);
  }
}

}  // namespace actorflow
