"use strict";

/* The rank sends its last ten minutes once, then one message a second with the state of the job. */

const KEPT_MILLIS = 600000;
const SHORTEST_MILLIS = 60000;
const MANY_RANKS = 16;
const STALE_MILLIS = 5000;
const RETRY_MILLIS = 3000;
const MARKED = ["generation", "lost", "broken"];
let samples = [];
let events = [];
const find = (id) => document.getElementById(id);
const signs = {
  up: "● up", waiting: "◐ waits", missing: "▲ missing", silent: "◌ silent",
  lost: "✕ lost", left: "○ left",
};
let lastMessage = Date.now();
let source;

function text(id, value) {
  const element = find(id);
  if (element.textContent !== value) {
    element.textContent = value;
  }
}

function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000;
    at++;
  }
  return (at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)) + " " + units[at];
}

function time(micros) {
  if (micros < 1000) return Math.round(micros) + " µs";
  if (micros < 1e6) return (micros / 1000).toFixed(1) + " ms";
  return (micros / 1e6).toFixed(1) + " s";
}

function duration(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return whole + " s";
  if (whole < 3600) return Math.floor(whole / 60) + " min" + (whole % 60 ? " " + whole % 60 + " s" : "");
  return Math.floor(whole / 3600) + " h " + Math.floor(whole % 3600 / 60) + " min";
}

function count(value) {
  if (value >= 1e6) return (value / 1e6).toPrecision(3) + " M";
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

const percentage = (share) => (100 * share).toFixed(1) + " %";

const charts = {
  loss: { value: (sample) => sample.loss, format: (value) => value.toPrecision(3) },
  samples: { value: (sample) => sample.samplesPerSecond, format: count },
  bandwidth: { value: (sample) => sample.bytesPerSecond, format: (value) => bytes(value) + "/s" },
  skew: { value: (sample) => sample.skewMicros, format: time },
};

function keep(sample) {
  if (sample && (samples.length === 0 || sample.atMillis > samples[samples.length - 1].atMillis)) {
    samples.push(sample);
  }
  while (samples.length && samples[0].atMillis < samples[samples.length - 1].atMillis - KEPT_MILLIS) {
    samples.shift();
  }
}

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, attributes, content) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  if (content) element.textContent = content;
  return element;
}

/* The next of 1, 2, 5, 10 … so that the axis ends at a round value. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

/* Points without a value interrupt the curve. */
function curves(values, x, y) {
  const parts = [[]];
  for (const [at, value] of values) {
    if (value == null) {
      parts.push([]);
    } else {
      parts[parts.length - 1].push(x(at).toFixed(1) + "," + y(value).toFixed(1));
    }
  }
  return parts.filter((part) => part.length).map((part) =>
    shape("polyline", { points: (part.length === 1 ? [part[0], part[0]] : part).join(" ") }));
}

function draw(name) {
  const chart = find(name);
  const width = chart.clientWidth;
  const height = chart.clientHeight;
  if (!width || !samples.length) {
    return;
  }
  const { value, format } = charts[name];
  const values = samples.map((sample) => [sample.atMillis, value(sample)]);
  const known = values.map((pair) => pair[1]).filter((each) => each != null);
  const most = roundUp(Math.max(...known, 1e-9));
  const end = samples[samples.length - 1].atMillis;
  const begin = Math.min(samples[0].atMillis, end - SHORTEST_MILLIS);
  const left = 4;
  const top = 6;
  const bottom = height - 18;
  const x = (at) => left + (width - left - 8) * (at - begin) / (end - begin);
  const y = (each) => bottom - (bottom - top) * each / most;
  chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const parts = [];
  for (const part of [0, 0.5, 1]) {
    parts.push(shape("line", { x1: left, x2: width - 8, y1: y(most * part), y2: y(most * part) }));
  }
  for (const event of events.filter((each) => MARKED.includes(each.kind) && each.atMillis >= begin)) {
    // A failure comes after the last sample.
    const at = x(Math.min(event.atMillis, end));
    parts.push(shape("line", { class: "event " + event.kind, x1: at, x2: at, y1: top, y2: bottom }));
  }
  parts.push(...curves(values, x, y));
  if (known.length) {
    parts.push(shape("text", { x: left, y: top + 10 }, format(most)), shape("text", { x: left, y: y(most / 2) - 3 }, format(most / 2)));
  } else {
    parts.push(shape("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "no values yet"));
  }
  parts.push(shape("text", { x: left, y: height - 4 }, "−" + duration((end - begin) / 1000)),
    shape("text", { x: (left + width - 8) / 2, y: height - 4, "text-anchor": "middle" }, "−" + duration((end - begin) / 2000)),
    shape("text", { x: width - 8, y: height - 4, "text-anchor": "end" }, "now"));
  const last = values[values.length - 1];
  if (last[1] != null) {
    parts.push(shape("circle", { cx: x(last[0]), cy: y(last[1]), r: 3 }));
  }
  chart.replaceChildren(...parts);
  text(name + "-now", last[1] != null ? format(last[1]) : "unknown");
}

function drawAll() {
  Object.keys(charts).forEach(draw);
}

function line(tag, content) {
  const element = document.createElement(tag);
  element.textContent = content;
  return element;
}

function rankCard(rank, small) {
  const card = document.createElement("li");
  card.className = "rank";
  card.dataset.rank = rank.rank;
  card.dataset.state = rank.state;
  const title = document.createElement("h3");
  title.append(line("span", (small ? "" : "rank ") + rank.rank + (rank.self ? (small ? " (this)" : " (this one)") : "")), line("span", signs[rank.state]));
  card.append(title);
  const lines = [];
  if (rank.state === "lost" || rank.state === "left") {
    lines.push(rank.state === "lost" ? "its connection ended or its heartbeat timed out" : "it has left the group");
  } else {
    lines.push(rank.call ? rank.call : "in no collective");
    const facts = [];
    if (rank.sequence >= 0) facts.push("at #" + rank.sequence);
    if (rank.roundTripMicros != null) facts.push("round trip " + time(rank.roundTripMicros));
    if (rank.lateMicros != null) facts.push("late by " + time(rank.lateMicros));
    lines.push(facts.join(" · "));
  }
  if (small && (rank.state === "up" || rank.state === "waiting")) {
    card.title = lines.join(", ");
  } else {
    card.append(...lines.map((each) => line("p", each)));
  }
  return card;
}

function ranks(all) {
  const small = all.length > MANY_RANKS;
  const byState = {};
  all.forEach((rank) => byState[rank.state] = (byState[rank.state] || 0) + 1);
  text("ranks-count", Object.entries(byState).map(([state, ranks]) => signs[state].replace(" ", " " + ranks + " ")).join(" · "));
  find("ranks").className = small ? "grid small" : "grid";
  find("ranks").replaceChildren(...all.map((rank) => rankCard(rank, small)));
}

function flightRow(call) {
  const row = document.createElement("tr");
  const cells = { Rank: call.rank, Group: call.group, Call: call.call, Bytes: bytes(call.bytes), For: time(call.durationMicros) };
  for (const [name, content] of Object.entries(cells)) {
    const cell = line("td", content);
    cell.dataset.name = name;
    if (name === "Bytes" || name === "For") cell.className = "number";
    row.append(cell);
  }
  return row;
}

function eventRow(event) {
  const row = document.createElement("li");
  row.dataset.kind = event.kind;
  const at = line("time", new Date(event.atMillis).toLocaleTimeString("en-GB"));
  at.dateTime = new Date(event.atMillis).toISOString();
  row.append(at, line("span", event.text));
  return row;
}

function training(job) {
  find("training").hidden = !job;
  if (!job) {
    return;
  }
  const percent = job.totalSteps ? Math.floor(100 * job.step / job.totalSteps) : 0;
  const parts = [`${job.data}: step ${job.step.toLocaleString("en")} of ${job.totalSteps.toLocaleString("en")} (${percent} %)`];
  if (job.epoch) parts.push(`epoch ${job.epoch} of ${job.epochs}`);
  if (job.test != null) parts.push(job.test);
  if (job.state) parts.push(job.state);
  text("training-facts", parts.join(" · "));
  find("training-progress").value = job.totalSteps ? job.step / job.totalSteps : 0;
  const speed = job.speed;
  const tiles = speed ? {
    "samples/s": count(speed.samplesPerSecond),
    "step": time(1e6 * speed.stepSeconds),
    "remaining": duration(speed.remainingSeconds),
    "exposed communication": percentage(speed.exposedShare),
    "waiting for data": percentage(speed.dataShare),
  } : {};
  find("speed").replaceChildren(...Object.entries(tiles).map(([name, value]) => {
    const tile = document.createElement("div");
    tile.append(line("dt", name), line("dd", value));
    return tile;
  }));
}

function show(now) {
  const words = { FORMING: "◌ Forming", READY: "● Ready", BROKEN: "✕ Broken", CLOSED: "○ Closed" };
  find("say").dataset.state = (now.state === "READY" && now.trouble) ? "trouble" : now.state.toLowerCase();
  text("state", words[now.state] + ((now.state === "READY" && now.trouble) ? `, but ▲ ${now.trouble}` : ""));
  text("problem", now.problem || "");
  text("verdict", now.verdict || "");
  text("group", `rank ${now.rank} of ${now.worldSize} · backend ${now.backend}`
    + (now.transport ? ` over ${now.transport}` : "") + (now.generation != null ? ` · generation ${now.generation}` : ""));
  document.title = (now.state === "READY" ? (now.trouble ? "▲ " : "● ") : now.state === "BROKEN" ? "✕ " : "◌ ") + "Tutti";
  ranks(now.ranks);
  find("flight").replaceChildren(...now.inFlight.map(flightRow));
  find("flight").parentElement.hidden = now.inFlight.length === 0;
  find("flight-none").hidden = now.inFlight.length > 0;
  training(now.training);
  events = now.events;
  find("events").replaceChildren(...events.toReversed().map(eventRow));
  keep(now.sample);
  drawAll();
}

function connect() {
  source = new EventSource("page/events");
  source.addEventListener("history", (message) => {
    samples = JSON.parse(message.data);
  });
  source.addEventListener("state", (message) => {
    lastMessage = Date.now();
    text("link", "● live");
    show(JSON.parse(message.data));
  });
  // The browser repeats a connection that broke, but not a request that was refused.
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, RETRY_MILLIS);
  });
}

connect();
setInterval(() => {
  if (Date.now() - lastMessage <= STALE_MILLIS) return;
  text("link", "✕ this rank sends nothing");
  // Neither changes again.
  if (["broken", "closed"].includes(find("say").dataset.state)) return;
  text("state", "◌ Unknown");
  find("say").dataset.state = "unknown";
  document.title = "◌ Tutti";
}, 1000);
addEventListener("resize", drawAll);
