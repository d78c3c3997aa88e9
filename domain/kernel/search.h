/* The search for the best of several things that a seat may do: each is tried in the same sampled worlds, played out by
 * `playout`, and the worse half is dropped again and again (sequential halving; Karnin, Koren and Somekh 2013).
 *
 * domain/bots/search.py is the plain twin: equal positions, budgets and seeds give equal sums on every machine. The
 * budget is counted in playouts and no clock is looked at.
 */
#ifndef HEARTS_SEARCH_H
#define HEARTS_SEARCH_H

#include <math.h>
#include <stdlib.h>

#include "hearts.h"
#include "passing.h"
#include "playout.h"
#include "score.h"
#include "world.h"

enum {
    SEARCH_ARMS = 512,
    SEARCH_SPREADS = 64,
    SEARCH_BEHIND = 1000,  /* a total cannot be farther behind */
    SEARCH_WIN = 1 << 16,  /* what a won game is worth */
    SEARCH_POINT = 400,    /* what a point more than the others' mean costs, in a game of 26 points a hand */
    KITTY_HELD = -1,       /* the kitty has not been taken yet */
    KITTY_WAITS = -2,      /* it waits, with a dead trick, for whoever wins the next one */
};

typedef struct {
    int card; /* to play; HEARTS_NO_CARD for a pass */
    hearts_cards pass;
    bool shoots; /* whether the seat then tries to take every penalty card */
    int64_t sum; /* of what the playouts were worth */
    int64_t worlds;
    int place; /* as it was given */
} search_arm;

typedef struct {
    const hearts_terms *terms;
    policy_facts facts;
    hearts_hand hand; /* what is known of it; the others' cards come from a world */
    world_unseen unseen;
    int me, kitty_at; /* kitty_at: the seat that has taken it, or one of the above */
    int64_t number, totals[HEARTS_SEATS], unit; /* unit: 26 times the points of a usual penalty card */
} search_position;

/* What was worked out before, for whoever asks again; none of it is 0. */
typedef struct {
    int64_t left[SEARCH_SPREADS], spread[SEARCH_SPREADS];
    int64_t share[SEARCH_BEHIND + 1];
} search_memory;

/* ---- what a hand is worth */

static inline int64_t search_root(int64_t square)
{
    int64_t root = (int64_t)sqrt((double)square);
    while (root * root > square)
        root--;
    while ((root + 1) * (root + 1) <= square)
        root++;
    return root;
}

/* How far totals may still drift apart when the highest is `left` points below the target: 1.9 times the root of points left
 * times points of a usual penalty card. */
static inline int64_t search_spread(const search_position *at, search_memory *memory, int64_t left)
{
    const size_t place = (size_t)(left % SEARCH_SPREADS);
    if (memory->left[place] != left) {
        memory->left[place] = left;
        memory->spread[place] = 1 + search_root(left * at->unit * 361 / 2600);
    }
    return memory->spread[place];
}

static inline int64_t search_share(search_memory *memory, int64_t behind)
{
    int64_t *share = &memory->share[behind];
    if (!*share)
        *share = (INT64_C(1) << 50) / (behind * behind * behind * behind);
    return *share;
}

/* The share of a won game that each of the totals is worth when it goes on: the larger, the lower a total is below the
 * others and the nearer the end is. */
static inline int64_t search_hopes(const search_position *at, search_memory *memory, const int64_t *after, int me)
{
    const hearts_terms *terms = at->terms;
    int64_t low = after[0], high = after[0], all = 0, mine = 0;
    for (int seat = 1; seat < terms->players; seat++) {
        low = after[seat] < low ? after[seat] : low;
        high = after[seat] > high ? after[seat] : high;
    }
    const int64_t spread = search_spread(at, memory, terms->target > high ? terms->target - high : 1);
    for (int seat = 0; seat < terms->players; seat++) {
        const int64_t behind = 64 + 16 * (after[seat] - low) / spread;
        const int64_t share = search_share(memory, behind > SEARCH_BEHIND ? SEARCH_BEHIND : behind);
        all += share;
        mine = seat == me ? share : mine;
    }
    return SEARCH_WIN * mine / all;
}

/* What points of this hand are worth to seat `me`. */
static inline int64_t search_worth(const search_position *at, search_memory *memory, const int64_t *points, int me)
{
    const hearts_terms *terms = at->terms;
    int64_t after[HEARTS_SEATS], others = 0, worth;
    hearts_sum(terms, at->totals, points, after);
    const uint32_t winners = hearts_end(terms, after, points, at->number);
    if (winners)
        worth = winners >> me & 1 ? SEARCH_WIN / hearts_bits(winners) : 0;
    else
        worth = search_hopes(at, memory, after, me);
    for (int seat = 0; seat < terms->players; seat++)
        others += points[seat];
    others -= terms->players * points[me];
    /* divided towards zero, as the twin does */
    return worth + SEARCH_POINT * 26 * others / ((terms->players - 1) * at->unit);
}

/* What a played-out hand is worth; a shooter that must choose is held to choose what is better for it in points. */
static inline int64_t search_score(const search_position *at, search_memory *memory, const hearts_hand *hand)
{
    int64_t points[HEARTS_SEATS];
    const int chooser = hearts_chooser(at->terms, hand, at->totals, at->number);
    bool subtract = false;
    if (chooser >= 0) {
        int64_t taken[HEARTS_SEATS];
        hearts_score(at->terms, hand, at->totals, at->number, false, points);
        hearts_score(at->terms, hand, at->totals, at->number, true, taken);
        subtract = search_worth(at, memory, taken, chooser) > search_worth(at, memory, points, chooser);
    }
    hearts_score(at->terms, hand, at->totals, at->number, subtract, points);
    return search_worth(at, memory, points, at->me);
}

/* ---- playouts */

/* Put the cards of a world into a hand of which the rest is known. */
static inline void search_enter(const search_position *at, hearts_hand *hand, const hearts_cards *held)
{
    const hearts_terms *terms = at->terms;
    *hand = at->hand;
    for (int seat = 0; seat < terms->players; seat++)
        if (seat != at->me)
            hand->held[seat] = held[seat];
    if (at->unseen.holders <= terms->players)
        return;
    const hearts_taken kitty = hearts_count_all(terms, held[terms->players]);
    if (at->kitty_at == KITTY_HELD)
        hand->kitty = kitty;
    else
        hearts_gather(at->kitty_at == KITTY_WAITS ? &hand->pile : &hand->taken[at->kitty_at], &kitty);
}

/* Do what an arm says: pass, together with the passes of the others, or play a card. */
static inline void search_act(
    const search_position *at, const search_arm *arm, hearts_cards *passes, hearts_hand *hand)
{
    const hearts_terms *terms = at->terms;
    if (arm->card >= 0) {
        hearts_lay(terms, hand, arm->card);
        return;
    }
    passes[at->me] = arm->pass;
    hearts_exchange(terms, hand, passes, hearts_offset(terms, at->number));
    hearts_open(terms, hand, (int)((at->number - 1) % terms->players));
}

/* Try all arms in a world. Passes and cards in one, for the compiler copies the whole playout to wherever it is called. */
static inline void search_try(
    const search_position *at, search_memory *memory, const hearts_cards *held, uint64_t chance, search_arm *arms,
    int count)
{
    const hearts_terms *terms = at->terms;
    hearts_cards passes[HEARTS_SEATS];
    hearts_hand begin;
    search_enter(at, &begin, held);
    for (int seat = 0; seat < terms->players && arms[0].card < 0; seat++)
        if (seat != at->me)
            passes[seat] = passing_choose(&at->facts, begin.held[seat], terms->pass_count);
    for (int arm = 0; arm < count; arm++) {
        hearts_hand hand = begin;
        search_act(at, &arms[arm], passes, &hand);
        playout(terms, &at->facts, &hand, chance, arms[arm].shoots ? 1u << at->me : 0);
        arms[arm].sum += search_score(at, memory, &hand);
        arms[arm].worlds++;
    }
}

/* ---- halving */

static int search_better(const void *one, const void *other)
{
    const search_arm *first = one, *second = other;
    if (first->sum != second->sum)
        return first->sum > second->sum ? -1 : 1;
    return first->place - second->place;
}

/* Try `count` arms with about `budget` playouts; the best one comes first, then the others by how long they were kept. */
static inline void search_run(
    const search_position *at, search_arm *arms, int count, int64_t budget, uint64_t chance)
{
    search_memory memory = {0};
    int rounds = 0;
    for (int left = count; left > 1; left = (left + 1) / 2)
        rounds++;
    for (int left = count; left > 1; left = (left + 1) / 2) {
        const int64_t worlds = budget / rounds / left;
        for (int64_t world = 0; world < (worlds ? worlds : 1); world++) {
            hearts_cards held[WORLD_HOLDERS];
            if (!world_deal(&at->unseen, &chance, held))
                continue;
            const uint64_t playouts = world_random(&chance);
            search_try(at, &memory, held, playouts, arms, left);
        }
        qsort(arms, (size_t)left, sizeof *arms, search_better);
    }
}

#endif
