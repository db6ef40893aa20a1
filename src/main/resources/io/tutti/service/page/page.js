"use strict";

/* One message a second says how everything stands; history is what this page has seen. */

const KEPT = 300;
const history = { bandwidth: [], skew: [], loss: [] };
const find = (id) => document.getElementById(id);
const signs = {
  up: "● up", waiting: "◐ waits", missing: "▲ missing", silent: "◌ silent",
  lost: "✕ lost", left: "○ left",
};
let lastMessage = Date.now();

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

function keep(name, value) {
  const values = history[name];
  values.push(value);
  if (values.length > KEPT) {
    values.shift();
  }
}

const SVG = "http://www.w3.org/2000/svg";

function draw(name) {
  const values = history[name];
  const known = values.filter((value) => value !== null);
  const chart = find(name);
  const most = Math.max(...known, 1e-9);
  const base = document.createElementNS(SVG, "line");
  for (const [key, value] of Object.entries({ x1: 0, x2: 300, y1: 59, y2: 59 })) {
    base.setAttribute(key, value);
  }
  const curve = document.createElementNS(SVG, "polyline");
  const step = 300 / Math.max(60, values.length - 1);
  curve.setAttribute("points", values
    .map((value, index) => (value === null) ? null : `${(index * step).toFixed(1)},${(58 - 54 * value / most).toFixed(1)}`)
    .filter((point) => point !== null).join(" "));
  chart.replaceChildren(base, curve);
}

function line(tag, content) {
  const element = document.createElement(tag);
  element.textContent = content;
  return element;
}

function rankCard(rank) {
  const card = document.createElement("li");
  card.className = "rank";
  card.dataset.rank = rank.rank;
  card.dataset.state = rank.state;
  const title = document.createElement("h3");
  title.append(line("span", "rank " + rank.rank + (rank.self ? " (this one)" : "")), line("span", signs[rank.state]));
  card.append(title);
  if (rank.state === "lost" || rank.state === "left") {
    card.append(line("p", rank.state === "lost" ? "its connection ended or its heartbeat timed out" : "it has left the group"));
    return card;
  }
  card.append(line("p", rank.call ? rank.call : "in no collective"));
  const facts = [];
  if (rank.sequence >= 0) facts.push("at #" + rank.sequence);
  if (rank.roundTripMicros != null) facts.push("round trip " + time(rank.roundTripMicros));
  if (rank.lateMicros != null) facts.push("late by " + time(rank.lateMicros));
  card.append(line("p", facts.join(" · ")));
  return card;
}

function flightRow(call) {
  const row = document.createElement("tr");
  row.append(line("td", call.rank), line("td", call.group), line("td", call.call), line("td", bytes(call.bytes)),
    line("td", time(call.durationMicros)));
  row.children[3].className = "number";
  row.children[4].className = "number";
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
  if (job.loss != null) {
    keep("loss", job.loss);
    text("loss-now", job.loss.toFixed(4));
    draw("loss");
  }
}

function show(now) {
  const words = { FORMING: "◌ Forming", READY: "● Ready", BROKEN: "✕ Broken", CLOSED: "○ Closed" };
  find("say").dataset.state = (now.state === "READY" && now.trouble) ? "trouble" : now.state.toLowerCase();
  text("state", words[now.state] + ((now.state === "READY" && now.trouble) ? ", but ▲ ranks are missing" : ""));
  text("problem", now.problem || "");
  text("verdict", now.verdict || "");
  text("group", `rank ${now.rank} of ${now.worldSize} · backend ${now.backend}`
    + (now.transport ? ` over ${now.transport}` : "") + (now.generation != null ? ` · generation ${now.generation}` : ""));
  document.title = (now.state === "READY" ? (now.trouble ? "▲ " : "● ") : now.state === "BROKEN" ? "✕ " : "◌ ") + "Tutti";
  find("ranks").replaceChildren(...now.ranks.map(rankCard));
  find("flight").replaceChildren(...now.inFlight.map(flightRow));
  find("flight").parentElement.hidden = now.inFlight.length === 0;
  find("flight-none").hidden = now.inFlight.length > 0;
  training(now.training);
  keep("bandwidth", now.bytesPerSecond);
  text("bandwidth-now", bytes(now.bytesPerSecond) + "/s");
  draw("bandwidth");
  keep("skew", now.skewMicros);
  text("skew-now", now.skewMicros == null ? "unknown" : time(now.skewMicros));
  draw("skew");
}

const source = new EventSource("page/events");
source.addEventListener("state", (message) => {
  lastMessage = Date.now();
  text("link", "● live");
  show(JSON.parse(message.data));
});
setInterval(() => {
  if (Date.now() - lastMessage > 5000) {
    text("link", "✕ this rank does not answer");
  }
}, 1000);
