import myops_dispatch_cpu as ops
for i in range(4):
    y = ops.run_op("add", i, i * 10)
    y = ops.run_op("mul", i, i * 10)
    print(y)
