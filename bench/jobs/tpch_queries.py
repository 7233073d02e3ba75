"""Queries 1 and 3 of TPC-H, over its tables as CSV."""

q1 = """select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
               sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
               avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
        from lineitem where l_shipdate <= date '1998-09-02' group by all order by 1, 2"""

q3 = """select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate, o_shippriority
        from customer, orders, lineitem
        where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
          and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15'
        group by all order by revenue desc, o_orderdate limit 10"""


def view(db, folder):
    for name in "customer", "orders", "lineitem":
        db.execute(f"create view {name} as select * from read_csv('{folder}/{name}.csv')")
