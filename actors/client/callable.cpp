#include <utility>

#include "actors/client/session_impl.h"

namespace actorflow {

struct Callable::Impl {
  std::shared_ptr<Session::Impl> session;
  std::uint64_t handle = 0;
};

Callable::Callable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Callable::Callable(Callable&&) noexcept = default;
Callable& Callable::operator=(Callable&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

Callable::~Callable() {
  if (!impl_ || impl_->session->closed) return;
  try {
    impl_->session->connection.call(ReleaseCallable{impl_->session->handle, impl_->handle});
  } catch (...) {  // A simulation has ended this client.
  }
}

std::vector<Tensor> Callable::run(std::vector<Tensor> feeds, RunOptions options,
                                  RunMetadata* metadata) const {
  impl_->session->check_open();
  return impl_->session
      ->call(RunCallable{impl_->session->handle, impl_->handle, std::move(feeds), options.timeout_ms,
                         impl_->session->epoch, options.trace},
             metadata)
      .fetches;
}

Callable Session::make_callable(const std::vector<Output>& fetches, const std::vector<Output>& feeds,
                                const std::vector<Output>& targets) {
  impl_->extend();
  MakeCallable request{impl_->handle, impl_->names_of(feeds, "feed"), impl_->names_of(fetches, "fetch"),
                       impl_->targets_of(targets)};
  const auto handle = impl_->call(std::move(request)).callable;
  return Callable(std::make_unique<Callable::Impl>(impl_, handle));
}

}  // namespace actorflow
