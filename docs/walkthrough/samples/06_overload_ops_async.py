import overload_ops_async as ops

a = ops.Scalar(1.5)
b = ops.Scalar(2.0)

print(a + b)     # -> 会打印 Scalar(3.5)，内部在 __repr__ 处等待一次
print(3.0 + a)   # -> Scalar(4.5)，同理
print(a.v)       # -> 1.5（a 本身是立即可用的 Scalar）
