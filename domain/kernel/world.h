/* Worlds: deals of the cards that a seat does not see which agree with all that it knows, and the generator of all chance
 * in a search.
 *
 * domain/bots/worlds.py is the plain twin, draw for draw: equal seeds give equal worlds on every machine, so nothing here
 * may use floating point, and no draw may be added on one side alone.
 */
#ifndef HEARTS_WORLD_H
#define HEARTS_WORLD_H

#include "hearts.h"

enum {
    WORLD_HOLDERS = HEARTS_SEATS + 1, /* the seats, and the kitty behind them */
    WORLD_TRIES = 40,                 /* deals begun anew before a world is given up */
};

/* ---- chance: SplitMix64 (Steele, Lea and Flood 2014), a sequence that is the same for ever */

#define WORLD_STEP UINT64_C(0x9E3779B97F4A7C15) /* from a state to the next */

/* The word of a state. */
static inline uint64_t world_mix(uint64_t state)
{
    state = (state ^ (state >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    state = (state ^ (state >> 27)) * UINT64_C(0x94D049BB133111EB);
    return state ^ (state >> 31);
}

static inline uint64_t world_random(uint64_t *state) { return world_mix(*state += WORLD_STEP); }

/* A number below `bound` from the upper half of a word; with so small bounds it is as good as even. */
static inline uint32_t world_scale(uint64_t word, uint32_t bound)
{
    return (uint32_t)(((word >> 32) * bound) >> 32);
}

static inline uint32_t world_below(uint64_t *state, uint32_t bound)
{
    return world_scale(world_random(state), bound);
}

/* ---- what is not seen */

typedef struct {
    int holders;
    int cards;                           /* how many are to be dealt */
    uint8_t card[HEARTS_CARDS];          /* those that the fewest holders may have first */
    uint16_t who[HEARTS_CARDS];          /* the holders that may have each, a bit a holder */
    uint64_t bytes[HEARTS_CARDS];        /* the same, a byte a holder, where there are no more than eight */
    int8_t need[WORLD_HOLDERS];          /* cards that a holder is to get */
    hearts_cards known[WORLD_HOLDERS];   /* those that it is known to have beside them */
} world_unseen;

/* Make room for card number `at`, which no holder with room may have: one that may have it hands an earlier card on to one
 * with room. False where that does not help. */
static inline bool world_mend(const world_unseen *unseen, int at, int8_t *need, int8_t *owner)
{
    for (int earlier = 0; earlier < at; earlier++) {
        const int from = owner[earlier];
        if (!(unseen->who[at] >> from & 1))
            continue;
        for (unsigned who = unseen->who[earlier]; who; who &= who - 1) {
            const int to = hearts_lowest(who);
            if (need[to] > 0) {
                need[to]--;
                owner[earlier] = (int8_t)to;
                owner[at] = (int8_t)from;
                return true;
            }
        }
    }
    return false;
}

/* Each card goes to a holder that may have it, with chances as the room that they have left. */
static inline bool world_try(const world_unseen *unseen, uint64_t *state, int8_t *owner)
{
    int8_t need[WORLD_HOLDERS];
    for (int holder = 0; holder < unseen->holders; holder++)
        need[holder] = unseen->need[holder];
    for (int at = 0; at < unseen->cards; at++) {
        int room = 0, place, holder;
        unsigned who = unseen->who[at];
        for (unsigned left = who; left; left &= left - 1)
            room += need[hearts_lowest(left)];
        if (!room) {
            if (!world_mend(unseen, at, need, owner))
                return false;
            continue;
        }
        place = (int)world_below(state, (uint32_t)room);
        while (place >= need[holder = hearts_lowest(who)]) {
            place -= need[holder];
            who &= who - 1;
        }
        need[holder]--;
        owner[at] = (int8_t)holder;
    }
    return true;
}

/* ---- the same for up to eight holders, whose room is kept in the bytes of one word
 *
 * No byte is ever above 104, so that sums of bytes stay in their bytes, and the top bit of each is free to compare with. */

#define WORLD_BYTES UINT64_C(0x0101010101010101)

/* The bytes of the holders whose bits are set. */
static inline uint64_t world_bytes(unsigned who)
{
    uint64_t bytes = 0;
    for (; who; who &= who - 1)
        bytes |= UINT64_C(0xFF) << (8 * hearts_lowest(who));
    return bytes;
}

static inline bool world_mend_packed(const world_unseen *unseen, int at, uint64_t *room, int8_t *owner)
{
    int8_t need[WORLD_HOLDERS];
    for (int holder = 0; holder < unseen->holders; holder++)
        need[holder] = (int8_t)(*room >> (8 * holder) & 0xFF);
    if (!world_mend(unseen, at, need, owner))
        return false;
    *room = 0;
    for (int holder = 0; holder < unseen->holders; holder++)
        *room |= (uint64_t)need[holder] << (8 * holder);
    return true;
}

static inline bool world_try_packed(const world_unseen *unseen, uint64_t *state, int8_t *owner)
{
    uint64_t room = 0;
    for (int holder = 0; holder < unseen->holders; holder++)
        room |= (uint64_t)unseen->need[holder] << (8 * holder);
    for (int at = 0; at < unseen->cards; at++) {
        /* each byte: the room of its holder and of all before it that may have the card */
        const uint64_t sums = (room & unseen->bytes[at]) * WORLD_BYTES;
        if (!(sums >> 56)) {
            if (!world_mend_packed(unseen, at, &room, owner))
                return false;
            continue;
        }
        const uint64_t place = world_below(state, (uint32_t)(sums >> 56));
        const uint64_t above = ((sums | WORLD_BYTES << 7) - (place + 1) * WORLD_BYTES) & WORLD_BYTES << 7;
        const int holder = hearts_lowest(above) >> 3;
        room -= UINT64_C(1) << (8 * holder);
        owner[at] = (int8_t)holder;
    }
    return true;
}

/* Deal a world: what each holder has. False where none was found. */
static inline bool world_deal(const world_unseen *unseen, uint64_t *state, hearts_cards *held)
{
    int8_t owner[HEARTS_CARDS];
    for (int tries = 0; tries < WORLD_TRIES; tries++) {
        const bool dealt = unseen->holders <= 8 ? world_try_packed(unseen, state, owner) : world_try(unseen, state, owner);
        if (!dealt)
            continue;
        for (int holder = 0; holder < unseen->holders; holder++)
            held[holder] = unseen->known[holder];
        for (int at = 0; at < unseen->cards; at++)
            hearts_add(&held[owner[at]], unseen->card[at]);
        return true;
    }
    return false;
}

#endif
