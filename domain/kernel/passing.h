/* What seats pass in a playout: the cards that are likely to cost most, for every rule set.
 *
 * domain/bots/playout.py is the plain twin; whole numbers only.
 */
#ifndef HEARTS_PASSING_H
#define HEARTS_PASSING_H

#include "policy.h"

#ifndef PASSING_WEIGHTS
enum {
    PASS_RANK = 4,      /* for each step of rank */
    PASS_SHORT = 5,     /* for each card that the suit is shorter than five */
    PASS_PENALTY = 6,   /* a penalty card */
    PASS_GUARDED = 10,  /* less for a penalty card with three lower ones in its suit */
    PASS_KILLER = 100,
    PASS_OVER = 68,     /* above a killer that is not in hand; for each step of rank one more */
    PASS_WITH = 60,     /* above a killer that is in hand */
    PASS_GUARDS = 4,    /* so many low cards beside a killer make it safe to keep */
    PASS_BELOW = 40,    /* less for the cards that guard against a killer */
};
#endif

/* How much a card wants to be passed from a hand. */
static inline int passing_want(const policy_facts *facts, uint64_t held, int card)
{
    const uint64_t bit = HEARTS_BIT(card), in_suit = HEARTS_SUIT(card / 13), mine = held & in_suit;
    const int rank = card % 13;
    if (facts->bonus & bit)
        return -1000;
    if (facts->killers & in_suit) {
        const int low = hearts_bits(mine & ~(facts->killers | facts->over));
        if (facts->killers & bit)
            return low >= PASS_GUARDS ? -20 : PASS_KILLER;
        if (!(facts->over & bit))
            return rank - PASS_BELOW;
        if (low >= PASS_GUARDS)
            return 0;
        return mine & facts->killers ? PASS_WITH : PASS_OVER + rank;
    }
    if (facts->penalty & bit) {
        const bool guarded = hearts_bits(mine & policy_lower(card)) >= 3;
        return PASS_RANK * rank + PASS_PENALTY - (guarded ? PASS_GUARDED : 0);
    }
    return PASS_RANK * rank + PASS_SHORT * (5 - hearts_bits(mine));
}

/* The `count` cards of a hand that want it most, the lowest number first of equal ones. */
static inline hearts_cards passing_choose(const policy_facts *facts, hearts_cards hand, int count)
{
    hearts_cards given = {0, 0}, left = hand;
    for (int picked = 0; picked < count; picked++) {
        int best = HEARTS_NO_CARD, most = INT32_MIN;
        for (uint64_t cards = left.first; cards; cards &= cards - 1) {
            const int card = hearts_lowest(cards), want = passing_want(facts, hand.first, card);
            if (want > most) {
                most = want;
                best = card;
            }
        }
        hearts_drop(&left, best);
        hearts_add(&given, best);
    }
    return given;
}

#endif
