@0xd2c1f0a86b9e4537;
# What tests of Cap'n Proto messages as records are about.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("actorflow::test");

struct Order {
  number @0 :UInt64;
  customer @1 :Text;
  items @2 :List(Item);
  paid @3 :Bool = true;
  # An order that this one takes the place of.
  earlier @4 :Order;

  struct Item {
    name @0 :Text;
    price @1 :Float64;
  }
}
