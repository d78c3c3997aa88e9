/* Two peers of the searching bot, each the plainest of its kind. They play on the kernel's rules, worlds and rules of thumb, so
 * that what is compared is the search alone; tests/bench/contest.py compiles them beside domain/kernel/asked.c.
 *
 * PIMC-UCT: worlds that agree with what the seat has seen, each searched with UCT as if all cards were open (max^n;
 * Sturtevant 2008), set up as the xinxin bot of OpenSpiel is. Flat: every card in the same worlds, equally often.
 */
#include <math.h>

#include "asked.h"
#include "terms.h"

enum { UCT_SIMULATIONS = 1000, POSITION_NUMBERS = 1024 };

static const double EXPLORE = 0.4; /* the constant of UCB1 */

typedef struct {
    int card, child; /* child: a node, or -1 before it is made */
    double visits, sum; /* sum: of what came of it for the seat that plays the card, 1 for no points */
} uct_edge;

typedef struct {
    uint64_t untried;
    int count;
    double visits;
    uct_edge edges[HEARTS_FACES];
} uct_node;

/* The card to go on with: an untried one, else that of the highest upper bound. */
static uct_edge *pick(uct_node *node)
{
    uct_edge *best = &node->edges[node->count];
    double most = -HUGE_VAL;
    if (node->untried) {
        const int card = hearts_highest(node->untried);
        node->untried &= ~HEARTS_BIT(card);
        node->count++;
        *best = (uct_edge){.card = card, .child = -1};
        return best;
    }
    for (int at = 0; at < node->count; at++) {
        uct_edge *edge = &node->edges[at];
        const double bound = edge->sum / edge->visits + EXPLORE * sqrt(log(node->visits) / edge->visits);
        if (bound > most) {
            most = bound;
            best = edge;
        }
    }
    return best;
}

/* One simulation: down the tree, one node more, a playout, and back. */
static void simulate(const search_position *at, hearts_hand hand, uct_node *nodes, int *used, uint64_t chance)
{
    uct_node *parents[HEARTS_CARDS];
    uct_edge *edges[HEARTS_CARDS];
    int seats[HEARTS_CARDS], depth = 0, node = 0;
    int64_t points[HEARTS_SEATS];
    while (hand.turn >= 0 && node >= 0) {
        uct_edge *edge = pick(&nodes[node]);
        parents[depth] = &nodes[node];
        edges[depth] = edge;
        seats[depth++] = hand.turn;
        hearts_lay(at->terms, &hand, edge->card);
        node = edge->child;
        if (node < 0) {
            edge->child = (*used)++;
            nodes[edge->child] =
                (uct_node){.untried = hand.turn >= 0 ? hearts_legal(at->terms, &hand) : 0};
        }
    }
    playout(at->terms, &at->facts, &hand, chance, 0);
    hearts_score(at->terms, &hand, at->totals, at->number, false, points);
    for (int step = 0; step < depth; step++) {
        parents[step]->visits++;
        edges[step]->visits++;
        edges[step]->sum += 1.0 - (double)points[seats[step]] / (double)at->unit;
    }
}

static bool read_position(PyObject *terms, const int64_t *numbers, size_t count, search_position *at)
{
    return count <= POSITION_NUMBERS && asked_position(&((terms_object *)terms)->terms, numbers, count, at);
}

/* The card that the worlds together visited most often; -1 for what is no position. */
int peer_uct(PyObject *terms, const int64_t *numbers, size_t count, int worlds, int simulations, uint64_t chance)
{
    static uct_node nodes[UCT_SIMULATIONS + 1];
    search_position at;
    double visits[HEARTS_FACES] = {0};
    int best = HEARTS_NO_CARD;
    if (!read_position(terms, numbers, count, &at) || simulations > UCT_SIMULATIONS)
        return HEARTS_NO_CARD;
    for (int world = 0; world < worlds; world++) {
        hearts_cards held[WORLD_HOLDERS];
        hearts_hand begin;
        int used = 1;
        if (!world_deal(&at.unseen, &chance, held))
            continue;
        search_enter(&at, &begin, held);
        nodes[0] = (uct_node){.untried = hearts_legal(at.terms, &begin)};
        for (int run = 0; run < simulations; run++)
            simulate(&at, begin, nodes, &used, world_random(&chance));
        for (int edge = 0; edge < nodes[0].count; edge++)
            visits[nodes[0].edges[edge].card] += nodes[0].edges[edge].visits;
    }
    for (uint64_t legal = hearts_legal(at.terms, &at.hand); legal; legal &= legal - 1) {
        const int card = hearts_lowest(legal);
        if (best < 0 || visits[card] > visits[best])
            best = card;
    }
    return best;
}

/* The card of the lowest mean points in `playouts` playouts, the same worlds and chance for each; -1 for what is no position. */
int peer_flat(PyObject *terms, const int64_t *numbers, size_t count, int64_t playouts, uint64_t chance)
{
    search_position at;
    int64_t sums[HEARTS_FACES] = {0};
    int best = HEARTS_NO_CARD;
    if (!read_position(terms, numbers, count, &at))
        return HEARTS_NO_CARD;
    const uint64_t legal = hearts_legal(at.terms, &at.hand);
    for (int64_t world = 0; world < playouts / hearts_bits(legal) + 1; world++) {
        hearts_cards held[WORLD_HOLDERS];
        hearts_hand begin;
        if (!world_deal(&at.unseen, &chance, held))
            continue;
        const uint64_t word = world_random(&chance);
        search_enter(&at, &begin, held);
        for (uint64_t left = legal; left; left &= left - 1) {
            int64_t points[HEARTS_SEATS];
            hearts_hand hand = begin;
            hearts_lay(at.terms, &hand, hearts_lowest(left));
            playout(at.terms, &at.facts, &hand, word, 0);
            hearts_score(at.terms, &hand, at.totals, at.number, false, points);
            sums[hearts_lowest(left)] += points[at.me];
        }
    }
    for (uint64_t left = legal; left; left &= left - 1)
        if (best < 0 || sums[hearts_lowest(left)] < sums[best])
            best = hearts_lowest(left);
    return best;
}
