/* `domain.kernel._hearts`: the kernel as a Python module, with the stable ABI of Python 3.11. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdlib.h>
#include <string.h>

#include "asked.h"
#include "record.h"
#include "terms.h"

typedef struct {
    PyTypeObject *terms_type;
    PyObject *names[HEARTS_FACES]; /* the cards as text */
    PyObject *phases[5];           /* by record_phase */
} module_state;

/* ---- check */

typedef struct {
    module_state *state;
    PyObject *find_terms;
    PyObject *terms; /* what it returned, held while the record is replayed */
} search;

static record_status call_find_terms(
    void *context, const char *rules, size_t length, int seats, const hearts_terms **terms)
{
    search *s = context;
    PyObject *slice = PyBytes_FromStringAndSize(rules, (Py_ssize_t)length), *number = PyLong_FromLong(seats);
    PyObject *found =
        slice && number ? PyObject_CallFunctionObjArgs(s->find_terms, slice, number, NULL) : NULL;
    Py_XDECREF(slice);
    Py_XDECREF(number);
    if (!found)
        return RECORD_BROKEN_OFF;
    if (found == Py_None) {
        Py_DECREF(found);
        return RECORD_NOT_MINE;
    }
    if (Py_TYPE(found) != s->state->terms_type) {
        Py_DECREF(found);
        PyErr_SetString(PyExc_TypeError, "find_terms returns Terms or None");
        return RECORD_BROKEN_OFF;
    }
    s->terms = found;
    *terms = &((terms_object *)found)->terms;
    return RECORD_HOLDS;
}

static PyObject *another(PyObject *object)
{
    Py_INCREF(object);
    return object;
}

static PyObject *list_of(const int64_t *numbers, int count)
{
    PyObject *list = PyList_New(count);
    for (int at = 0; list && at < count; at++) {
        PyObject *number = PyLong_FromLongLong(numbers[at]);
        if (!number)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, at, number);
    }
    return list;
}

static PyObject *points_of(const record_result *result)
{
    PyObject *list = PyList_New((Py_ssize_t)result->scored);
    for (size_t hand = 0; list && hand < result->scored; hand++) {
        PyObject *row = list_of(result->points + hand * (size_t)result->players, result->players);
        if (!row)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)hand, row);
    }
    return list;
}

static PyObject *winners_of(const record_result *result)
{
    int64_t seats[HEARTS_SEATS];
    int count = 0;
    for (uint32_t left = result->winners; left; left &= left - 1)
        seats[count++] = hearts_lowest(left);
    return list_of(seats, count);
}

static PyObject *legal_of(const module_state *state, const record_result *result)
{
    PyObject *list;
    Py_ssize_t at = 0;
    if (result->phase != PHASE_PLAY)
        Py_RETURN_NONE;
    list = PyList_New(hearts_bits(result->legal));
    for (uint64_t left = result->legal; list && left; left &= left - 1) {
        PyList_SetItem(list, at++, another(state->names[hearts_lowest(left)]));
    }
    return list;
}

static PyObject *turn_of(const record_result *result)
{
    if (result->turn < 0)
        Py_RETURN_NONE;
    return PyLong_FromLong(result->turn);
}

/* A tuple of `count` new references, which it takes over; NULL where one of them is missing. */
static PyObject *tuple_of(PyObject **parts, Py_ssize_t count)
{
    PyObject *tuple = PyTuple_New(count);
    bool whole = tuple != NULL;
    for (Py_ssize_t at = 0; at < count; at++) {
        whole &= parts[at] != NULL;
        if (tuple)
            PyTuple_SetItem(tuple, at, parts[at]);
        else
            Py_XDECREF(parts[at]);
    }
    if (!whole)
        Py_CLEAR(tuple);
    return tuple;
}

static PyObject *position_of(const module_state *state, const record_result *result)
{
    PyObject *parts[] = {
        another(state->phases[result->phase]),
        PyLong_FromSize_t(result->hand),
        turn_of(result),
        legal_of(state, result),
        points_of(result),
        list_of(result->totals, result->players),
        winners_of(result),
    };
    return tuple_of(parts, sizeof parts / sizeof *parts);
}

static PyObject *fault_of(const terms_object *terms, const record_result *result)
{
    const record_fault *fault = &result->fault;
    PyObject *parts[] = {
        another(terms->rules),
        PyLong_FromSize_t(fault->hand),
        PyBool_FromLong(fault->last),
        PyBytes_FromStringAndSize(fault->at, fault->end - fault->at),
        points_of(result),
        list_of(result->totals, result->players),
    };
    return tuple_of(parts, sizeof parts / sizeof *parts);
}

static PyObject *check(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    search s = {.state = PyModule_GetState(module)};
    record_result result;
    PyObject *answer = NULL;
    char *text;
    Py_ssize_t length;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "check(line, find_terms)");
        return NULL;
    }
    if (PyBytes_AsStringAndSize(args[0], &text, &length) < 0)
        return NULL;
    s.find_terms = args[1];
    switch (record_check(text, (size_t)length, call_find_terms, &s, &result)) {
    case RECORD_HOLDS:
        answer = position_of(s.state, &result);
        break;
    case RECORD_FAULTY:
        answer = fault_of((terms_object *)s.terms, &result);
        break;
    case RECORD_NOT_MINE:
        answer = another(Py_None);
        break;
    case RECORD_NO_MEMORY:
        PyErr_NoMemory();
        break;
    case RECORD_BROKEN_OFF:
        break;
    }
    free(result.points);
    Py_XDECREF(s.terms);
    return answer;
}

/* ---- search */

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

static PyObject *search_best(PyObject *module, PyObject *args)
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

static PyMethodDef methods[] = {
    {"search", search_best, METH_VARARGS, "See domain/kernel/_hearts.pyi."},
    {"check", (PyCFunction)(void (*)(void))check, METH_FASTCALL, "See domain/kernel/_hearts.pyi."},
    {NULL, NULL, 0, NULL},
};

/* ---- the module */

static int module_exec(PyObject *module)
{
    static const char *const phases[] = {"pass", "play", "moon", "deal", "over"};
    module_state *state = PyModule_GetState(module);
    for (int card = 0; card < HEARTS_FACES; card++) {
        const char name[] = {"23456789TJQKA"[card % 13], "CDSH"[card / 13], 0};
        if (!(state->names[card] = PyUnicode_InternFromString(name)))
            return -1;
    }
    for (int phase = 0; phase < 5; phase++)
        if (!(state->phases[phase] = PyUnicode_InternFromString(phases[phase])))
            return -1;
    state->terms_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &terms_spec, NULL);
    return state->terms_type ? PyModule_AddType(module, state->terms_type) : -1;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    module_state *state = PyModule_GetState(module);
    Py_VISIT(state->terms_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    Py_CLEAR(state->terms_type);
    for (int card = 0; card < HEARTS_FACES; card++)
        Py_CLEAR(state->names[card]);
    for (int phase = 0; phase < 5; phase++)
        Py_CLEAR(state->phases[phase]);
    return 0;
}

static void module_free(void *module) { module_clear(module); }

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "domain.kernel._hearts",
    .m_doc = "Game records checked and hands searched fast; used through domain.kernel.",
    .m_size = sizeof(module_state),
    .m_methods = methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__hearts(void) { return PyModuleDef_Init(&module_def); }
