import overload_ops_pool as ops
a = ops.Scalar(1.5)
b = ops.Scalar(2.0)
# 立即返回一个“未来的” Scalar，不阻塞
z = a + b
print("立即返回:", z)        # 会触发取值等待（内部 __repr__ 时才真正等待）
print("结果值:", z.v)        # 显式取值
