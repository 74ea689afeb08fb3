"""The fixed C text of an emitted module: CPython's stable ABI as far as it is used, and small conversions.

`Python.h` may be missing on a user's machine, so what is needed is declared here; all of it is part of the stable ABI
(`Py_buffer` since 3.11), so one shared object serves every later Python.
"""

PYTHON = r"""
// ---- Python's stable ABI, as far as it is used (Python.h need not be installed)
typedef ssize_t Py_ssize_t;
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
extern PyObject PyLong_Type, PyFloat_Type, PyBool_Type, PyComplex_Type;
extern PyObject _Py_NoneStruct, _Py_TrueStruct, _Py_FalseStruct, _Py_NotImplementedStruct;
PyObject *PyModule_Create2(PyModuleDef *, int);
PyObject *PyImport_ImportModule(const char *), *PyObject_GetAttrString(PyObject *, const char *);
PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...), *PyObject_CallFunction(PyObject *, const char *, ...);
PyObject *PyObject_CallMethod(PyObject *, const char *, const char *, ...), *Py_BuildValue(const char *, ...);
PyObject *PyLong_FromLongLong(long long), *PyLong_FromUnsignedLongLong(unsigned long long);
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
void PyErr_SetString(PyObject *, const char *), PyErr_SetObject(PyObject *, PyObject *);
long long PyLong_AsLongLongAndOverflow(PyObject *, int *);
double PyFloat_AsDouble(PyObject *);
PyObject *PyErr_Occurred(void);
void *PyEval_SaveThread(void);
void PyEval_RestoreThread(void *);

static PyObject *numpy, *numpy_ndarray, *numpy_empty;
static const char *reason = "";  // why the last call was not for this code
"""

ARRAYS = r"""
// An array argument; 0 where it is not of the type this code is for.
static int take_array(PyObject *object, Py_buffer *view, char kind, char same, int ndim, int contiguous, int write) {
    if (object->ob_type != numpy_ndarray) return 0;
    if (PyObject_GetBuffer(object, view, 0x1c | (write != 0))) {  // strides and format
        if (write) {
            PyErr_Clear();
            PyObject *error = PyDict_GetItemString(PyEval_GetBuiltins(), "ValueError");
            PyErr_SetString(error, write > 1 ? "output array is read-only" : "assignment destination is read-only");
            return -1;
        }
        PyErr_Clear();
        return 0;
    }
    const char *format = view->format;
    int pairs = kind == 'D' || kind == 'F';  // complex numbers: "Zd", "Zf"
    int fits = view->ndim == ndim && (pairs ? format[0] == 'Z' && format[1] == kind + 32 && format[2] == 0
                                            : (format[0] == kind || format[0] == same) && format[1] == 0);
    const Py_ssize_t unit = pairs ? view->itemsize / 2 : view->itemsize;
    fits = fits && (size_t)view->buf % unit == 0;
    Py_ssize_t stride = view->itemsize, size = 1;
    for (int d = 0; d < ndim; ++d) size *= view->shape[d];
    int packed = 1;
    for (int d = ndim - 1; d >= 0 && size; --d) {
        packed = packed && (view->shape[d] == 1 || view->strides[d] == stride);
        stride *= view->shape[d];
        fits = fits && view->strides[d] % unit == 0;
    }
    if (!fits || (contiguous && !packed)) { PyBuffer_Release(view); return 0; }
    return 1;
}

// The lowest address of an array's elements.
static void *lowest(const Py_buffer *view) {
    char *low = view->buf;
    for (int d = 0; d < view->ndim; ++d) {
        Py_ssize_t reach = (view->shape[d] - 1) * view->strides[d];
        if (reach < 0) low += reach;
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
    PyObject *shape = PyTuple_New(ndim);
    for (int d = 0; d < ndim; ++d) PyTuple_SetItem(shape, d, PyLong_FromLongLong(dims[d]));
    PyObject *array = PyObject_CallFunctionObjArgs(numpy_empty, shape, dtype, NULL);
    Py_DecRef(shape);
    if (!array) return NULL;
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, 1)) { Py_DecRef(array); return NULL; }
    *data = view.buf;
    PyBuffer_Release(&view);  // the memory lives as long as the array
    return array;
}
"""

LARGE_RESULTS = r"""
// Large results live in memory that is kept for the next one: fresh pages cost more than filling them.
typedef struct { PyObject head; void *memory; size_t size; } Block;
enum { KEPT = 4 };
static struct { void *memory; size_t size; } kept[KEPT];
static PyObject *block_type;
PyObject *PyType_FromSpec(void *);
void *PyType_GetSlot(PyObject *, int);
int PyBuffer_FillInfo(Py_buffer *, PyObject *, void *, Py_ssize_t, int, int);
PyObject *_PyObject_New(PyObject *);
void PyObject_Free(void *);

static void block_free(PyObject *self) {
    Block *block = (Block *)self;
    PyObject *type = self->ob_type;
    int smallest = 0;
    for (int k = 1; k < KEPT; ++k) if (kept[k].size < kept[smallest].size) smallest = k;
    if (kept[smallest].size < block->size) {
        free(kept[smallest].memory);
        kept[smallest].memory = block->memory;
        kept[smallest].size = block->size;
    } else {
        free(block->memory);
    }
    PyObject_Free(self);
    Py_DecRef(type);
}

static int block_buffer(PyObject *self, Py_buffer *view, int flags) {
    return PyBuffer_FillInfo(view, self, ((Block *)self)->memory, ((Block *)self)->size, 0, flags);
}

static struct { int slot; void *value; } block_slots[] = {{52, block_free}, {1, block_buffer}, {0, 0}};
static struct { const char *name; int size, item; unsigned flags; void *slots; } block_spec = {
    "transkern.Block", sizeof(Block), 0, 0, block_slots};

static PyObject *large_array(PyObject *dtype, int64_t bytes, int ndim, const int64_t *dims, void **data) {
    if (bytes < (1 << 20)) return new_array(dtype, ndim, dims, data);
    if (!block_type) block_type = PyType_FromSpec(&block_spec);
    Block *block = block_type ? (Block *)_PyObject_New(block_type) : NULL;
    if (!block) return NULL;
    block->memory = NULL;
    block->size = ((size_t)bytes + 0x1fffff) & ~(size_t)0x1fffff;
    for (int k = 0; k < KEPT; ++k)
        if (!block->memory && kept[k].size >= block->size && kept[k].size <= 2 * block->size) {
            block->memory = kept[k].memory;
            block->size = kept[k].size;
            kept[k].memory = NULL;
            kept[k].size = 0;
        }
    if (!block->memory) {
        if (posix_memalign(&block->memory, 1 << 21, block->size)) { block->memory = NULL; block->size = 0; }
        else madvise(block->memory, block->size, 14);  // huge pages
    }
    if (!block->memory) { Py_DecRef((PyObject *)block); return PyErr_NoMemory(); }
    *data = block->memory;
    PyObject *shape = PyTuple_New(ndim);
    for (int d = 0; d < ndim; ++d) PyTuple_SetItem(shape, d, PyLong_FromLongLong(dims[d]));
    PyObject *array = PyObject_CallFunctionObjArgs(numpy_ndarray, shape, dtype, (PyObject *)block, NULL);
    Py_DecRef(shape);
    Py_DecRef((PyObject *)block);
    return array;
}
"""

FUNCTIONS = r"""
// A Python function from its text.
static PyObject *function(const char *text) {
    PyObject *names = PyDict_New(), *eval = PyDict_GetItemString(PyEval_GetBuiltins(), "eval");
    PyDict_SetItemString(names, "np", numpy);
    PyObject *made = PyObject_CallFunction(eval, "sO", text, names);
    Py_DecRef(names);
    return made;
}

// A number of a message, from a kernel that failed.
static inline double as_double(int64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
"""

LIBRARY = r"""
// Memory as an array for a library step.
static PyObject *as_array(void *data, PyObject *dtype, int64_t itemsize, int ndim, const int64_t *dims) {
    int64_t size = itemsize;
    for (int d = 0; d < ndim; ++d) size *= dims[d];
    PyObject *memory = PyMemoryView_FromMemory(data ? data : (char *)&size, size, 0x200), *shape = PyTuple_New(ndim);
    for (int d = 0; d < ndim; ++d) PyTuple_SetItem(shape, d, PyLong_FromLongLong(dims[d]));
    PyObject *array = PyObject_CallFunctionObjArgs(numpy_ndarray, shape, dtype, memory, NULL);
    Py_DecRef(memory);
    Py_DecRef(shape);
    return array;
}
"""
