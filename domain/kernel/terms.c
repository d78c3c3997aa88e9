#include "terms.h"

/* The whole numbers of a tuple, of which there are `least` to `most`, each between `low` and `high`; -1 on error. */
static int read_tuple(PyObject *tuple, long *numbers, int least, int most, long low, long high)
{
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 0)
        return -1;
    if (count < least || count > most) {
        PyErr_SetString(PyExc_ValueError, "a tuple of another length was expected");
        return -1;
    }
    for (Py_ssize_t at = 0; at < count; at++) {
        numbers[at] = PyLong_AsLong(PyTuple_GetItem(tuple, at));
        if (numbers[at] == -1 && PyErr_Occurred())
            return -1;
        if (numbers[at] < low || numbers[at] > high) {
            PyErr_SetString(PyExc_ValueError, "a number of the tuple is out of range");
            return -1;
        }
    }
    return (int)count;
}

/* What the other files rely on; without it a hand could run over its arrays or for ever. */
static bool playable(const hearts_terms *terms)
{
    const hearts_cards deck = terms->deck;
    const uint64_t classes = deck.first | terms->opening_ban | terms->trick1_ban | terms->breakers;
    const int cards = hearts_bits(deck.first) + hearts_bits(deck.second);
    return terms->players >= 3 && terms->players <= HEARTS_SEATS && terms->hand >= 1 &&
           terms->hand <= HEARTS_CARDS && terms->players * terms->hand <= cards && !(classes & ~HEARTS_ALL) &&
           !(deck.second & ~deck.first) && terms->pass_count >= 0 && terms->pass_count <= terms->hand &&
           (terms->sun_from == 1 || (terms->sun_from == 2 && terms->hand > 1)) &&
           (!terms->partners || terms->players % 2 == 0) && terms->hand_limit >= 0;
}

/* A number of a rule set, none of which is above a million; None is `none` where that is allowed. */
static bool read_number(PyObject *object, int64_t *number, int64_t none)
{
    if (object == Py_None && none) {
        *number = none;
        return true;
    }
    *number = PyLong_AsLongLong(object);
    if (*number == -1 && PyErr_Occurred())
        return false;
    if (*number < -1000000 || *number > 1000000) {
        PyErr_SetString(PyExc_ValueError, "a number of these terms is out of range");
        return false;
    }
    return true;
}

/* What follows from the rest. */
static void complete(hearts_terms *terms)
{
    for (int card = 0; card < HEARTS_FACES; card++) {
        const int copies = (terms->deck.first >> card & 1) + (terms->deck.second >> card & 1);
        if (terms->values[card])
            terms->scoring |= HEARTS_BIT(card);
        if (terms->values[card] > 0)
            terms->penalty_cards += copies;
        else if (terms->values[card] < 0)
            terms->bonus_cards += copies;
    }
    for (int seat = 0; seat < terms->players; seat++) {
        const int opposite = terms->partners ? (seat + terms->players / 2) % terms->players : seat;
        terms->team[seat] = UINT32_C(1) << seat | UINT32_C(1) << opposite;
    }
}

static bool read_terms(hearts_terms *terms, PyObject **rules, PyObject *args, PyObject *keywords)
{
    static char *names[] = {
        "rules", "players", "hand", "deck", "pass_count", "offsets", "opening_ban", "trick1_ban", "breakers",
        "values", "opener_forced", "kitty_last", "must_qs", "hearts_beside_qs", "cancel", "two_pairs_dead",
        "dead_last_to_leader", "partners", "moon", "sun", "sun_from", "moon_needs_bonus", "swallows",
        "tie_goes_on", "perfect_hand", "moon_x", "sun_x", "no_trick_points", "moon_choice_from", "hand_floor",
        "floor", "target", "hand_limit", NULL,
    };
    enum { FLAGS = 12, NUMBERS = 8 };
    PyObject *offsets, *values, *number[NUMBERS];
    long entries[HEARTS_CYCLE];
    unsigned long long mask[5];
    int flag[FLAGS], moon, sun;
    bool *const flags[FLAGS] = {
        &terms->opener_forced,  &terms->kitty_last,          &terms->must_qs,  &terms->hearts_beside_qs,
        &terms->cancel,         &terms->two_pairs_dead,      &terms->dead_last_to_leader,
        &terms->partners,       &terms->moon_needs_bonus,    &terms->swallows, &terms->tie_goes_on,
        &terms->perfect_hand,
    };
    int64_t *const numbers[NUMBERS] = {
        &terms->moon_x,     &terms->sun_x, &terms->no_trick_points, &terms->moon_choice_from,
        &terms->hand_floor, &terms->floor, &terms->target,          &terms->hand_limit,
    };
    static const int64_t none[NUMBERS] = {0, 0, 0, HEARTS_LOW, HEARTS_LOW, HEARTS_LOW, 0, 0};
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "$Oii(KK)iO!KKKO!ppppppppiiippppOOOOOOOO:Terms", names, rules, &terms->players,
            &terms->hand, &mask[0], &mask[1], &terms->pass_count, &PyTuple_Type, &offsets, &mask[2], &mask[3],
            &mask[4], &PyTuple_Type, &values, &flag[0], &flag[1], &flag[2], &flag[3], &flag[4], &flag[5],
            &flag[6], &flag[7], &moon, &sun, &terms->sun_from, &flag[8], &flag[9], &flag[10], &flag[11],
            &number[0], &number[1], &number[2], &number[3], &number[4], &number[5], &number[6], &number[7]))
        return false;
    terms->deck = (hearts_cards){mask[0], mask[1]};
    terms->opening_ban = mask[2];
    terms->trick1_ban = mask[3];
    terms->breakers = mask[4];
    for (int at = 0; at < FLAGS; at++)
        *flags[at] = flag[at];
    for (int at = 0; at < NUMBERS; at++)
        if (!read_number(number[at], numbers[at], none[at]))
            return false;
    if (moon < HEARTS_MOON_ADD || moon > HEARTS_MOON_NONE || sun < HEARTS_SUN_NONE || sun > HEARTS_SUN_RESET ||
        !playable(terms)) {
        PyErr_SetString(PyExc_ValueError, "these terms cannot be played");
        return false;
    }
    terms->moon = (hearts_moon)moon;
    terms->sun = (hearts_sun)sun;
    terms->cycle = read_tuple(offsets, entries, 1, HEARTS_CYCLE, 0, terms->players - 1);
    for (int at = 0; at < terms->cycle; at++)
        terms->offsets[at] = (int8_t)entries[at];
    if (terms->cycle < 0 || read_tuple(values, entries, HEARTS_FACES, HEARTS_FACES, -1000000, 1000000) < 0)
        return false;
    for (int card = 0; card < HEARTS_FACES; card++)
        terms->values[card] = (int32_t)entries[card];
    complete(terms);
    return true;
}

static PyObject *terms_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    hearts_terms terms = {0};
    PyObject *rules;
    if (!read_terms(&terms, &rules, args, keywords))
        return NULL;
    terms_object *self = (terms_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self) {
        self->terms = terms;
        Py_INCREF(rules);
        self->rules = rules;
    }
    return (PyObject *)self;
}

static void terms_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((terms_object *)self)->rules);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyType_Slot terms_slots[] = {
    {Py_tp_doc, "A rule set as the kernel plays it; see domain/kernel/_hearts.pyi."},
    {Py_tp_new, terms_new},
    {Py_tp_dealloc, terms_dealloc},
    {0, NULL},
};

PyType_Spec terms_spec = {
    .name = "domain.kernel._hearts.Terms",
    .basicsize = sizeof(terms_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = terms_slots,
};
