"""The fixed C text of an emitted module: CPython's stable ABI as far as it is used, and small conversions.

`Python.h` may be missing on a user's machine, so what is needed is declared here; all of it is part of the stable ABI
(`Py_buffer` since 3.11), so one shared object serves every later Python.
"""

from transkern.targets.cpu.system import ALIGNED, EXPORTS, MACHINE

PYTHON = EXPORTS + r"""
// ---- Python's stable ABI, as far as it is used (Python.h need not be installed)
typedef intptr_t Py_ssize_t;
typedef struct PyObject { Py_ssize_t ob_refcnt; struct PyObject *ob_type; } PyObject;
typedef struct {
    void *buf; PyObject *obj; Py_ssize_t len, itemsize; int readonly, ndim; char *format;
    Py_ssize_t *shape, *strides, *suboffsets; void *internal;
} Py_buffer;
typedef struct { const char *name; void *call; int flags; const char *doc; } PyMethodDef;
typedef struct {
    PyObject head; void *init; Py_ssize_t index; PyObject *copy;
    const char *name, *doc; Py_ssize_t size; PyMethodDef *methods; void *slots, *traverse, *clear, *free;
} PyModuleDef;
PY_DATA PyObject PyLong_Type, PyFloat_Type, PyBool_Type, PyComplex_Type;
PY_DATA PyObject _Py_NoneStruct, _Py_TrueStruct, _Py_FalseStruct, _Py_NotImplementedStruct, _Py_EllipsisObject;
PyObject *PyModule_Create2(PyModuleDef *, int);
PyObject *PyImport_ImportModule(const char *), *PyObject_GetAttrString(PyObject *, const char *);
PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...), *PyObject_CallFunction(PyObject *, const char *, ...);
PyObject *PyObject_Vectorcall(PyObject *, PyObject **, size_t, PyObject *);
PyObject *PyObject_CallMethod(PyObject *, const char *, const char *, ...), *Py_BuildValue(const char *, ...);
PyObject *PyLong_FromLongLong(long long), *PyLong_FromUnsignedLongLong(unsigned long long);
PyObject *PyLong_FromString(const char *, char **, int);
PyObject *PyFloat_FromDouble(double), *PyBool_FromLong(long);
PyObject *PyComplex_FromDoubles(double, double);
double PyComplex_RealAsDouble(PyObject *), PyComplex_ImagAsDouble(PyObject *);
PyObject *PyUnicode_FromString(const char *), *PySequence_List(PyObject *);
PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyTuple_New(Py_ssize_t), *PyList_New(Py_ssize_t), *PyErr_NoMemory(void), *PyDict_New(void);
PyObject *PyMemoryView_FromMemory(char *, Py_ssize_t, int);
PyObject *PyEval_GetBuiltins(void), *PyDict_GetItemString(PyObject *, const char *);
int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *), PyList_SetItem(PyObject *, Py_ssize_t, PyObject *);
int PyObject_GetBuffer(PyObject *, Py_buffer *, int), PyDict_SetItemString(PyObject *, const char *, PyObject *);
void PyBuffer_Release(Py_buffer *), Py_IncRef(PyObject *), Py_DecRef(PyObject *), PyErr_Clear(void);
void PyErr_SetNone(PyObject *), PyErr_SetString(PyObject *, const char *), PyErr_SetObject(PyObject *, PyObject *);
long long PyLong_AsLongLongAndOverflow(PyObject *, int *);
double PyFloat_AsDouble(PyObject *);
PyObject *PyErr_Occurred(void), *PyException_GetTraceback(PyObject *);
void PyErr_Fetch(PyObject **, PyObject **, PyObject **), PyErr_Restore(PyObject *, PyObject *, PyObject *);
void PyErr_NormalizeException(PyObject **, PyObject **, PyObject **);
int PyException_SetTraceback(PyObject *, PyObject *);
void *PyEval_SaveThread(void);
void PyEval_RestoreThread(void *);
int PyArg_ParseTuple(PyObject *, const char *, ...);
int PyContextVar_Get(PyObject *, PyObject *, PyObject **);  // not of the stable ABI, and in every CPython since 3.7

static PyObject *numpy, *numpy_ndarray, *numpy_empty;
static _Thread_local const char *reason = "";  // why this thread's last call that was not for this code was not

static PyObject *py_miss(const char *why) {
    reason = why;
    Py_IncRef(&_Py_NotImplementedStruct);
    return &_Py_NotImplementedStruct;
}

// What a Python function makes of objects, which are given up; nothing where one of them is not there.
static PyObject *py_step(PyObject *function, int count, PyObject **given) {
    int whole = 1;
    for (int k = 0; k < count; ++k) whole = whole && given[k];
    PyObject *made = whole ? PyObject_Vectorcall(function, given, count, NULL) : NULL;
    for (int k = 0; k < count; ++k) Py_DecRef(given[k]);  // or nothing
    return made;
}

// A result with parts; nothing where one of them could not be made.
static PyObject *py_whole(PyObject *made) {
    if (!made || !PyErr_Occurred()) return made;
    Py_DecRef(made);
    return NULL;
}

// A class of a module's, which keeps it.
static PyObject *py_member(const char *module, const char *name) {
    PyObject *from = PyImport_ImportModule(module), *member = from ? PyObject_GetAttrString(from, name) : NULL;
    if (from) Py_DecRef(from);
    if (member) Py_DecRef(member);
    return member;
}

static PyObject *py_shape(int ndim, const int64_t *dims) {
    PyObject *shape = PyTuple_New(ndim);
    for (int d = 0; shape && d < ndim; ++d) PyTuple_SetItem(shape, d, PyLong_FromLongLong(dims[d]));
    return shape;
}

// An error's place in the source, for who loads this module: its `told`, if there is one, makes the traceback.
static void tell(PyObject *self, PyObject *error, int place, PyObject *const *args, Py_ssize_t count) {
    PyObject *told = PyObject_GetAttrString(self, "told"), *given = PyTuple_New(count);
    for (Py_ssize_t k = 0; k < count; ++k) {
        Py_IncRef(args[k]);
        PyTuple_SetItem(given, k, args[k]);
    }
    PyObject *done = told ? PyObject_CallFunction(told, "OiO", error, place, given) : NULL;
    PyErr_Clear();
    if (done) Py_DecRef(done);
    if (told) Py_DecRef(told);
    Py_DecRef(given);
}

static void failed_at(PyObject *self, int place, PyObject *const *args, Py_ssize_t count) {
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (trace) { PyException_SetTraceback(error, trace); Py_DecRef(trace); }
    if (error) tell(self, error, place, args, count);
    PyErr_Restore(type, error, error ? PyException_GetTraceback(error) : NULL);
}

// What who loads this module wants to be asked: whether NumPy is told to do more than to warn (np.errstate).
static PyObject *asked, *errstate, *quiet;
static PyObject *listen(PyObject *self, PyObject *args) {
    if (!PyArg_ParseTuple(args, "OO", &asked, &errstate)) return NULL;
    Py_IncRef(asked);
    Py_IncRef(errstate);
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
}
"""

ERRSTATE = r"""
static int wants_errors(void) {
    PyObject *state = NULL;
    if (!asked) return 0;
    if (PyContextVar_Get(errstate, NULL, &state) || state == quiet) {
        if (state) Py_DecRef(state); else PyErr_Clear();
        return 0;
    }
    PyObject *answer = PyObject_CallFunctionObjArgs(asked, NULL);
    if (answer != &_Py_FalseStruct) {
        if (answer) Py_DecRef(answer); else PyErr_Clear();
        Py_DecRef(state);
        return 1;
    }
    if (quiet) Py_DecRef(quiet);
    quiet = state;  // kept, so that no other one gets its address
    return 0;
}
"""

RAISED = r"""
// The flags of the floating-point unit, of all threads that take part in a call, for who loads this module: its
// `flagged`. To ask a thread that has no part in it would wake it.
#include <fenv.h>
static _Thread_local int flags_so_far, flags_shared;
static int flags_here(void) {
    const int up = fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
    return (up & FE_DIVBYZERO ? 1 : 0) | (up & FE_OVERFLOW ? 2 : 0) | (up & FE_UNDERFLOW ? 4 : 0) |
           (up & FE_INVALID ? 8 : 0);
}

static void lower_flags(void) {
    flags_so_far = flags_shared = 0;
    feclearexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
}

// Before other threads take part.
static void py_flags_of_all(void) {
    if (flags_shared) return;
    flags_shared = 1;
    flags_so_far |= flags_here();
#pragma omp parallel
    feclearexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
}

static void tell_flags(PyObject *self) {
    int up = flags_so_far | flags_here();
    if (flags_shared) {
#pragma omp parallel reduction(| : up)
        up |= flags_here();
    }
    if (!up) return;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyObject *flagged = PyObject_GetAttrString(self, "flagged");
    PyObject *done = flagged ? PyObject_CallFunction(flagged, "i", up) : NULL;
    PyErr_Clear();
    if (done) Py_DecRef(done);
    if (flagged) Py_DecRef(flagged);
    PyErr_Restore(type, error, trace);
}
"""

ARRAYS = r"""
// An array argument; 0 where it is not of the type this code is for. An axis of one element has no step, and an array
// without elements none at all.
static int take_array(
    PyObject *object, Py_buffer *view, char kind, char same, int ndim, int contiguous, int aligned) {
    if (object->ob_type != numpy_ndarray) return 0;
    if (PyObject_GetBuffer(object, view, 0x1c)) {  // strides and format: not every dtype has one
        PyErr_Clear();
        return 0;
    }
    const char *format = view->format + (!aligned && view->format[0] == '=');  // what NumPy says of unaligned ones
    const int pairs = kind == 'D' || kind == 'F';  // complex numbers: "Zd", "Zf"
    int fits = view->ndim == ndim && (pairs ? format[0] == 'Z' && format[1] == kind + 32 && format[2] == 0
                                            : (format[0] == kind || format[0] == same) && format[1] == 0);
    if (fits) {
        size_t steps = (size_t)view->buf, some = 1;
        Py_ssize_t stride = view->itemsize;
        int packed = 1;
        for (int d = ndim - 1; d >= 0; --d) {
            const Py_ssize_t extent = view->shape[d];
            some = some && extent;
            if (extent != 1) {
                packed = packed && view->strides[d] == stride;
                steps |= (size_t)view->strides[d];
            }
            stride *= extent;
        }
        const size_t unit = pairs ? view->itemsize / 2 : view->itemsize;
        fits = !some || ((packed || !contiguous) && (!aligned || steps % unit == 0));
    }
    if (!fits) { PyBuffer_Release(view); return 0; }
    return 1;
}

// Whether NumPy refuses stores into an array.
static int is_readonly(PyObject *object, const Py_buffer *view) {
    if (!view->readonly) return 0;
    Py_buffer again;  // of some it only warns
    if (PyObject_GetBuffer(object, &again, 0x1d)) { PyErr_Clear(); return 1; }
    PyBuffer_Release(&again);
    return 0;
}

// Whether elements of an array may share memory: along each axis it must step over all that smaller steps cover.
static int overlaps_itself(const Py_buffer *view) {
    Py_ssize_t covered = view->itemsize;
    uint64_t seen = 0;
    for (int d = 0; d < view->ndim; ++d) if (view->shape[d] == 0) return 0;
    for (;;) {
        int next = -1;
        Py_ssize_t least = 0;
        for (int d = 0; d < view->ndim; ++d) {
            const Py_ssize_t step = view->strides[d] < 0 ? -view->strides[d] : view->strides[d];
            if (view->shape[d] > 1 && !(seen >> d & 1) && (next < 0 || step < least)) { next = d; least = step; }
        }
        if (next < 0) return 0;
        if (least < covered) return 1;
        covered += least * (view->shape[next] - 1);
        seen |= (uint64_t)1 << next;
    }
}

// The lowest address of an array's elements.
static void *lowest(const Py_buffer *view) {
    char *low = view->buf;
    for (int d = 0; d < view->ndim; ++d) {
        Py_ssize_t reach = (view->shape[d] - 1) * view->strides[d];
        if (reach < 0 && view->shape[d] > 0) low += reach;
    }
    return low;
}

// Whether two arrays may share an element.
static int overlap(const Py_buffer *a, const Py_buffer *b) {
    const char *low[2], *high[2];
    const Py_buffer *views[2] = {a, b};
    for (int k = 0; k < 2; ++k) {
        low[k] = high[k] = views[k]->buf;
        for (int d = 0; d < views[k]->ndim; ++d) {
            if (views[k]->shape[d] == 0) return 0;
            Py_ssize_t reach = (views[k]->shape[d] - 1) * views[k]->strides[d];
            if (reach < 0) low[k] += reach; else high[k] += reach;
        }
        high[k] += views[k]->itemsize;
    }
    return low[0] < high[1] && low[1] < high[0];
}
"""

RESULTS = r"""
// A new array of a result's type and its memory.
static PyObject *new_array(PyObject *dtype, int ndim, const int64_t *dims, void **data) {
    PyObject *shape = py_shape(ndim, dims);
    PyObject *array = shape ? PyObject_CallFunctionObjArgs(numpy_empty, shape, dtype, NULL) : NULL;
    if (shape) Py_DecRef(shape);
    if (!array) return NULL;
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, 1)) { Py_DecRef(array); return NULL; }
    *data = view.buf;
    PyBuffer_Release(&view);  // the memory lives as long as the array
    return array;
}
"""

LARGE = 1 << 17
"""Bytes from which memory is kept: what is shorter, malloc keeps well."""

ROOMS = MACHINE + ALIGNED + r"""
// ---- Memory of large arrays is kept for the next ones: fresh pages cost more than filling them
typedef struct { void *memory; size_t size; int64_t since; } py_kept;
enum { PY_KEPT = 16 };
enum { PY_LARGE = @LARGE@, PY_HUGE = 1 << 23 };  // bytes of what is kept, and of what has pages of 2 MiB
typedef struct py_pool { size_t bytes, most; int64_t time; py_kept kept[PY_KEPT]; } py_pool;
static py_pool py_own_pool;

// What is kept by all modules of a process together: an eighth of the machine's memory, 2 GiB at most.
static py_pool *py_rooms(void) {
    if (!py_shared->pool) {
        const double eighth = py_machine() / 8;
        py_own_pool.most = eighth > 2147483648.0 ? (size_t)2147483648 : eighth > 0 ? (size_t)eighth : 0;
        py_shared->pool = &py_own_pool;
    }
    return py_shared->pool;
}

static void py_drop(py_pool *pool, int k) {
    pool->bytes -= pool->kept[k].size;
    py_drop_aligned(pool->kept[k].memory);
    pool->kept[k] = (py_kept){NULL, 0, 0};
}

// Memory of `size` bytes, or more: then `size` becomes what it has. The best fit of what is kept, or fresh memory. It
// begins with a page, where NumPy's large arrays begin 16 bytes behind one: a processor takes a load for that of an
// element just stored where the last twelve bits of the addresses say so, and loops load what lies ahead of what they
// store.
static void *py_take(size_t *size) {
    py_pool *pool = py_rooms();
    int best = -1;
    for (int k = 0; k < PY_KEPT; ++k)
        if (pool->kept[k].size >= *size && pool->kept[k].size / 2 <= *size
            && (best < 0 || pool->kept[k].size < pool->kept[best].size)) best = k;
    if (best >= 0) {
        void *memory = pool->kept[best].memory;
        *size = pool->kept[best].size;
        pool->bytes -= *size;
        pool->kept[best] = (py_kept){NULL, 0, 0};
        return memory;
    }
    const int huge = *size >= PY_HUGE;
    const size_t unit = huge ? 1 << 21 : 1 << 12;
    *size = (*size + unit - 1) & ~(unit - 1);
    void *memory = py_aligned(unit, *size);
    if (!memory) {
        for (int k = 0; k < PY_KEPT; ++k) py_drop(pool, k);
        memory = py_aligned(unit, *size);
    }
    if (memory && huge) py_in_huge(memory, *size);
    return memory;
}

// Keeps it, and gives up what has been kept for longest.
static void py_give(void *memory, size_t size) {
    py_pool *pool = py_rooms();
    if (size > pool->most) { py_drop_aligned(memory); return; }
    for (;;) {
        int oldest = -1, place = -1;
        for (int k = 0; k < PY_KEPT; ++k) {
            if (!pool->kept[k].memory) place = k;
            else if (oldest < 0 || pool->kept[k].since < pool->kept[oldest].since) oldest = k;
        }
        if (place >= 0 && pool->bytes + size <= pool->most) {
            pool->kept[place] = (py_kept){memory, size, pool->time++};
            pool->bytes += size;
            return;
        }
        py_drop(pool, oldest);
    }
}
""".replace("@LARGE@", str(LARGE))

TEMPORARIES = r"""
// An array between kernels, at a multiple of 64 bytes. In front of it stands what is kept of it (0: it is small).
#ifdef __SANITIZE_ADDRESS__
enum { PY_SMALL = 1 };  // each has memory of its own
#else
enum { PY_SMALL = 0 };
#endif
enum { PY_BEFORE = 6144 };  // half a page from where arguments and results begin, which it may change places with
static void *py_array(size_t) __attribute__((noinline, malloc, assume_aligned(64)));
static void py_clear(void *) __attribute__((noinline));
static void *py_array(size_t bytes) {
    if (bytes > PTRDIFF_MAX - 2 * PY_BEFORE) return NULL;
    const int small = PY_SMALL || bytes < PY_LARGE;
    const size_t before = small ? 64 : PY_BEFORE;
    size_t size = before + ((bytes + 127) & ~(size_t)63);
    char *memory = small ? py_aligned(64, size) : py_take(&size);
    if (!memory) return NULL;
    ((size_t *)(memory + before))[-1] = small ? 0 : size;
    return memory + before;
}

static void py_clear(void *array) {
    if (!array) return;
    const size_t size = ((size_t *)array)[-1];
    if (size) py_give((char *)array - PY_BEFORE, size);
    else py_drop_aligned((char *)array - 64);
}
"""

LARGE_RESULTS = r"""
typedef struct { PyObject head; void *memory; size_t size; } Block;
static PyObject *block_type;
PyObject *PyType_FromSpec(void *);
void *PyType_GetSlot(PyObject *, int);
int PyBuffer_FillInfo(Py_buffer *, PyObject *, void *, Py_ssize_t, int, int);
PyObject *_PyObject_New(PyObject *);
void PyObject_Free(void *);

static void block_free(PyObject *self) {
    Block *block = (Block *)self;
    PyObject *type = self->ob_type;
    if (block->memory) py_give(block->memory, block->size);
    PyObject_Free(self);
    Py_DecRef(type);
}

static int block_buffer(PyObject *self, Py_buffer *view, int flags) {
    return PyBuffer_FillInfo(view, self, ((Block *)self)->memory, ((Block *)self)->size, 0, flags);
}

typedef struct { int slot; void *value; } py_slot;
typedef struct { const char *name; int size, item; unsigned flags; void *slots; } py_spec;
static py_slot block_slots[] = {{52, block_free}, {1, block_buffer}, {0, 0}};
static py_spec block_spec = {"transkern.Block", sizeof(Block), 0, 0, block_slots};

// A large result lives in memory that is kept for the next one.
static PyObject *large_array(PyObject *dtype, size_t itemsize, int ndim, const int64_t *dims, void **data) {
    const size_t bytes = py_bytes(itemsize, ndim, dims);
    if (bytes < PY_LARGE || bytes == PY_TOO_MUCH) return new_array(dtype, ndim, dims, data);
    if (!block_type) block_type = PyType_FromSpec(&block_spec);
    Block *block = block_type ? (Block *)_PyObject_New(block_type) : NULL;
    if (!block) return NULL;
    block->size = bytes;
    block->memory = py_take(&block->size);
    if (!block->memory) { Py_DecRef((PyObject *)block); return new_array(dtype, ndim, dims, data); }  // its error
    *data = block->memory;
    PyObject *shape = py_shape(ndim, dims);
    PyObject *array = shape ? PyObject_CallFunctionObjArgs(numpy_ndarray, shape, dtype, (PyObject *)block, NULL) : NULL;
    if (shape) Py_DecRef(shape);
    Py_DecRef((PyObject *)block);
    return array;
}
"""

FUNCTIONS = r"""
// A Python function from its text.
static PyObject *function(const char *text) {
    PyObject *names = PyDict_New(), *eval = PyDict_GetItemString(PyEval_GetBuiltins(), "eval");
    PyDict_SetItemString(names, "np", numpy);
    PyDict_SetItemString(names, "__name__", PyUnicode_FromString("transkern_step"));
    PyObject *made = PyObject_CallFunction(eval, "sO", text, names);
    Py_DecRef(names);
    return made;
}

// A library's error goes without the library's frames: the arrays in them show memory that will not be there.
static inline void py_forget_frames(void) {
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (error) PyException_SetTraceback(error, &_Py_NoneStruct);
    if (trace) Py_DecRef(trace);
    PyErr_Restore(type, error, NULL);
}

// A number of a message, from a kernel that failed.
static inline double as_double(int64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
"""

LIBRARY = r"""
// Memory as an array for a library step; without `steps` (in bytes) it is contiguous.
static PyObject *as_array(
    void *data, PyObject *dtype, int64_t itemsize, int ndim, const int64_t *dims, const int64_t *steps) {
    char *low = data ? data : (char *)&ndim;
    int64_t size = itemsize, begin = 0;
    for (int d = 0; d < ndim; ++d) size *= dims[d];
    if (!size) steps = NULL;
    if (steps) {
        size = itemsize;
        for (int d = 0; d < ndim; ++d) {
            const int64_t reach = (dims[d] - 1) * steps[d];
            size += reach < 0 ? -reach : reach;
            if (reach < 0) begin -= reach;
        }
    }
    PyObject *memory = PyMemoryView_FromMemory(low - begin, size, 0x200), *shape = py_shape(ndim, dims), *array = NULL;
    PyObject *along = steps ? py_shape(ndim, steps) : NULL, *at = steps ? PyLong_FromLongLong(begin) : NULL;
    if (memory && shape && (!steps || (along && at)))
        array = PyObject_CallFunctionObjArgs(numpy_ndarray, shape, dtype, memory, at, along, NULL);
    if (memory) Py_DecRef(memory);
    if (shape) Py_DecRef(shape);
    if (along) Py_DecRef(along);
    if (at) Py_DecRef(at);
    return array;
}
"""
