"""What public code does with arrays beyond elementwise operations, as texts with places for the arrays."""

AFTER_LINES = (
    "np.sort({0})", "np.cumsum({0})", "np.diff({0})", "{0}[::-1]", "{0}[1:]", "{0}[:-1]", "({0} * 2)",
    "np.unique({0})", "np.abs({0})", "{0}.astype(np.float32)", "np.maximum({0}, 1)", "{0}[{0} > 0]",
    "np.argsort({0}, kind='stable')", "({0} + 1)", "np.flatnonzero({0})", "({0} - {0}.mean())", "np.roll({0}, 1)",
    "np.maximum.accumulate({0})", "{0}[:3]", "{0}[-2:]", "({0} > 1)", "np.repeat({0}, 2)", "np.append({0}, 1)",
    "np.pad({0}, 1)", "np.where({0} > 0, {0}, 0)", "{0}[np.argsort({0}, kind='stable')]",
)  # fmt: skip
"""What is done with an array of one axis."""

AFTER_MATRICES = (
    "{0}.T", "{0}.sum(axis=0)", "{0}.ravel()", "{0}[::-1]", "({0} + 1)", "{0}.max(axis=1)", "{0}[:, 0]",
    "np.cumsum({0}, axis=0)",
)  # fmt: skip
"""What is done with one of two."""

JOINED_MATRICES = (
    "np.concatenate(({0}, {0}))", "np.concatenate(({0}, {1}), axis=1)", "np.vstack(({0}, {1}))",
    "np.hstack(({0}, {1}))", "np.pad({0}, 1)", "np.pad({0}, ((1, 0), (0, 1)), mode='edge')",
    "np.repeat({0}, 2, axis=0)", "np.tile({0}, (2, 1))", "{0}.ravel()", "{0}.reshape(-1)", "np.stack(({0}, {1}))",
    "{0}.flatten()", "np.delete({0}, 1, axis=0)", "np.rot90({0})", "np.diff({0}, axis=1)",
    "np.quantile({0}, [0.25, 0.5], axis=0)", "{0}.T.ravel()", "np.insert({0}, 1, 0, axis=1)", "np.diagonal({0})",
    "np.split({0}, [2])[1]", "np.roll({0}, 1, axis=1)",
)  # fmt: skip
"""Of two matrices."""

JOINED_LINES = (
    "np.concatenate(({0}, {1}))", "np.concatenate([{0}[:2], {1}[1:], {0}])", "np.hstack(({0}, {1}))",
    "np.stack(({0}, {2}), axis=1)", "np.vstack(({0}, {2}))", "np.column_stack(({0}, {2}))", "np.stack([{0}, {2}])",
    "np.repeat({0}, 2)", "np.tile({0}, 2)", "np.tile({0}, (2, 1))", "np.append({0}, {1})", "np.append({0}, {3})",
    "np.pad({0}, 1)", "np.pad({0}, (0, 2), mode='edge')", "np.pad({0}, 1, constant_values=2)",
    "np.pad({0}, 1, mode='wrap')", "np.insert({0}, 1, {3})", "np.delete({0}, 0)", "np.r_[0, {0}]",
    "np.c_[{0}, {2}]", "np.convolve({0}, {1}[:2], 'valid')", "np.convolve({0}, [1, -1])", "np.diff({0}, n=2)",
    "np.diff({0}, prepend=0)", "np.bincount(np.abs({0}).astype(int) % 4)",
    "np.bincount(np.arange({0}.size) % 3, weights={0})", "np.histogram({0}, bins=4, range=(-4, 4))[0]",
    "np.lib.stride_tricks.sliding_window_view({0}, 2)", "np.subtract.outer({0}, {1})",
    "np.percentile({0}, [25, 50])", "{0}.reshape(-1, 1)", "{0}[None]", "np.add.reduceat({0}, [0, 2])",
    "np.linspace({0}[0], {0}[1], 5)", "np.partition({0}, 1)[:2]", "np.array([{0}.sum(), {0}.max(), {0}[0]])",
    "np.array([{0}, {2}])", "np.array_split({0}, 2)[0]",
)  # fmt: skip
"""Of two arrays of one axis, one as long as the first, and a number."""

FILTERED_MATRICES = (
    "{0}[{1}]", "{0}[{2}]", "{0}[{2}, 1]", "{0}[{2}][:, ::2]", "np.nonzero({1})[0]", "np.nonzero({1})[1]",
    "np.argwhere({1})", "{0}[np.where({1})]", "np.unique({0})", "{0}[({0} > 0).any(axis=1)]",
    "{0}[:, ({0} > 0).all(axis=0)]", "{0}[np.where({2})[0]]", "np.compress({2}, {0}, axis=0)",
    "{0}[~np.isnan({0}).any(axis=1)]", "np.where({1})[1]", "{0}[np.argsort({0}[:, 0], kind='stable')]",
    "np.nonzero({0})[0]", "np.flatnonzero({1})",
)  # fmt: skip
"""Of a matrix, a mask of it, and one of its rows."""

FILTERED_LINES = (
    "{0}[{1}]", "{0}[{1}]", "np.where({1})[0]", "np.nonzero({1})[0]", "np.flatnonzero({1})", "np.unique({0})",
    "np.compress({1}, {0})", "np.extract({1}, {0})", "{0}[np.where({1})[0]]", "{2}[{0} > {3}]", "{0}[{1}][::-1]",
    "np.delete({0}, np.where({1})[0])", "{0}[np.isfinite({0})]", "np.setdiff1d({0}, {2})",
    "np.intersect1d({0}, {2})", "np.union1d({0}, {2})", "np.unique({0}, return_counts=True)[1]",
    "np.unique({0}, return_inverse=True)[1]", "np.unique({0}, return_index=True)[1]", "np.repeat({0}, {1})",
    "np.repeat({0}, np.abs({2}).astype(np.int64) % 3)", "{0}[np.argsort({2}, kind='stable')][{1}]",
    "np.concatenate(({0}[{1}], {2}))", "np.concatenate(({0}[{1}], {0}[~({1})]))", "np.argwhere({1})[:, 0]",
    "{0}[{1}] - {2}[{1}]", "np.sort({0}[{1}])", "np.cumsum({0}[{1}])", "np.diff(np.flatnonzero({1}))",
    "np.bincount(np.abs({0}[{1}]).astype(int) % 5, minlength=5)", "np.searchsorted(np.sort({0}), {2}[{1}])",
    "np.append({0}[{1}], {3})", "np.diff(np.sort({0}[{1}]))", "{0}[:np.count_nonzero({1})]",
    "np.flatnonzero({0}[1:] != {0}[:-1]) + 1", "np.outer({0}[{1}], {2}[:2])", "np.arange({0}.size)[{1}]",
    "np.zeros(np.count_nonzero({1}))", "{0}[({1}).nonzero()]",
)  # fmt: skip
"""Of an array, a mask, one as long, and a number."""

MEASURES = (
    "np.median({0})", "np.percentile({0}, 30)", "np.quantile({0}, 0.9)", "np.ptp({0})", "{0}.std()",
    "{0}.var(ddof=1)", "({0} @ {1})", "np.dot({0}, {1})", "np.einsum('i,i->', {0}, {1})", "np.linalg.norm({0})",
    "np.vdot({0}, {1})", "np.add.reduce({0})", "np.maximum.reduce({0})", "np.multiply.reduce({0})",
    "np.logical_or.reduce({0})", "{0}[{2}].sum()", "{0}[{2}].mean()", "len({0}[{2}])", "{0}[{2}].size",
    "np.unique({0}).size", "{0}[{2}].max()", "np.where({2})[0].size", "np.nanmax({0})", "np.nansum({0})",
    "np.nanmean({0})", "np.nanargmin({0})", "np.average({0}, weights=np.arange({0}.size) + 1)", "np.trapezoid({0})",
    "np.searchsorted(np.sort({0}), {3})", "np.allclose({0}, {1})", "np.array_equal({0}, {1})", "{0}.argmax()",
    "int(np.argmin({0}))", "sum({0})", "max({0})", "min({0})", "sum(v * 2 for v in {0})", "any(v > 1 for v in {0})",
    "all(v < 3 for v in {0})", "{0}.cumsum()[-1]", "np.interp({3}, np.sort({0}), {1})", "np.sum({0}, where={2})",
    "{0}.max(initial=0)", "np.diff({0}).max()", "np.count_nonzero({2})", "np.argsort({0}, kind='stable')[0]",
    "float({0}.min())", "np.sum({0} * {1}) / np.sum({1})", "np.isin({3}, {0})", "{0}[np.argmax({1})]",
    "np.sort({0})[{0}.size // 2]", "np.max({0}, where={2}, initial=-1)", "np.trace(np.outer({0}, {1}))",
    "np.flatnonzero({2})[0]",
)  # fmt: skip
"""Numbers of an array, one as long, a mask, and a number."""

WRITES_OF_MATRICES = (
    "{name}[{rows}, {at}] = {value}", "{name}[{rows}, {at}] += {value}", "np.fill_diagonal({name}, {value})",
    "np.add.at({name}, ({rows}, {at}), {value})", "np.add.at({name}, {rows} % 2, {value})",
    "{name}[{of_rows}] = {value}", "{name}[{of_rows}] += {value}", "{name}[:, {of_columns}] = {value}",
    "np.copyto({name}, {value}, where={mask}, casting='unsafe')", "{name}[np.nonzero({mask})] = {value}",
    "{name}[np.ix_([0, 1], [1, 0])] = {value}", "{name}[[0, 1]] = {name}[[1, 0]]",
    "{name}[:, 0], {name}[:, 1] = {name}[:, 1].copy(), {name}[:, 0].copy()",
    "np.put_along_axis({name}, ({at})[:, None], {value}, axis=1)",
)  # fmt: skip
"""Stores into a matrix."""

WRITES_OF_LINES = (
    "np.put({name}, [0, -1], {value})", "np.put({name}, {at}, {value})", "np.place({name}, {mask}, {value})",
    "np.putmask({name}, {mask}, {value})", "np.maximum.at({name}, {at}, {value})",
    "np.subtract.at({name}, {at}, 1)", "np.copyto({name}, {value}, where={mask}, casting='unsafe')",
    "{name}[np.where({mask})[0]] = {value}", "{name}[np.where({mask})] += {value}",
    "{name}[np.where({mask})] -= {value}", "{name}[[0, 2]] = {name}[[2, 0]]", "{name}[np.argmax({name})] = {value}",
    "{name}[np.flatnonzero({mask})[:2]] = {value}", "{name}[{mask}] = np.arange(np.count_nonzero({mask}))",
    "np.multiply({name}, 2, out={name}, where={mask})", "{name}[:] = np.sort({name})",
    "{name}[::2], {name}[1] = {value}, {name}[0]", "{name}[{mask}] = {name}[{mask}][::-1]",
    "{name}[0], {name}[-1] = {name}[-1], {name}[0]", "np.clip({name}, 0, 3, out={name})",
    "np.cumsum({name}, out={name})", "np.logical_and.at({name}, [0, 1], {value})",
)  # fmt: skip
"""Stores into an array of one axis."""
