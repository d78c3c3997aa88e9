// @ts-check
/** What the server sends, as far as the page reads it: docs/spec/http.md. */

/** @typedef {{ seat: number, card: string }} Laid a card of a trick */
/** @typedef {{ seat: number, kind: "player" | "bot" | "open", name: string, ready: boolean, cards: number, taken: number, passed: boolean, player: string | null, away: boolean, returning: boolean, won: string }} Seat */
/** @typedef {{ hand: number, points: number[], totals: number[], pass_offset?: number, moon?: number | null }} Hand a finished hand; who has just heard its points does not know the rest yet */
/** @typedef {{ points: number[], totals: number[], over: boolean, winners: number[] }} Outcome what a moon choice would lead to */
/** @typedef {{ tricks: number, points: number[] | null }} Claim what a claim would bring */
/** @typedef {{ variant: string, players: number, pass_count: number, target: number, hand: number, cancel?: boolean, partners?: string }} Rules as far as the page shows them; what follows from them is told by the server */
/**
 * @typedef {{ id: string, seq: number, status: "open" | "playing" | "over", phase: "seats" | "pass" | "play" | "moon" | "over", variant: string, rules: Rules,
 *   seats: Seat[], hand_number: number, pass_offset: number, turn: number | null, deadline: number | null, hearts_broken: boolean,
 *   trick: Laid[], last_trick: Laid[], last_winner: number | null, totals: number[], hands: Hand[], winners: number[],
 *   you?: number, hand?: string, received?: string, legal?: string, given?: string, invitations?: { seat: number, code: string }[],
 *   moon?: { add: Outcome, subtract: Outcome }, claim?: Claim, pass_to?: number | null, counting: string, places: number[], reason: string | null, rated: boolean, hints: boolean, clock: number | null, imported?: boolean, branch?: object }} Table
 */
/** @typedef {{ seq: number, head: string, event: string, private: Record<string, string> | null }} Item an event as it comes: `event` is its stored JSON */
/** @typedef {{ t: string, seat?: number | null, card?: string, hand?: number, by?: string, choice?: string, points?: number[], totals?: number[], reason?: string }} GameEvent */
/** @typedef {{ name: string, title: string, summary: string, players: number[], rules: Rules }} Variant */
/** @typedef {{ id: string, status: string, phase: string, variant: string, players: number, seats: { seat: number, kind: string, player: string | null, name: string }[], hand_number: number, totals: number[], winners: number[], updated_at: number }} Summary a game in a list */

/** The cards of a card list. @param {string | undefined} list */
export const cardsOf = (list) => (list ? list.split(" ") : []);
