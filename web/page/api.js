// The server's HTTP API. Paths are relative, so that the page works under any path that a proxy gives it.

import { parse, Raw, write } from "./json.js";
import { token } from "./token.js";

/** Problem is an answer that says no: RFC 9457, with the SQLSTATE and the cure. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `The server answered ${status}.`);
    this.status = status;
    this.sqlstate = body.sqlstate;
    this.hint = body.hint;
  }
}

let spent = 0;

/** spentMs returns how long all answers took that the server has given, without their way here where it says so. */
export const spentMs = () => spent;

async function call(method, path, body) {
  const began = performance.now();
  const response = await fetch(path, {
    method,
    headers: {
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...(token.get() && { Authorization: `Bearer ${token.get()}` }),
    },
    body: body === undefined ? undefined : write(body),
  });
  const took = response.headers.get("Server-Timing")?.match(/\btotal;dur=([\d.]+)/)?.[1];
  spent += Number(took ?? performance.now() - began);
  const text = await response.text();
  let value = {};
  try {
    value = text ? parse(text) : {};
  } catch {
    throw new Problem(response.status, {
      detail: `The server answered ${response.status} with something else than JSON.`,
    });
  }
  if (!response.ok) throw new Problem(response.status, value);
  return value;
}

const escaped = encodeURIComponent;
const queuePath = (queue) => `v1/queues/${escaped(queue)}`;
const groupPath = (queue, group) => `${queuePath(queue)}/groups/${escaped(group)}`;
const schedulePath = (name) => `v1/schedules/${escaped(name)}`;
const target = (queue, group) => (group ? groupPath(queue, group) : queuePath(queue));
const list = (path, name) => call("GET", path).then((answer) => answer[name] ?? []);

// which names dead letters; ids go as they came, also those that are too long for a number.
const which = (some) => (some.all ? some : { ids: new Raw(`[${some.ids.join(",")}]`) });

export const api = {
  whoami: () => call("GET", "v1/whoami"),
  version: () => call("GET", "v1/version"),
  stats: (...queues) => list(`v1/stats?${queues.map((q) => `queue=${escaped(q)}`).join("&")}`, "groups"),
  queues: () => list("v1/queues", "queues"),
  queue: (queue) => call("GET", queuePath(queue)),
  groups: (queue) => list(`${queuePath(queue)}/groups`, "groups"),
  createQueue: (queue, settings) => call("PUT", queuePath(queue), settings),
  dropQueue: (queue) => call("DELETE", queuePath(queue)),
  createGroup: (queue, group, settings) => call("PUT", groupPath(queue, group), settings),
  dropGroup: (queue, group) => call("DELETE", groupPath(queue, group)),
  send: (queue, message) => call("POST", `${queuePath(queue)}/messages`, { messages: [message] }),
  message: (queue, id) => call("GET", `${queuePath(queue)}/messages/${id}`),
  messages: (queue, ids) => list(`${queuePath(queue)}/messages?${ids.map((id) => `id=${id}`).join("&")}`, "messages"),
  peek: (queue, group, max) => list(`${groupPath(queue, group)}/peek?max=${max}`, "messages"),
  dead: (queue, group, after, max) =>
    list(`${groupPath(queue, group)}/dead_letters?after=${after}&max=${max}`, "dead_letters"),
  claims: (queue, group, max, after = 0) =>
    list(`${groupPath(queue, group)}/claims?max=${max}&after=${after}`, "claims"),
  parkedKeys: (queue, group, max) => list(`${groupPath(queue, group)}/parked_keys?max=${max}`, "parked_keys"),
  delayed: (queue, group, max) => list(`${groupPath(queue, group)}/delayed?max=${max}`, "messages"),
  workflows: (queue, max) => list(`${queuePath(queue)}/workflows?max=${max}`, "workflows"),
  workflow: (queue, workflow) => list(`${queuePath(queue)}/workflows/${workflow}`, "steps"),
  schedules: (queue) => list(`v1/schedules?queue=${escaped(queue)}`, "schedules"),
  pauseSchedule: (name) => call("POST", `${schedulePath(name)}/pause`),
  resumeSchedule: (name) => call("POST", `${schedulePath(name)}/resume`),
  unschedule: (name) => call("DELETE", schedulePath(name)),
  redrive: (queue, group, some) => call("POST", `${groupPath(queue, group)}/redrive`, which(some)),
  discard: (queue, group, some) => call("POST", `${groupPath(queue, group)}/discard`, which(some)),
  pause: (queue, group) => call("POST", `${target(queue, group)}/pause`),
  resume: (queue, group) => call("POST", `${target(queue, group)}/resume`),
  purge: (queue, group) => call("POST", `${target(queue, group)}/purge`),
  previewSeek: (queue, group, position) =>
    call("GET", `${groupPath(queue, group)}/seek?position=${escaped(position)}`),
  seek: (queue, group, position) => call("POST", `${groupPath(queue, group)}/seek`, { position }),
};
