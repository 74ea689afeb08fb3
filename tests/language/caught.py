"""Exceptions that the function catches itself."""

# ruff: noqa: F841, E501, SIM105, S110, B007, B904, TRY301, PLW0127, F811
from __future__ import annotations

import math

import numpy as np
from numpy.linalg import LinAlgError

from tests.language.registry import case

R = np.random.default_rng(9)
f8 = lambda *s: R.standard_normal(s)  # noqa: E731


@case(np.zeros((3,3)), f8(3))
@case(f8(3,3), f8(3))
def trysolve(A, b):
    try:
        x = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        x = np.linalg.pinv(A) @ b
    return x




@case(-np.eye(3))
@case(np.eye(3)*4)
def is_pd(A):
    try:
        L = np.linalg.cholesky(A)
        return True, L
    except LinAlgError:
        return False, A




@case(-np.eye(3))
@case(np.eye(3)*4)
def is_pd2(A):
    def check(A):
        try:
            np.linalg.cholesky(A)
            return True
        except np.linalg.LinAlgError:
            return False
    return check(A), check(-A)


@case(np.diag([1.0, -0.5, 2.0]))
def jitter(A):
    jit = 1e-3
    for i in range(20):
        try:
            L = np.linalg.cholesky(A + jit*np.eye(3))
            break
        except np.linalg.LinAlgError:
            jit *= 10
    return L, jit, i




@case(3.0, 0.0)
@case(3.0, 2.0)
def trydiv(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return float('inf')


@case([3.0, 1.0, 2.5], [1.0, 0.0, 2.0])
def ratios(a, b):
    out = []
    bad = 0
    for i in range(len(a)):
        try:
            out.append(a[i]/b[i])
        except ZeroDivisionError:
            bad += 1
            continue
    return out, bad




@case(f8(5), 7)
@case(f8(5), 2)
def tryindex(x, i):
    try:
        v = x[i]
    except IndexError:
        v = np.float64(0)
    return v


@case(f8(5,5))
def neighbours(g):
    s = np.zeros_like(g)
    for i in range(5):
        for j in range(5):
            for di in (0, 1):
                for dj in (0, 1):
                    try:
                        s[i, j] += g[i+di, j+dj]
                    except IndexError:
                        pass
    return s




@case(-4.0)
@case(4.0)
def root(x):
    try:
        r = math.sqrt(x)
        k = 1
    except ValueError:
        r = math.nan
        k = 0
    else:
        k = 2
    return r, k




@case(f8(4), f8(5))
@case(f8(4), f8(4))
def shapes(x, y):
    try:
        z = x + y
    except ValueError:
        return -1.0
    return z.sum()


@case([1.0, 4.0, -1.0, 9.0])
def first_bad(xs):
    total = 0.0
    try:
        for x in xs:
            if x < 0:
                raise ValueError("negative")
            total += math.sqrt(x)
    except ValueError:
        total = -total
    return total




@case([1.0, 4.0, -1.0, 9.0], 2)
@case([1.0, 4.0, -1.0, 9.0], 9)
def reraise(xs, k):
    try:
        return xs[k]
    except IndexError:
        raise ValueError(f"no item {k}")


@case([1.0, 4.0, -1.0, 9.0], 2)
def both(xs, k):
    n = 0
    for i in range(6):
        try:
            if xs[i] > 5:
                break
            n += 1
            if xs[i] < 0:
                continue
            n += 10
        except (IndexError, ZeroDivisionError):
            n += 1000
    return n


@case(f8(5))
def bare(x):
    try:
        import numpy as np
        y = np.sqrt(np.abs(x))
    except Exception:
        y = x
    return y


@case(f8(5), 3)
@case(f8(5), 30)
def stores_before_it_stay(x, k):
    try:
        x[0] = 7
        x[k] = 1
        x[1] = 8
    except IndexError:
        x[2] = 9
    return x


@case(f8(5), 3)
@case(f8(5), 30)
def another_kind_passes(x, k):
    try:
        return x[k] / 2
    except ZeroDivisionError:
        return x[0]


@case([2.0, 0.0, 4.0])
def one_in_another(xs):
    total = 0.0
    for x in xs:
        try:
            try:
                total += 1.0 / x
            except ValueError:
                total += 100
            total += xs[int(x)]
        except ZeroDivisionError:
            total += 1000
        except IndexError:
            total += 5000
    return total


@case([2.0, 0.0, 4.0, -1.0])
def else_of_one_in_another(xs):
    log = []
    for x in xs:
        try:
            try:
                y = 1.0 / x
            except ValueError:
                log.append(1)
            else:
                log.append(2)
                y = xs[int(x)] + math.sqrt(y)
                log.append(3)
        except ZeroDivisionError:
            log.append(4)
        except (IndexError, ValueError):
            log.append(5)
        else:
            log.append(6)
    return log


@case(f8(6), 2)
@case(f8(6), 7)
def finally_binds(x, k):
    done = 0
    try:
        y = 1.0 / x[k]
        done += 1
    except IndexError:
        y = x[0]
    finally:
        done += 10
    return y, done


@case(f8(6), 2)
@case(f8(6), 9)
def left_by_return(x, k):
    def inner(k):
        done = 1
        try:
            for v in x:
                if v > 0 and k > 5:
                    return v * done
            return x[k]
        finally:
            done = 2
    return inner(k)


@case(f8(6), 2)
@case(f8(6), 9)
@case(f8(6), -9)
def message_is_read(x, k):
    try:
        if k > 5:
            raise ValueError("too large")
        if k < -5:
            raise KeyError("too small")
        return x[k], ""
    except (ValueError, KeyError) as e:
        return 0.0, f"failed: {e}" if False else str(e)


@case(np.zeros((3, 3)))
def message_of_a_step(a):
    try:
        return np.linalg.inv(a), "fine"
    except np.linalg.LinAlgError as error:
        return a, str(error)


@case(f8(4), 1)
@case(f8(4), 4)
@case(f8(4), 0)
def raised_again(x, k):
    try:
        y = x[k] / (1 // k)
    except IndexError:
        raise
    except (ZeroDivisionError, LookupError):
        y = np.float64(-1.0)
    return y


@case(f8(4), 2)
@case(f8(4), 4)
def raised_again_and_caught_around(x, k):
    try:
        try:
            return x[k], ""
        except LookupError:
            raise
        except Exception:
            return 0.0, "other"
    except IndexError:
        return 0.0, "around"


@case(f8(4), 3)
@case(f8(4), 6)
def raised_again_in_a_loop(x, n):
    total = 0.0
    for k in range(n):
        try:
            total += x[k]
        except ValueError:
            break
        except IndexError:
            raise
    return total


@case(f8(4), 3)
@case(f8(4), 6)
def raised_from(x, k):
    try:
        return x[k]
    except IndexError as error:
        raise ValueError("no such place") from error
