/** The paths of a server's routes. */

import type { GroupPath } from "./types.js";

/** The path of a queue. */
export function queuePath(queue: string): string {
  return `/v1/queues/${encodeURIComponent(queue)}`;
}

/** The path of a group. */
export function groupPath(at: GroupPath): string {
  return `${queuePath(at.queue)}/groups/${encodeURIComponent(at.group)}`;
}

/** The query of a path: what is undefined is left out. */
export function query(fields: Record<string, string | number | undefined>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return given.length === 0
    ? ""
    : `?${new URLSearchParams(given.map(([k, v]): [string, string] => [k, String(v)]))}`;
}
