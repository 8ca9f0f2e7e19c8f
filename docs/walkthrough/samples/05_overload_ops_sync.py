import overload_ops_sync as ops

a = ops.Scalar(1.5)
b = ops.Scalar(2.0)

print(a + b)     # -> Scalar(3.500000...)
print(3.0 + a)   # -> Scalar(4.500000...)
print(a.v)       # 1.5 （a 未被修改，非就地）
