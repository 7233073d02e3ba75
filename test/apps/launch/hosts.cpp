#include "apps/launch/hosts.h"

#include <boost/test/unit_test.hpp>

#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(hosts)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Hosts = std::vector<LaunchHost>;

void expect_mistake(std::string_view text, const std::string& mistake) {
  BOOST_CHECK_EXCEPTION(parse_hosts_file("hosts", text), Error, says(mistake));
}

}  // namespace

BOOST_AUTO_TEST_CASE(lists_have_names_users_and_slots) {
  BOOST_TEST((parse_hosts("a:1,me@b:2,[fe80::1%eth0]:4,10.0.0.7") ==
              Hosts{{"a", "", 1}, {"b", "me", 2}, {"fe80::1%eth0", "", 4}, {"10.0.0.7", "", 1}}));
  BOOST_TEST(parse_hosts("me@[::1]:2")[0].to_string() == "me@[::1]");
}

BOOST_AUTO_TEST_CASE(files_may_have_blank_lines_comments_and_windows_ends) {
  const std::string_view text = "# the rack\r\n\r\n  a slots=2  # fast\r\nme@b:3\n\t\n[::1] slots=4\nc";
  BOOST_TEST((parse_hosts_file("hosts", text) ==
              Hosts{{"a", "", 2}, {"b", "me", 3}, {"::1", "", 4}, {"c", "", 1}}));
}

BOOST_AUTO_TEST_CASE(a_mistake_names_file_line_and_what_was_expected) {
  expect_mistake("a\n\nb slots=two\n",
                 "hosts:3: expected a number of slots from 1 to 100000, got 'two'");
  expect_mistake("a slots=0", "hosts:1: expected a number of slots from 1 to 100000, got '0'");
  expect_mistake("a 4", "hosts:1: expected slots=N after the host, got '4'");
  expect_mistake("fe80::1:4", "hosts:1: expected an IPv6 address in brackets, such as [fe80::1]:4");
  expect_mistake("[fe80::1", "hosts:1: expected host, user@host, host:slots or [ipv6]:slots");
  expect_mistake("-oProxyCommand=sh", "hosts:1: expected host, user@host");
  expect_mistake("a;b", "hosts:1: expected host, user@host");
  expect_mistake("@a", "hosts:1: expected a user's name before '@', got ''");
  expect_mistake("# nothing\n", "hosts: expected a host in each line, got none");
}

BOOST_AUTO_TEST_CASE(garbage_is_quoted_in_short_and_without_control_characters) {
  const std::string garbage = "\x1b[2J" + std::string(999'996, 'x');
  expect_mistake(garbage, R"(got '\x1b[2Jxxx)");
  for (const auto& line : {garbage, garbage + "@a", "a slots=" + garbage, "a " + garbage})
    BOOST_CHECK_EXCEPTION(parse_hosts_file("hosts", line), Error, [](const Error& error) {
      const std::string text = error.what();
      return text.size() < 250 && text.find('\x1b') == text.npos &&
             text.ends_with("xx' and 999900 more bytes");
    });
}

BOOST_AUTO_TEST_CASE(a_name_that_is_longer_than_any_or_changes_terminals_is_refused) {
  expect_mistake(std::string(256, 'a'), "hosts:1: expected host, user@host");
  expect_mistake("[fe80::1%\x1b[2J]", R"(got '[fe80::1%\x1b[2J]')");
  BOOST_TEST(parse_hosts_file("hosts", std::string(255, 'a')).size() == 1u);
}

BOOST_AUTO_TEST_CASE(two_hosts_of_one_name_are_refused) {
  expect_mistake("a\nb\nme@a\n", "hosts:3: the host 'a' is there twice");
  BOOST_CHECK_EXCEPTION(parse_hosts("a:1,a:2"), Error, says("-H: the host 'a' is there twice"));
}

BOOST_AUTO_TEST_CASE(a_list_with_an_empty_entry_is_refused) {
  for (const char* text : {"", "a,", ",a", "a,,b"})
    BOOST_CHECK_EXCEPTION(parse_hosts(text), Error, says("-H: expected host"));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_there_is_named) {
  BOOST_CHECK_EXCEPTION(read_hosts_file("/nowhere/hosts"), Error,
                        says("the hosts file '/nowhere/hosts' cannot be read"));
}

BOOST_AUTO_TEST_SUITE_END()
