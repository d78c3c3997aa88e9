/* A search as Python asks for it: a position and what to try, read and checked. Knows nothing of Python itself. */
#ifndef HEARTS_ASKED_H
#define HEARTS_ASKED_H

#include <stddef.h>

#include "search.h"

/* Read a position from `count` numbers, in the order of `Position.pack` in domain/bots/search.py. False where they are not
 * of a hand that could be played on. */
bool asked_position(const hearts_terms *terms, const int64_t *numbers, size_t count, search_position *at);

/* Whether an arm may be tried at a position. */
bool asked_arm(const search_position *at, const search_arm *arm);

/* `search_run`, compiled for more than one kind of processor. */
void asked_run(const search_position *at, search_arm *arms, int count, int64_t budget, uint64_t chance);

#endif
