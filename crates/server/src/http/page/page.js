"use strict";
const WIDTH = 900, HEIGHT = 220, LEFT = 56, RIGHT = 130, TOP = 12, BOTTOM = 28;
const PHASES = {
  "open": "a round is open", "between-rounds": "between two rounds", "finished": "all rounds are done",
  "budget-spent": "stopped: another round would exceed the budget",
};
const STATUS = { open: "open", done: "done", expired: "no batch came", abandoned: "given up" };

const byId = (id) => document.getElementById(id);
// An unbounded ε comes as the word "inf".
const real = (value) => (value === "inf" ? Infinity : value);
// Directions as of the numbers themselves: ε is rounded up, what it is at least is rounded down.
const rounded = (value, digits, direction) => {
  const number = real(value);
  if (!Number.isFinite(number)) return "∞";
  const scale = 10 ** digits;
  return (direction(number * scale) / scale).toFixed(digits);
};
const up = (value, digits = 4) => rounded(value, digits, Math.ceil);
const down = (value, digits = 4) => rounded(value, digits, Math.floor);
const percent = (share) => `${(100 * share).toFixed(2)} %`;
const whole = (number) => Math.round(number).toLocaleString("en").replaceAll(",", " ");

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function drawn(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// A chart's frame: where rounds and values are, with their numbers written at the axes.
function frame(place, description, rounds, most, write) {
  const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": description });
  const last = Math.max(rounds, 1);
  const x = (round) => LEFT + ((round - 0.5) / last) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - (Math.min(value, most) / most) * (HEIGHT - TOP - BOTTOM);
  for (let step = 0; step <= 4; step++) {
    const value = (most * step) / 4;
    svg.append(drawn("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }));
    svg.append(drawn("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, write(value)));
  }
  for (const round of new Set([1, Math.ceil(last / 2), last])) {
    svg.append(drawn("text", { x: x(round), y: HEIGHT - 8, "text-anchor": "middle" }, `round ${round}`));
  }
  byId(place).replaceChildren(svg);
  return { svg, x, y };
}

function line({ svg, x, y }, points, kind, label) {
  if (points.length === 0) return;
  const path = points.map(([round, value], index) => `${index ? "L" : "M"}${x(round).toFixed(1)} ${y(value).toFixed(1)}`);
  svg.append(drawn("path", { class: kind, d: path.join("") }));
  if (points.length === 1) svg.append(drawn("circle", { class: "point", cx: x(points[0][0]), cy: y(points[0][1]), r: 3 }));
  const [round, value] = points.at(-1);
  svg.append(drawn("text", { x: Math.min(x(round) + 6, WIDTH - RIGHT + 6), y: y(value) + 4 }, label));
}

// Its label stands where no line ends: over it on the left, or beside it.
function limit({ svg, y }, value, label, beside) {
  svg.append(drawn("line", { class: "limit", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }));
  const place = beside ? { x: WIDTH - RIGHT + 6, y: y(value) + 4 } : { x: LEFT + 6, y: y(value) - 5 };
  svg.append(drawn("text", place, label));
}

function charts(status) {
  const rounds = status.rounds, last = rounds.length ? rounds.at(-1).round : 0;
  const judged = rounds.filter((round) => round.test_accuracy !== undefined).map((round) => [round.round, round.test_accuracy]);
  const best = judged.length ? judged.at(-1)[1] : 0;
  const accuracy = frame("accuracy", `Accuracy after ${last} rounds: ${percent(best)}`, last, 1, (value) => `${100 * value} %`);
  line(accuracy, judged, "one", percent(best));

  const budget = status.privacy.budget;
  const finite = (of) => rounds.map((round) => [round.round, real(of(round))]).filter(([, value]) => Number.isFinite(value));
  const epsilon = frame("epsilon", `ε spent: ${up(status.privacy.epsilon)} of ${budget}`, last, budget * 1.15, (value) => value.toPrecision(2));
  limit(epsilon, budget, `budget ${budget}`, false);
  line(epsilon, finite((round) => round.epsilon_lower), "two", `at least ${down(status.privacy.epsilon_lower)}`);
  line(epsilon, finite((round) => round.epsilon), "one", `at most ${up(status.privacy.epsilon)}`);

  const most = 1.1 * Math.max(status.expected_reports, 1, ...rounds.map((round) => round.accepted + round.rejected));
  const reports = frame("reports", "Reports in each round", last, most, whole);
  const broad = Math.max(1, (0.7 * (WIDTH - LEFT - RIGHT)) / Math.max(last, 1));
  for (const round of rounds) {
    const { svg, x, y } = reports, left = x(round.round) - broad / 2;
    svg.append(drawn("rect", { class: "bar", x: left, width: broad, y: y(round.accepted), height: y(0) - y(round.accepted) }));
    if (round.rejected > 0) {
      const top = y(round.accepted + round.rejected);
      svg.append(drawn("rect", { class: "rejected", x: left, width: broad, y: top, height: y(round.accepted) - top }));
    }
  }
  limit(reports, status.expected_reports, `expected ${whole(status.expected_reports)}`, true);
}

function figures(status) {
  const { privacy, rounds } = status;
  const done = rounds.filter((round) => round.status === "done");
  const judged = rounds.filter((round) => round.test_accuracy !== undefined);
  const last = done.at(-1);
  const sum = (of) => rounds.reduce((total, round) => total + of(round), 0);
  const shown = [
    ["Accuracy", judged.length ? percent(judged.at(-1).test_accuracy) : "–", judged.length ? `after round ${judged.at(-1).round}` : "not yet"],
    ["ε spent", up(privacy.epsilon), `of ${privacy.budget}, at δ = ${privacy.delta}`],
    ["Rounds left", whole(privacy.rounds_left), `${whole(rounds.length)} of ${whole(status.rounds_planned)} opened`],
    ["Reports, last batch", last ? whole(last.accepted) : "–", `${whole(status.expected_reports)} expected`],
    ["Rejected, all rounds", whole(sum((round) => round.rejected)), `of ${whole(sum((round) => round.accepted + round.rejected))} reports`],
    ["Honest clients", whole(privacy.clients), `at least, each at rate ${privacy.check_in_rate}`],
  ];
  byId("figures").replaceChildren(...shown.map(([term, value, note]) => {
    const entry = element("div"), data = element("dd", value);
    data.append(element("small", note));
    entry.append(element("dt", term), data);
    return entry;
  }));
}

function table(status) {
  const heads = ["round", "how it ended", "reports", "rejected", "accuracy", "ε at most", "ε at least"];
  const head = element("tr");
  head.append(...heads.map((text) => element("th", text, { scope: "col" })));
  byId("table").tHead.replaceChildren(head);
  byId("table").tBodies[0].replaceChildren(...status.rounds.slice(-20).reverse().map((round) => {
    const row = element("tr");
    const accuracy = round.test_accuracy === undefined ? "–" : percent(round.test_accuracy);
    const cells = [round.round, STATUS[round.status], whole(round.accepted), whole(round.rejected), accuracy, up(round.epsilon), down(round.epsilon_lower)];
    row.append(...cells.map((text) => element("td", text)));
    return row;
  }));
}

function show(status) {
  document.title = `${status.name} – shuffledp server`;
  byId("name").textContent = status.name;
  const open = status.open ? `round ${status.open.round} of ${status.rounds_planned} is open` : PHASES[status.phase];
  byId("phase").textContent = open;
  byId("warning").hidden = status.warning === undefined;
  byId("warning").textContent = status.warning ?? "";
  figures(status);
  charts(status);
  table(status);
  byId("assumptions").replaceChildren(...status.privacy.assumptions.map((text) => element("li", text)));
  byId("task").textContent = `task ${status.task}, ${whole(status.weights)} weights, model ${status.answer}`;
}

let shown = "";
async function poll() {
  try {
    const response = await fetch("/v1/status", { cache: "no-store" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const text = await response.text();
    if (text !== shown) {
      show(JSON.parse(text));
      shown = text;
    }
  } catch (error) {
    shown = "";
    byId("phase").textContent = `the server does not answer (${error.message}); what is shown may be old`;
  }
  setTimeout(poll, 2000);
}
poll();
