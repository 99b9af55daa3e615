/* Epochs in which something untimed comes before every single iteration.
 *
 * Each iteration is timed alone, by a pair of clock readings around op, and the differences are
 * added up. What an empty pair costs is measured in the same way and subtracted by the caller.
 */

enum { AP_WARM_UPS = 3 };

enum { AP_SETUP_RAISED = 3 }; /* the untimed part raised, not op */

typedef struct {
    uintptr_t address;
    uint64_t size;
} ap_span;

typedef struct {
    uintptr_t setup;     /* callable to call first; 0: none */
    uintptr_t setup_arg; /* what to call it with; 0: nothing */
    uintptr_t make;      /* callable that makes the argument of op; 0: none */
    uintptr_t op;
    uintptr_t op_arg;    /* argument of op, if nothing is made; 0: it takes none */
    uintptr_t empty;     /* empty callable of op's kind */
    uintptr_t empty_arg; /* argument of that, if op takes one; else 0 */
    ap_span spans[8];    /* memory of op itself */
    int num_spans;
} ap_pairs;

static PyObject *call(uintptr_t callable, uintptr_t arg)
{
    return arg == 0 ? PyObject_CallNoArgs((PyObject *)callable)
                    : PyObject_CallFunctionObjArgs((PyObject *)callable, (PyObject *)arg, NULL);
}

/* Have memory in the cache by reading from each of its lines. */
static void touch(const ap_span *spans, int num_spans)
{
    for (; num_spans > 0; --num_spans, ++spans) {
        const volatile char *first = (const volatile char *)spans->address;
        uint64_t i;
        for (i = 0; i < spans->size; i += 64)
            (void)first[i];
        if (spans->size != 0)
            (void)first[spans->size - 1];
    }
}

/* Make the way into op and out again warm, after an untimed part that may have filled caches and
 * branch predictors with things of its own: a call of an empty callable, framed by readings of
 * the clock like op, and a look at op's own code. What op works on is left as it is. */
static int warm_up(const ap_pairs *pairs, int clock)
{
    int i;
    for (i = 0; i < AP_WARM_UPS; ++i) {
        PyObject *value;
        ap_clock_ns(clock);
        value = call(pairs->empty, pairs->empty_arg);
        ap_clock_ns(clock);
        if (value == NULL)
            return -1;
        Py_DECREF(value);
    }
    touch(pairs->spans, pairs->num_spans);
    ap_clock_ns(clock);
    ap_clock_ns(clock);
    return 0;
}

/* One iteration. The value of op, and the argument that was made for it, outlive the clock. */
static int run_pair(ap_epoch *epoch, const ap_pairs *pairs, int clock,
                    PyTypeObject *const *refused, PyObject *handed_over)
{
    PyObject *argument = NULL, *value;
    int64_t begin_ns;
    int status = AP_OK;

    if (pairs->setup != 0) {
        PyObject *nothing = call(pairs->setup, pairs->setup_arg);
        if (nothing == NULL)
            return AP_SETUP_RAISED;
        Py_DECREF(nothing);
    }
    if (pairs->make != 0) {
        argument = PyObject_CallNoArgs((PyObject *)pairs->make);
        if (argument == NULL)
            return AP_SETUP_RAISED;
    }
    if (warm_up(pairs, clock) != 0) {
        Py_XDECREF(argument);
        return AP_RAISED;
    }
    if (argument != NULL || pairs->op_arg != 0) {
        uintptr_t arg = argument != NULL ? (uintptr_t)argument : pairs->op_arg;
        begin_ns = ap_clock_ns(clock);
        value = PyObject_CallFunctionObjArgs((PyObject *)pairs->op, (PyObject *)arg, NULL);
        epoch->end_ns += ap_clock_ns(clock) - begin_ns;
    }
    else {
        begin_ns = ap_clock_ns(clock);
        value = PyObject_CallNoArgs((PyObject *)pairs->op);
        epoch->end_ns += ap_clock_ns(clock) - begin_ns;
    }
    if (value == NULL)
        status = AP_RAISED;
    else if (refused != NULL && is_of(value, refused)) {
        status = AP_REFUSED;
        if (PyList_Append(handed_over, value) != 0)
            PyErr_Clear();
    }
    if (status != AP_RAISED)
        Py_DECREF(value);
    Py_XDECREF(argument);
    return status;
}

/* Time `iterations` pairs; `end_ns - begin_ns` of the epoch is their sum. An untimed part is
 * usually slow enough to look for signals each time, and to see whether it is time to let other
 * threads run: nothing else does, if op and what comes before it are written in C. */
static int ap_run_pairs(ap_epoch *epoch, const ap_pairs *pairs, int clock, uint64_t iterations,
                        uintptr_t refused_types, uintptr_t handed_over)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyTypeObject *const *refused = (PyTypeObject *const *)refused_types;
    int status = AP_OK;
    int64_t last_pause_ns = ap_clock_ns(AP_CLOCK_WALL);

    epoch->begin_ns = epoch->end_ns = 0;
    epoch->started = 0;
    while (epoch->started < iterations && status == AP_OK) {
        ++epoch->started;
        status = run_pair(epoch, pairs, clock, refused, (PyObject *)handed_over);
        refused = NULL;
        if (status == AP_OK) {
            int64_t now_ns = ap_clock_ns(AP_CLOCK_WALL);
            if (PyErr_CheckSignals() != 0)
                status = AP_RAISED;
            else if (now_ns - last_pause_ns >= AP_PAUSE_NS) {
                PyThreadState *thread = PyEval_SaveThread();
                PyEval_RestoreThread(thread);
                last_pause_ns = now_ns;
            }
        }
    }
    if (status == AP_RAISED || status == AP_SETUP_RAISED)
        hand_over_exception((PyObject *)handed_over);
    PyGILState_Release(gil);
    return status;
}

/* Time one loop of op over a list of inputs. What it returns takes the place of its input only
 * after the clock has stopped: `outputs` is a list of the same length. */
static int ap_run_batch(ap_epoch *epoch, int clock, uintptr_t op_id, uintptr_t inputs_id,
                        uintptr_t outputs_id, uint64_t iterations, uint64_t signal_interval,
                        uintptr_t refused_types, uintptr_t handed_over)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyTypeObject *const *refused = (PyTypeObject *const *)refused_types;
    PyObject *op = (PyObject *)op_id, *inputs = (PyObject *)inputs_id;
    PyObject *outputs = (PyObject *)outputs_id, *value = NULL;
    uint64_t i = 0, until_signals = signal_interval;
    int status = AP_OK;

    epoch->begin_ns = ap_clock_ns(clock);
    for (; i < iterations; ++i) {
        value = PyObject_CallFunctionObjArgs(op, PyList_GetItem(inputs, (Py_ssize_t)i), NULL);
        if (value == NULL) {
            status = AP_RAISED;
            break;
        }
        if (refused != NULL && is_of(value, refused)) {
            status = AP_REFUSED;
            if (PyList_Append((PyObject *)handed_over, value) != 0)
                PyErr_Clear();
        }
        refused = NULL;
        PyList_SetItem(outputs, (Py_ssize_t)i, value); /* takes over the reference */
        if (status == AP_OK && --until_signals == 0) {
            until_signals = signal_interval;
            if (PyErr_CheckSignals() != 0)
                status = AP_RAISED;
        }
        if (status != AP_OK)
            break;
    }
    epoch->end_ns = ap_clock_ns(clock);
    epoch->started = status == AP_OK ? iterations : i + 1;
    if (status == AP_RAISED)
        hand_over_exception((PyObject *)handed_over);
    PyGILState_Release(gil);
    return status;
}

/* For pairs in a loop of Python code: have that code in the cache. */
static void ap_pair_touch(const ap_pairs *pairs)
{
    touch(pairs->spans, pairs->num_spans);
}
