/* Lines of published events that every reader of JSON reads alike, told in one pass. Knows nothing of Python.
 *
 * A line passes that is written as the house writes it: compact, keys without escapes, each once in its object, whole
 * numbers of at most 15 digits. What does not pass may still be sound: services/plain_json.py judges it, and tells what is
 * wrong with it; tests/services/test_plain_json.py holds the two together.
 */
#ifndef HEARTS_PLAIN_H
#define HEARTS_PLAIN_H

#include <stddef.h>
#include <string.h>

#include "json.h"

enum {
    PLAIN_KEYS = 48,  /* keys of an object at most: a rule set has 33 */
    PLAIN_LEVELS = 8, /* objects and lists within each other at most */
    PLAIN_BYTES = 1 << 16, /* of a line at most, so that it has no more values either */
};

typedef struct {
    const unsigned char *at;
    ptrdiff_t length;
} plain_name;

static bool plain_value(json_text *text, int levels);

/* Whether a key changes how the fields beside it are read. */
static inline bool plain_is_special(plain_name key)
{
    return (key.length == 1 && *key.at == 'v') || (key.length == 6 && memcmp(key.at, "hidden", 6) == 0);
}

/* A key and its colon, if none of the `count` ones before is the same. */
static inline bool plain_key(json_text *text, plain_name *keys, int count)
{
    if (count == PLAIN_KEYS || !json_left(text, 1) || *text->at++ != '"')
        return false;
    const unsigned char *start = text->at;
    while (text->at < text->end && *text->at != '"') {
        if (*text->at < 0x20 || *text->at > 0x7E || *text->at == '\\')
            return false;
        text->at++;
    }
    const plain_name key = {start, text->at - start};
    if (!json_left(text, 2) || text->at[1] != ':' || plain_is_special(key))
        return false;
    for (int other = 0; other < count; other++)
        if (keys[other].length == key.length && memcmp(keys[other].at, start, (size_t)key.length) == 0)
            return false;
    keys[count] = key;
    text->at += 2;
    return true;
}

/* A comma (more follows) or the closing mark, and no space around it. */
static inline bool plain_more(json_text *text, char close, bool *more)
{
    if (!json_left(text, 1))
        return false;
    *more = *text->at == ',';
    return *text->at++ == (unsigned char)close || *more;
}

/* Behind the opening mark: whether the object or list is empty, and then past its end. */
static inline bool plain_empty(json_text *text, char close)
{
    if (!json_left(text, 1) || *text->at != (unsigned char)close)
        return false;
    text->at++;
    return true;
}

static bool plain_object(json_text *text, int levels)
{
    plain_name keys[PLAIN_KEYS];
    int count = 0;
    bool more = !plain_empty(text, '}');
    while (more)
        if (!plain_key(text, keys, count++) || !plain_value(text, levels) || !plain_more(text, '}', &more))
            return false;
    return true;
}

static bool plain_list(json_text *text, int levels)
{
    bool more = !plain_empty(text, ']');
    while (more)
        if (!plain_value(text, levels) || !plain_more(text, ']', &more))
            return false;
    return true;
}

static bool plain_value(json_text *text, int levels)
{
    int64_t number;
    if (levels == 0 || !json_left(text, 1))
        return false;
    switch (*text->at) {
    case '"':
        return json_string(text);
    case '{':
        text->at++;
        return plain_object(text, levels - 1);
    case '[':
        text->at++;
        return plain_list(text, levels - 1);
    case 't':
        return json_word(text, "true");
    case 'f':
        return json_word(text, "false");
    case 'n':
        return json_word(text, "null");
    default:
        return json_number(text, &number);
    }
}

/* Whether the line begins with the event's number and then its name. */
static inline bool plain_is_numbered(json_text text, int64_t expected)
{
    int64_t number;
    return json_word(&text, "{\"n\":") && json_number(&text, &number) && number == expected &&
           json_word(&text, ",\"t\":");
}

/* Whether all lines, joined by line ends, are plain, and numbered in order from `first` on. */
static inline bool plain_lines(const char *lines, size_t length, int64_t first)
{
    json_text text = {(const unsigned char *)lines, (const unsigned char *)lines + length};
    for (int64_t number = first;; number++) {
        const unsigned char *start = text.at;
        if (!plain_is_numbered(text, number) || !plain_value(&text, PLAIN_LEVELS))
            return false;
        if (text.at - start > PLAIN_BYTES)
            return false;
        if (text.at == text.end)
            return true;
        if (*text.at++ != '\n')
            return false;
    }
}

#endif
