/** How groups stand: to their queue, and to one message. */

import type { Row } from "./database.js";

/** What is known of how a group stands to a message; what is not known is left out. */
export interface Standing {
  /** Deliveries so far. */
  readonly attempts?: number;
  /** The claim that has it, or had it until its lease ended. */
  readonly claimId?: string;
  /** When it was claimed, parked or given up. */
  readonly since?: Date;
  /** When the lease ends, or it is due. */
  readonly until?: Date;
  /** The session that received it. */
  readonly pid?: number;
  /** The message of its key that is first. */
  readonly behind?: string;
  /** Why it is delivered again, or no more. */
  readonly reason?: string;
}

/** How a group stands. */
export interface GroupStats {
  readonly queue: string;
  readonly group: string;
  /** Messages that could be delivered now, limits and pauses apart. */
  readonly waiting: number;
  /** Of these: messages of claims whose lease has ended. */
  readonly expired: number;
  /** Messages under a claim whose lease goes on. */
  readonly claimed: number;
  /** Messages that are not due: delayed ones and retries. */
  readonly delayed: number;
  /** Of an ordered group: messages behind others of their key. */
  readonly parked: number;
  readonly dead: number;
  /** How long the first that waits could have been delivered, in seconds; null when nothing waits. */
  readonly oldestAgeS: number | null;
  /** Whether the numbers of messages are counts; else some of them are estimates. */
  readonly exact: boolean;
  /** Messages sent to the queue a second, over the last minute at most. */
  readonly sentRate: number;
  /** Messages delivered to the group a second, likewise. */
  readonly deliveredRate: number;
  /** When the group was last delivered something; null when that is not known any more. */
  readonly deliveredAt: Date | null;
  /** Of its last claims, the leases that ended and were given to others. */
  readonly expiries: number;
  /** The key that has most of what waits in order. */
  readonly hotKey: string | null;
  /** The share of that which it has, 0 to 1. */
  readonly hotKeyShare: number | null;
  /** The limit that holds the group back. */
  readonly heldBy: "concurrency" | "rate" | "key_concurrency" | null;
  /** Lanes of the queue's keys. */
  readonly lanes: number;
  /** The log that the queue is in; what follows is about this log. */
  readonly log: string;
  /** Its closed segments that wait for this group. */
  readonly heldSegments: number;
  /** Its segments in use. */
  readonly segments: number;
  /** Its tables and indexes. */
  readonly bytes: number;
  /** What keeps its oldest closed segment, or the group. */
  readonly blockedBy: string | null;
  /** Process id, when that is a session. */
  readonly blockerPid: number | null;
  /** How long its transaction has been open, in seconds. */
  readonly blockerAgeS: number | null;
  /** Its last statement, as far as it may be seen. */
  readonly blockerQuery: string | null;
}

/** The details of a stored message, as they were read as JSON. */
export function standings(details: Row): Record<string, Standing> {
  return Object.fromEntries(Object.entries(details).map(([group, known]) => [group, standing(known as Row)]));
}

function standing({ claim_id, since, until, behind, ...rest }: Row): Standing {
  return {
    ...rest,
    ...(claim_id !== undefined && { claimId: String(claim_id) }),
    ...(since !== undefined && { since: new Date(since as string) }),
    ...(until !== undefined && { until: new Date(until as string) }),
    ...(behind !== undefined && { behind: String(behind) }),
  };
}

const maybeNumber = (value: unknown) => (value === null ? null : Number(value));

/** How a group stands, from a row of stats or its JSON. */
export function groupStats(g: Row): GroupStats {
  return {
    queue: g.queue as string,
    group: g.group as string,
    waiting: Number(g.waiting),
    expired: Number(g.expired),
    claimed: Number(g.claimed),
    delayed: Number(g.delayed),
    parked: Number(g.parked),
    dead: Number(g.dead),
    oldestAgeS: Number(g.waiting) > 0 ? maybeNumber(g.oldest_age_s) : null,
    exact: g.exact as boolean,
    sentRate: Number(g.sent_rate),
    deliveredRate: Number(g.delivered_rate),
    deliveredAt: g.delivered_at === null ? null : new Date(g.delivered_at as string),
    expiries: Number(g.expiries),
    hotKey: g.hot_key as string | null,
    hotKeyShare: maybeNumber(g.hot_key_share),
    heldBy: g.held_by as GroupStats["heldBy"],
    lanes: Number(g.lanes),
    log: g.log as string,
    heldSegments: Number(g.held_segments),
    segments: Number(g.segments),
    bytes: Number(g.bytes),
    blockedBy: g.blocked_by as string | null,
    blockerPid: maybeNumber(g.blocker_pid),
    blockerAgeS: maybeNumber(g.blocker_age_s),
    blockerQuery: g.blocker_query as string | null,
  };
}
