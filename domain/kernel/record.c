#include "record.h"

#include <stdlib.h>

#include "json.h"
#include "score.h"

static const char *const RECORD_KEYS[] = {"format", "rules", "seats", "hands", "winners", NULL};
static const char *const HAND_KEYS[] = {"deal", "kitty", "pass", "plays", "moon", "points", "totals", NULL};
enum { KEY_FORMAT, KEY_RULES, KEY_SEATS, KEY_HANDS, KEY_WINNERS };
enum { KEY_DEAL, KEY_KITTY, KEY_PASS, KEY_PLAYS, KEY_MOON, KEY_POINTS, KEY_TOTALS };

/* One hand as it was written down. */
typedef struct {
    hearts_cards deal[HEARTS_SEATS], passes[HEARTS_SEATS], kitty;
    hearts_cards all; /* deal and kitty together */
    int dealt, in_kitty;
    int counts[HEARTS_SEATS], passed[HEARTS_SEATS];
    bool has_pass, has_moon, subtract, has_points, has_totals;
    int plays;
    int8_t play[HEARTS_CARDS];
    int64_t points[HEARTS_SEATS], totals[HEARTS_SEATS];
} written_hand;

typedef struct {
    json_text text;
    record_terms find_terms;
    void *context;
    record_result *result;
    record_status status; /* what stopped the reading, where that was more than an unusual record */
    const unsigned char *rules, *rules_end, *hands, *hands_end;
    int seats;
    const hearts_terms *terms;
    size_t hand_count;
    int given_winners; /* -1: not given */
    int64_t winner[HEARTS_SEATS];
} reader;

/* ---- the text of a hand */

/* A list of card lists, one a seat. */
static int read_hands(json_text *text, hearts_cards *hands, int *counts, hearts_cards *all)
{
    int seats = 0;
    bool more;
    if (!json_open(text, '[', ']', &more))
        return -1;
    while (more) {
        if (seats == HEARTS_SEATS)
            return -1;
        counts[seats] = json_cards(text, &hands[seats], all);
        if (counts[seats++] < 0 || !json_more(text, ']', &more))
            return -1;
    }
    return seats;
}

static bool read_pass(json_text *text, written_hand *hand, int seats)
{
    hearts_cards all = {0, 0};
    const int passes = read_hands(text, hand->passes, hand->passed, &all);
    hand->has_pass = passes > 0; /* an empty list is no pass */
    return passes == 0 || passes == seats;
}

static bool read_moon(json_text *text, written_hand *hand)
{
    hand->has_moon = true;
    hand->subtract = json_word(text, "\"subtract\"");
    return hand->subtract || json_word(text, "\"add\"");
}

static bool read_value(json_text *text, written_hand *hand, int key, int seats)
{
    if (key != KEY_DEAL && json_word(text, "null"))
        return true; /* as if it were left out */
    switch (key) {
    case KEY_DEAL:
        hand->dealt = read_hands(text, hand->deal, hand->counts, &hand->all);
        return hand->dealt == seats;
    case KEY_KITTY:
        hand->in_kitty = json_cards(text, &hand->kitty, &hand->all);
        return hand->in_kitty >= 0;
    case KEY_PASS:
        return read_pass(text, hand, seats);
    case KEY_PLAYS:
        hand->plays = json_plays(text, hand->play, HEARTS_CARDS);
        return hand->plays >= 0;
    case KEY_MOON:
        return read_moon(text, hand);
    case KEY_POINTS:
        hand->has_points = true;
        return json_numbers(text, hand->points, HEARTS_SEATS) == seats;
    default:
        hand->has_totals = true;
        return json_numbers(text, hand->totals, HEARTS_SEATS) == seats;
    }
}

static bool read_hand(json_text *text, written_hand *hand, int seats)
{
    unsigned keys = 0;
    bool more;
    /* all but the arrays, of which no more is read than was written */
    hand->kitty = hand->all = (hearts_cards){0, 0};
    hand->dealt = hand->in_kitty = hand->plays = 0;
    hand->has_pass = hand->has_moon = hand->subtract = hand->has_points = hand->has_totals = false;
    if (!json_open(text, '{', '}', &more))
        return false;
    while (more) {
        const int key = json_key(text, HAND_KEYS);
        if (key < 0 || keys >> key & 1 || !read_value(text, hand, key, seats) || !json_more(text, '}', &more))
            return false;
        keys |= 1u << key;
    }
    return keys >> KEY_DEAL & 1;
}

/* ---- the replay of a hand; false for any fault */

static bool replay_pass(
    const hearts_terms *terms, hearts_hand *play, const written_hand *hand, int64_t number, bool *passed)
{
    const int offset = hearts_offset(terms, number);
    *passed = !offset || hand->has_pass;
    if (!hand->has_pass)
        return !offset || !hand->plays;
    if (!offset)
        return false;
    for (int seat = 0; seat < terms->players; seat++)
        if (hand->passed[seat] != terms->pass_count ||
            !hearts_contains(play->held[seat], hand->passes[seat]))
            return false;
    hearts_exchange(terms, play, hand->passes, offset);
    return true;
}

static bool replay_plays(const hearts_terms *terms, hearts_hand *play, const written_hand *hand)
{
    for (int at = 0; at < hand->plays; at++) {
        const int card = hand->play[at];
        if (play->turn < 0 || !(hearts_legal(terms, play) & HEARTS_BIT(card)))
            return false;
        hearts_lay(terms, play, card);
    }
    return true;
}

/* One more row of `result->points`. */
static bool keep_points(reader *r, const int64_t *points)
{
    record_result *result = r->result;
    const size_t row = (size_t)r->seats;
    if (result->scored == result->room) {
        const size_t room = result->room ? result->room * 2 : 16;
        int64_t *grown = room > SIZE_MAX / sizeof(int64_t) / row
                             ? NULL
                             : realloc(result->points, room * row * sizeof(int64_t));
        if (!grown) {
            r->status = RECORD_NO_MEMORY;
            return false;
        }
        result->points = grown;
        result->room = room;
    }
    memcpy(result->points + result->scored++ * row, points, row * sizeof(int64_t));
    return true;
}

static bool score(reader *r, const hearts_hand *play, const written_hand *hand)
{
    record_result *result = r->result;
    const int64_t number = (int64_t)r->hand_count;
    const size_t bytes = (size_t)r->seats * sizeof(int64_t);
    int64_t points[HEARTS_SEATS], totals[HEARTS_SEATS];
    hearts_score(r->terms, play, result->totals, number, hand->subtract, points);
    hearts_sum(r->terms, result->totals, points, totals);
    if ((hand->has_points && memcmp(hand->points, points, bytes) != 0) ||
        (hand->has_totals && memcmp(hand->totals, totals, bytes) != 0) || !keep_points(r, points))
        return false;
    memcpy(result->totals, totals, bytes);
    result->winners = hearts_end(r->terms, totals, points, number);
    result->phase = result->winners ? PHASE_OVER : PHASE_DEAL;
    return true;
}

static bool replay_hand(reader *r, const written_hand *hand)
{
    const hearts_terms *terms = r->terms;
    record_result *result = r->result;
    const int64_t number = (int64_t)r->hand_count;
    hearts_hand play;
    bool passed;
    if (hand->all.first != terms->deck.first || hand->all.second != terms->deck.second)
        return false;
    for (int seat = 0; seat < terms->players; seat++)
        if (hand->counts[seat] != terms->hand)
            return false;
    hearts_deal(terms, &play, hand->deal, hand->kitty);
    if (!replay_pass(terms, &play, hand, number, &passed))
        return false;
    if (passed) {
        hearts_open(terms, &play, (int)((number - 1) % terms->players));
        if (!replay_plays(terms, &play, hand))
            return false;
        if (play.turn < 0) {
            const int chooser = hearts_chooser(terms, &play, result->totals, number);
            if (hand->has_moon && chooser < 0)
                return false;
            if (hand->has_moon || chooser < 0)
                return score(r, &play, hand);
            result->phase = PHASE_MOON;
            result->turn = chooser;
        } else {
            result->phase = PHASE_PLAY;
            result->turn = play.turn;
            result->legal = hearts_legal(terms, &play);
        }
    } else {
        result->phase = PHASE_PASS;
    }
    return !hand->has_moon && !hand->has_points && !hand->has_totals;
}

/* Hands are replayed up to the first fault, and read to the end all the same: a record that cannot be read is no record,
 * whatever else is wrong with it. */
static bool read_all_hands(reader *r)
{
    written_hand hand;
    record_result *result = r->result;
    record_fault now = {0}, *fault = &result->fault;
    bool more;
    if (!json_open(&r->text, '[', ']', &more))
        return false;
    while (more) {
        if (!fault->hand && result->phase == PHASE_OVER)
            return false;
        if (!fault->hand && result->phase != PHASE_DEAL)
            *fault = now; /* another hand follows one that is not played out */
        now.at = (const char *)r->text.at;
        now.hand = ++r->hand_count;
        if (!read_hand(&r->text, &hand, r->seats))
            return false;
        now.end = (const char *)r->text.at;
        if (!fault->hand && !replay_hand(r, &hand)) {
            if (r->status != RECORD_NOT_MINE)
                return false;
            *fault = now;
        }
        if (!json_more(&r->text, ']', &more))
            return false;
    }
    fault->last = fault->hand == r->hand_count;
    return true;
}

/* ---- the record */

static bool know_terms(reader *r)
{
    const record_status status = r->find_terms(
        r->context, (const char *)r->rules, (size_t)(r->rules_end - r->rules), r->seats, &r->terms);
    if (status == RECORD_HOLDS)
        return r->terms->players == r->seats;
    r->status = status;
    return false;
}

static bool read_seats(reader *r)
{
    bool more;
    if (!json_open(&r->text, '[', ']', &more))
        return false;
    for (r->seats = 0; more; r->seats++)
        if (r->seats == HEARTS_SEATS || !json_string(&r->text) || !json_more(&r->text, ']', &more))
            return false;
    return r->seats > 0;
}

static bool read_rules(reader *r)
{
    r->rules = r->text.at;
    if (!json_left(&r->text, 1) || *r->rules != '{' || !json_skip(&r->text))
        return false;
    r->rules_end = r->text.at;
    return r->rules_end - r->rules <= RECORD_RULES;
}

/* The hands, which are left for later where rules or seats are still to come. */
static bool read_or_skip_hands(reader *r)
{
    if (r->rules && r->seats)
        return know_terms(r) && read_all_hands(r);
    r->hands = r->text.at;
    if (!json_left(&r->text, 1) || *r->hands != '[' || !json_skip(&r->text))
        return false;
    r->hands_end = r->text.at;
    return true;
}

static bool read_member(reader *r, int key)
{
    switch (key) {
    case KEY_FORMAT:
        return json_word(&r->text, "\"hearts-record/1\"");
    case KEY_RULES:
        return read_rules(r);
    case KEY_SEATS:
        return read_seats(r);
    case KEY_HANDS:
        return read_or_skip_hands(r);
    default:
        if (json_word(&r->text, "null"))
            return true;
        r->given_winners = json_numbers(&r->text, r->winner, HEARTS_SEATS);
        return r->given_winners >= 0;
    }
}

static bool read_whole(reader *r)
{
    const unsigned needed = 1u << KEY_FORMAT | 1u << KEY_RULES | 1u << KEY_SEATS | 1u << KEY_HANDS;
    unsigned keys = 0;
    bool more;
    json_space(&r->text);
    if (!json_open(&r->text, '{', '}', &more))
        return false;
    while (more) {
        const int key = json_key(&r->text, RECORD_KEYS);
        if (key < 0 || keys >> key & 1 || !read_member(r, key) || !json_more(&r->text, '}', &more))
            return false;
        keys |= 1u << key;
    }
    json_space(&r->text);
    if (r->text.at != r->text.end || (keys & needed) != needed)
        return false;
    if (!r->hands)
        return true;
    r->text = (json_text){r->hands, r->hands_end};
    return know_terms(r) && read_all_hands(r) && r->text.at == r->text.end;
}

/* Whether the winners that were written down, in any order, are the winners. */
static bool winners_right(const reader *r)
{
    uint32_t given = 0;
    if (r->given_winners < 0)
        return true;
    for (int at = 0; at < r->given_winners; at++) {
        const int64_t seat = r->winner[at];
        if (seat < 0 || seat >= r->seats || given >> seat & 1)
            return false;
        given |= UINT32_C(1) << seat;
    }
    return given == r->result->winners;
}

record_status record_check(
    const char *text, size_t length, record_terms find_terms, void *context, record_result *result)
{
    const unsigned char *start = (const unsigned char *)text;
    reader r = {
        .text = {start, start + length},
        .find_terms = find_terms,
        .context = context,
        .result = result,
        .status = RECORD_NOT_MINE,
        .given_winners = -1,
    };
    *result = (record_result){.phase = PHASE_DEAL, .turn = HEARTS_NOBODY};
    if (!read_whole(&r))
        return r.status;
    result->players = r.seats;
    if (result->fault.hand)
        return RECORD_FAULTY;
    if (!winners_right(&r))
        return RECORD_NOT_MINE;
    result->hand = r.hand_count + (result->phase == PHASE_DEAL);
    return RECORD_HOLDS;
}
