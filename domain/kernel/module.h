/* What the module keeps, and those of its functions that stand in other files. */
#ifndef HEARTS_MODULE_H
#define HEARTS_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "hearts.h"

typedef struct {
    PyTypeObject *terms_type;
    PyObject *names[HEARTS_FACES]; /* the cards as text */
    PyObject *phases[5];           /* by record_phase */
} module_state;

PyObject *search_best(PyObject *module, PyObject *args);

#endif
