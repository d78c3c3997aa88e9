/* The search as a function of Python. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string.h>

#include "asked.h"
#include "module.h"
#include "terms.h"

/* The arms, a tuple (card, first copies passed, second ones, shoots) each; -1 with an error set. */
static int read_arms(PyObject *list, const search_position *at, search_arm *arms)
{
    const Py_ssize_t count = PyList_Size(list);
    if (count < 0)
        return -1;
    if (count < 1 || count > SEARCH_ARMS) {
        PyErr_SetString(PyExc_ValueError, "too many things to try, or none");
        return -1;
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        unsigned long long first, second;
        int card, shoots;
        if (!PyArg_ParseTuple(PyList_GetItem(list, place), "iKKp", &card, &first, &second, &shoots))
            return -1;
        arms[place] =
            (search_arm){.card = card, .pass = {first, second}, .shoots = shoots, .place = (int)place};
        if (!asked_arm(at, &arms[place])) {
            PyErr_SetString(PyExc_ValueError, "something to try is not allowed at this position");
            return -1;
        }
    }
    return (int)count;
}

PyObject *search_best(PyObject *module, PyObject *args)
{
    const module_state *state = PyModule_GetState(module);
    search_position at;
    search_arm arms[SEARCH_ARMS];
    PyObject *terms, *list, *answer;
    const char *bytes;
    Py_ssize_t length;
    long long budget;
    unsigned long long chance;
    int64_t numbers[1024];
    int count;
    if (!PyArg_ParseTuple(args, "O!y#O!LK:search", state->terms_type, &terms, &bytes, &length, &PyList_Type,
                          &list, &budget, &chance))
        return NULL;
    if (length > (Py_ssize_t)sizeof numbers || length % (Py_ssize_t)sizeof *numbers || budget < 0 ||
        budget > 1000000000) {
        PyErr_SetString(PyExc_ValueError, "this is no position, or no budget");
        return NULL;
    }
    memcpy(numbers, bytes, (size_t)length);
    if (!asked_position(&((terms_object *)terms)->terms, numbers, (size_t)length / sizeof *numbers, &at)) {
        PyErr_SetString(PyExc_ValueError, "this position cannot be played on");
        return NULL;
    }
    if ((count = read_arms(list, &at, arms)) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    asked_run(&at, arms, count, budget, chance);
    Py_END_ALLOW_THREADS
    answer = PyList_New(count);
    for (int place = 0; answer && place < count; place++) {
        const search_arm *arm = &arms[place];
        PyObject *row = Py_BuildValue("iLL", arm->place, (long long)arm->sum, (long long)arm->worlds);
        if (!row)
            Py_CLEAR(answer);
        else
            PyList_SetItem(answer, place, row);
    }
    return answer;
}
