import time, myops
t0 = time.time()
# Python 单线程顺序触发四次 add()
for i in range(4):
    myops.add(i, i * 10)  # 每次立即返回，不阻塞
# 等待所有任务完成
results = myops.wait_all()
print(f"results={results}, elapsed={time.time() - t0:.3f}s")
