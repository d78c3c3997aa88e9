/* The few forms of JSON that a record is made of, read strictly and without allocation.
 *
 * Every reader returns false (or -1) for anything that is not plainly and surely what it expects, and never looks at a
 * byte at or after `end`. Cards are read only as the house writes them: two characters, one space between.
 */
#ifndef HEARTS_JSON_H
#define HEARTS_JSON_H

#include <stddef.h>
#include <string.h>

#include "hearts.h"

typedef struct {
    const unsigned char *at, *end;
} json_text;

static inline bool json_left(const json_text *text, ptrdiff_t bytes) { return text->end - text->at >= bytes; }

static inline void json_space(json_text *text)
{
    while (text->at < text->end &&
           (*text->at == ' ' || *text->at == '\n' || *text->at == '\r' || *text->at == '\t'))
        text->at++;
}

/* One character, with white space before it and after it. */
static inline bool json_mark(json_text *text, char mark)
{
    json_space(text);
    if (!json_left(text, 1) || *text->at != (unsigned char)mark)
        return false;
    text->at++;
    json_space(text);
    return true;
}

/* After an entry: a comma (more follows) or the closing mark (it was the last). */
static inline bool json_more(json_text *text, char close, bool *more)
{
    json_space(text);
    if (!json_left(text, 1))
        return false;
    *more = *text->at == ',';
    if (!*more && *text->at != (unsigned char)close)
        return false;
    text->at++;
    json_space(text);
    return true;
}

/* A list's or object's opening mark; `more` is false where it is empty, and its closing mark is read too. */
static inline bool json_open(json_text *text, char open, char close, bool *more)
{
    if (!json_mark(text, open) || !json_left(text, 1))
        return false;
    *more = *text->at != (unsigned char)close;
    if (!*more)
        text->at++;
    return true;
}

static inline bool json_word(json_text *text, const char *word)
{
    const size_t length = strlen(word);
    if (!json_left(text, (ptrdiff_t)length) || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

/* A key and its colon: which of `keys` (a list that ends with NULL) it is, or -1. */
static inline int json_key(json_text *text, const char *const *keys)
{
    if (!json_left(text, 1) || *text->at != '"')
        return -1;
    text->at++;
    for (int key = 0; keys[key]; key++) {
        const size_t length = strlen(keys[key]);
        if (json_left(text, (ptrdiff_t)length + 1) && memcmp(text->at, keys[key], length) == 0 &&
            text->at[length] == '"') {
            text->at += length + 1;
            return json_mark(text, ':') ? key : -1;
        }
    }
    return -1;
}

/* A whole number of at most 15 digits; not -0, no fraction, no exponent. */
static inline bool json_number(json_text *text, int64_t *number)
{
    const bool minus = json_left(text, 1) && *text->at == '-';
    const unsigned char *start = text->at += minus;
    int64_t value = 0;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9') {
        if (text->at - start == 15)
            return false;
        value = value * 10 + (*text->at++ - '0');
    }
    if (text->at == start || (*start == '0' && (text->at - start > 1 || minus)))
        return false;
    if (text->at < text->end && (*text->at == '.' || *text->at == 'e' || *text->at == 'E'))
        return false;
    *number = minus ? -value : value;
    return true;
}

/* A list of at most `most` whole numbers: how many there are, or -1. */
static inline int json_numbers(json_text *text, int64_t *numbers, int most)
{
    int count = 0;
    bool more;
    if (!json_open(text, '[', ']', &more))
        return -1;
    while (more)
        if (count == most || !json_number(text, &numbers[count++]) || !json_more(text, ']', &more))
            return -1;
    return count;
}

/* ---- strings */

static inline int json_hex4(const unsigned char *at)
{
    int value = 0;
    for (int digit = 0; digit < 4; digit++) {
        const int c = at[digit];
        if (c >= '0' && c <= '9')
            value = value * 16 + c - '0';
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value = value * 16 + (c | 0x20) - 'a' + 10;
        else
            return -1;
    }
    return value;
}

/* The rest of an escape, after its backslash; surrogates only in pairs. */
static inline bool json_escape(json_text *text)
{
    if (!json_left(text, 1))
        return false;
    const unsigned char kind = *text->at++;
    if (kind != 'u')
        return kind != 0 && strchr("\"\\/bfnrt", kind) != NULL;
    if (!json_left(text, 4))
        return false;
    const int unit = json_hex4(text->at);
    text->at += 4;
    if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF))
        return false;
    if (unit < 0xD800 || unit > 0xDBFF)
        return true;
    if (!json_left(text, 6) || text->at[0] != '\\' || text->at[1] != 'u')
        return false;
    const int low = json_hex4(text->at + 2);
    text->at += 6;
    return low >= 0xDC00 && low <= 0xDFFF;
}

/* One character of two to four bytes: UTF-8 in its shortest form, no surrogates, nothing above U+10FFFF. */
static inline bool json_utf8(json_text *text)
{
    const unsigned char lead = *text->at;
    const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    unsigned char low = 0x80, high = 0xBF;
    if (lead < 0xC2 || lead > 0xF4 || !json_left(text, more + 1))
        return false;
    if (lead == 0xE0)
        low = 0xA0;
    else if (lead == 0xED)
        high = 0x9F;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4)
        high = 0x8F;
    if (text->at[1] < low || text->at[1] > high)
        return false;
    for (int at = 2; at <= more; at++)
        if ((text->at[at] & 0xC0) != 0x80)
            return false;
    text->at += more + 1;
    return true;
}

/* Any valid string; what it says is not kept. */
static inline bool json_string(json_text *text)
{
    if (!json_left(text, 1) || *text->at != '"')
        return false;
    text->at++;
    while (text->at < text->end) {
        const unsigned char c = *text->at;
        if (c >= 0x80) {
            if (!json_utf8(text))
                return false;
            continue;
        }
        text->at++;
        if (c == '"')
            return true;
        if (c < 0x20 || (c == '\\' && !json_escape(text)))
            return false;
    }
    return false;
}

/* Past the mark that closes the object or list that begins here. Only for text that is read again, and judged then. */
static inline bool json_skip(json_text *text)
{
    int depth = 0;
    bool quoted = false;
    while (text->at < text->end) {
        const unsigned char c = *text->at++;
        if (quoted) {
            if (c == '\\' && text->at < text->end)
                text->at++;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (++depth > 1000)
                return false;
        } else if ((c == '}' || c == ']') && --depth <= 0) {
            return depth == 0;
        }
    }
    return false;
}

/* ---- cards */

/* The card written in two bytes, or HEARTS_NO_CARD. */
static inline int json_card(const unsigned char *at)
{
    /* one more than the rank, and one more than 13 times the suit; 0 is neither */
    static const unsigned char ranks[256] = {
        ['2'] = 1, ['3'] = 2, ['4'] = 3, ['5'] = 4, ['6'] = 5, ['7'] = 6, ['8'] = 7, ['9'] = 8,
        ['T'] = 9, ['J'] = 10, ['Q'] = 11, ['K'] = 12, ['A'] = 13,
    };
    static const unsigned char suits[256] = {['C'] = 1, ['D'] = 14, ['S'] = 27, ['H'] = 40};
    const int rank = ranks[at[0]], suit = suits[at[1]];
    return rank && suit ? rank + suit - 2 : HEARTS_NO_CARD;
}

/* A card list, each card also added to `all`: how many there are, or -1, also for a third copy. */
static inline int json_cards(json_text *text, hearts_cards *cards, hearts_cards *all)
{
    int count = 0;
    if (!json_left(text, 2) || *text->at++ != '"')
        return -1;
    *cards = (hearts_cards){0, 0};
    if (*text->at == '"') {
        text->at++;
        return 0;
    }
    while (json_left(text, 3) && count < HEARTS_CARDS) {
        const int card = json_card(text->at);
        const unsigned char after = text->at[2];
        if (card < 0 || !hearts_add(cards, card) || !hearts_add(all, card))
            return -1;
        text->at += 3;
        count++;
        if (after == '"')
            return count;
        if (after != ' ')
            return -1;
    }
    return -1;
}

/* The cards of a list of at most `most` texts of one card each: how many there are, or -1. */
static inline int json_plays(json_text *text, int8_t *plays, int most)
{
    int count = 0;
    bool more;
    if (!json_open(text, '[', ']', &more))
        return -1;
    while (more) {
        if (count == most || !json_left(text, 5) || text->at[0] != '"' || text->at[3] != '"')
            return -1;
        const int card = json_card(text->at + 1);
        if (card < 0)
            return -1;
        plays[count++] = (int8_t)card;
        text->at += 4;
        /* the usual case, told apart for its speed: the next card follows without white space */
        if (text->at[0] == ',' && json_left(text, 2) && text->at[1] == '"')
            text->at++;
        else if (!json_more(text, ']', &more))
            return -1;
    }
    return count;
}

#endif
