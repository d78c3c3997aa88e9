/* A whole hand as it is told when it is over, replayed in one go and scored. Knows nothing of Python.
 *
 * The plain path is services/replay.py, which judges the same hand event by event; tests/services/test_whole_hands.py
 * holds the two together. Here a hand is right or it is not: what is wrong with it is for the plain path to tell.
 */
#ifndef HEARTS_WHOLE_H
#define HEARTS_WHOLE_H

#include <stddef.h>

#include "json.h"
#include "score.h"

enum { WHOLE_NOBODY = 255 }; /* the taker of a dead trick */
#define WHOLE_MOST (INT64_C(1) << 40) /* no total is larger */

typedef struct {
    hearts_cards deal[HEARTS_SEATS], passes[HEARTS_SEATS], kitty;
    hearts_cards all; /* deal and kitty together */
    int dealt[HEARTS_SEATS], passed[HEARTS_SEATS]; /* how many cards */
    bool has_passes;
    const unsigned char *seats, *plays, *takers; /* a seat and a card a play, a seat a trick */
} whole_hand;

/* A card list as the house writes it, each card also added to `all`: how many there are, or -1. */
static inline int whole_cards(const char *text, size_t length, hearts_cards *cards, hearts_cards *all)
{
    const unsigned char *at = (const unsigned char *)text;
    const size_t count = (length + 1) / 3;
    *cards = (hearts_cards){0, 0};
    if (!length)
        return 0;
    if (length % 3 != 2 || count > HEARTS_CARDS)
        return -1;
    for (size_t card = 0; card < count; card++, at += 3) {
        const int read = json_card(at);
        if (read < 0 || (card && at[-1] != ' ') || !hearts_add(cards, read) || !hearts_add(all, read))
            return -1;
    }
    return (int)count;
}

/* Deal and pass; false where a card is not as it should be. */
static inline bool whole_begin(const hearts_terms *terms, const whole_hand *told, int64_t number, hearts_hand *hand)
{
    const int offset = hearts_offset(terms, number);
    if (told->all.first != terms->deck.first || told->all.second != terms->deck.second ||
        told->has_passes != (offset != 0))
        return false;
    for (int seat = 0; seat < terms->players; seat++)
        if (told->dealt[seat] != terms->hand ||
            (offset && (told->passed[seat] != terms->pass_count ||
                        !hearts_contains(told->deal[seat], told->passes[seat]))))
            return false;
    hearts_deal(terms, hand, told->deal, told->kitty);
    if (offset)
        hearts_exchange(terms, hand, told->passes, offset);
    hearts_open(terms, hand, (int)((number - 1) % terms->players));
    return true;
}

/* One trick, which `taker` takes. */
static inline bool whole_trick(
    const hearts_terms *terms, hearts_hand *hand, const unsigned char *seats, const unsigned char *plays, int taker)
{
    int8_t won[HEARTS_SEATS];
    if (taker >= terms->players && taker != WHOLE_NOBODY)
        return false;
    memcpy(won, hand->won, sizeof won);
    for (int at = 0; at < terms->players; at++) {
        const int card = plays[at];
        if (hand->turn != seats[at] || card >= HEARTS_FACES || !(hearts_legal(terms, hand) & HEARTS_BIT(card)))
            return false;
        hearts_lay(terms, hand, card);
    }
    if (taker != WHOLE_NOBODY)
        won[taker]++;
    return memcmp(won, hand->won, (size_t)terms->players) == 0;
}

/* What a hand adds to each total; false unless all of it is right and nobody had to choose for a moon. */
static inline bool whole_score(
    const hearts_terms *terms, const whole_hand *told, const int64_t *totals, int64_t number, int64_t *points)
{
    const int seats = terms->players;
    hearts_hand hand;
    if (!whole_begin(terms, told, number, &hand))
        return false;
    for (int trick = 0; trick < terms->hand; trick++)
        if (!whole_trick(terms, &hand, told->seats + trick * seats, told->plays + trick * seats,
                         told->takers[trick]))
            return false;
    if (hearts_chooser(terms, &hand, totals, number) >= 0)
        return false;
    hearts_score(terms, &hand, totals, number, false, points);
    return true;
}

#endif
