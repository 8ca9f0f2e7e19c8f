import scalar_mul_grad_class as ops
a = ops.Scalar(2.0)
b = ops.Scalar(3.0)
c = ops.Scalar(4.0)

y = a * b * c
y.backward()

print("y =", y)           # Scalar(v=24..., grad=1)
print("a.grad =", a.grad) # 12
print("b.grad =", b.grad) # 8
print("c.grad =", c.grad) # 6
