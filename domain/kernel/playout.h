/* A hand played out by `policy_card`: what a search does some million times a second.
 *
 * With one deck a hand is played on masks alone: no card is there twice, so that no trick is dead, what others hold is what
 * is left without one's own, and what a seat has taken can be counted at the end. With two decks the hand itself is played.
 * domain/bots/playout.py is the plain twin of both, card for card and draw for draw.
 */
#ifndef HEARTS_PLAYOUT_H
#define HEARTS_PLAYOUT_H

#include "policy.h"
#include "world.h"

enum { PLAYOUT_WHIM = 26 }; /* of 256 cards in a playout, so many are any legal one */

/* Whether a seat plays any card, and which. */
static inline bool playout_whim(uint64_t word) { return (word & 255) < PLAYOUT_WHIM; }

static inline int playout_any(uint64_t word, uint64_t legal)
{
    for (uint32_t skip = world_scale(word, (uint32_t)hearts_bits(legal)); skip; skip--)
        legal &= legal - 1;
    return hearts_lowest(legal);
}

/* ---- two decks */

static inline void playout_of_two(
    const hearts_terms *terms, const policy_facts *facts, hearts_hand *hand, uint64_t chance, unsigned shooters)
{
    while (hand->turn >= 0) {
        const uint64_t word = world_random(&chance);
        const int card = playout_whim(word) ? playout_any(word, hearts_legal(terms, hand))
                                            : policy_choose(terms, facts, hand, shooters);
        hearts_lay(terms, hand, card);
    }
}

/* ---- one deck */

/* What a playout goes by. */
typedef struct {
    const hearts_terms *terms;
    const policy_facts *facts;
    int players;
    unsigned shooters;
    int feared; /* penalty cards that let a seat seem to shoot the moon */
} playout_rules;

/* What belongs to a seat. */
typedef struct {
    uint64_t held[HEARTS_SEATS];
    uint64_t taken[HEARTS_SEATS]; /* cards that score, since the playout began */
} playout_seats;

/* The table; apart from the above, so that the compiler can keep all of it in registers. */
typedef struct {
    uint64_t left;      /* in all hands */
    uint64_t led, pile; /* the suit led, and the trick's cards that score */
    uint64_t broke;     /* the cards that allow hearts to be led */
    int turn, tricks;
    int top, winning; /* the card that wins so far, and its seat */
    unsigned takers;  /* the seats that have penalty cards, a bit each */
    int threat;       /* the seat that seems to shoot the moon */
} playout_table;

/* Who seems to shoot the moon: the only seat with penalty cards, when they are enough to be feared. */
static inline int playout_threat(
    const playout_rules *rules, const hearts_hand *hand, const playout_seats *seats, unsigned takers)
{
    if (!takers || takers & (takers - 1) || rules->terms->moon == HEARTS_MOON_NONE ||
        (rules->shooters && !(rules->shooters & takers)))
        return HEARTS_NOBODY;
    const int seat = hearts_lowest(takers);
    const int count = hand->taken[seat].penalties + hearts_bits(seats->taken[seat] & rules->facts->penalty);
    return count >= rules->feared ? seat : HEARTS_NOBODY;
}

static inline void playout_begin(
    const playout_rules *rules, const hearts_hand *hand, playout_seats *seats, playout_table *table)
{
    *table = (playout_table){
        .led = hand->led,
        .pile = hand->seen & rules->terms->scoring,
        .broke = hand->broken,
        .turn = hand->turn,
        .tricks = hand->tricks,
    };
    for (int seat = 0; seat < rules->players; seat++) {
        seats->held[seat] = hand->held[seat].first;
        seats->taken[seat] = 0;
        table->left |= hand->held[seat].first;
        table->takers |= (unsigned)(hand->taken[seat].penalties != 0) << seat;
    }
    table->threat = playout_threat(rules, hand, seats, table->takers);
    if (hand->laid) {
        int at = hand->laid - 1;
        table->top = hearts_highest(hand->seen & hand->led);
        while (hand->trick[at] != table->top)
            at--;
        table->winning = hand->leader + at;
        table->winning -= table->winning < rules->players ? 0 : rules->players;
    }
}

static inline int playout_left(const playout_rules *rules, int seat)
{
    if (rules->players == 4)
        return (seat + 1) & 3;
    return seat + 1 == rules->players ? 0 : seat + 1;
}

static inline void playout_drop(
    const playout_rules *rules, playout_seats *seats, playout_table *table, int card)
{
    const uint64_t bit = HEARTS_BIT(card);
    table->pile |= bit & rules->terms->scoring;
    table->broke |= bit & rules->terms->breakers;
    table->left &= ~bit;
    seats->held[table->turn] &= ~bit;
    table->turn = playout_left(rules, table->turn);
}

static inline bool playout_shoots(const playout_rules *rules, const playout_table *table)
{
    return (rules->shooters >> table->turn & 1) && !(table->takers & ~(1u << table->turn));
}

static inline void playout_lead(const playout_rules *rules, const hearts_hand *hand, playout_seats *seats,
                                playout_table *table, uint64_t chance)
{
    const uint64_t held = seats->held[table->turn], others = table->left & ~held;
    const uint64_t legal = table->tricks ? hearts_leads(rules->terms, held, table->broke)
                                         : hearts_openings(rules->terms, held, hand->forced);
    int card = hearts_lowest(legal);
    if (legal & (legal - 1)) {
        const uint64_t word = world_mix(chance);
        if (playout_whim(word))
            card = playout_any(word, legal);
        else if (playout_shoots(rules, table))
            card = policy_shoot_lead(legal, others);
        else
            card = policy_lead(rules->facts, legal, held, others);
    }
    table->led = HEARTS_SUIT(card / 13);
    table->top = card;
    table->winning = table->turn;
    playout_drop(rules, seats, table, card);
}

/* The card of a seat that has a choice and does not lead. */
static inline int playout_choose(
    const playout_rules *rules, const playout_table *table, uint64_t legal, uint64_t held, bool last)
{
    const policy_facts *facts = rules->facts;
    const policy_sight sees = {
        .legal = legal,
        .held = held,
        .others = table->left & ~held,
        .led = table->led,
        .top = table->top,
        .last = last,
        .banned = !table->tricks && rules->terms->trick1_ban,
        .dirty = table->pile & facts->penalty,
        .wanted = last && (table->pile & facts->bonus) && hearts_worth(rules->terms, table->pile) < 0,
        .shoots = playout_shoots(rules, table),
        .helps = table->winning == table->threat && table->threat != table->turn,
    };
    return policy_card(facts, &sees);
}

static inline void playout_answer(
    const playout_rules *rules, playout_seats *seats, playout_table *table, uint64_t chance, bool last)
{
    const uint64_t held = seats->held[table->turn];
    const uint64_t legal = hearts_answers(rules->terms, held, table->led, !table->tricks);
    int card = hearts_lowest(legal);
    if (legal & (legal - 1)) {
        const uint64_t word = world_mix(chance);
        card = playout_whim(word) ? playout_any(word, legal) : playout_choose(rules, table, legal, held, last);
    }
    const bool wins = (HEARTS_BIT(card) & table->led) > HEARTS_BIT(table->top);
    table->top = wins ? card : table->top;
    table->winning = wins ? table->turn : table->winning;
    playout_drop(rules, seats, table, card);
}

/* The last trick, in which nobody has a choice. */
static inline void playout_last(const playout_rules *rules, playout_seats *seats, playout_table *table)
{
    table->led = HEARTS_SUIT(hearts_lowest(seats->held[table->turn]) / 13);
    table->pile = table->left & rules->terms->scoring;
    table->top = hearts_highest(table->left & table->led);
    for (int seat = 0; seat < rules->players; seat++)
        table->winning = seats->held[seat] >> table->top & 1 ? seat : table->winning;
    table->left = 0;
}

/* Clear the full trick. */
static inline void playout_take(
    const playout_rules *rules, hearts_hand *hand, playout_seats *seats, playout_table *table)
{
    const int winner = table->winning;
    const bool last = table->tricks + 1 == rules->terms->hand;
    bool dirty = table->pile & rules->facts->penalty;
    if (!table->tricks)
        hand->first_taker = (int8_t)winner;
    if (rules->terms->kitty_last ? last : !table->tricks) {
        hearts_gather(&hand->taken[winner], &hand->kitty);
        dirty |= hand->kitty.penalties;
    }
    hand->won[winner]++;
    seats->taken[winner] |= table->pile;
    if (dirty) {
        table->takers |= 1u << winner;
        table->threat = playout_threat(rules, hand, seats, table->takers);
    }
    table->tricks++;
    table->turn = winner;
    table->pile = 0;
}

/* Play on; where a hand scores by its cards alone, no further than to the last of these. Every seat draws a word a card,
 * though most do not look at theirs. */
static inline void playout_of_one(const playout_rules *rules, hearts_hand *hand, uint64_t chance)
{
    const hearts_terms *terms = rules->terms;
    const bool to_the_end = terms->sun != HEARTS_SUN_NONE || terms->no_trick_points || terms->kitty_last;
    int laid = hand->laid;
    playout_seats seats;
    playout_table table;
    playout_begin(rules, hand, &seats, &table);
    while (table.tricks + (laid == 0) < terms->hand && (laid || to_the_end || table.left & terms->scoring)) {
        for (; laid < rules->players; laid++) {
            chance += WORLD_STEP;
            if (laid)
                playout_answer(rules, &seats, &table, chance, laid + 1 == rules->players);
            else
                playout_lead(rules, hand, &seats, &table, chance);
        }
        playout_take(rules, hand, &seats, &table);
        laid = 0;
    }
    if (table.tricks < terms->hand && (to_the_end || table.left & terms->scoring)) {
        playout_last(rules, &seats, &table);
        playout_take(rules, hand, &seats, &table);
    }
    for (int seat = 0; seat < rules->players; seat++)
        policy_count(rules->facts, &hand->taken[seat], seats.taken[seat]);
}

/* Play `hand` to its end, or to where it is certain what it scores; `shooters` are the seats that shoot the moon, a bit each.
 * Afterwards it may only be scored. */
static inline void playout(
    const hearts_terms *terms, const policy_facts *facts, hearts_hand *hand, uint64_t chance, unsigned shooters)
{
    playout_rules rules = {
        .terms = terms,
        .facts = facts,
        .players = terms->players,
        .shooters = shooters,
        .feared = shooters ? SHOT_FEARED : MOON_FEARED,
    };
    if (terms->deck.second) {
        playout_of_two(terms, facts, hand, chance, shooters);
    } else if (hand->turn < 0) {
        return;
    } else if (terms->players == 4) {
        rules.players = 4; /* so that the compiler knows it in this copy */
        playout_of_one(&rules, hand, chance);
    } else {
        playout_of_one(&rules, hand, chance);
    }
}

#endif
