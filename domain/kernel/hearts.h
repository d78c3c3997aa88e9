/* The play of one hand of Hearts: deal, pass, legal cards, tricks, for every rule set of docs/spec/ruleset.md. What a hand
 * scores is in score.h.
 *
 * The rules are written in domain/rules.py and domain/state.py; this is the fast path beside them, and
 * tests/domain/test_kernel.py holds the two together. Nothing here knows of records, of JSON or of Python, and nothing
 * allocates: a hand is a plain struct that may be copied by assignment, as a playout wants it.
 *
 * Cards are numbered as in domain/cards.py: 0..51, suit * 13 + rank, suits C D S H. Unless a function says that it
 * checks, it trusts its caller: cards are held, moves are legal, seats are below `players`.
 */
#ifndef HEARTS_H
#define HEARTS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    HEARTS_SEATS = 11,   /* seats at most */
    HEARTS_FACES = 52,   /* different cards */
    HEARTS_CARDS = 104,  /* cards in play at most */
    HEARTS_CYCLE = 64,   /* entries of a pass cycle at most */
    HEARTS_NOBODY = -1,  /* no seat */
    HEARTS_NO_CARD = -1, /* no card */
    HEARTS_QS = 36,
};

#define HEARTS_BIT(card) (UINT64_C(1) << (card))
#define HEARTS_SUIT(suit) (UINT64_C(0x1FFF) << (13 * (suit)))
#define HEARTS_ALL (HEARTS_BIT(HEARTS_FACES) - 1)
#define HEARTS_LOW (INT64_MIN / 4) /* below every total, and far from an overflow */

/* ---- bits */

#if defined(__GNUC__) || defined(__clang__)
static inline int hearts_lowest(uint64_t mask) { return __builtin_ctzll(mask); }
static inline int hearts_highest(uint64_t mask) { return 63 - __builtin_clzll(mask); }
static inline int hearts_bits(uint64_t mask) { return __builtin_popcountll(mask); }
#else
static inline int hearts_bits(uint64_t mask)
{
    int bits = 0;
    for (; mask; mask &= mask - 1)
        bits++;
    return bits;
}
static inline int hearts_lowest(uint64_t mask) { return hearts_bits((mask & (0 - mask)) - 1); }
static inline int hearts_highest(uint64_t mask)
{
    int bit = 0;
    while (mask >>= 1)
        bit++;
    return bit;
}
#endif

/* ---- multisets of cards */

/* Which cards, and which of them twice; `second` is only ever set where `first` is. */
typedef struct {
    uint64_t first, second;
} hearts_cards;

/* One more copy of a card. Checks: false for a third copy. */
static inline bool hearts_add(hearts_cards *cards, int card)
{
    uint64_t bit = HEARTS_BIT(card), twice = cards->first & bit;
    if (cards->second & bit)
        return false;
    cards->first |= bit;
    cards->second |= twice;
    return true;
}

/* One copy less of a card that is held. */
static inline void hearts_drop(hearts_cards *cards, int card)
{
    uint64_t bit = HEARTS_BIT(card);
    cards->first &= ~bit | cards->second;
    cards->second &= ~bit;
}

static inline bool hearts_contains(hearts_cards cards, hearts_cards part)
{
    return !(part.first & ~cards.first) && !(part.second & ~cards.second);
}

/* The multiset difference; `part` must be contained. */
static inline hearts_cards hearts_subtract(hearts_cards cards, hearts_cards part)
{
    hearts_cards rest = {
        .first = (cards.first & ~part.first) | (cards.second & ~part.second),
        .second = cards.second & ~part.first,
    };
    return rest;
}

/* The multiset sum, of which no card may be there three times. */
static inline hearts_cards hearts_join(hearts_cards one, hearts_cards other)
{
    hearts_cards sum = {
        .first = one.first | other.first,
        .second = one.second | other.second | (one.first & other.first),
    };
    return sum;
}

/* ---- a rule set */

typedef enum {
    HEARTS_MOON_ADD,
    HEARTS_MOON_SUBTRACT,
    HEARTS_MOON_CHOICE,
    HEARTS_MOON_CHOICE_IF_LOST,
    HEARTS_MOON_AUTO,
    HEARTS_MOON_COLLECT,
    HEARTS_MOON_NONE,
} hearts_moon;

typedef enum {
    HEARTS_SUN_NONE,
    HEARTS_SUN_ADD,
    HEARTS_SUN_SUBTRACT,
    HEARTS_SUN_PUNISH,
    HEARTS_SUN_RESET,
} hearts_sun;

/* domain.ruleset.Terms: a rule set worked out for play. */
typedef struct {
    int players, hand;  /* seats; cards a seat, which is also the number of tricks */
    hearts_cards deck;
    int pass_count, cycle;
    int8_t offsets[HEARTS_CYCLE]; /* of `cycle` hands: seats to the left that cards are passed, 0 hold */
    uint64_t opening_ban, trick1_ban, breakers;
    int32_t values[HEARTS_FACES];
    uint64_t scoring; /* the cards whose value is not 0 */
    int penalty_cards, bonus_cards;
    bool opener_forced, kitty_last, must_qs, hearts_beside_qs;
    bool cancel, two_pairs_dead, dead_last_to_leader;
    uint32_t team[HEARTS_SEATS]; /* the seats, a bit each, whose points are counted with those of a seat */
    bool partners;
    hearts_moon moon;
    hearts_sun sun;
    int sun_from; /* the first trick that counts for a sun, from 1 */
    int64_t moon_x, sun_x, no_trick_points;
    bool moon_needs_bonus, swallows;
    int64_t moon_choice_from, hand_floor, floor; /* HEARTS_LOW: none */
    int64_t target, hand_limit;                  /* hand_limit 0: none */
    bool tie_goes_on, perfect_hand;
} hearts_terms;

/* To whom hand `number` (from 1) passes, in seats to the left; 0 in a hold hand. */
static inline int hearts_offset(const hearts_terms *terms, int64_t number)
{
    return terms->offsets[(number - 1) % terms->cycle];
}

/* ---- a hand in play */

/* Points taken, positive and negative ones apart, and with how many cards. */
typedef struct {
    int32_t penalty, bonus;
    int16_t penalties, bonuses;
} hearts_taken;

typedef struct {
    hearts_cards held[HEARTS_SEATS];
    hearts_taken taken[HEARTS_SEATS];
    hearts_taken pile; /* the trick on the table and dead tricks that wait for a winner */
    hearts_taken kitty;
    uint64_t led;         /* the suit led to the trick on the table */
    uint64_t seen, twice; /* the cards of that trick, and those of them there twice */
    int8_t trick[HEARTS_SEATS];
    int8_t laid;   /* cards in `trick` */
    int8_t tricks; /* finished ones */
    int8_t won[HEARTS_SEATS]; /* tricks taken */
    int8_t first_taker;       /* who took the first trick */
    int8_t offset;            /* to whom was passed, in seats to the left; 0 in a hold hand */
    int8_t leader, turn; /* turn is HEARTS_NOBODY when the hand is played out */
    int8_t forced; /* the card that must open the hand, or HEARTS_NO_CARD */
    bool broken;
} hearts_hand;

static inline void hearts_count(const hearts_terms *terms, hearts_taken *taken, int card)
{
    int32_t value = terms->values[card];
    if (value > 0) {
        taken->penalty += value;
        taken->penalties++;
    } else if (value < 0) {
        taken->bonus += value;
        taken->bonuses++;
    }
}

static inline void hearts_gather(hearts_taken *taken, const hearts_taken *more)
{
    taken->penalty += more->penalty;
    taken->bonus += more->bonus;
    taken->penalties = (int16_t)(taken->penalties + more->penalties);
    taken->bonuses = (int16_t)(taken->bonuses + more->bonuses);
}

/* What all of some cards come to. */
static inline hearts_taken hearts_count_all(const hearts_terms *terms, hearts_cards cards)
{
    hearts_taken taken = {0};
    for (uint64_t left = cards.first & terms->scoring; left; left &= left - 1)
        hearts_count(terms, &taken, hearts_lowest(left));
    for (uint64_t left = cards.second & terms->scoring; left; left &= left - 1)
        hearts_count(terms, &taken, hearts_lowest(left));
    return taken;
}

/* The points of some cards, each there once. */
static inline int64_t hearts_worth(const hearts_terms *terms, uint64_t cards)
{
    int64_t worth = 0;
    for (uint64_t left = cards & terms->scoring; left; left &= left - 1)
        worth += terms->values[hearts_lowest(left)];
    return worth;
}

/* A new hand from what each seat was dealt. */
static inline void hearts_deal(
    const hearts_terms *terms, hearts_hand *hand, const hearts_cards *dealt, hearts_cards kitty)
{
    *hand = (hearts_hand){
        .leader = HEARTS_NOBODY,
        .turn = HEARTS_NOBODY,
        .first_taker = HEARTS_NOBODY,
        .forced = HEARTS_NO_CARD,
    };
    for (int seat = 0; seat < terms->players; seat++)
        hand->held[seat] = dealt[seat];
    hand->kitty = hearts_count_all(terms, kitty);
}

/* Hand every seat's pass to the seat `offset` to its left; each must be contained in what its seat holds. */
static inline void hearts_exchange(
    const hearts_terms *terms, hearts_hand *hand, const hearts_cards *passes, int offset)
{
    for (int seat = 0; seat < terms->players; seat++)
        hand->held[seat] = hearts_subtract(hand->held[seat], passes[seat]);
    for (int seat = 0; seat < terms->players; seat++) {
        int to = (seat + offset) % terms->players;
        hand->held[to] = hearts_join(hand->held[to], passes[seat]);
    }
    hand->offset = (int8_t)offset;
}

/* Give the opening lead after the pass: to the dealer's left, or to the first from there with the lowest club. */
static inline void hearts_open(const hearts_terms *terms, hearts_hand *hand, int dealers_left)
{
    uint64_t clubs = 0;
    int seat = dealers_left;
    if (terms->opener_forced)
        for (int one = 0; one < terms->players; one++)
            clubs |= hand->held[one].first & HEARTS_SUIT(0);
    if (clubs) {
        hand->forced = (int8_t)hearts_lowest(clubs);
        while (!(hand->held[seat].first & HEARTS_BIT(hand->forced)))
            seat = (seat + 1) % terms->players;
    }
    hand->leader = hand->turn = (int8_t)seat;
}

/* The cards that a seat which does not lead may play of those that it holds, each once. */
static inline uint64_t hearts_answers(const hearts_terms *terms, uint64_t held, uint64_t led, bool first_trick)
{
    uint64_t some;
    if ((some = held & led))
        return some;
    if (!first_trick)
        return held;
    if ((some = held & ~terms->trick1_ban))
        return some;
    return terms->must_qs && (held & HEARTS_BIT(HEARTS_QS)) ? HEARTS_BIT(HEARTS_QS) : held;
}

/* The cards that a seat may lead to the second trick or a later one. */
static inline uint64_t hearts_leads(const hearts_terms *terms, uint64_t held, bool broken)
{
    const uint64_t some = held & ~HEARTS_SUIT(3);
    if (broken || !terms->breakers || !some || (some == HEARTS_BIT(HEARTS_QS) && terms->hearts_beside_qs))
        return held;
    return some;
}

/* The cards that a seat may open a hand with. */
static inline uint64_t hearts_openings(const hearts_terms *terms, uint64_t held, int forced)
{
    const uint64_t some = held & ~terms->opening_ban;
    if (forced >= 0)
        return HEARTS_BIT(forced);
    return some ? some : held;
}

/* The cards that the seat to play may play, each once; never empty while it is somebody's turn. */
static inline uint64_t hearts_legal(const hearts_terms *terms, const hearts_hand *hand)
{
    const uint64_t held = hand->held[hand->turn].first;
    if (hand->laid)
        return hearts_answers(terms, held, hand->led, !hand->tricks);
    return hand->tricks ? hearts_leads(terms, held, hand->broken) : hearts_openings(terms, held, hand->forced);
}

/* Who wins the full trick on the table; HEARTS_NOBODY where it is dead. */
static inline int hearts_winner(const hearts_terms *terms, const hearts_hand *hand)
{
    uint64_t live = hand->seen & hand->led;
    int at = hand->laid - 1;
    if (terms->cancel) {
        live &= ~hand->twice;
        if (!live || (terms->two_pairs_dead && hearts_bits(hand->twice) >= 2))
            return HEARTS_NOBODY;
    }
    /* without cancelling the later of two equal cards wins, so the trick is searched from its end */
    for (int best = hearts_highest(live); hand->trick[at] != best;)
        at--;
    const int seat = hand->leader + at;
    return seat < terms->players ? seat : seat - terms->players;
}

/* Clear the full trick: its pile, with the kitty where it is due, goes to the winner or waits for one. */
static inline void hearts_take(const hearts_terms *terms, hearts_hand *hand)
{
    const bool last = hand->tricks + 1 == terms->hand;
    int winner = hearts_winner(terms, hand);
    if (winner < 0 && last && terms->dead_last_to_leader)
        winner = hand->leader;
    if (terms->kitty_last ? last : !hand->tricks)
        hearts_gather(&hand->pile, &hand->kitty);
    if (winner >= 0) {
        hearts_gather(&hand->taken[winner], &hand->pile);
        hand->pile = (hearts_taken){0};
        hand->leader = (int8_t)winner;
        hand->won[winner]++;
        if (!hand->tricks)
            hand->first_taker = (int8_t)winner;
    }
    hand->tricks++;
    hand->laid = 0;
    hand->seen = hand->twice = 0;
    hand->turn = last ? HEARTS_NOBODY : hand->leader;
}

/* Play a card that is legal; the last card of a trick ends it. */
static inline void hearts_lay(const hearts_terms *terms, hearts_hand *hand, int card)
{
    const uint64_t bit = HEARTS_BIT(card);
    if (!hand->laid)
        hand->led = HEARTS_SUIT(card / 13);
    hearts_drop(&hand->held[hand->turn], card);
    hand->twice |= hand->seen & bit;
    hand->seen |= bit;
    hand->broken |= (terms->breakers & bit) != 0;
    if (terms->scoring & bit)
        hearts_count(terms, &hand->pile, card);
    hand->trick[hand->laid++] = (int8_t)card;
    if (hand->laid == terms->players)
        hearts_take(terms, hand);
    else if (++hand->turn == terms->players)
        hand->turn = 0;
}

#endif
