import pydemo
x = pydemo.add(1,2)
print(x)
