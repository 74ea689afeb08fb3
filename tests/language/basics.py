"""Functions over the language, each run against NumPy: statements, shapes, indexing, reductions, loops."""

# ruff: noqa: E501, E701, E702, E731, F841, B007, C416, SIM113
from __future__ import annotations

import numpy as np

from tests.language.registry import case

rng = np.random.default_rng(1)
X, Y = rng.standard_normal(17), rng.standard_normal(17)
M, N = rng.standard_normal((5, 7)), rng.standard_normal((5, 7))
I = rng.integers(-50, 50, 17)
F, U = X.astype("f4"), rng.integers(0, 255, 17).astype("u1")

@case(X,Y)
def c1(x,y): return x+y*2-y/3, -x, abs(x), x//2, x%3, x**2, x**3
@case(X)
def c2(x): return x[::-1], x[2:9], x[-3:], x[::2], x[5:1:-2], x[:100], x[100:]
@case(M)
def c3(m): return m.T, m[1:3,::2], m[:,None,:], m[...,0], m[-1], m[:, -1], m.reshape(7,5), m.ravel()
@case(X,Y)
def c4(x,y): return np.where(x>0,x,y), np.where(x>0)[0], x[x>0], np.nonzero(x>0)
@case(X, tol=1e-12)
def c5(x): return x.sum(), x.mean(), x.max(), x.min(), x.argmax(), x.argmin(), x.std(), x.var(), x.prod(), (x>0).any(), (x>0).all()
@case(M,tol=1e-12)
def c6(m): return m.sum(axis=0), m.sum(axis=1), m.mean(axis=1,keepdims=True), m.max(axis=0), m.argmax(axis=1), m.std(axis=0), m.sum(axis=(0,1)), np.any(m>1,axis=1)
@case(X)
def c7(x): return np.cumsum(x), np.sort(x), np.argsort(x), np.diff(x), np.clip(x,-1,1), np.clip(x,None,0.5), x.clip(-0.2,0.3)
@case(I)
def c8(i): return i//3, i%3, i/2, i*i, i<<2, i>>1, i&7, i|8, i^3, ~i, -i, abs(i), i.sum(), i.max(), i.astype(np.float32), np.sign(i)
@case(U)
def c9(u): return u+u, u*2, u//3, u%7, u.sum(), u.astype(np.int64)-300, u<100, np.cumsum(u), -u, u.mean()
@case(X)
def c10(x):
    s=0.0
    for i in range(len(x)):
        if x[i]>0: s+=x[i]
        else: s-=0.5*x[i]
    return s
@case(X)
def c11(x):
    out=np.zeros_like(x)
    for i in range(1,x.shape[0]-1):
        out[i]=(x[i-1]+x[i]+x[i+1])/3
    return out
@case(X)
def c12(x):
    y=x.copy()
    y[1:]=y[:-1]
    y[::2]*=2
    y[y>0.5]=0.5
    return y
@case(X)
def c13(x):
    keep=[]
    for i in range(x.size):
        if x[i]>0: keep.append(i)
    return keep
@case(X)
def c14(x):
    keep=[]
    for v in x:
        if v>0: keep.append(v)
    return np.array(keep)
@case(M)
def c15(m):
    t=0.0
    for row in m:
        for v in row:
            t+=v
    return t
@case(X, 3)
def c16(x,k):
    while k>0 and x[k]>-10:
        k-=1
        if k==1: break
    return k
@case(M,N)
def c17(m,n): return np.concatenate([m,n]), np.concatenate([m,n],axis=1), np.vstack([m,n]), np.hstack([m,n]), np.stack([m,n],axis=-1)
@case(M)
def c18(m): a,b=np.split(m[:, :6],2,axis=1); return a+b
@case(X)
def c19(x): return np.zeros(3), np.ones((2,3)), np.full(4,2.5), np.arange(5), np.arange(2,10,3), np.eye(3), np.linspace(0,1,7), np.zeros(len(x),dtype=np.int32), np.empty_like(x).size
@case(X,I)
def c20(x,i): return x[i%17], x[[0,3,5]], x[np.array([1,2])]
@case(M)
def c21(m): return m[[0,2]], m[:, [1,3]], m[m[:,0]>0], m[np.arange(5), np.arange(5)]
def helper(a,b=2.0):
    if b>1: return a*b
    return a-b
@case(X)
def c22(x): return helper(x), helper(x,0.5), helper(x[0])
@case(X)
def c23(x):
    a,b=x[0],x[1]
    a,b=b,a
    y=x.copy(); y[0],y[1]=y[1],y[0]
    return a,b,y
@case(X, True)
def c24(x,flag):
    if flag: y=x*2
    else: y=x*3
    return y
@case(X)
def c25(x): return x.size, x.shape, len(x), x.ndim, x.item(0) if False else x[0].item(), x.dtype.itemsize
@case(M, tol=1e-12)
def c26(m): return m @ m.T, np.dot(m,m.T), np.outer(m[0],m[1])
@case(X, tol=1e-14)
def c27(x): return np.exp(x), np.log(np.abs(x)+1), np.sin(x), np.cos(x), np.tanh(x), np.sqrt(np.abs(x)), np.arctan2(x,2.0), np.hypot(x,x), np.floor(x), np.ceil(x), np.rint(x), np.expm1(x), np.log1p(np.abs(x))
@case(F, tol=1e-6)
def c28(f): return f*2, f+1, f/3, np.exp(f), f*np.float64(2), f.sum(), f.mean(), f**2, 1/(1+np.exp(-f))*f+f
@case(X)
def c29(x):
    u=x.copy()
    for t in range(5):
        u[1:-1]=0.5*(u[:-2]+u[2:])
    return u
@case(X)
def c30(x):
    u=x.copy(); v=np.zeros_like(u)
    for t in range(5):
        v[1:-1]=0.5*(u[:-2]+u[2:])
        u,v=v,u
    return u
@case(M)
def c31(m):
    m=m-m.min()
    m/=m.max()
    return m
@case(X,Y)
def c32(x,y):
    x+=y
    y[:]=0
@case(X)
def c33(x):
    if len(x)==0: return []
    return x[x>x.mean()]
@case(M)
def c34(m): return np.maximum(m,0), np.minimum(m,0.0), np.isnan(m), np.isfinite(m), m>0, (m>0)&(m<1), ~(m>0), np.logical_and(m>0,m<1)
@case(X)
def c35(x):
    best=-1; bv=-1e9
    for i,v in enumerate(x):
        if v>bv: bv=v; best=i
    return best,bv
@case(X,Y)
def c36(x,y):
    s=0.0
    for a,b in zip(x,y): s+=a*b
    return s
@case(M)
def c37(m):
    out=np.empty((m.shape[1],m.shape[0]))
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            out[j,i]=m[i,j]
    return out
@case(X)
def c38(x): return [v*2 for v in (1,2,3)], [x[i] for i in range(3)], sum([1,2,3]), max(x[0],x[1]), min(3,2), int(x[0]), float(x[1]), bool(x[0]>0), round(x[0])
@case(X)
def c39(x): return np.delete(x,0), np.delete(x,-1), np.delete(x,[1,3]), np.append(x,[1.0,2.0]), np.roll(x,2), np.flip(x), np.tile(x,2), np.repeat(x,2), np.pad(x,1) if False else x
@case(np.zeros(0))
def c40(x): return x.sum(), x*2, x[x>0], np.sort(x), x.size, x.prod()
@case(I.astype('i1'))
def c41(i): return i+i, i*i, np.cumsum(i), np.square(i), i.sum(), i//np.int8(0) if False else i
@case(X)
def c42(x):
    n=len(x)
    a=np.zeros((n,n))
    for i in range(n):
        for j in range(i,n):
            a[i,j]=x[i]*x[j]
            a[j,i]=a[i,j]
    return a
@case(X)
def c43(x):
    order=np.argsort(x)
    keep=[]
    while order.size>0:
        i=order[0]
        if order.size==1:
            keep.append(i); break
        keep.append(i)
        order=order[1:][np.abs(x[order[1:]]-x[i])>0.3]
    return keep
@case(X[::2],Y[::-2], tol=1e-13)
def c44(x,y): return x+y, x.sum(), x[1:]*y[:-1]
@case(X)
def c45(x): x[2:5]=x[5:8]; x[0]+=1; x[-1]*=2; return x
@case(M)
def c46(m): m[:,0]=1; m[1]=m[2]; m[:, 1:3]+=m[:, 3:5]; return None
