/* What a played-out hand scores, moon and sun applied, and when a game is over; see hearts.h.
 *
 * `totals` are those before the hand unless a function says otherwise. Sums of points stay far below 2^63: no number of a
 * rule set is above a million.
 */
#ifndef HEARTS_SCORE_H
#define HEARTS_SCORE_H

#include "hearts.h"

/* Of the team of `seat`, the one with the larger count, the first of two equal ones; `sum` is what both have. */
static inline int hearts_larger(const hearts_terms *terms, int seat, const int *counts, int *sum)
{
    int larger = HEARTS_NOBODY;
    *sum = 0;
    for (uint32_t team = terms->team[seat]; team; team &= team - 1) {
        const int one = hearts_lowest(team);
        *sum += counts[one];
        if (larger < 0 || counts[one] > counts[larger])
            larger = one;
    }
    return larger;
}

/* Who took every penalty card; HEARTS_NOBODY where nobody did or it counts for nothing. */
static inline int hearts_moon_shooter(const hearts_terms *terms, const hearts_hand *hand)
{
    int penalties[HEARTS_SEATS], bonuses[HEARTS_SEATS], sum;
    if (!terms->penalty_cards || terms->moon == HEARTS_MOON_NONE)
        return HEARTS_NOBODY;
    for (int seat = 0; seat < terms->players; seat++) {
        penalties[seat] = hand->taken[seat].penalties;
        bonuses[seat] = hand->taken[seat].bonuses;
    }
    for (int seat = 0; seat < terms->players; seat++) {
        const int shooter = hearts_larger(terms, seat, penalties, &sum);
        if (sum == terms->penalty_cards) {
            hearts_larger(terms, seat, bonuses, &sum);
            return terms->moon_needs_bonus && sum < terms->bonus_cards ? HEARTS_NOBODY : shooter;
        }
    }
    return HEARTS_NOBODY;
}

/* Who took every trick that counts for a sun; HEARTS_NOBODY where nobody did, or there is none. */
static inline int hearts_sun_shooter(const hearts_terms *terms, const hearts_hand *hand)
{
    int won[HEARTS_SEATS], sum;
    if (terms->sun == HEARTS_SUN_NONE)
        return HEARTS_NOBODY;
    for (int seat = 0; seat < terms->players; seat++)
        won[seat] = hand->won[seat] - (terms->sun_from == 2 && hand->first_taker == seat);
    for (int seat = 0; seat < terms->players; seat++) {
        const int shooter = hearts_larger(terms, seat, won, &sum);
        if (sum == terms->hand + 1 - terms->sun_from)
            return shooter;
    }
    return HEARTS_NOBODY;
}

/* ---- totals and the end of a game */

/* The totals after a hand; none falls below the floor. */
static inline void hearts_sum(
    const hearts_terms *terms, const int64_t *totals, const int64_t *points, int64_t *after)
{
    for (int seat = 0; seat < terms->players; seat++) {
        after[seat] = totals[seat] + points[seat];
        if (after[seat] < terms->floor)
            after[seat] = terms->floor;
    }
}

/* The winners, a bit a seat, where the game is over after hand `number`, which added `points` and led to `after`; else 0. */
static inline uint32_t hearts_end(
    const hearts_terms *terms, const int64_t *after, const int64_t *points, int64_t number)
{
    int64_t low = after[0], high = after[0];
    uint32_t lowest = 0;
    bool leader_perfect = false, other_perfect = false;
    for (int seat = 1; seat < terms->players; seat++) {
        low = after[seat] < low ? after[seat] : low;
        high = after[seat] > high ? after[seat] : high;
    }
    for (int seat = 0; seat < terms->players; seat++) {
        if (after[seat] == low) {
            lowest |= UINT32_C(1) << seat;
            leader_perfect |= points[seat] <= 0;
        } else {
            other_perfect |= points[seat] == 0;
        }
    }
    if (high >= terms->target) {
        const bool tied = (lowest & ~terms->team[hearts_lowest(lowest)]) != 0;
        const bool goes_on = (tied && terms->tie_goes_on) ||
                             (terms->perfect_hand && other_perfect && !leader_perfect);
        if (!goes_on)
            return lowest;
    }
    return terms->hand_limit && number >= terms->hand_limit ? lowest : 0;
}

/* ---- points */

static inline int64_t hearts_bounded(const hearts_terms *terms, int64_t points)
{
    return points < terms->hand_floor ? terms->hand_floor : points;
}

/* Partners are both given what they have scored together. */
static inline void hearts_together(const hearts_terms *terms, int64_t *points)
{
    const int half = terms->players / 2;
    for (int seat = 0; terms->partners && seat < half; seat++)
        points[seat] = points[seat + half] = points[seat] + points[seat + half];
}

/* What cards of negative points still score in a hand with a moon or sun. */
static inline void hearts_bonus_points(const hearts_terms *terms, const hearts_hand *hand, int64_t *points)
{
    for (int seat = 0; seat < terms->players; seat++)
        points[seat] = terms->swallows ? 0 : hearts_bounded(terms, hand->taken[seat].bonus);
}

static inline void hearts_card_points(const hearts_terms *terms, const hearts_hand *hand, int64_t *points)
{
    for (int seat = 0; seat < terms->players; seat++) {
        const hearts_taken *taken = &hand->taken[seat];
        const int64_t none = hand->won[seat] ? 0 : terms->no_trick_points;
        points[seat] = hearts_bounded(terms, (int64_t)taken->penalty + taken->bonus) + none;
    }
    hearts_together(terms, points);
}

/* A moon under one of the effects add, subtract and collect. */
static inline void hearts_moon_points(
    const hearts_terms *terms, const hearts_hand *hand, int shooter, hearts_moon effect, int64_t *points)
{
    const uint32_t team = terms->team[shooter];
    const int64_t x = terms->moon_x;
    hearts_bonus_points(terms, hand, points);
    if (effect == HEARTS_MOON_SUBTRACT)
        points[shooter] -= x;
    else if (effect == HEARTS_MOON_COLLECT)
        points[shooter] -= x * (terms->players - hearts_bits(team));
    if (effect != HEARTS_MOON_SUBTRACT)
        for (int seat = 0; seat < terms->players; seat++)
            points[seat] += team >> seat & 1 ? 0 : x;
    hearts_together(terms, points);
}

static inline void hearts_sun_points(
    const hearts_terms *terms, const hearts_hand *hand, const int64_t *totals, int shooter, int64_t *points)
{
    const bool punish = terms->sun == HEARTS_SUN_PUNISH;
    const int punished = (shooter - hand->offset + terms->players) % terms->players;
    hearts_bonus_points(terms, hand, points);
    if (terms->sun == HEARTS_SUN_SUBTRACT)
        points[shooter] -= terms->sun_x;
    else if (terms->sun == HEARTS_SUN_RESET)
        points[shooter] = -totals[shooter];
    else
        for (int seat = 0; seat < terms->players; seat++)
            if (!(terms->team[shooter] >> seat & 1))
                points[seat] += punish && seat != punished ? terms->moon_x : terms->sun_x;
    hearts_together(terms, points);
}

/* Whether the game would end with the shooter not among the lowest if its moon added to the others. */
static inline bool hearts_add_loses(
    const hearts_terms *terms, const hearts_hand *hand, const int64_t *totals, int64_t number, int shooter)
{
    int64_t points[HEARTS_SEATS], after[HEARTS_SEATS];
    hearts_moon_points(terms, hand, shooter, HEARTS_MOON_ADD, points);
    hearts_sum(terms, totals, points, after);
    const uint32_t winners = hearts_end(terms, after, points, number);
    return winners && !(winners >> shooter & 1);
}

/* Who has to choose what its moon does in the played-out hand `number`; HEARTS_NOBODY where nobody has. */
static inline int hearts_chooser(
    const hearts_terms *terms, const hearts_hand *hand, const int64_t *totals, int64_t number)
{
    if (terms->moon != HEARTS_MOON_CHOICE && terms->moon != HEARTS_MOON_CHOICE_IF_LOST)
        return HEARTS_NOBODY;
    const int shooter = hearts_moon_shooter(terms, hand);
    if (shooter < 0 || totals[shooter] < terms->moon_choice_from || hearts_sun_shooter(terms, hand) >= 0)
        return HEARTS_NOBODY;
    if (terms->moon == HEARTS_MOON_CHOICE_IF_LOST && !hearts_add_loses(terms, hand, totals, number, shooter))
        return HEARTS_NOBODY;
    return shooter;
}

/* What the played-out hand `number` adds to each total; `subtract` is the choice where somebody had it, else false. */
static inline void hearts_score(const hearts_terms *terms, const hearts_hand *hand, const int64_t *totals,
                                int64_t number, bool subtract, int64_t *points)
{
    const int sun = hearts_sun_shooter(terms, hand), shooter = hearts_moon_shooter(terms, hand);
    hearts_moon effect = terms->moon;
    if (sun >= 0) {
        hearts_sun_points(terms, hand, totals, sun, points);
        return;
    }
    if (shooter < 0) {
        hearts_card_points(terms, hand, points);
        return;
    }
    if (effect == HEARTS_MOON_AUTO)
        subtract = hearts_add_loses(terms, hand, totals, number, shooter);
    if (effect != HEARTS_MOON_SUBTRACT && effect != HEARTS_MOON_COLLECT)
        effect = subtract ? HEARTS_MOON_SUBTRACT : HEARTS_MOON_ADD;
    hearts_moon_points(terms, hand, shooter, effect, points);
}

#endif
