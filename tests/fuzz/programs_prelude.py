# SPDX-License-Identifier: Apache-2.0
"""What a random program of autograd finds defined: the text is run for each library.

It is also what a failing program is printed with, so that the two of them are complete.
"""

SOURCE = '''\
import threading

def leaf(shape, seed, grad):
    """A tensor of float64 in [-1, 1], without history."""
    count = 1
    for size in shape:
        count *= size
    data = [((seed * 7919 + i * 104729) % 2003) / 1001.5 - 1 for i in range(count)]
    tensor = lib.tensor(data, dtype=lib.float64).reshape(shape).clone()
    return tensor.requires_grad_() if grad else tensor

log = []

def numbers(tensor):
    return None if tensor is None else tensor.detach().reshape(-1).tolist()

def watch(name):
    return lambda grad: log.append((name, numbers(grad)))

def scale(name, factor):
    def hook(grad):
        log.append((name, numbers(grad)))
        return grad * factor
    return hook

def before(name, factor):
    def hook(grads):
        log.extend((name, numbers(grad)) for grad in grads)
        if factor:
            return tuple(None if grad is None else grad * factor for grad in grads)
    return hook

def after(name):
    return lambda inputs, outputs: log.extend((name, numbers(g)) for g in outputs)

def grown(name):
    return lambda tensor: log.append((name, numbers(tensor.grad)))

def copies(grads):
    """Of gradients, of which some may be one tensor in one of the libraries."""
    return [None if grad is None else grad.clone() for grad in grads]

def in_threads(*calls):
    """Each call on a thread of its own; the first error is raised."""
    errors = []
    def run(call):
        try:
            call()
        except Exception as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]

def checkpoint(function, *args):
    if lib.__name__ == "torch":
        from torch.utils.checkpoint import checkpoint as call
        return call(function, *args, use_reentrant=False)
    return lib.autograd.checkpoint(function, *args)

class Square(lib.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]

class Bend(lib.autograd.Function):
    """Saves its result."""

    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * (1 - y * y)

class Double(lib.autograd.Function):
    """Writes its argument."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(lib.full((), 2.0, dtype=lib.float64))
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]

class Pair(lib.autograd.Function):
    """Two results, of two arguments."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y

    @staticmethod
    def backward(ctx, product, total):
        x, y = ctx.saved_tensors
        return product * y + total, product * x + total
'''
