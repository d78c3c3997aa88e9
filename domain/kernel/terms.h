/* `domain.kernel._hearts.Terms`: a rule set in numbers, as a Python object. */
#ifndef HEARTS_TERMS_H
#define HEARTS_TERMS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "hearts.h"

typedef struct {
    PyObject_HEAD
    PyObject *rules; /* the rule set that these are the terms of; only kept, and given back with a fault */
    hearts_terms terms;
} terms_object;

extern PyType_Spec terms_spec;

#endif
