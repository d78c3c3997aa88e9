/* A game record (docs/spec/record.md) read from its JSON and replayed in one pass. Knows nothing of Python. */
#ifndef HEARTS_RECORD_H
#define HEARTS_RECORD_H

#include <stddef.h>

#include "hearts.h"

enum { RECORD_RULES = 4096 }; /* bytes of the longest `rules` that is looked at */

typedef enum {
    RECORD_NOT_MINE, /* an unusual way of writing, no JSON, a rare fault: who reads with more patience must answer */
    RECORD_HOLDS,
    RECORD_FAULTY,   /* `fault` says where; what exactly is wrong there is for others to tell */
    RECORD_NO_MEMORY,
    RECORD_BROKEN_OFF, /* `record_terms` failed in a way of its own */
} record_status;

typedef enum { PHASE_PASS, PHASE_PLAY, PHASE_MOON, PHASE_DEAL, PHASE_OVER } record_phase;

/* The hand that a record is wrong in: all before it hold, and the record can be read to its end. */
typedef struct {
    size_t hand; /* from 1; 0 where nothing is wrong */
    const char *at, *end; /* its text */
    bool last;            /* whether no later hand follows */
} record_fault;

/* The position that a record which holds ends in; of a faulty one points and totals before the fault, and where it is. */
typedef struct {
    record_phase phase;
    int players;
    size_t hand;    /* from 1 */
    int turn;       /* in PHASE_PLAY and PHASE_MOON, else HEARTS_NOBODY */
    uint64_t legal; /* in PHASE_PLAY */
    int64_t totals[HEARTS_SEATS];
    uint32_t winners; /* a bit a seat */
    int64_t *points;  /* `players` numbers for each of `scored` hands; release with `free`, whatever the status */
    size_t scored, room;
    record_fault fault;
} record_result;

/* The terms for `rules`, a slice of the record that looks like an object, and so many seats. RECORD_HOLDS sets `terms`. */
typedef record_status (*record_terms)(
    void *context, const char *rules, size_t length, int seats, const hearts_terms **terms);

/* Replay the record that is all of `text`; `result` is filled where it holds or is faulty. */
record_status record_check(
    const char *text, size_t length, record_terms find_terms, void *context, record_result *result);

#endif
