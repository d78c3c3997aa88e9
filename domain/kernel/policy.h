/* How seats play in a playout: by rules of thumb that cost a few nanoseconds a card, for every rule set.
 *
 * domain/bots/playout.py is the plain twin, card for card. What a seat does here follows from its own cards, from what was
 * played, and from which cards are still in the hands of the others, as whoever counts cards knows; whole numbers only.
 */
#ifndef HEARTS_POLICY_H
#define HEARTS_POLICY_H

#include "hearts.h"

/* Cards by their points: the different numbers of points, and the cards that have each of them. */
typedef struct {
    int count;
    int32_t points[HEARTS_FACES];
    uint64_t cards[HEARTS_FACES];
} policy_worths;

/* What the policy knows of a rule set. */
typedef struct {
    uint64_t penalty, bonus;
    uint64_t killers; /* cards worth fearing by themselves: from four times the points of a usual penalty card on */
    uint64_t over;    /* the cards above a killer in its suit */
    int lead[4];      /* what it costs to lead a suit because of its penalty cards */
    policy_worths dear, good; /* the cards by their points: penalty cards, and those of negative points */
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
    SPARE_LOWER = 8,      /* throwing to whoever seems to shoot the moon: for each card that is out below, it may beat it */
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

/* Put a card to those that are worth as much. */
static inline void policy_sort(policy_worths *worths, int card, int32_t points)
{
    int at = 0;
    while (at < worths->count && worths->points[at] != points)
        at++;
    worths->count += at == worths->count;
    worths->points[at] = points;
    worths->cards[at] |= HEARTS_BIT(card);
}

static inline int32_t policy_sum(const policy_worths *worths, uint64_t cards)
{
    int32_t sum = 0;
    for (int at = 0; at < worths->count; at++)
        sum += worths->points[at] * hearts_bits(cards & worths->cards[at]);
    return sum;
}

/* Count cards of one deck into what a seat has taken. */
static inline void policy_count(const policy_facts *facts, hearts_taken *taken, uint64_t cards)
{
    taken->penalties = (int16_t)(taken->penalties + hearts_bits(cards & facts->penalty));
    taken->bonuses = (int16_t)(taken->bonuses + hearts_bits(cards & facts->bonus));
    taken->penalty += policy_sum(&facts->dear, cards);
    taken->bonus += policy_sum(&facts->good, cards);
}

static inline policy_facts policy_learn(const hearts_terms *terms)
{
    policy_facts facts = {0};
    int64_t points = 0, decks = terms->deck.second ? 2 : 1;
    for (int card = 0; card < HEARTS_FACES; card++) {
        const int copies = (int)(terms->deck.first >> card & 1) + (int)(terms->deck.second >> card & 1);
        if (copies && terms->values[card] > 0) {
            facts.penalty |= HEARTS_BIT(card);
            policy_sort(&facts.dear, card, terms->values[card]);
            points += copies * (int64_t)terms->values[card];
        } else if (copies && terms->values[card] < 0) {
            facts.bonus |= HEARTS_BIT(card);
            policy_sort(&facts.good, card, terms->values[card]);
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
    for (int suit = 0; suit < 4; suit++)
        facts.lead[suit] = facts.penalty & ~facts.killers & HEARTS_SUIT(suit) ? LEAD_PENALTY : 0;
    return facts;
}

/* What a seat goes by when it chooses; `others` matters only where it does not follow suit. */
typedef struct {
    uint64_t legal, held, others; /* faces: what it may play and holds, what the others hold */
    uint64_t led;                 /* the suit led; 0 for a lead */
    int top;                      /* the card that wins so far, or HEARTS_NO_CARD */
    bool last;                    /* to play to this trick */
    bool cancels;                 /* whether equal cards cancel each other; else the later one wins */
    bool banned;                  /* the first trick, to which some cards may not be played */
    bool dirty, wanted;           /* whether what was laid has penalty cards, and comes to less than no points */
    bool shoots;                  /* whether it shoots the moon */
    bool helps; /* whether the trick goes to another that seems to: then one with penalty cards is taken from it, and high cards
                   are kept for that */
} policy_sight;

/* ---- choosing among suits
 *
 * Which suits a seat has no processor can foretell: so all four are weighed, also those that it has not, without a jump, and
 * the least of four keys is taken. A key has the card below its cost, so that of equal costs the lowest card is chosen. */

enum {
    POLICY_NO_SUIT = INT32_MAX,
    POLICY_FAR = 29, /* the bit that puts a suit without a card behind all others */
};

static inline int policy_key(int cost, int card) { return cost * 64 + card; }

static inline int policy_cheaper(int best, bool has, int cost, int card)
{
    const int key = policy_key(cost, card) + (!has << POLICY_FAR);
    return key < best ? key : best;
}

/* The lowest and the highest card of a set that may be empty; then any number. */
static inline int policy_lowest(uint64_t cards) { return hearts_lowest(cards | HEARTS_BIT(HEARTS_FACES)); }
static inline int policy_highest(uint64_t cards) { return hearts_highest(cards | 1); }

/* How many cards of a suit are below one, and above. */
static inline int policy_below(uint64_t in_suit, int card) { return hearts_bits(in_suit & (HEARTS_BIT(card) - 1)); }
static inline int policy_above(uint64_t in_suit, int card) { return hearts_bits(in_suit >> card >> 1); }

/* ---- a seat that shoots the moon */

static inline int policy_shoot_lead(uint64_t legal, uint64_t others)
{
    int best = POLICY_NO_SUIT;
    for (int suit = 0; suit < 4; suit++) {
        const uint64_t mine = legal & HEARTS_SUIT(suit), theirs = others & HEARTS_SUIT(suit);
        const int card = policy_highest(mine);
        const int cost = 16 * policy_above(theirs, card) - 4 * hearts_bits(mine) - 2 * !theirs;
        best = policy_cheaper(best, mine, cost, card);
    }
    return best & 63;
}

static inline int policy_shoot_throw(const policy_facts *facts, uint64_t legal, uint64_t held, uint64_t others)
{
    const uint64_t harmless = legal & ~facts->penalty, from = harmless ? harmless : legal;
    int best = POLICY_NO_SUIT;
    for (int suit = 0; suit < 4; suit++) {
        const uint64_t in_suit = HEARTS_SUIT(suit), mine = from & in_suit;
        const int card = policy_lowest(mine);
        const int cost = hearts_bits(held & in_suit) - 4 * policy_above(others & in_suit, card);
        best = policy_cheaper(best, mine, cost, card);
    }
    return best & 63;
}

static inline int policy_shoot(const policy_facts *facts, const policy_sight *sees)
{
    const uint64_t legal = sees->legal, over = legal & (sees->top < 0 ? HEARTS_ALL : policy_higher(sees->top));
    if (!sees->led)
        return policy_shoot_lead(legal, sees->others);
    if (!(legal & sees->led))
        return policy_shoot_throw(facts, legal, sees->held, sees->others);
    if (!over)
        return hearts_lowest(legal);
    return sees->last ? hearts_lowest(over) : hearts_highest(over);
}

/* ---- everybody else */

static inline int policy_lead(const policy_facts *facts, uint64_t legal, uint64_t held, uint64_t others)
{
    const uint64_t killers = facts->killers & (legal | others);
    int best = POLICY_NO_SUIT;
    for (int suit = 0; suit < 4; suit++) {
        const uint64_t in_suit = HEARTS_SUIT(suit), mine = legal & in_suit, theirs = others & in_suit;
        int card = policy_lowest(mine), cost = facts->lead[suit];
        /* most suits have no killers, and after a while none has: that is easy to foretell */
        if (killers & in_suit) {
            const uint64_t plain = mine & ~killers, feared = theirs & killers;
            card = policy_lowest(plain ? plain : mine);
            if (!plain || (feared & (HEARTS_BIT(card) - 1)))
                cost += LEAD_KILLER;
            else if (feared && !(held & (facts->killers | facts->over) & in_suit))
                cost -= LEAD_FLUSH;
        }
        cost += LEAD_LOWER * policy_below(theirs, card) - LEAD_HIGHER * policy_above(theirs, card) +
                LEAD_LENGTH * hearts_bits(held & in_suit) + (theirs ? 0 : LEAD_STUCK);
        best = policy_cheaper(best, mine, cost, card);
    }
    return best & 63;
}

static inline int policy_throw(const policy_facts *facts, uint64_t legal, uint64_t held, uint64_t others)
{
    const uint64_t plain = legal & ~facts->bonus, from = plain ? plain : legal, killers = facts->killers & others;
    int best = POLICY_NO_SUIT;
    if (legal & facts->killers)
        return hearts_highest(legal & facts->killers);
    for (int suit = 0; suit < 4; suit++) {
        const uint64_t in_suit = HEARTS_SUIT(suit), mine = from & in_suit, theirs = others & in_suit;
        const int card = policy_highest(mine);
        int gain = THROW_RANK * (card - 13 * suit) + THROW_LOWER * policy_below(theirs, card) -
                   THROW_LENGTH * hearts_bits(held & in_suit);
        if (killers & in_suit)
            gain += killers & in_suit & (HEARTS_BIT(card) - 1) ? THROW_OVER : 0;
        gain += facts->penalty & HEARTS_BIT(card) ? THROW_PENALTY : 0;
        gain -= theirs ? 0 : THROW_STUCK;
        best = policy_cheaper(best, mine, -gain, card);
    }
    return best & 63;
}

/* The card that is the least use against a moon: what may beat another is kept, even at the price of a penalty card. */
static inline int policy_spare(const policy_facts *facts, uint64_t legal, uint64_t held, uint64_t others)
{
    int best = POLICY_NO_SUIT;
    for (int suit = 0; suit < 4; suit++) {
        const uint64_t in_suit = HEARTS_SUIT(suit), mine = legal & in_suit;
        const uint64_t kinds[2] = {mine & ~facts->penalty, mine & facts->penalty};
        for (int kind = 0; kind < 2; kind++) {
            const int card = policy_lowest(kinds[kind]);
            const int cost = SPARE_LOWER * policy_below(others & in_suit, card) + (kind ? SPARE_PENALTY : 0) +
                             card - 13 * suit - hearts_bits(held & in_suit);
            best = policy_cheaper(best, kinds[kind], cost, card);
        }
    }
    return best & 63;
}

static inline int policy_follow(const policy_facts *facts, const policy_sight *sees)
{
    const uint64_t legal = sees->legal, beaten = sees->top < 0 ? 0 : HEARTS_BIT(sees->top);
    const uint64_t under = beaten ? legal & ((beaten - 1) | (sees->cancels ? beaten : 0)) : 0;
    const uint64_t over = legal & ~under, plain_over = over & ~facts->killers;
    const uint64_t cheap = plain_over & ~facts->penalty, plain_under = under & ~facts->bonus;
    const uint64_t deadly = under & facts->killers, harmless = plain_under ? plain_under : under;
    if (over && ((sees->helps && sees->dirty && !(over & facts->killers)) || (sees->last && sees->wanted)))
        return hearts_highest(over);
    if (under) {
        if (sees->helps && !deadly)
            return hearts_lowest(harmless);
        return hearts_highest(deadly ? deadly : sees->last && !sees->dirty && cheap ? cheap : harmless);
    }
    if (sees->last && plain_over)
        return hearts_highest(plain_over);
    if (sees->banned && !sees->dirty && cheap)
        return hearts_highest(cheap);
    return hearts_lowest(plain_over ? plain_over : over);
}

/* The card that a seat with a choice plays. */
static inline int policy_card(const policy_facts *facts, const policy_sight *sees)
{
    if (sees->shoots)
        return policy_shoot(facts, sees);
    if (!sees->led)
        return policy_lead(facts, sees->legal, sees->held, sees->others);
    if (sees->legal & sees->led)
        return policy_follow(facts, sees);
    if (sees->helps)
        return policy_spare(facts, sees->legal, sees->held, sees->others);
    return policy_throw(facts, sees->legal, sees->held, sees->others);
}

/* ---- what a seat sees of a hand */

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
    const uint64_t legal = hearts_legal(terms, hand), led = hand->laid ? hand->led : 0;
    if (!(legal & (legal - 1)))
        return hearts_lowest(legal);
    const uint64_t live = hand->seen & led & ~(terms->cancel ? hand->twice : 0);
    const policy_sight sees = {
        .legal = legal,
        .held = hand->held[me].first,
        .others = legal & led ? 0 : policy_others(terms, hand, me),
        .led = led,
        .top = live ? hearts_highest(live) : HEARTS_NO_CARD,
        .last = hand->laid + 1 == terms->players,
        .cancels = terms->cancel,
        .banned = !hand->tricks && terms->trick1_ban,
        .dirty = hand->pile.penalties,
        .wanted = hand->pile.penalty + hand->pile.bonus < 0,
        .shoots = (shooters >> me & 1) && policy_shoots(terms, hand, me),
        .helps = policy_helps(terms, hand, me, shooters, live ? hearts_highest(live) : HEARTS_NO_CARD),
    };
    return policy_card(facts, &sees);
}

#endif
