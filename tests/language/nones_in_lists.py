"""Lists and dicts that have None in them: slots that are free, predecessors, what has not been hit."""

# ruff: noqa: E501, E701, E702, E741, C416, PERF401, B006, B007, SIM102, SIM108, RUF005, RUF015
from __future__ import annotations

from collections import deque

import numpy as np

from tests.language.registry import case

A = np.array([1.5, -1, 2.5, -3])


@case(A)
def listed(a):
    out=[]
    for v in a:
        if v<0: out.append(None)
        else: out.append(v)
    return out


@case(A)
def none_first(a):
    out=[]
    for v in -a:
        if v<0: out.append(None)
        else: out.append(float(v))
    best=None
    for k, d in enumerate(out):
        if d is not None and (best is None or d < best):
            best=d
    return best, out, [d for d in out if d is not None], sum(d is None for d in out), len(out)


@case(A)
def all_none(a):
    out=[]
    for v in a: out.append(None)
    return out, out[0] is None


@case(np.array([2,0,1,-1]), 4)
def parents(p, n):
    parent=[None]*n
    for i in range(n):
        if p[i]>=0: parent[i]=int(p[i])
    chain=[]
    k=0
    while k is not None and len(chain)<6:
        chain.append(k)
        k=parent[k]
    return parent, chain


@case(np.array([2,0,1,-1]))
def slots_by_length(p):
    slots=[None]*len(p)
    for i in range(len(p)):
        if slots[p[i]] is None:
            slots[p[i]]=float(i)
        else:
            slots[p[i]]+=1
    return slots


@case((np.random.default_rng(3).random((5,5))<0.2), (0,0), (4,4))
def bfs(grid, start, goal):
    h, w = grid.shape
    q = deque([start])
    prev = {start: None}
    while q:
        cur = q.popleft()
        if cur == goal: break
        r, c = cur
        for dr, dc in ((1,0),(0,1)):
            nr, nc = r+dr, c+dc
            if 0 <= nr < h and 0 <= nc < w and not grid[nr, nc] and (nr, nc) not in prev:
                prev[(nr, nc)] = cur
                q.append((nr, nc))
    if goal not in prev:
        return None
    path = []
    cur = goal
    while cur is not None:
        path.append(cur)
        cur = prev[cur]
    return path[::-1]


@case(A, 1.0)
def hits(a, t):
    def hit(v):
        if v < t: return None
        return v*2
    ds=[hit(v) for v in a]
    which=None; least=np.inf
    for i,d in enumerate(ds):
        if d and d<least:
            least=d; which=i
    return ds, which, least


@case(A)
def tuples(a):
    out=[]
    for k,v in enumerate(a):
        out.append(None if v<0 else (k,v))
    out.pop()
    out.insert(0,None)
    first=out[1]
    if first is not None: i,x=first
    else: i,x=-1,0.0
    return out, i, x, out[::-1], out[1:3]


@case(A)
def adds_none(a):
    out=[]
    for v in a: out.append(None if v<0 else v)
    s=0.0
    for d in out: s+=d
    return s


@case(np.array([1,2,3,2]))
def get_none(a):
    seen={}
    out=[]
    for k,v in enumerate(a):
        j=seen.get(v)
        out.append(j)
        seen[v]=k
    return out


@case(np.array([[1.,2],[3,4]]))
def arrays(m):
    out=[]
    for row in m:
        if row[0]>2: out.append(row*2)
        else: out.append(None)
    return out, [r for r in out if r is not None][0]


@case(A)
def asked(a):
    out=[]
    for v in a: out.append(None if v<0 else float(v))
    return None in out, out.count(None), out.index(None), 2.5 in out, any(x is None for x in out), all(x is not None for x in out), out.index(2.5), list(out), out[:], out+[None]


@case(A)
def array_of_float(a):
    out=[]
    for v in a: out.append(None if v<0 else v)
    return np.array([np.nan if v is None else v for v in out]), sum(v for v in out if v is not None), len([v for v in out if v])


@case(np.array([3,1,3,2]))
def dict_values(a):
    d={}
    for k,v in enumerate(a):
        if v not in d: d[v]=None
        else: d[v]=k
    n=0
    for k,v in d.items():
        if v is None: n+=1
    return d, list(d.values()), n, d.get(3), d.get(1), d.get(9)


@case(A)
def queue_of(a):
    q=deque()
    for v in a: q.append(None if v<0 else v)
    s=0.
    while q:
        v=q.popleft()
        if v is not None: s+=v
    return s


@case(A)
def arg_list(a, xs=[1.0,None,2.0]):
    xs = list(xs)
    for v in a: xs.append(v)
    return xs


@case(A)
def ints_and_floats(a):
    out=[None,1]
    for v in a: out.append(v if v>0 else None)
    return out


@case(A)
def set_none(a):
    out=[0.0]*len(a)
    for i,v in enumerate(a):
        if v<0: out[i]=None
        else: out[i]=v
    return out


@case(A)
def comp(a):
    out=[v if v>0 else None for v in a]
    m=[x for x in out if x is not None]
    out[0]=None
    return out, m, [x is None for x in out]


@case(np.array([0.3,.8,.6,.2,.9,.1]))
def many_that_may_be_none(w):
    a=b=c=d=e=None
    if w[0]>.5: a=(1,w[0])
    if w[1]>.5: b=2
    if w[2]>.5: c=w[2]
    if w[3]>.5: d=True
    if w[4]>.5: e=(w[4],w[4])
    return a,b,c,d,e


@case(np.array([0.3, 0.8, 0.6]))
def dict_of_one_value(w):
    sums = dict.fromkeys("abc", 0.0)
    for k, v in zip("bca", w): sums[k] += v
    return sums, dict.fromkeys([1, 2])


@case(np.array([3, 1, 2, 0, 5]), 2)
@case(np.array([3, 1, 2, 0, 5]), 9)
def labels_that_are_all_there_at_the_end(p, k):
    label = [None] * len(p)
    for i in range(len(p)):
        if p[i] >= k: label[i] = i * 2
    for i in range(len(p)):
        if label[i] is None: label[i] = -1
    return np.array(label), np.sum(label)


@case(A)
@case(A[:0])
def pairs_that_are_all_there_at_the_end(x):
    out = [None] * len(x)
    for i, v in enumerate(x): out[i] = (v, v * 2)
    return np.array(out)
