import overload_ops_queue as ops
import time

a = ops.Scalar(1.5)
b = ops.Scalar(2.0)

# 仍然可以像之前一样用 —— 底层会把加法入队，print 时触发取值等待
print(a + b)       # -> Scalar(3.5)
print(3.0 + a)     # -> Scalar(4.5)
print(a.v)         # 1.5

# 也可以先提交很多，再一起等待
xs = [ops.Scalar(i) for i in range(5)]
ys = [ops.Scalar(10+i) for i in range(5)]
zs = [x + y for x, y in zip(xs, ys)]  # 全部入队，立即返回“未来的” Scalar

print("queued:", ops.queue_size(), "pending:", ops.pending())
ops.flush()  # 等队列清空
print([z.v for z in zs])  # 所有结果都已就绪
