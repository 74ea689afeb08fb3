"""Dicts and sets whose keys are known at run time: counts, groups, tables of what has been seen."""

# ruff: noqa: E501, E701, E702, E741, C416, PERF401, B007, F841, SIM401
from __future__ import annotations

from collections import defaultdict, deque

import numpy as np

from tests.language.registry import case

A = np.random.default_rng(7).integers(-40, 40, 60)


@case(A)
def set_in_order(a):
    s=set()
    for v in a: s.add(int(v))
    out=[]
    for v in s: out.append(v)
    return out, len(s), s
@case(A, A[:20]*2)
def operators_of_sets(a,b):
    p, q = set(a.tolist()), set(b.tolist())
    return list(p&q), list(p|q), list(p-q), list(p^q), p.issubset(q), sorted(p), min(p), sum(q), p.isdisjoint({1000})
@case(A)
def sets_that_shrink(a):
    s=set(a)
    for v in a[:30]:
        s.discard(v)
    s.add(5); s.add(-1)
    t=s.copy()
    t.update([7,8,9])
    out=[]
    while s:
        out.append(s.pop())
    return out, list(t), 7 in t
@case(A)
def set_of_pairs(a):
    seen=set()
    for i in range(len(a)-1):
        seen.add((int(a[i])//10, int(a[i+1])//10))
    return [x for x in seen], (0,1) in seen, len(seen)
@case(A)
def default_of_a_type(a):
    c=defaultdict(int)
    for v in a: c[int(v)//10]+=1
    return c[0], len(c), sorted(c.items()), sorted(c)
@case(A)
def default_lists(a):
    g=defaultdict(list)
    for i,v in enumerate(a): g[v%5].append(i)
    return [len(x) for x in g.values()], [k for k in g], g[3]
@case(A)
def groups_by_key(a):
    g={}
    for i,v in enumerate(a):
        k=int(v)%7
        if k not in g: g[k]=[]
        g[k].append(v)
    return {k: np.mean(v) for k,v in g.items()}
@case(A)
def default_set_first(a):
    g={}
    for i,v in enumerate(a):
        g.setdefault(int(v)%7,[]).append(i)
    best=max(g, key=lambda k: len(g[k]))
    return g, best
@case(A)
def pairs_by_key(a):
    first={}
    for i in range(len(a)):
        if a[i] in first:
            first[a[i]]=(first[a[i]][0], i)
        else:
            first[a[i]]=(i,i)
    return max(e-s for s,e in first.values()), first
@case(A)
def counts(a):
    c={}
    for v in a:
        v=int(v)
        c[v]=c.get(v,0)+1
    for k in list(c.keys()):
        if c[k]<2: del c[k]
    mode=max(c.items(), key=lambda kv: kv[1])
    return c, mode, sum(c.values()), max(c, key=c.get)
@case(20)
def memo_fib(n):
    memo={0:0,1:1}
    for i in range(2,n+1):
        memo[i]=memo[i-1]+memo[i-2]
    return memo[n]
@case(30)
def collatz(n):
    cache={1:1}
    best=0
    arg=0
    for i in range(1,n):
        k=i
        steps=0
        while k not in cache:
            k = k//2 if k%2==0 else 3*k+1
            steps+=1
        cache[i]=cache[k]+steps
        if cache[i]>best:
            best=cache[i]; arg=i
    return arg,best,len(cache)
@case(np.array([2,7,11,15,3]),18)
def two_sum(nums,target):
    seen={}
    for i, v in enumerate(nums):
        if target-v in seen:
            return seen[target-v], i
        seen[v]=i
    return None
@case(np.random.default_rng(5).random((6, 7)) > 0.4)
def grid_bfs(g):
    h,w=g.shape
    start=(0,0)
    q=deque([start])
    seen={start}
    dist={start:0}
    while q:
        r,c=q.popleft()
        for dr,dc in ((0,1),(1,0),(0,-1),(-1,0)):
            nr,nc=r+dr,c+dc
            if 0<=nr<h and 0<=nc<w and g[nr,nc] and (nr,nc) not in seen:
                seen.add((nr,nc))
                dist[(nr,nc)]=dist[(r,c)]+1
                q.append((nr,nc))
    return len(seen), max(dist.values()), dist
@case(A[:12])
def perm_cycles(a):
    p=np.argsort(a)
    visited=set()
    cycles=[]
    for i in range(len(p)):
        if i in visited: continue
        cyc=[]
        j=i
        while j not in visited:
            visited.add(j)
            cyc.append(j)
            j=p[j]
        cycles.append(len(cyc))
    return cycles
@case(A)
def relabel(a):
    mapping={}
    out=np.zeros(len(a),dtype=int)
    for i, v in enumerate(a):
        if v not in mapping:
            mapping[v]=len(mapping)
        out[i]=mapping[v]
    return out
@case(A)
def numbers_of_values(a):
    u={v:i for i,v in enumerate(np.unique(a))}
    return np.array([u[v] for v in a])
@case(A)
def comprehensions_of_keys(a):
    return {int(v) for v in a if v>0}, {i:v for i,v in enumerate(a)}

@case(np.arange(12.).reshape(4,3))
def states_by_time(m):
    h={}; h[-1]=np.zeros(3)
    for t in range(len(m)):
        h[t]=0.5*h[t-1]+m[t]
    return h[len(m)-1], h
@case(np.arange(12.).reshape(4,3), np.array([0,1,0,1]))
def arrays_by_key(m, keys):
    s={}
    for k, r in zip(keys, m):
        if k in s: s[k]=s[k]+r
        else: s[k]=r.copy()
    return s
@case(np.arange(12.).reshape(4,3), np.array([0,1,0,1]))
def arrays_by_key_in_place(m, keys):
    s={}
    for k, r in zip(keys, m):
        if k not in s: s[k]=np.zeros(3)
        s[k]+=r
    return s
