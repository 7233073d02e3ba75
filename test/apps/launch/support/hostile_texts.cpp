#include "test/apps/launch/support/hostile_texts.h"

#include <boost/test/unit_test.hpp>

#include "test/apps/launch/support/launched.h"

namespace actorflow::test {
namespace {

const std::vector<std::string> texts{"",
                                     " ",
                                     "two words",
                                     "  spaces at both ends  ",
                                     "'",
                                     "it's",
                                     "\"quoted\"",
                                     "$HOME ${HOME} $(id) `id`",
                                     "back\\slash \\n",
                                     "new\nline\n",
                                     "tab\tand\rreturn",
                                     "Grüße, 世界, 𝄞",
                                     "*",
                                     "~/?[a-z]{1,2}",
                                     "; rm -rf /nowhere; exit 9",
                                     "a && b || c & d | e > f < g",
                                     "!history !!",
                                     "#comment",
                                     "-np --help -- -oProxyCommand=sh",
                                     "a=b=c",
                                     "%s %n %%",
                                     "\x01\x7f\xff\xfe"};

}  // namespace

void expect_hostile_texts_arrive(const StartHostile& start) {
  const Folder folder;
  std::vector<std::string> assignments{"OUT=" + folder.path()};
  std::vector<std::string> command{
      "/bin/sh", "-c",
      "printf '%s\\0' \"$@\" > \"$OUT/arguments\"; "
      "export LC_ALL=C; env -0 | grep -az ^HOSTILE | sort -z > \"$OUT/variables\"",
      "sh"};
  std::string arguments, variables;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string variable =
        "HOSTILE_" + std::string(1, static_cast<char>('A' + i)) + "=" + texts[i];
    assignments.push_back(variable);
    command.push_back(texts[i]);
    arguments += texts[i] + '\0';
    variables += variable + '\0';
  }
  const auto started = start(assignments, command);
  BOOST_TEST(started->wait() == 0, started->output());
  BOOST_TEST((read_file(folder.file("arguments")) == arguments));
  BOOST_TEST((read_file(folder.file("variables")) == variables));
}

void expect_hostile_texts_arrive(const std::vector<std::string>& flags) {
  expect_hostile_texts_arrive([&flags](const auto& variables, const auto& command) {
    std::vector<std::string> arguments = flags;
    for (const auto& variable : variables) arguments.insert(arguments.end(), {"--env", variable});
    arguments.insert(arguments.end(), command.begin(), command.end());
    return std::make_unique<Process>(launch_command(std::move(arguments)));
  });
}

}  // namespace actorflow::test
