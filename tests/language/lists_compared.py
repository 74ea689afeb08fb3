"""Lists held against each other, looked for in lists, and tuples in tuples in lists."""

# ruff: noqa: E501, E701, E702, E741, C416, PERF401, B007, F841, SIM401
from __future__ import annotations

import heapq

import numpy as np

from tests.language.registry import case


@case(3)
def open_nodes(n):
    oh=[]
    log=[]
    for a in range(n):
        nb = a//2, 1
        if nb not in [i[1] for i in oh]:
            log.append(a)
        heapq.heappush(oh, (1.0, nb))
    return log


@case(3)
def looked_for_where_it_may_be(n):
    oh=[]
    log=[]
    for a in range(n):
        nb = a//2, 1
        if a>7 or nb not in [i[1] for i in oh]:
            log.append(a)
            oh.append((1.0, nb))
    return log


@case(3)
def looked_for_in_an_unrolled_loop(n):
    oh=[(1.0,(0,0))]
    log=[]
    for a in range(n):
        for i,j in [(0,1),(1,0)]:
            nb = a+i, j
            if nb not in [i[1] for i in oh]:
                log.append(nb)
                oh.append((1.0, nb))
    return log


@case((0,0),3)
def relaxed_where_not_open(s, n):
    g={s:0}
    c=set()
    oh=[(0.,s)]
    log=[]
    for a in range(n):
        for b in range(2):
            nb=s[0]+a,s[1]
            t=g[s]+np.sqrt((a+1.5)**2)
            if nb in c and t>=g.get(nb,0):
                continue
            if t<g.get(nb,0) or nb not in [i[1] for i in oh]:
                log.append((a,b))
                g[nb]=t
                oh.append((t,nb))
        if a==1: c.add((s[0]+a,s[1]))
    return log


@case(np.array([1,2,3,1]))
def eq_lists(a):
    p=[]; q=[]
    for v in a:
        if v<3: p.append(int(v))
        q.append(int(v))
    return p==q, p==[1,2,1], p!=q, p==[1,2], p == [1,2,1]


@case(np.array([1,2,3,1]))
def in_rows(a):
    p=[]
    for v in a:
        p.append([int(v),2])
    return [3,2] in p, [2,1] in p, [1,1] in p, p.index([3,2]), p.count([1,2])


@case(np.array([1,2,3,1]))
def in_tuples(a):
    p=[]
    for v in a:
        p.append((int(v),2))
    q=(int(a[0]),2)
    r=p.index((3,2)), p.count(q), (2,1) in p, q in p, (1,2) not in p
    p.remove((1,2))
    return r,p


@case(np.array([1,2,3,1]))
def in_tuples_missing(a):
    p=[]
    for v in a:
        p.append((int(v),2))
    p.remove((5,2))
    return p


@case(np.array([1,2,3,1]))
def lt_lists(a):
    p=[]; q=[]
    for v in a:
        if v<3: p.append(int(v))
        q.append(int(v))
    return p<q


@case(np.array([1,2,3,1]))
def nested_pop(a):
    p=[]
    for v in a:
        p.append((float(v),(int(v),2)))
    x=p.pop(0)
    p.reverse()
    p.sort()
    q=p[1:]
    p.extend(q)
    p+=q
    return x,p,q,p+q, p==q, sorted(p,key=lambda t:t[1][0],reverse=True)[:2]


@case(np.array([1,2,3,1]))
def nested_ins(a):
    p=[]
    for v in a:
        p.insert(0,(float(v),(int(v),2)))
    p.insert(1,(2.,(3,2)))
    del p[2]
    return p
