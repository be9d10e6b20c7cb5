// The server's HTTP API. Paths are relative, so that the page works under any path that a proxy gives it.

/** Problem is an answer that says no: RFC 9457, with the SQLSTATE and the cure. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `The server answered ${status}.`);
    this.status = status;
    this.sqlstate = body.sqlstate;
    this.hint = body.hint;
  }
}

// The token stays in this tab and is sent as a header: there is nothing that a browser would send on its own.
const kept = "weir-token";
export const token = {
  get: () => sessionStorage.getItem(kept),
  set: (text) => sessionStorage.setItem(kept, text),
  forget: () => sessionStorage.removeItem(kept),
};

async function call(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: {
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...(token.get() && { Authorization: `Bearer ${token.get()}` }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  let value = {};
  try {
    value = text ? JSON.parse(text) : {};
  } catch {
    throw new Problem(response.status, {
      detail: `The server answered ${response.status} with something else than JSON.`,
    });
  }
  if (!response.ok) throw new Problem(response.status, value);
  return value;
}

const queuePath = (queue) => `v1/queues/${encodeURIComponent(queue)}`;
const groupPath = (queue, group) => `${queuePath(queue)}/groups/${encodeURIComponent(group)}`;
const schedulePath = (name) => `v1/schedules/${encodeURIComponent(name)}`;
const target = (queue, group) => (group ? groupPath(queue, group) : queuePath(queue));

export const api = {
  whoami: () => call("GET", "v1/whoami"),
  version: () => call("GET", "v1/version"),
  stats: (queue) =>
    call("GET", queue ? `v1/stats?queue=${encodeURIComponent(queue)}` : "v1/stats").then(
      (r) => r.groups ?? [],
    ),
  queues: () => call("GET", "v1/queues").then((r) => r.queues ?? []),
  queue: (queue) => call("GET", queuePath(queue)),
  groups: (queue) => call("GET", `${queuePath(queue)}/groups`).then((r) => r.groups ?? []),
  createQueue: (queue, settings) => call("PUT", queuePath(queue), settings),
  dropQueue: (queue) => call("DELETE", queuePath(queue)),
  createGroup: (queue, group, settings) => call("PUT", groupPath(queue, group), settings),
  dropGroup: (queue, group) => call("DELETE", groupPath(queue, group)),
  send: (queue, message) => call("POST", `${queuePath(queue)}/messages`, { messages: [message] }),
  peek: (queue, group, max) =>
    call("GET", `${groupPath(queue, group)}/peek?max=${max}`).then((r) => r.messages ?? []),
  dead: (queue, group, after, max) =>
    call("GET", `${groupPath(queue, group)}/dead_letters?after=${after}&max=${max}`).then(
      (r) => r.dead_letters ?? [],
    ),
  claims: (queue, group, max) =>
    call("GET", `${groupPath(queue, group)}/claims?max=${max}`).then((r) => r.claims ?? []),
  parkedKeys: (queue, group, max) =>
    call("GET", `${groupPath(queue, group)}/parked_keys?max=${max}`).then((r) => r.parked_keys ?? []),
  delayed: (queue, group, max) =>
    call("GET", `${groupPath(queue, group)}/delayed?max=${max}`).then((r) => r.messages ?? []),
  workflows: (queue, max) => call("GET", `${queuePath(queue)}/workflows?max=${max}`).then((r) => r.workflows ?? []),
  workflow: (queue, workflow) => call("GET", `${queuePath(queue)}/workflows/${workflow}`).then((r) => r.steps ?? []),
  schedules: (queue) =>
    call("GET", `v1/schedules?queue=${encodeURIComponent(queue)}`).then((r) => r.schedules ?? []),
  pauseSchedule: (name) => call("POST", `${schedulePath(name)}/pause`),
  resumeSchedule: (name) => call("POST", `${schedulePath(name)}/resume`),
  unschedule: (name) => call("DELETE", schedulePath(name)),
  redrive: (queue, group, which) => call("POST", `${groupPath(queue, group)}/redrive`, which),
  discard: (queue, group, which) => call("POST", `${groupPath(queue, group)}/discard`, which),
  pause: (queue, group) => call("POST", `${target(queue, group)}/pause`),
  resume: (queue, group) => call("POST", `${target(queue, group)}/resume`),
  purge: (queue, group) => call("POST", `${target(queue, group)}/purge`),
  seek: (queue, group, position) => call("POST", `${groupPath(queue, group)}/seek`, { position }),
};
