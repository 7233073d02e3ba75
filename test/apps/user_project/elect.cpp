// The election on real processes: elect HOST:PORT,HOST:PORT,... INDEX FOLDER is the task of that index,
// and prints each term that it wins.
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "election.h"

int main(int argc, char** argv) {
  if (argc != 4) return std::fputs("expected: elect ADDRESSES INDEX FOLDER\n", stderr), 2;
  std::vector<std::string> addresses;
  std::istringstream list(argv[1]);
  for (std::string address; std::getline(list, address, ',');) addresses.push_back(address);
  actorflow::ServerOptions options;
  options.cluster = actorflow::ClusterSpec{{"node", addresses}};
  options.job = "node";
  options.task = std::atoi(argv[2]);
  actorflow::Server server(std::move(options));
  election::run_node(server, {.won =
                                  [](std::int64_t term, const std::string&) {
                                    std::printf("won %ld\n", static_cast<long>(term));
                                    std::fflush(stdout);
                                  },
                              .folder = argv[3]});
}
