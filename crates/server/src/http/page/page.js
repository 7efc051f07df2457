"use strict";
const HEIGHT = 220, TOP = 14, BOTTOM = 30, LINE = 18;
const PHASES = {
  "open": "a round is open", "between-rounds": "between two rounds", "finished": "all rounds are done",
  "budget-spent": "stopped: another round would exceed the budget",
  "paused": "paused: no round is opened",
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
const plain = (number) => (number > 0 && number < 1e-3 ? number.toExponential() : String(number));
const whole = (number) => Math.round(number).toLocaleString("en");

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

// Letters are 14 px; those of the widest system fonts take 0.62 em each on average.
const textWidth = (text) => 8.7 * text.length;

// 1, 2 or 5 times a power of ten: the smallest with which `parts` steps reach `most`.
function roundStep(most, parts) {
  const power = 10 ** Math.floor(Math.log10(most / parts));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step * parts >= most * (1 - 1e-9));
}

// Round numbers of rounds at the axis: as many as have room for their labels.
function roundTicks(last, width) {
  const most = Math.max(1, Math.floor(width / (textWidth(whole(last)) + 24)));
  const step = Math.max(1, roundStep(last, most));
  const ticks = [];
  for (let round = step; round <= last; round += step) ticks.push(round);
  return last >= 1 && step > 1 && textWidth("1") + 24 < (width * step) / last ? [1, ...ticks] : ticks;
}

// A chart's frame: where rounds and values are, with their numbers written at the axes. `labels` are those that stand at the
// right, at the ends of lines: the frame leaves room for them.
function frame(place, description, rounds, most, write, labels) {
  const width = Math.max(byId(place).clientWidth, 240);
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": description });
  const step = roundStep(most, 5), values = [];
  for (let index = 0; index * step <= most * (1 + 1e-9); index++) values.push(index * step);
  const left = 8 + Math.max(...values.map((value) => textWidth(write(value))));
  const right = width - 10 - Math.max(0, ...labels.map(textWidth));
  const last = Math.max(rounds, 1);
  const x = (round) => left + ((round - 0.5) / last) * (right - left);
  const y = (value) => HEIGHT - BOTTOM - (Math.min(value, most) / most) * (HEIGHT - TOP - BOTTOM);
  for (const value of values) {
    svg.append(drawn("line", { class: "axis", x1: left, x2: right, y1: y(value), y2: y(value) }));
    svg.append(drawn("text", { x: left - 6, y: y(value) + 5, "text-anchor": "end" }, write(value)));
  }
  for (const round of roundTicks(last, right - left)) {
    svg.append(drawn("text", { x: x(round), y: HEIGHT - 10, "text-anchor": "middle" }, whole(round)));
  }
  byId(place).replaceChildren(svg);
  return { svg, x, y, left, right, ends: [] };
}

function line({ svg, x, y, ends }, points, kind, label) {
  if (points.length === 0) return;
  const path = points.map(([round, value], index) => `${index ? "L" : "M"}${x(round).toFixed(1)} ${y(value).toFixed(1)}`);
  svg.append(drawn("path", { class: kind, d: path.join("") }));
  if (points.length === 1) svg.append(drawn("circle", { class: `point ${kind}`, cx: x(points[0][0]), cy: y(points[0][1]), r: 3 }));
  ends.push({ at: y(points.at(-1)[1]), label });
}

function limit({ svg, y, left, right, ends }, value, label) {
  svg.append(drawn("line", { class: "limit", x1: left, x2: right, y1: y(value), y2: y(value) }));
  ends.push({ at: y(value), label });
}

// The labels at the right, each beside its line's end, moved apart where they would overlap.
function endLabels({ svg, right, ends }) {
  ends.sort((a, b) => a.at - b.at);
  const lowest = HEIGHT - BOTTOM;
  ends.forEach((end, index) => { end.at = Math.max(end.at, index ? ends[index - 1].at + LINE : TOP); });
  for (let index = ends.length - 1, limit = lowest; index >= 0; index--, limit -= LINE) {
    ends[index].at = Math.min(ends[index].at, limit);
  }
  for (const { at, label } of ends) svg.append(drawn("text", { x: right + 6, y: at + 5 }, label));
}

function charts(status) {
  const rounds = status.rounds, last = rounds.length ? rounds.at(-1).round : 0;
  const judged = rounds.filter((round) => round.test_accuracy !== undefined).map((round) => [round.round, round.test_accuracy]);
  const best = judged.length ? judged.at(-1)[1] : 0;
  const accuracy = frame("accuracy", `Accuracy after ${last} rounds: ${percent(best)}`, last, 1, (value) => `${Math.round(100 * value)} %`, [percent(best)]);
  line(accuracy, judged, "one", percent(best));
  endLabels(accuracy);

  const { budget, epsilon, epsilon_lower } = status.privacy;
  const finite = (of) => rounds.map((round) => [round.round, real(of(round))]).filter(([, value]) => Number.isFinite(value));
  const [upper, lower, whole_budget] = [`≤ ${up(epsilon)}`, `≥ ${down(epsilon_lower)}`, `budget ${budget}`];
  const step = roundStep(1.05 * budget, 5), decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const spent = frame("epsilon", `ε spent: ${up(epsilon)} of ${budget}`, last, budget * 1.05, (value) => value.toFixed(decimals), [upper, lower, whole_budget]);
  limit(spent, budget, whole_budget);
  line(spent, finite((round) => round.epsilon_lower), "two", lower);
  line(spent, finite((round) => round.epsilon), "one", upper);
  endLabels(spent);

  const most = 1.05 * Math.max(status.expected_reports, 1, ...rounds.map((round) => round.accepted + round.rejected));
  const expected = `${whole(status.expected_reports)} expected`;
  const reports = frame("reports", "Reports in each round", last, most, whole, [expected]);
  const broad = Math.max(1, (0.7 * (reports.right - reports.left)) / Math.max(last, 1));
  for (const round of rounds) {
    const { svg, x, y } = reports, left = x(round.round) - broad / 2;
    svg.append(drawn("rect", { class: "bar", x: left, width: broad, y: y(round.accepted), height: y(0) - y(round.accepted) }));
    if (round.rejected > 0) {
      const top = y(round.accepted + round.rejected);
      svg.append(drawn("rect", { class: "rejected", x: left, width: broad, y: top, height: y(round.accepted) - top }));
    }
  }
  limit(reports, status.expected_reports, expected);
  endLabels(reports);
}

function figures(status) {
  const { privacy, rounds } = status;
  const done = rounds.filter((round) => round.status === "done");
  const judged = rounds.filter((round) => round.test_accuracy !== undefined);
  const last = done.at(-1);
  const sum = (of) => rounds.reduce((total, round) => total + of(round), 0);
  const shown = [
    ["Accuracy", judged.length ? percent(judged.at(-1).test_accuracy) : "–", judged.length ? `after round ${whole(judged.at(-1).round)}` : "not yet"],
    ["ε spent", up(privacy.epsilon), `of ${privacy.budget}, at δ = ${plain(privacy.delta)}`],
    ["Rounds left", whole(privacy.rounds_left), `${whole(rounds.length)} of ${whole(status.rounds_planned)} opened`],
    ["Reports, last batch", last ? whole(last.accepted) : "–", `${whole(status.expected_reports)} expected`],
    ["Rejected, all rounds", whole(sum((round) => round.rejected)), `of ${whole(sum((round) => round.accepted + round.rejected))} reports`],
    ["Honest clients", whole(privacy.clients), `at least, each at rate ${privacy.check_in_rate}`],
  ];
  byId("figures").replaceChildren(...shown.map(([term, value, note]) => {
    const entry = element("div");
    entry.append(element("dt", term), element("dd", value, { class: "value" }), element("dd", note, { class: "remark" }));
    return entry;
  }));
}

function table(status) {
  const heads = ["round", "how it ended", "reports", "rejected", "accuracy", "ε at most", "ε at least"];
  const head = element("tr");
  const kind = (index) => (index === 1 ? "" : "number");
  head.append(...heads.map((text, index) => element("th", text, { scope: "col", class: kind(index) })));
  byId("table").tHead.replaceChildren(head);
  byId("table").tBodies[0].replaceChildren(...status.rounds.slice(-20).reverse().map((round) => {
    const row = element("tr");
    const accuracy = round.test_accuracy === undefined ? "–" : percent(round.test_accuracy);
    const cells = [round.round, STATUS[round.status], whole(round.accepted), whole(round.rejected), accuracy, up(round.epsilon), down(round.epsilon_lower)];
    row.append(...cells.map((text, index) => element("td", text, { class: kind(index) })));
    return row;
  }));
}

function show(status) {
  document.title = `${status.name} – shuffledp server`;
  byId("name").textContent = status.name;
  const open = status.open ? `round ${whole(status.open.round)} of ${whole(status.rounds_planned)} is open` : PHASES[status.phase];
  byId("phase").textContent = open;
  const warnings = [status.warning, ...status.privacy.warnings].filter((text) => text !== undefined);
  byId("warning").hidden = warnings.length === 0;
  byId("warning").textContent = warnings.join(". ");
  figures(status);
  charts(status);
  table(status);
  byId("assumptions").replaceChildren(...status.privacy.assumptions.map((text) => element("li", text)));
  byId("task").textContent = `task ${status.task}, ${whole(status.weights)} weights, model ${status.answer}`;
}

let shown = "", last;
async function poll() {
  try {
    const response = await fetch("/v1/status", { cache: "no-store" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const text = await response.text();
    if (text !== shown) {
      last = JSON.parse(text);
      show(last);
      shown = text;
    }
  } catch (error) {
    shown = "";
    byId("phase").textContent = `the server does not answer (${error.message}); what is shown may be old`;
  }
  setTimeout(poll, 2000);
}
// Charts are as wide as the window lets them be.
window.addEventListener("resize", () => { if (last !== undefined) charts(last); });
poll();
