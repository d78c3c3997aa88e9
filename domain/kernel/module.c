/* `domain.kernel._hearts`: the kernel as a Python module, with the stable ABI of Python 3.11. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "plain.h"
#include "record.h"
#include "terms.h"
#include "whole.h"

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

/* ---- score_hand */

/* The card lists of a tuple, one a seat. Sets an error where it is no tuple of text; `right` where the cards are cards. */
static bool read_lists(
    PyObject *tuple, int seats, hearts_cards *lists, int *counts, hearts_cards *all, bool *right)
{
    const Py_ssize_t given = PyTuple_Size(tuple);
    *right = given == seats;
    for (Py_ssize_t at = 0; *right && at < given; at++) {
        Py_ssize_t length;
        const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, at), &length);
        if (!text)
            return false;
        counts[at] = whole_cards(text, (size_t)length, &lists[at], all);
        *right = counts[at] >= 0;
    }
    return given >= 0;
}

/* The totals before a hand, a list; `right` where there are as many as seats and none is beyond reason. */
static bool read_totals(PyObject *list, int seats, int64_t *totals, bool *right)
{
    const Py_ssize_t given = PyList_Size(list);
    *right = given == seats;
    for (Py_ssize_t at = 0; *right && at < given; at++) {
        totals[at] = PyLong_AsLongLong(PyList_GetItem(list, at));
        if (totals[at] == -1 && PyErr_Occurred())
            return false;
        *right = totals[at] >= -WHOLE_MOST && totals[at] <= WHOLE_MOST;
    }
    return given >= 0;
}

/* The plays and takers of a hand; `right` where there are as many as the terms have. */
static bool read_plays(PyObject *const *args, const hearts_terms *terms, whole_hand *told, bool *right)
{
    Py_ssize_t seats, plays, takers;
    char *seat, *play, *taker;
    if (PyBytes_AsStringAndSize(args[0], &seat, &seats) < 0 ||
        PyBytes_AsStringAndSize(args[1], &play, &plays) < 0 ||
        PyBytes_AsStringAndSize(args[2], &taker, &takers) < 0)
        return false;
    told->seats = (const unsigned char *)seat;
    told->plays = (const unsigned char *)play;
    told->takers = (const unsigned char *)taker;
    *right = takers == terms->hand && seats == (Py_ssize_t)terms->hand * terms->players && plays == seats;
    return true;
}

static PyObject *score_hand(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    const module_state *state = PyModule_GetState(module);
    int64_t totals[HEARTS_SEATS], points[HEARTS_SEATS], number;
    whole_hand told = {.all = {0, 0}};
    hearts_cards given = {0, 0};
    const char *kitty;
    Py_ssize_t length;
    bool right;
    if (count != 9 || Py_TYPE(args[0]) != state->terms_type) {
        PyErr_SetString(PyExc_TypeError, "score_hand(terms, totals, number, deal, kitty, passes, seats, plays, takers)");
        return NULL;
    }
    const hearts_terms *terms = &((terms_object *)args[0])->terms;
    const int seats = terms->players;
    number = PyLong_AsLongLong(args[2]);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    if (!read_totals(args[1], seats, totals, &right))
        return NULL;
    if (!right || number < 1)
        Py_RETURN_NONE;
    if (!read_lists(args[3], seats, told.deal, told.dealt, &told.all, &right) ||
        !(kitty = PyUnicode_AsUTF8AndSize(args[4], &length)))
        return NULL;
    if (!right || whole_cards(kitty, (size_t)length, &told.kitty, &told.all) < 0)
        Py_RETURN_NONE;
    told.has_passes = args[5] != Py_None;
    if (told.has_passes && !read_lists(args[5], seats, told.passes, told.passed, &given, &right))
        return NULL;
    if (!right)
        Py_RETURN_NONE;
    if (!read_plays(args + 6, terms, &told, &right))
        return NULL;
    if (!right || !whole_score(terms, &told, totals, number, points))
        Py_RETURN_NONE;
    return list_of(points, seats);
}

/* ---- are_plain */

static PyObject *are_plain(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *lines;
    Py_ssize_t length;
    long long first;
    if (!PyArg_ParseTuple(args, "y#L", &lines, &length, &first))
        return NULL;
    return PyBool_FromLong(plain_lines(lines, (size_t)length, first));
}

static PyMethodDef methods[] = {
    {"are_plain", are_plain, METH_VARARGS, "See domain/kernel/_hearts.pyi."},
    {"search", search_best, METH_VARARGS, "See domain/kernel/_hearts.pyi."},
    {"check", (PyCFunction)(void (*)(void))check, METH_FASTCALL, "See domain/kernel/_hearts.pyi."},
    {"score_hand", (PyCFunction)(void (*)(void))score_hand, METH_FASTCALL, "See domain/kernel/_hearts.pyi."},
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
