"""A script that is debugged step by step, and profiled: what looks at calls sees those of the script alone."""

import cProfile
import io
import pdb
import pstats
import sys


def weighted(x):
    s = 0
    for i in range(len(x)):
        s += x[i] * i
    return s


def together(n):
    t = 0.0
    for k in range(n):
        t += weighted([float(v) for v in range(k + 30)])
    return t


def debugged(commands, *call):
    debugger = pdb.Pdb(stdin=io.StringIO("\n".join(commands) + "\n"), stdout=sys.stdout, nosigint=True, readrc=False)
    debugger.use_rawinput, debugger.prompt = False, ""
    return debugger.runcall(*call)


print(sorted(globals()))
for _ in range(300):
    last = together(40)
commands = ["break weighted", "continue", "where", "args", "next", "next", "p s, i", "up", "p k", "clear 1", "c"]
print(last, debugged(commands, together, 2))
print(debugged(["step"] * 9 + ["where", "continue"], together, 2))
commands = "step\n" * 9 + "return\n" + "continue\n" * 9
pdb.Pdb(stdin=io.StringIO(commands), stdout=sys.stdout, nosigint=True, readrc=False).set_trace()
print(together(4))
profile = cProfile.Profile()
profile.runcall(together, 5)
told = io.StringIO()
pstats.Stats(profile, stream=told).strip_dirs().sort_stats("name").print_stats()
listed = [" ".join(line.split()[::5]) for line in told.getvalue().splitlines() if "(" in line]
print(listed, told.getvalue().split()[:3])
events = []
sys.setprofile(lambda frame, event, argument: events.append((event, frame.f_code.co_name)))
together(2)
sys.setprofile(None)
print(events)
sys.settrace(lambda frame, event, argument: print(event, frame.f_code.co_name, frame.f_lineno))


def later(x):
    return [v * 2 + 1 - v for v in x if v > 0]


later([1, -2])
sys.settrace(None)
print(later([3, 4]))


def hook(kind, error, trace):
    sys.settrace(None)
    print(kind, error, trace.tb_lineno, trace.tb_next.tb_lineno)


sys.excepthook = hook
sys.settrace(lambda frame, event, argument: print(event, frame.f_code.co_name, frame.f_lineno))
weighted(3)
