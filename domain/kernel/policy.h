/* How seats play in a playout: by rules of thumb that cost a few nanoseconds a card, for every rule set.
 *
 * domain/bots/playout.py is the plain twin, card for card. What a seat does here follows from its own cards, from what was
 * played, and from which cards are still in the hands of the others, as whoever counts cards knows; whole numbers only.
 */
#ifndef HEARTS_POLICY_H
#define HEARTS_POLICY_H

#include "hearts.h"

/* What the policy knows of a rule set. */
typedef struct {
    uint64_t penalty, bonus;
    uint64_t killers; /* cards worth fearing by themselves: from four times the points of a usual penalty card on */
    uint64_t over;    /* the cards above a killer in its suit */
} policy_facts;

/* The weights of the rules of thumb, found by playing many duplicate hands of each against the other. */
#ifndef POLICY_WEIGHTS
enum {
    LEAD_LOWER = 8,       /* leading: for each card that is out below the one led */
    LEAD_HIGHER = 3,      /* and above it, which may take the trick instead */
    LEAD_LENGTH = 2,      /* for each card of the suit in hand: short suits first */
    LEAD_STUCK = 40,      /* nobody else has the suit */
    LEAD_KILLER = 200,    /* the card is a killer, or above one that is out */
    LEAD_FLUSH = 20,      /* it may drive out a killer */
    LEAD_PENALTY = 4,     /* the suit has penalty cards */
    THROW_RANK = 4,       /* throwing away: for each step of rank */
    THROW_LOWER = 4,      /* for each card that is out below it */
    THROW_LENGTH = 2,     /* for each card of the suit in hand */
    THROW_OVER = 40,      /* it stands above a killer that is out */
    THROW_PENALTY = 10,
    THROW_STUCK = 10,     /* nobody else has the suit, so it may never be led */
    SPARE_LOWER = 8,      /* throwing a card to whoever seems to shoot the moon: for each card that is out below it, which it may beat */
    SPARE_PENALTY = 12,   /* it is a penalty card */
    SHOT_FEARED = 3,      /* penalty cards that a seat which shoots the moon has from which on the others see it */
    MOON_FEARED = 3,      /* the same of any other seat, where nobody else has a penalty card */
};
#endif

static inline uint64_t policy_lower(int card)
{
    return HEARTS_SUIT(card / 13) & (HEARTS_BIT(card) - 1);
}

static inline uint64_t policy_higher(int card)
{
    return HEARTS_SUIT(card / 13) & ~(HEARTS_BIT(card) | (HEARTS_BIT(card) - 1));
}

static inline policy_facts policy_learn(const hearts_terms *terms)
{
    policy_facts facts = {0};
    int64_t points = 0, decks = terms->deck.second ? 2 : 1;
    for (int card = 0; card < HEARTS_FACES; card++) {
        const int copies = (int)(terms->deck.first >> card & 1) + (int)(terms->deck.second >> card & 1);
        if (copies && terms->values[card] > 0) {
            facts.penalty |= HEARTS_BIT(card);
            points += copies * (int64_t)terms->values[card];
        } else if (copies && terms->values[card] < 0) {
            facts.bonus |= HEARTS_BIT(card);
        }
    }
    for (uint64_t left = facts.penalty; left; left &= left - 1) {
        const int card = hearts_lowest(left);
        if (terms->values[card] * 26 * decks >= 4 * points) {
            facts.killers |= HEARTS_BIT(card);
            facts.over |= policy_higher(card);
        }
    }
    facts.over &= ~facts.killers;
    return facts;
}

/* The one seat that has penalty cards, and how many; HEARTS_NOBODY where none or several have. */
static inline int policy_sole_taker(const hearts_terms *terms, const hearts_hand *hand, int *count)
{
    int sole = HEARTS_NOBODY;
    for (int seat = 0; seat < terms->players; seat++) {
        if (hand->taken[seat].penalties) {
            if (sole >= 0)
                return HEARTS_NOBODY;
            sole = seat;
            *count = hand->taken[seat].penalties;
        }
    }
    return sole;
}

/* ---- a seat that shoots the moon */

static inline int policy_shoot_lead(uint64_t legal, uint64_t others)
{
    int best = HEARTS_NO_CARD, least = INT32_MAX;
    for (int suit = 0; suit < 4; suit++) {
        const uint64_t mine = legal & HEARTS_SUIT(suit), theirs = others & HEARTS_SUIT(suit);
        if (!mine)
            continue;
        const int card = hearts_highest(mine);
        const int cost = 16 * hearts_bits(theirs & policy_higher(card)) - 4 * hearts_bits(mine) - (theirs ? 0 : 2);
        if (cost < least) {
            least = cost;
            best = card;
        }
    }
    return best;
}

static inline int policy_shoot_throw(const policy_facts *facts, uint64_t legal, uint64_t held, uint64_t others)
{
    const uint64_t harmless = legal & ~facts->penalty, from = harmless ? harmless : legal;
    int best = HEARTS_NO_CARD, least = INT32_MAX;
    for (int suit = 0; suit < 4; suit++) {
        if (!(from & HEARTS_SUIT(suit)))
            continue;
        const int card = hearts_lowest(from & HEARTS_SUIT(suit));
        const int cost = hearts_bits(held & HEARTS_SUIT(suit)) - 4 * hearts_bits(others & policy_higher(card));
        if (cost < least) {
            least = cost;
            best = card;
        }
    }
    return best;
}

/* ---- everybody else */

static inline int policy_lead(const policy_facts *facts, uint64_t legal, uint64_t held, uint64_t others)
{
    int best = HEARTS_NO_CARD, least = INT32_MAX;
    for (int suit = 0; suit < 4; suit++) {
        const uint64_t in_suit = HEARTS_SUIT(suit), mine = legal & in_suit, theirs = others & in_suit;
        const uint64_t plain = mine & ~facts->killers, feared = theirs & facts->killers;
        if (!mine)
            continue;
        const int card = hearts_lowest(plain ? plain : mine);
        int cost = LEAD_LOWER * hearts_bits(theirs & policy_lower(card)) -
                   LEAD_HIGHER * hearts_bits(theirs & policy_higher(card)) + LEAD_LENGTH * hearts_bits(held & in_suit);
        if (!theirs)
            cost += LEAD_STUCK;
        if (!plain || (feared & policy_lower(card)))
            cost += LEAD_KILLER;
        else if (feared && !(held & (facts->killers | facts->over) & in_suit))
            cost -= LEAD_FLUSH;
        if (facts->penalty & ~facts->killers & in_suit)
            cost += LEAD_PENALTY;
        if (cost < least) {
            least = cost;
            best = card;
        }
    }
    return best;
}

static inline int policy_throw(const policy_facts *facts, uint64_t legal, uint64_t held, uint64_t others)
{
    int best = HEARTS_NO_CARD, most = INT32_MIN;
    const uint64_t plain = legal & ~facts->bonus;
    if (legal & facts->killers)
        return hearts_highest(legal & facts->killers);
    for (int suit = 0; suit < 4; suit++) {
        const uint64_t in_suit = HEARTS_SUIT(suit), mine = (plain ? plain : legal) & in_suit, theirs = others & in_suit;
        if (!mine)
            continue;
        const int card = hearts_highest(mine);
        int gain = THROW_RANK * (card % 13) + THROW_LOWER * hearts_bits(theirs & policy_lower(card)) -
                   THROW_LENGTH * hearts_bits(held & in_suit);
        if (theirs & facts->killers & policy_lower(card))
            gain += THROW_OVER;
        if (facts->penalty & HEARTS_BIT(card))
            gain += THROW_PENALTY;
        if (!theirs)
            gain -= THROW_STUCK;
        if (gain > most) {
            most = gain;
            best = card;
        }
    }
    return best;
}

/* The card that is the least use against a moon: what may still beat another card is kept, even at the price of a penalty card. */
static inline int policy_spare(const policy_facts *facts, uint64_t legal, uint64_t held, uint64_t others)
{
    int best = HEARTS_NO_CARD, least = INT32_MAX;
    for (int suit = 0; suit < 4; suit++) {
        const uint64_t in_suit = HEARTS_SUIT(suit), mine = legal & in_suit;
        const uint64_t kinds[2] = {mine & ~facts->penalty, mine & facts->penalty};
        for (int kind = 0; kind < 2; kind++) {
            if (!kinds[kind])
                continue;
            const int card = hearts_lowest(kinds[kind]);
            const int cost = SPARE_LOWER * hearts_bits(others & policy_lower(card)) + (kind ? SPARE_PENALTY : 0) +
                             card % 13 - hearts_bits(held & in_suit);
            if (cost < least) {
                least = cost;
                best = card;
            }
        }
    }
    return best;
}

/* Follow suit; `top` is the card that wins so far, `helps` whether its seat seems to shoot the moon: then a trick with penalty
 * cards is taken from it, and high cards are kept for that. */
static inline int policy_follow(const hearts_terms *terms, const policy_facts *facts, const hearts_hand *hand,
                                uint64_t legal, int top, bool helps)
{
    const bool last = hand->laid + 1 == terms->players;
    const hearts_taken *pile = &hand->pile;
    /* of two equal cards the later one wins, or where they cancel neither does */
    uint64_t under = top < 0 ? 0 : legal & policy_lower(top);
    if (terms->cancel && top >= 0)
        under |= legal & HEARTS_BIT(top);
    const uint64_t over = legal & ~under, plain_over = over & ~facts->killers;
    const bool stop = helps && pile->penalties;
    if (over && ((stop && !(over & facts->killers)) || (last && pile->penalty + pile->bonus < 0)))
        return hearts_highest(over);
    if (under) {
        const uint64_t cheap = plain_over & ~facts->penalty, plain = under & ~facts->bonus;
        if (under & facts->killers)
            return hearts_highest(under & facts->killers);
        if (helps)
            return hearts_lowest(plain ? plain : under);
        if (last && cheap && !pile->penalties)
            return hearts_highest(cheap);
        return hearts_highest(plain ? plain : under);
    }
    if (!plain_over)
        return hearts_lowest(over);
    if (last)
        return hearts_highest(plain_over);
    if (!hand->tricks && terms->trick1_ban && !pile->penalties && (plain_over & ~facts->penalty))
        return hearts_highest(plain_over & ~facts->penalty);
    return hearts_lowest(plain_over);
}

/* The faces that the other seats hold. */
static inline uint64_t policy_others(const hearts_terms *terms, const hearts_hand *hand, int me)
{
    uint64_t others = 0;
    for (int seat = 0; seat < terms->players; seat++)
        others |= seat == me ? 0 : hand->held[seat].first;
    return others;
}

/* Whether a seat still shoots the moon: an attempt is over as soon as anybody else has a penalty card. */
static inline bool policy_shoots(const hearts_terms *terms, const hearts_hand *hand, int me)
{
    int count = 0;
    const int sole = policy_sole_taker(terms, hand, &count);
    return sole == me || (sole < 0 && !count);
}

/* Whether the trick, which `top` wins so far, goes to another seat that seems to be shooting; of one that is, the others
 * think so sooner. */
static inline bool policy_helps(
    const hearts_terms *terms, const hearts_hand *hand, int me, unsigned shooters, int top)
{
    int count = 0, at = hand->laid - 1;
    if (top < 0 || terms->moon == HEARTS_MOON_NONE)
        return false;
    while (hand->trick[at] != top)
        at--;
    const int winner = hand->leader + at, seat = winner < terms->players ? winner : winner - terms->players;
    /* most often it is somebody of whom nobody thinks so, and nothing has to be counted */
    if (seat == me || (shooters ? !(shooters >> seat & 1) : hand->taken[seat].penalties < MOON_FEARED))
        return false;
    const int sole = policy_sole_taker(terms, hand, &count);
    return shooters ? (sole < 0 ? !count : sole == seat) && count >= SHOT_FEARED : sole == seat;
}

/* The card that the seat to play lays; `shooters` are the seats that shoot the moon, a bit each. */
static inline int policy_choose(
    const hearts_terms *terms, const policy_facts *facts, const hearts_hand *hand, unsigned shooters)
{
    const int me = hand->turn;
    const uint64_t held = hand->held[me].first, legal = hearts_legal(terms, hand);
    if (!(legal & (legal - 1)))
        return hearts_lowest(legal);
    const bool shoots = (shooters >> me & 1) && policy_shoots(terms, hand, me);
    if (!hand->laid) {
        const uint64_t others = policy_others(terms, hand, me);
        return shoots ? policy_shoot_lead(legal, others) : policy_lead(facts, legal, held, others);
    }
    const uint64_t live = hand->seen & hand->led & ~(terms->cancel ? hand->twice : 0);
    const int top = live ? hearts_highest(live) : HEARTS_NO_CARD;
    if (shoots) {
        const uint64_t over = legal & hand->led & (top < 0 ? HEARTS_ALL : policy_higher(top));
        if (!(legal & hand->led))
            return policy_shoot_throw(facts, legal, held, policy_others(terms, hand, me));
        if (!over)
            return hearts_lowest(legal);
        return hand->laid + 1 == terms->players ? hearts_lowest(over) : hearts_highest(over);
    }
    const bool helps = policy_helps(terms, hand, me, shooters, top);
    if (legal & hand->led)
        return policy_follow(terms, facts, hand, legal, top, helps);
    const uint64_t others = policy_others(terms, hand, me);
    return helps ? policy_spare(facts, legal, held, others) : policy_throw(facts, legal, held, others);
}

#endif
