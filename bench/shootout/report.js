"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const state = { view: data.views[0].name, figure: "main", scale: "linear", off: new Set() };

// h makes an element; children are elements or texts.
const h = (tag, attributes = {}, ...children) => {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) e.setAttribute(name, value);
  e.append(...children.filter((c) => c !== undefined && c !== null));
  return e;
};
const s = (tag, attributes = {}, ...children) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
};

// short writes a number in few characters, whole one that is counted.
const short = (v) => {
  if (v >= 1e6) return +(v / 1e6).toFixed(1) + "M";
  if (v >= 1e4) return +(v / 1e3).toFixed(1) + "k";
  return v >= 100 ? v.toFixed(0) : String(+v.toPrecision(3));
};
const whole = (v) => (v >= 100 ? Math.round(v).toLocaleString("en-US") : short(v));

const entrant = (row) => data.entrants[row.entrant];
const title = (e) => e.title + (state.view === "both" ? ` (${e.setting})` : "");
const colour = (e) => `--c: var(--${e.system}, #868e96)`;
const inView = (row) => entrant(row).views.includes(state.view);
const shown = (row) => inView(row) && !state.off.has(row.entrant);
const has = (row, key) => row.figures !== undefined && row.figures[key] !== undefined;
const [median, low, high] = [(v) => v[0], (v) => v[1] ?? v[0], (v) => v[2] ?? v[0]];
const figures = new Map(data.figures.map((f) => [f.key, f]));

// standing compares the better of Weir's entrants with the best of the others, in all rows of the view.
const standing = (card, key) => {
  const best = (own) =>
    card.rows
      .filter((r) => inView(r) && has(r, key) && median(r.figures[key]) > 0 && entrant(r).own === own)
      .sort((a, b) => (median(b.figures[key]) - median(a.figures[key])) * (figures.get(key).more ? 1 : -1))[0];
  const own = best(true),
    other = best(false);
  if (!own || !other) return null;
  const ratio = median(own.figures[key]) / median(other.figures[key]);
  return { ratio, lead: figures.get(key).more ? ratio : 1 / ratio, own: entrant(own), other: entrant(other) };
};
const mainKey = (card) => (card.rate ? "p50" : "rate");

// noteOf finds the note about a system, for a link.
const notes = [...document.querySelectorAll(".note")];
notes.forEach((n, i) => {
  n.id = "note-" + i;
});
const noteOf = (name) =>
  notes.find((n) => n.dataset.names.split("|").includes(name.toLowerCase()))?.id ?? (notes.length ? "notes" : "");

const pill = (card, key) => {
  const found = standing(card, key);
  if (!found) return null;
  const more = figures.get(key).more,
    what = key === "rate" ? "" : figures.get(key).name + " of ";
  const text = `${what}${found.own.title}: ${found.ratio.toFixed(2)} × ${found.other.title}`;
  if (found.lead >= 1)
    return h("span", { class: "pill ahead", title: more ? "more is better" : "less is better" }, text);
  const note = noteOf(found.other.title);
  return h(
    note ? "a" : "span",
    { class: "pill behind", href: note ? "#" + note : undefined },
    text,
    note ? " · why" : "",
  );
};

// An axis places values between 0 and 1.
const axisOf = (values, log) => {
  const top = Math.max(...values, 1e-9);
  if (!log) return { place: (v) => v / top, ticks: [] };
  const bottom = 10 ** Math.floor(Math.log10(Math.max(Math.min(...values.filter((v) => v > 0)), top / 1e6)));
  const span = Math.log10(top / bottom) || 1,
    ticks = [];
  for (let v = bottom; v <= top * 1.0001; v *= 10) ticks.push(v);
  if (ticks.length < 3) for (const v of [...ticks]) for (const k of [2, 5]) if (v * k <= top) ticks.push(v * k);
  return { place: (v) => Math.max(0, Math.log10(Math.max(v, bottom) / bottom) / span), ticks };
};

const percent = (x) => (100 * x).toFixed(2) + "%";

// barChart draws items {entrant, value, low, high, tail, text, note}; with a tail, or on a logarithmic scale, dots.
const barChart = (items, unit, log) => {
  const dots = log || items.some((b) => b.tail);
  const axis = axisOf(
    items.flatMap((b) => [b.value, b.low, b.high]),
    dots,
  );
  const room = Math.max(...items.map((b) => b.text.length)) * 7 + 12;
  const box = h("div", { class: "bars", style: `--room: ${room}px` });
  for (const b of items) {
    const at = axis.place(b.value),
      track = h("span", { class: "track" });
    for (const t of axis.ticks) track.append(h("s", { style: `left: ${percent(axis.place(t))}` }));
    if (b.high > b.low) {
      const from = axis.place(b.low),
        style = `left: ${percent(from)}; width: ${percent(axis.place(b.high) - from)}`;
      track.append(h("u", { class: b.tail ? "tail" : undefined, style }));
    }
    track.append(
      h("i", dots ? { class: "dot", style: `left: ${percent(at)}` } : { style: `width: max(1px, ${percent(at)})` }),
    );
    if (!dots && b.high > b.low) track.append(track.querySelector("u")); // over the bar
    track.append(h("span", { style: `left: ${percent(Math.max(at, axis.place(b.high)))}` }, b.text));
    box.append(
      h(
        "div",
        { class: "bar" + (b.entrant.own ? " own" : ""), style: colour(b.entrant), title: b.note },
        h("span", { class: "label", title: b.note }, title(b.entrant) + (b.free ? " °" : "")),
        track,
      ),
    );
  }
  if (axis.ticks.length) {
    const track = h("span", { class: "track" });
    for (const t of axis.ticks) track.append(h("span", { style: `left: ${percent(axis.place(t))}` }, short(t)));
    box.append(h("div", { class: "ticks" }, h("span"), track));
  }
  return [h("div", { class: "unit" }, unit), box];
};

const spread = (v, digits = short) =>
  digits(median(v)) + (v.length > 1 ? ` (${digits(low(v))} – ${digits(high(v))})` : "");

// bars shows a figure of a card, the best first.
const bars = (card, key) => {
  const figure = figures.get(key),
    rows = card.rows.filter((r) => shown(r) && has(r, key));
  if (!rows.length) return [];
  const rated = card.rate && key === "p50" && state.figure === "main";
  const items = rows.map((r) => {
    const e = entrant(r),
      v = r.figures[key],
      note = `${e.title} (${e.setting}), ${figure.name}: ${spread(v)} ${figure.unit}`;
    if (rated) {
      const tail = median(r.figures.p99 ?? v);
      return {
        entrant: e,
        value: median(v),
        low: median(v),
        high: tail,
        tail: true,
        note,
        text: `${short(median(v))}, p99 ${short(tail)}`,
      };
    }
    return {
      entrant: e,
      value: median(v),
      low: low(v),
      high: high(v),
      note,
      free: card.asks && e.free,
      text: whole(median(v)) + (r.workers ? ` · ${r.workers} w` : ""),
    };
  });
  items.sort((a, b) => (b.value - a.value) * (figure.more ? 1 : -1));
  return barChart(
    items,
    rated ? "latency, ms: p50, and the line to p99" : `${figure.name}, ${figure.unit}`,
    state.scale === "log",
  );
};

const niceStep = (span) => {
  const power = 10 ** Math.floor(Math.log10(span || 1));
  return [0.2, 0.5, 1, 2, 5].map((k) => k * power).find((step) => span / step <= 6) ?? power;
};

// scale is one direction of a line chart.
const scale = (values, log, from, to) => {
  const top = Math.max(...values),
    ticks = [];
  let bottom = 0;
  if (log) {
    bottom = Math.max(Math.min(...values), top / 1e5, 1e-3);
    for (let d = 10 ** Math.floor(Math.log10(bottom)); d <= top; d *= 10) {
      for (const k of top / bottom > 500 ? [1] : [1, 2, 5])
        if (d * k >= bottom * 0.999 && d * k <= top * 1.001) ticks.push(d * k);
    }
  } else for (let v = 0, step = niceStep(top); v <= top * 1.001; v += step) ticks.push(v);
  const part = log
    ? (v) => Math.log(Math.max(v, bottom) / bottom) / (Math.log(top / bottom) || 1)
    : (v) => v / (top || 1);
  return { ticks, at: (v) => from + (to - from) * part(v) };
};

// lineChart draws lines {entrant, points} with their names at their ends, none over another.
const lineChart = (lines, xName, yName, xLog, yLog) => {
  const width = Math.min(560, innerWidth - 50),
    top = 24,
    left = 46; // letters keep their size
  const names = Math.max(...lines.map((l) => title(l.entrant).length));
  const height = Math.max(280, lines.length * 12 + 70),
    right = width - names * 5.8 - 18,
    bottom = height - 34;
  const all = lines.flatMap((l) => l.points);
  const x = scale(
      all.map((p) => p[0]),
      xLog,
      left,
      right,
    ),
    y = scale(
      all.map((p) => p[1]),
      yLog,
      bottom,
      top,
    );
  const picture = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `${yName} over ${xName}`,
  });
  for (const v of y.ticks) {
    picture.append(
      s("path", { class: "grid", d: `M${left} ${y.at(v)} H${right}` }),
      s("text", { x: left - 6, y: y.at(v) + 4, "text-anchor": "end" }, short(v)),
    );
  }
  let last = -100;
  for (const v of x.ticks) {
    if (x.at(v) - last < 26) continue;
    last = x.at(v);
    picture.append(s("text", { x: last, y: bottom + 15, "text-anchor": "middle" }, short(v)));
  }
  picture.append(
    s("text", { x: right, y: height - 4, "text-anchor": "end" }, xName),
    s("text", { x: 4, y: 12 }, yName),
  );
  const ends = lines
    .map((l) => ({ l, end: l.points[l.points.length - 1] }))
    .map((e) => ({ ...e, want: y.at(e.end[1]) }))
    .sort((a, b) => a.want - b.want);
  let free = top - 6;
  for (const e of ends) free = (e.y = Math.max(e.want, free)) + 12;
  let most = bottom + 6;
  for (const e of [...ends].reverse()) most = (e.y = Math.min(e.y, most)) - 12;
  for (const { l, end, y: labelY } of ends) {
    const item = s("g", { class: "item" + (l.entrant.own ? " own" : ""), style: colour(l.entrant) });
    item.append(
      s("polyline", {
        class: "line",
        points: l.points.map((p) => `${x.at(p[0]).toFixed(1)},${y.at(p[1]).toFixed(1)}`).join(" "),
      }),
    );
    for (const p of l.points) {
      item.append(
        s(
          "circle",
          { cx: x.at(p[0]), cy: y.at(p[1]), r: 2.6 },
          s("title", {}, `${title(l.entrant)}: ${short(p[1])} at ${short(p[0])}`),
        ),
      );
    }
    item.append(
      s("path", { class: "lead", d: `M${x.at(end[0])} ${y.at(end[1])} L${right + 8} ${labelY}` }),
      s("text", { x: right + 11, y: labelY + 4 }, title(l.entrant)),
    );
    picture.append(item);
  }
  return picture;
};

const linesOf = (card, field, value) =>
  card.rows
    .filter((r) => shown(r) && r[field]?.length)
    .map((r) => ({ entrant: entrant(r), points: r[field].map((p) => [p[0], value(p)]) }));

const storageLines = (card, what, value) => {
  const lines = linesOf(card, "storage", value);
  return lines.length ? [lineChart(lines, "seconds", what, false, state.scale === "log")] : [];
};

// charts of a card for the figure that was chosen.
const charts = (card) => {
  if (state.figure === "storage-time") {
    return [...storageLines(card, "MB of tables", (p) => p[1]), ...storageLines(card, "MB of indexes", (p) => p[2])];
  }
  if (state.figure !== "main") return bars(card, state.figure);
  const all = bars(card, mainKey(card)),
    ramps = linesOf(card, "ramp", (p) => p[1]).filter((l) => l.points.length > 1);
  const rates = ramps.flatMap((l) => l.points.map((p) => p[1]));
  const apart = Math.max(...rates) > 30 * Math.min(...rates); // most would lie on the axis
  if (ramps.length) all.push(lineChart(ramps, "workers", "jobs a second", true, apart || state.scale === "log"));
  if (card.watch) all.push(...storageLines(card, "MB of tables and indexes", (p) => p[1] + p[2]));
  return all;
};

const tableOf = (card) => {
  const rows = card.rows.filter((r) => shown(r) && r.figures);
  const columns = data.figures.filter((f) => rows.some((r) => has(r, f.key)));
  const table = h(
    "table",
    {},
    h(
      "tr",
      {},
      ...["system", "version", ...columns.map((f) => `${f.name}, ${f.unit}`), "lost, twice, disordered"].map((t) =>
        h("th", {}, t),
      ),
    ),
  );
  for (const r of rows) {
    const cell = (f) => {
      const v = r.figures[f.key];
      if (!v) return h("td");
      return h(
        "td",
        {},
        whole(median(v)),
        v.length > 1 ? h("small", {}, `${whole(low(v))} – ${whole(high(v))}`) : null,
      );
    };
    const e = entrant(r);
    table.append(
      h(
        "tr",
        e.own ? { class: "own" } : {},
        h("td", {}, `${e.title} (${e.setting})`),
        h("td", {}, r.version ?? ""),
        ...columns.map(cell),
        h("td", {}, r.faults ?? ""),
      ),
    );
  }
  return h("div", { class: "scroll" }, table);
};

const cardOf = (card) => {
  const rows = card.rows.filter(inView);
  if (!rows.length || (state.view === "default" && !card.twice)) return null;
  const drawn = charts(card);
  if (!drawn.length && state.figure !== "main") return null;
  const key = state.figure === "main" ? mainKey(card) : state.figure;
  const box = h(
    "div",
    { class: "card", id: card.name },
    h("div", { class: "head" }, h("h3", {}, card.name), figures.has(key) ? pill(card, key) : null),
    h("p", {}, card.about),
    ...drawn,
  );
  for (const r of rows)
    if (r.faulty) box.append(h("p", { class: "no" }, `Lost, twice, out of order: ${title(entrant(r))} ${r.faults}.`));
  const none = rows.filter((r) => r.outcome === "no").map((r) => title(entrant(r)));
  if (card.asks && rows.some((r) => shown(r) && r.figures && entrant(r).free)) {
    box.append(h("p", { class: "no" }, "°: takes as many messages a call as it likes."));
  }
  if (none.length) box.append(h("p", { class: "no" }, `Have no such thing: ${none.join(", ")}.`));
  for (const r of rows)
    if (r.outcome === "failed")
      box.append(h("p", { class: "no bad" }, `Failed: ${title(entrant(r))}: … ${r.failed}`));
  const details = h("details", {}, h("summary", {}, "All figures, with their spread"));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(tableOf(card));
  });
  if (rows.some((r) => r.figures)) box.append(details);
  return box;
};

const cards = data.sections.flatMap((section) => section.cards);
const named = (name) => cards.find((c) => c.name === name);

// byLoad shows how latency goes with the load.
const byLoad = () => {
  const steady = cards
    .filter((c) => c.steady && (state.view !== "default" || c.twice))
    .sort((a, b) => a.rate - b.rate);
  if (steady.length < 2) return null;
  const box = h(
    "div",
    { class: "card", id: "latency-by-load" },
    h("h3", {}, "latency by load"),
    h("p", {}, "Open loops of a steady rate; both directions logarithmic."),
  );
  for (const [key, name] of [
    ["p50", "p50, ms"],
    ["p99", "p99, ms"],
  ]) {
    const lines = data.entrants.map((e, i) => ({
      entrant: e,
      points: steady.flatMap((c) =>
        c.rows.filter((r) => r.entrant === i && shown(r) && has(r, key)).map((r) => [c.rate, median(r.figures[key])]),
      ),
    }));
    const some = lines.filter((l) => l.points.length);
    if (some.length) box.append(lineChart(some, "messages a second", name, true, true));
  }
  return box;
};

// heldRatio shows the rate beside a held transaction over that without.
const heldRatio = () => {
  const free = named("held-free");
  if (!free) return null;
  const charts = [];
  for (const by of ["reader", "writer"]) {
    const items = [];
    for (const r of named("held-" + by)?.rows ?? []) {
      const base = free.rows.find((f) => f.entrant === r.entrant);
      if (!shown(r) || !has(r, "rate") || !base || !has(base, "rate")) continue;
      const value = median(r.figures.rate) / median(base.figures.rate);
      items.push({
        entrant: entrant(r),
        value,
        low: value,
        high: value,
        text: value.toFixed(2),
        note: `beside a ${by}: ${value.toFixed(3)}`,
      });
    }
    if (items.length)
      charts.push(
        ...barChart(
          items.sort((a, b) => b.value - a.value),
          `beside a ${by}, of the rate without`,
          false,
        ),
      );
  }
  if (!charts.length) return null;
  return h(
    "div",
    { class: "card", id: "held" },
    h("h3", {}, "held transaction"),
    h("p", {}, "What an open transaction leaves of the rate."),
    ...charts,
  );
};

// showStanding draws the lead over the best other in each workload.
const showStanding = () => {
  const chosen = ["main", "storage-time"].includes(state.figure) ? null : state.figure;
  const name = chosen ? figures.get(chosen).name : "rate, and of latency p50";
  by("standing-about").textContent =
    `The better of Weir's entrants beside the best of all others: ${name}. Right of the line ` +
    "Weir is ahead, by that factor; left of it behind. Press a workload for its chart.";
  const parts = [],
    leads = [];
  for (const section of data.sections) {
    const rows = section.cards
      .filter((c) => state.view !== "default" || c.twice)
      .map((card) => ({ card, found: standing(card, chosen ?? mainKey(card)) }))
      .filter((r) => r.found);
    if (rows.length) parts.push({ section, rows });
    leads.push(...rows.map((r) => r.found.lead));
  }
  const most = Math.max(2, ...leads.map((l) => Math.max(l, 1 / l))),
    place = (v) => 0.5 + Math.log(v) / Math.log(most) / 2;
  const columns = h("div", { class: "columns" });
  for (const { section, rows } of parts) {
    const box = h("div", { class: "bars", style: "--room: 46px" });
    for (const { card, found } of rows) {
      const from = Math.min(0.5, place(found.lead)),
        to = Math.max(0.5, place(found.lead));
      const tone = `--c: var(--${found.lead >= 1 ? "good" : "bad"})`;
      const note = `${found.own.title}: ${found.lead.toFixed(2)} times as good as ${found.other.title}`;
      box.append(
        h(
          "div",
          { class: "bar own", style: tone, title: note },
          h("a", { class: "label", href: "#" + card.name, style: "font-weight: 400" }, card.name),
          h(
            "span",
            { class: "track", title: note },
            h("s", { class: "one", style: "left: 50%" }),
            h("i", { style: `left: ${percent(from)}; width: max(2px, ${percent(to - from)})` }),
            h("span", { style: "left: 100%" }, found.lead.toFixed(2)),
          ),
        ),
      );
    }
    columns.append(h("div", { class: "part" }, h("h3", {}, section.name), box));
  }
  by("standing").replaceChildren(columns);
};

// showTiles counts the workloads in which nobody is better than Weir.
const showTiles = () => {
  by("tiles").replaceChildren(
    ...[
      ["rate", "rates"],
      ["p50", "p50"],
      ["server_cpu", "server CPU"],
      ["wal", "WAL"],
    ].flatMap(([key, name]) => {
      const found = cards
        .filter((c) => (state.view !== "default" || c.twice) && (key === "rate" ? !c.rate : key !== "p50" || c.rate))
        .map((c) => standing(c, key))
        .filter(Boolean);
      if (!found.length) return [];
      const ahead = found.filter((f) => f.lead >= 1).length;
      return [
        h(
          "div",
          { class: "tile" },
          h("b", {}, `${ahead} of ${found.length}`),
          h("span", {}, `workloads in which nobody's ${name} ${name === "rates" ? "are" : "is"} better`),
        ),
      ];
    }),
  );
};

const show = () => {
  showTiles();
  showStanding();
  by("legend").replaceChildren(
    ...data.entrants.flatMap((e, i) => {
      if (!e.views.includes(state.view)) return [];
      const button = h("button", { "aria-pressed": String(!state.off.has(i)), style: colour(e) }, h("i"), title(e));
      button.addEventListener("click", () => {
        state.off.has(i) ? state.off.delete(i) : state.off.add(i);
        show();
      });
      return [button];
    }),
  );
  by("sections").replaceChildren(
    ...data.sections.flatMap((section) => {
      const boxes = section.cards.map(cardOf);
      if (state.figure === "main" && section.cards.some((c) => c.steady)) boxes.push(byLoad());
      if (state.figure === "main" && section.cards.some((c) => c.name === "held-free")) boxes.push(heldRatio());
      const some = boxes.filter(Boolean);
      return some.length ? [h("section", {}, h("h2", {}, section.name), h("div", { class: "cards" }, ...some))] : [];
    }),
  );
};

// choice fills a group of buttons; one alone is no choice.
const choice = (id, options) => {
  if (options.length < 2) return;
  const buttons = options.map(([value, text]) => {
    const button = h("button", { "data-value": value }, text);
    button.addEventListener("click", () => {
      state[id] = value;
      press();
      show();
    });
    return button;
  });
  const press = () => buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.value === state[id])));
  by(id).replaceChildren(...buttons);
  press();
};

choice(
  "view",
  data.views.map((v) => [v.name, v.title]),
);
choice("scale", [
  ["linear", "linear"],
  ["log", "logarithmic"],
]);
by("figure").append(
  h("option", { value: "main" }, "rate and latency"),
  ...data.figures.map((f) => h("option", { value: f.key }, f.name)),
  h("option", { value: "storage-time" }, "storage over time"),
);
by("figure").addEventListener("change", (event) => {
  state.figure = event.target.value;
  show();
});
show();
let drawn = innerWidth;
addEventListener("resize", () => {
  if (Math.min(innerWidth, 610) !== Math.min(drawn, 610)) show();
  drawn = innerWidth;
});
