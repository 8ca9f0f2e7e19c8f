import pydemo_int as pydemo
x = pydemo.add(1,2)
print(x)
