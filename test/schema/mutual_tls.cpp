// Links and clients of tasks that have credentials, and everyone who tries without good ones.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "schema/rpc/master_client.h"
#include "schema/rpc/rpc_core.h"
#include "test/schema/support/raw_socket.h"
#include "test/schema/support/raw_tls.h"
#include "test/schema/support/tasks.h"
#include "test/support/contains.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

// Listening as /job:ps/task:0.
struct TlsPort {
  explicit TlsPort(const std::string& credentials, RpcOptions options = {},
                   const std::string& at = "127.0.0.1:0") {
    options.credentials = credentials;
    options.on_warning = [this](const std::string& text) { warnings.put(text); };
    network = make_rpc_network(ops(), heap(), options);
    receiver.emplace(
        *network, task("ps", 0), [](const MasterRequest&, const MasterReplyFn& reply) { reply({}); },
        at);
  }

  const std::string& address() const { return receiver->address(); }
  std::string warning() { return warnings.take().value_or(""); }

  Mailbox<std::string> warnings;
  std::unique_ptr<Network> network;
  std::optional<Receiver> receiver;
};

// A link to /job:ps/task:0 from a network of its own.
struct Caller {
  explicit Caller(const std::string& address, const std::string& credentials, RpcOptions options = {},
                  const TaskIdentity& self = task("worker", 1)) {
    options.credentials = credentials;
    network = make_rpc_network(ops(), heap(), options);
    sender.emplace(*network, address, self, TaskName{"ps", 0});
  }
  Status down() { return sender->down.take().value_or(Status{}); }
  Link& link() { return *sender->link; }

  std::unique_ptr<Network> network;
  std::optional<Sender> sender;
};

struct Cluster {
  void exchange_a_message() {
    Caller good(port.address(), keys.folder());
    good.link().send(ReplicaDone{});
    BOOST_TEST(port.receiver->messages.take().has_value());
  }
  // Neither end takes the other as it is: both say why, and the caller does not try for ever.
  void check_refused(Caller& caller, const std::string& there, const std::string& here) {
    const Status down = caller.down();
    BOOST_TEST((down.code == Code::permission_denied), down.to_string());
    BOOST_TEST(contains(down.message, "no connection to /job:ps/task:0 at 127.0.0.1:"), down.message);
    BOOST_TEST(contains(down.message, here), down.message);
    const std::string warning = port.warning();
    BOOST_TEST(contains(warning, "closed the connection from "), warning);
    BOOST_TEST(contains(warning, there), warning);
    BOOST_TEST(port.receiver->senders.size() == 0u);
  }

  Keys keys;
  TlsPort port{keys.folder(), {.handshake_timeout_ms = 2000}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mutual_tls, Cluster)

BOOST_AUTO_TEST_CASE(both_ends_know_each_other_and_messages_of_all_sizes_arrive) {
  for (const std::size_t shared : {std::size_t{0}, std::size_t{64} << 20}) {
    Caller caller(port.address(), keys.folder(), {.shared_memory_bytes = shared});
    const auto up = caller.sender->up.take();
    BOOST_REQUIRE(up);
    BOOST_TEST((up->name == TaskName{"ps", 0}));
    for (const std::int64_t elements : {1, 100, 4'000, 4'096, 4'097, 16'000, 300'000, 5'000'003}) {
      const Tensor tensor = counting(elements);
      caller.link().send(TensorDelivery{1, 2, tensor});
      const auto message = port.receiver->messages.take();
      BOOST_REQUIRE(message);
      BOOST_TEST(identical(std::get<TensorDelivery>(*message).tensor, tensor), elements);
      BOOST_TEST((port.receiver->senders.take()->name == TaskName{"worker", 1}));
    }
    BOOST_TEST(
        (caller.link().tensor_path() == (shared ? TensorPath::shared_memory : TensorPath::stream)));
  }
}

BOOST_AUTO_TEST_CASE(many_messages_keep_their_order_while_tensors_pass) {
  Caller caller(port.address(), keys.folder(), {.shared_memory_bytes = 0});
  constexpr std::uint64_t count = 20'000, every = 4'000;
  const Tensor large = counting(1 << 20);
  for (std::uint64_t i = 0; i < count; ++i)
    caller.link().send(TensorDelivery{i, 0, i % every == 0 ? large : Tensor::scalar(1.0F)});
  std::uint64_t next_small = 0, next_large = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto message = port.receiver->messages.take();
    BOOST_REQUIRE(message);
    const auto step = std::get<TensorDelivery>(*message).step;
    auto& next = step % every == 0 ? next_large : next_small;
    BOOST_REQUIRE(step >= next);
    next = step + 1;
  }
}

BOOST_AUTO_TEST_CASE(a_caller_without_credentials_is_refused) {
  Caller plain(port.address(), "");
  check_refused(plain, "it does not speak TLS; was it started without credentials?",
                "it takes connections with TLS only");
  exchange_a_message();
}

BOOST_AUTO_TEST_CASE(a_caller_with_credentials_does_not_talk_to_a_task_without) {
  TlsPort plain("");
  Caller caller(plain.address(), keys.folder());
  const Status down = caller.down();
  BOOST_TEST((down.code == Code::permission_denied), down.to_string());
  BOOST_TEST(contains(down.message, "it takes no TLS; was it started without credentials?"),
             down.message);
  const std::string warning = plain.warning();
  BOOST_TEST(contains(warning, "it speaks TLS, but this task was started without credentials"), warning);
}

BOOST_AUTO_TEST_CASE(another_authority_is_named_at_both_ends) {
  const Keys foreign;
  Caller caller(port.address(), foreign.folder());
  check_refused(
      caller, "it does not know the authority of our certificate (ours is actorflow:/job:ps/task:0",
      "its certificate, for actorflow:/job:ps/task:0, is of the authority 'Actorflow cluster ");
  exchange_a_message();
}

BOOST_AUTO_TEST_CASE(who_shows_no_foreign_or_expired_certificate_is_refused_whatever_it_takes_itself) {
  const Keys foreign;
  Keys old(400);
  // The same authority, that is, but of certificates that have expired.
  std::filesystem::copy_file(keys.file("ca.crt"), old.file("ca.crt"),
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::copy_file(keys.file("ca.key"), old.file("ca.key"),
                             std::filesystem::copy_options::overwrite_existing);
  old.options.renew = true;
  old.options.days = 100;
  generate_keys(old.options);
  const TaskName worker{"worker", 0};
  const auto refused = [&](const RawTlsOptions& options, const std::string& there,
                           const std::string& here) {
    const std::string outcome = RawTls(options).call(port.address());
    BOOST_TEST(contains(outcome, here), outcome);
    const std::string warning = port.warning();
    BOOST_TEST(contains(warning, "closed the connection from an unknown peer at 127.0.0.1:"), warning);
    BOOST_TEST(contains(warning, there), warning);
  };
  refused({}, "it has shown no certificate", "certificate required");
  refused({foreign.of(worker)}, "its certificate, for actorflow:/job:worker/task:0, is of the authority",
          "unknown ca");
  refused({old.of(worker)}, "its certificate, for actorflow:/job:worker/task:0, has expired, on 20",
          "certificate expired");
  refused({keys.of(worker), TLS1_2_VERSION}, "it does not speak TLS 1.3", "protocol version");
  exchange_a_message();
}

BOOST_AUTO_TEST_CASE(a_server_with_no_good_certificate_is_refused) {
  const Keys foreign, old(400);
  const auto refusal = [&](const Credentials& credentials) {
    RawTlsServer server(credentials);
    Caller caller(server.address(), keys.folder());
    const Status down = caller.down();
    BOOST_TEST((down.code == Code::permission_denied), down.to_string());
    return down.message;
  };
  const TaskName ps{"ps", 0};
  BOOST_TEST(contains(refusal(foreign.of(ps)), "is of the authority"));
  BOOST_TEST(
      contains(refusal(keys.of(TaskName{"ps", 1})),
               "its certificate is for actorflow:/job:ps/task:1, but actorflow:/job:ps/task:0 was "
               "expected; check the addresses"));
  BOOST_TEST(contains(refusal(keys.of({})), "is not one for this end of a connection"));
}

BOOST_AUTO_TEST_CASE(a_task_is_whom_its_certificate_names) {
  const Holder worker = TaskName{"worker", 0};
  IoLoop loop([](const std::string&) {});
  const auto tls = std::make_shared<const TlsContext>(keys.of(worker), worker);
  Mailbox<Status> answers;
  kj::Own<RpcEnd> rpc;
  kj::Promise<void> calling = nullptr;
  loop.run([&] {
    calling = call_task(loop, port.address(), {tls, TaskName{"ps", 0}})
                  .then([&](kj::Own<RpcEnd> end) {
                    rpc = kj::mv(end);
                    auto request = rpc->task().connectRequest();
                    request.setProtocolVersion(wire::PROTOCOL_VERSION);
                    request.initSelf().initName().setJob("ps");
                    request.getSelf().getName().setIndex(1);
                    request.initExpected().setJob("ps");
                    return request.send();
                  })
                  .then([&](capnp::Response<wire::Task::ConnectResults> results) {
                    const auto status = results.getStatus();
                    answers.put({static_cast<Code>(status.getCode()), status.getMessage().cStr()});
                    BOOST_TEST(!results.hasInbox());
                  })
                  .eagerlyEvaluate([&](kj::Exception&& e) {
                    answers.put({Code::internal, e.getDescription().cStr()});
                  });
  });
  const auto answer = answers.take();
  loop.run([&] {
    calling = nullptr;
    rpc = nullptr;
  });
  BOOST_REQUIRE(answer);
  BOOST_TEST((answer->code == Code::permission_denied));
  BOOST_TEST(contains(answer->message,
                      "it is /job:ps/task:1, but its certificate is for "
                      "actorflow:/job:worker/task:0"),
             answer->message);
}

BOOST_AUTO_TEST_CASE(clients_of_a_master_show_theirs_too) {
  MasterClient client(port.address(), heap(), 10'000, keys.folder());
  BOOST_TEST(client.call(CloseSession{"x"}).status.ok());
  const Keys foreign;
  const auto refusal = [&](const std::string& address, const std::string& credentials) {
    try {
      const MasterClient refused(address, heap(), 60'000, credentials);
    } catch (const Error& error) {
      BOOST_TEST((error.code() == Code::permission_denied));
      return std::string(error.what());
    }
    return std::string("was taken");
  };
  BOOST_TEST(contains(refusal(port.address(), ""), "it takes connections with TLS only"));
  BOOST_TEST(contains(refusal(port.address(), foreign.folder()), "is of the authority"));
  const TlsPort plain("");
  BOOST_TEST(contains(refusal(plain.address(), keys.folder()), "it takes no TLS"));
  RawTlsServer client_as_server(keys.of({}));
  BOOST_TEST(contains(refusal(client_as_server.address(), keys.folder()), "is not one for this end"));
  BOOST_CHECK_EXCEPTION(MasterClient(port.address(), heap(), 60'000, "/nowhere"), Error,
                        [](const Error& error) { return error.code() == Code::not_found; });
}

BOOST_AUTO_TEST_CASE(noise_and_silence_are_closed_and_others_go_on) {
  Caller steady(port.address(), keys.folder());
  BOOST_REQUIRE(steady.sender->up.take());
  Bytes hello{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, char(0xfc), 0x03, 0x03};  // and no more
  Bytes endless{0x16, 0x03, 0x01, 0x40, 0x00, 0x01, char(0xff), char(0xff), char(0xff)};
  endless.resize(8 << 20, 'x');
  for (const Bytes& bytes : {Bytes{}, hello, endless, Bytes(1 << 20, 0), Bytes(100, 'A')}) {
    Socket socket(port.address());
    socket.write(bytes);
    socket.wait_for_end();
  }
  steady.link().send(ReplicaDone{});
  BOOST_TEST(port.receiver->messages.take().has_value());
  exchange_a_message();
}

BOOST_AUTO_TEST_CASE(the_way_of_large_messages_needs_a_certificate_too) {
  Socket socket(port.address());
  socket.write({'A', 'F', 'L', 'O', 'W', 'B', 'L', 'K'});
  socket.write(Bytes(16, 0));
  socket.wait_for_end();
  BOOST_TEST(contains(port.warning(), "it does not speak TLS"));
}

BOOST_AUTO_TEST_CASE(an_address_that_others_can_reach_needs_credentials_or_a_word) {
  try {
    const TlsPort open("", {}, "0.0.0.0:0");
    BOOST_ERROR("listens without credentials");
  } catch (const Error& error) {
    BOOST_TEST((error.code() == Code::permission_denied));
    for (const char* part : {"0.0.0.0:0", "--credentials", "127.0.0.1", "--insecure"})
      BOOST_TEST(contains(error.what(), part), error.what());
  }
  const TlsPort secured(keys.folder(), {}, "0.0.0.0:0");
  TlsPort careless("", {.insecure = true}, "0.0.0.0:0");
  BOOST_TEST(contains(careless.warning(), "INSECURE: whoever reaches 0.0.0.0:"));
}

BOOST_AUTO_TEST_CASE(listening_with_credentials_of_no_use_fails_at_once) {
  const Keys old(400);
  BOOST_CHECK_EXCEPTION(TlsPort(old.folder()), Error, [](const Error& error) {
    return error.code() == Code::failed_precondition && contains(error.what(), "has expired, on 20");
  });
  BOOST_CHECK_EXCEPTION(TlsPort("/nowhere"), Error,
                        [](const Error& error) { return error.code() == Code::not_found; });
  Caller caller(port.address(), keys.folder(), {}, task("worker", 7));
  const Status down = caller.down();
  BOOST_TEST((down.code == Code::not_found), down.to_string());
  BOOST_TEST(contains(down.message, "worker-7.crt"), down.message);
}

BOOST_AUTO_TEST_CASE(renewed_certificates_count_from_the_next_connection_on) {
  const std::string before = read_file(keys.file("ps-0.crt"));
  exchange_a_message();
  keys.options.replace_authority = true;
  generate_keys(keys.options);
  exchange_a_message();
  std::ofstream(keys.file("ps-0.crt")) << "half a file";
  exchange_a_message();
  BOOST_TEST(contains(port.warning(), "what was read before stays in use"));
}

BOOST_AUTO_TEST_SUITE_END()
