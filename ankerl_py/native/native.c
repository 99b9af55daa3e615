/* Clock reads and the measuring loop for callables.
 *
 * Python objects come in as addresses (id(object)): the caller holds a reference to each of
 * them for as long as a call takes. cffi gives up the GIL around every call into this file, so
 * each function that touches Python objects takes it back first and gives it up last; neither
 * happens while the clock runs.
 */

#include <stdint.h>
#include <time.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#endif

enum { AP_CLOCK_WALL, AP_CLOCK_PROCESS, AP_CLOCK_THREAD };
enum { AP_OK, AP_RAISED, AP_REFUSED };

typedef struct {
    int64_t begin_ns;
    int64_t end_ns;
    uint64_t started; /* iterations begun: one more than were finished, if op raised */
} ap_epoch;

#ifdef _WIN32

static int64_t filetime_ns(FILETIME t)
{
    return (int64_t)(((uint64_t)t.dwHighDateTime << 32) | t.dwLowDateTime) * 100;
}

static int64_t ap_clock_ns(int clock)
{
    FILETIME created, ended, kernel, user;
    if (clock == AP_CLOCK_WALL) {
        LARGE_INTEGER count, frequency;
        if (!QueryPerformanceCounter(&count) || !QueryPerformanceFrequency(&frequency))
            return -1;
        /* In two parts, since count * 1e9 would not fit. */
        return count.QuadPart / frequency.QuadPart * 1000000000
            + count.QuadPart % frequency.QuadPart * 1000000000 / frequency.QuadPart;
    }
    if (!(clock == AP_CLOCK_PROCESS
              ? GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user)
              : GetThreadTimes(GetCurrentThread(), &created, &ended, &kernel, &user)))
        return -1;
    return filetime_ns(kernel) + filetime_ns(user);
}

#else

static int64_t ap_clock_ns(int clock)
{
    static const clockid_t ids[] = {
        [AP_CLOCK_WALL] = CLOCK_MONOTONIC,
        [AP_CLOCK_PROCESS] = CLOCK_PROCESS_CPUTIME_ID,
        [AP_CLOCK_THREAD] = CLOCK_THREAD_CPUTIME_ID,
    };
    struct timespec now;
    if (clock_gettime(ids[clock], &now) != 0)
        return -1;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif

/* The smallest difference between two successive readings that differ, over so many differences;
 * what a clock can tell apart, its own cost included. 0 if it did not advance within max_reads. */
static int64_t ap_clock_step_ns(int clock, int steps, int64_t max_reads)
{
    int64_t smallest = 0, last = ap_clock_ns(clock);
    while (steps > 0 && max_reads-- > 0) {
        int64_t now = ap_clock_ns(clock);
        if (now == last)
            continue;
        if (now > last && (smallest == 0 || now - last < smallest))
            smallest = now - last;
        last = now;
        --steps;
    }
    return smallest;
}

/* For loops that are Python code: the first one is the last thing they call before the loop,
 * the second one the first thing after it. */
static void ap_epoch_begin(ap_epoch *epoch, int clock)
{
    epoch->begin_ns = ap_clock_ns(clock);
}

static void ap_epoch_end(ap_epoch *epoch, int clock)
{
    epoch->end_ns = ap_clock_ns(clock);
}

/* Move the exception that is being raised into the list `handed_over`, for the caller to raise:
 * cffi's wrapper knows nothing of exceptions and would return with one set. */
static void hand_over_exception(PyObject *handed_over)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL)
        PyException_SetTraceback(value, traceback);
    if (value == NULL || PyList_Append(handed_over, value) != 0)
        PyErr_Clear(); /* out of memory: the caller finds the list empty */
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

/* Whether a value is of one of the types whose addresses stand in a list that ends with NULL. */
static int is_of(PyObject *value, PyTypeObject *const *types)
{
    for (; *types != NULL; ++types)
        if (Py_TYPE(value) == *types)
            return 1;
    return 0;
}

enum { AP_FIRST_CALLS = 16, AP_SIGNAL_NS = 2000000, AP_PAUSE_NS = 10000000 };

/* How many calls take about as long as AP_SIGNAL_NS, but at most 1000: op may become slower. */
static uint64_t calls_until_signals(uint64_t calls, int64_t elapsed_ns)
{
    double wanted = (double)calls * AP_SIGNAL_NS / (double)(elapsed_ns > 0 ? elapsed_ns : 1);
    return wanted < 1.0 ? 1 : wanted < 1000.0 ? (uint64_t)wanted : 1000;
}

/* Time `iterations` calls of op. If op is a function written in C, nothing but this loop looks at
 * signals and lets other threads run: it does so after each `signal_interval` calls. An interval
 * of 1 means that nobody knows how long op takes, so a better one is found after some calls. If
 * `refused_types` is not 0, the value of the first call is checked, and one of these types ends
 * the epoch: a coroutine would be measured without ever running. */
static int ap_run_calls(ap_epoch *epoch, int clock, uintptr_t op_id, uint64_t iterations,
                        uint64_t signal_interval, uintptr_t refused_types, uintptr_t handed_over)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *op = (PyObject *)op_id;
    PyTypeObject *const *refused = (PyTypeObject *const *)refused_types;
    uint64_t left = iterations, now = 0;
    int status = AP_OK;
    int64_t wall_ns = ap_clock_ns(AP_CLOCK_WALL), last_pause_ns = wall_ns;

    epoch->begin_ns = ap_clock_ns(clock);
    while (left != 0) {
        now = left < signal_interval ? left : signal_interval;
        left -= now;
        for (; now != 0; --now) {
            PyObject *value = PyObject_CallNoArgs(op);
            if (value == NULL)
                goto raised;
            if (refused != NULL) {
                if (is_of(value, refused)) {
                    status = AP_REFUSED;
                    if (PyList_Append((PyObject *)handed_over, value) != 0)
                        PyErr_Clear();
                    Py_DECREF(value);
                    goto stopped;
                }
                refused = NULL;
            }
            Py_DECREF(value);
        }
        if (PyErr_CheckSignals() != 0)
            goto raised;
        if (left != 0 && iterations - left >= AP_FIRST_CALLS) {
            int64_t now_ns = ap_clock_ns(AP_CLOCK_WALL);
            if (signal_interval == 1)
                signal_interval = calls_until_signals(iterations - left, now_ns - wall_ns);
            /* Not too often: a thread that waits for the GIL demands it only after 5 ms in which
             * nobody gave it up, and unless it does, this one would be the first to have it back. */
            if (now_ns - last_pause_ns >= AP_PAUSE_NS) {
                PyThreadState *thread = PyEval_SaveThread();
                PyEval_RestoreThread(thread);
                last_pause_ns = now_ns;
            }
        }
    }
    epoch->end_ns = ap_clock_ns(clock);
    epoch->started = iterations;
    PyGILState_Release(gil);
    return AP_OK;

raised:
    status = AP_RAISED;
    hand_over_exception((PyObject *)handed_over);
stopped:
    epoch->end_ns = epoch->begin_ns;
    epoch->started = iterations - left - (now != 0 ? now - 1 : 0);
    PyGILState_Release(gil);
    return status;
}
