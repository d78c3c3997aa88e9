#include "asked.h"

/* The search is some ten times as much counting of bits as anything else, which the oldest processors do slowly. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((flatten, target_clones("default", "arch=x86-64-v3")))
#else
#define FOR_EACH_PROCESSOR
#endif

enum { LARGEST = 1000000000 }; /* no number of a position but a mask is larger */

typedef struct {
    const int64_t *next, *end;
    bool good;
} reader;

static int64_t read_one(reader *from, int64_t low, int64_t high)
{
    const int64_t number = from->next < from->end ? *from->next++ : high + 1;
    from->good &= number >= low && number <= high;
    return from->good ? number : low;
}

static hearts_cards read_cards(reader *from)
{
    hearts_cards cards;
    cards.first = (uint64_t)read_one(from, 0, (int64_t)HEARTS_ALL);
    cards.second = (uint64_t)read_one(from, 0, (int64_t)HEARTS_ALL);
    from->good &= !(cards.second & ~cards.first);
    return cards;
}

static int size_of(hearts_cards cards)
{
    return hearts_bits(cards.first) + hearts_bits(cards.second);
}

static hearts_taken read_taken(reader *from)
{
    hearts_taken taken;
    taken.penalty = (int32_t)read_one(from, 0, LARGEST);
    taken.bonus = (int32_t)read_one(from, -LARGEST, 0);
    taken.penalties = (int16_t)read_one(from, 0, HEARTS_CARDS);
    taken.bonuses = (int16_t)read_one(from, 0, HEARTS_CARDS);
    return taken;
}

static void read_trick(reader *from, const hearts_terms *terms, hearts_hand *hand)
{
    hand->laid = (int8_t)read_one(from, 0, terms->players - 1);
    for (int at = 0; at < hand->laid && at < HEARTS_SEATS; at++) {
        const int card = (int)read_one(from, 0, HEARTS_FACES - 1);
        const uint64_t bit = HEARTS_BIT(card);
        hand->trick[at] = (int8_t)card;
        hand->twice |= hand->seen & bit;
        hand->seen |= bit;
    }
    hand->led = hand->laid ? HEARTS_SUIT(hand->trick[0] / 13) : 0;
}

static void read_unseen(reader *from, world_unseen *unseen)
{
    int room = 0;
    for (int holder = 0; holder < unseen->holders; holder++) {
        unseen->need[holder] = (int8_t)read_one(from, 0, HEARTS_CARDS);
        unseen->known[holder] = read_cards(from);
        room += unseen->need[holder];
    }
    for (int at = 0; at < unseen->cards; at++) {
        unseen->card[at] = (uint8_t)read_one(from, 0, HEARTS_FACES - 1);
        unseen->who[at] = (uint16_t)read_one(from, 1, (1 << unseen->holders) - 1);
        unseen->bytes[at] = unseen->holders <= 8 ? world_bytes(unseen->who[at]) : 0;
    }
    from->good &= room == unseen->cards;
}

/* Whether all hands, together no more than the deck, have as many cards as must still be played. */
static bool fits(const search_position *at, bool passing)
{
    const hearts_terms *terms = at->terms;
    const world_unseen *unseen = &at->unseen;
    hearts_cards all = at->hand.held[at->me];
    bool good = true;
    for (int holder = 0; holder < unseen->holders; holder++) {
        const hearts_cards known = unseen->known[holder];
        for (uint64_t left = known.first; left; left &= left - 1)
            good &= hearts_add(&all, hearts_lowest(left));
        for (uint64_t left = known.second; left; left &= left - 1)
            good &= hearts_add(&all, hearts_lowest(left));
    }
    for (int card = 0; card < unseen->cards; card++)
        good &= hearts_add(&all, unseen->card[card]);
    good = good && hearts_contains(terms->deck, all);
    for (int seat = 0; seat < terms->players; seat++) {
        const int step = (seat - at->hand.leader + terms->players) % terms->players;
        const int played = at->hand.tricks + (!passing && step < at->hand.laid);
        const int has = seat == at->me ? size_of(at->hand.held[seat]) + unseen->need[seat]
                                       : unseen->need[seat] + size_of(unseen->known[seat]);
        good &= has == terms->hand - played;
    }
    return good && !unseen->need[at->me] && !unseen->known[at->me].first &&
           (passing || (at->hand.leader + at->hand.laid) % terms->players == at->me);
}

bool asked_position(const hearts_terms *terms, const int64_t *numbers, size_t count, search_position *at)
{
    reader from = {numbers, numbers + count, true};
    const int seats = terms->players;
    hearts_hand *hand = &at->hand;
    *at = (search_position){.terms = terms, .facts = policy_learn(terms)};
    at->me = (int)read_one(&from, 0, seats - 1);
    at->number = read_one(&from, 1, LARGEST);
    const bool passing = read_one(&from, 0, 1);
    at->kitty_at = (int)read_one(&from, KITTY_WAITS, seats - 1);
    at->unit = read_one(&from, 1, LARGEST);
    hand->leader = (int8_t)read_one(&from, passing ? -1 : 0, seats - 1);
    hand->tricks = (int8_t)read_one(&from, 0, passing ? 0 : terms->hand - 1);
    hand->broken = read_one(&from, 0, 1);
    hand->first_taker = (int8_t)read_one(&from, HEARTS_NOBODY, seats - 1);
    hand->offset = (int8_t)read_one(&from, 0, seats - 1);
    hand->pile = read_taken(&from);
    read_trick(&from, terms, hand);
    at->unseen.holders = (int)read_one(&from, seats, seats + 1);
    at->unseen.cards = (int)read_one(&from, 0, HEARTS_CARDS);
    for (int seat = 0; seat < seats; seat++) {
        hand->taken[seat] = read_taken(&from);
        hand->won[seat] = (int8_t)read_one(&from, 0, terms->hand);
        at->totals[seat] = read_one(&from, -LARGEST, LARGEST);
    }
    hand->held[at->me] = read_cards(&from);
    read_unseen(&from, &at->unseen);
    hand->turn = (int8_t)at->me;
    hand->forced = HEARTS_NO_CARD;
    if (passing)
        hand->leader = hand->turn = HEARTS_NOBODY;
    return from.good && from.next == from.end && !(passing && hand->laid) && fits(at, passing);
}

bool asked_arm(const search_position *at, const search_arm *arm)
{
    const bool passing = at->hand.turn < 0;
    if (passing)
        return arm->card < 0 && size_of(arm->pass) == at->terms->pass_count && hearts_offset(at->terms, at->number) &&
               !(arm->pass.second & ~arm->pass.first) && hearts_contains(at->hand.held[at->me], arm->pass);
    return arm->card >= 0 && arm->card < HEARTS_FACES &&
           (hearts_legal(at->terms, &at->hand) & HEARTS_BIT(arm->card)) != 0;
}

FOR_EACH_PROCESSOR void asked_run(
    const search_position *at, search_arm *arms, int count, int64_t budget, uint64_t chance)
{
    search_run(at, arms, count, budget, chance);
}
