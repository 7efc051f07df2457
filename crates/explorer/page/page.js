// The page: a form made from the tables of the accounting, an answer, curves, and ways to ask again.
// Two workers compute: one answers, the other draws, so that a curve never delays an answer.
"use strict";
(async () => {
const element = (id) => document.getElementById(id);
const make = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in made && key !== "list" && key !== "form") made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
};

// ---- Workers. -------------------------------------------------------------------------------
const unpacked = async (id) => {
  const packed = Uint8Array.from(atob(element(id).textContent.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
};
let compiled;
try {
  compiled = await WebAssembly.compile(await unpacked("wasm"));
} catch (error) {
  element("message").hidden = false;
  element("message").textContent = `This browser cannot run the page: ${error}`;
  return;
}
const source = URL.createObjectURL(new Blob([element("worker").textContent], { type: "text/javascript" }));

// One request at a time; a newer one replaces those that wait. A worker that is still busy with an
// old question after `patience` milliseconds is stopped and replaced.
class Asker {
  constructor(patience) { this.patience = patience; this.number = 0; this.running = null; this.waiting = null; this.start(); }
  start() {
    this.worker = new Worker(source);
    this.worker.onmessage = ({ data }) => {
      if (data.ready) { this.next(); return; }
      const { running } = this;
      if (!running || data.number !== running.number) return;
      this.running = null;
      if (data.failed) {
        this.worker.terminate();
        this.start();
        running.done({ refused: `The computation failed: ${data.failed}` });
      } else {
        running.done(data.reply);
        this.next();
      }
    };
    this.isReady = false;
    this.worker.postMessage({ module: compiled });
  }
  ask(request, done) {
    this.waiting = { number: ++this.number, request, done };
    if (!this.running) { if (this.isReady) this.next(); return; }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.waiting && this.running) { this.worker.terminate(); this.running = null; this.start(); }
    }, this.patience);
  }
  next() {
    this.isReady = true;
    if (this.running) return;
    clearTimeout(this.timer);
    this.running = this.waiting;
    this.waiting = null;
    if (this.running) this.worker.postMessage({ number: this.running.number, request: this.running.request });
  }
  forget() { this.waiting = null; }
}
const answers = new Asker(400);
const curves = new Asker(150);
const tables = await new Promise((done) => answers.ask({ ask: "tables" }, done));
const parameter = Object.fromEntries(tables.parameters.map((row) => [row.name, row]));
const randomizer = Object.fromEntries(tables.randomizers.map((row) => [row.name, row]));
const method = Object.fromEntries(tables.methods.map((row) => [row.id, row]));
element("version").textContent = `shuffledp ${tables.version}. Upper bounds are rounded up and lower bounds down.`;

// ---- What is asked. -------------------------------------------------------------------------
// Ranges of the sliders; a typed value may lie outside of them.
const RANGES = {
  clients: [10, 1e9], sampled: [1, 1e7], "check-in": [1e-4, 1], "drop-out": [0.001, 0.9], "local-epsilon": [0.05, 12],
  "local-delta": [1e-15, 1e-3], sigma: [0.2, 100], sensitivity: [0.01, 10], categories: [2, 1e6], dimension: [2, 1e7],
  share: [0.001, 0.5], rounds: [1, 1e7], delta: [1e-15, 0.1], epsilon: [0.001, 20], "target-epsilon": [0.001, 20],
};
const PROFILE = "0,0.5\n1,0.1\n2,0";
const BEGIN = {
  find: "epsilon", scheme: "sampled", clients: "1000000", sampled: "1000", "check-in": "0.1", randomizer: "any",
  "local-epsilon": "2", rounds: "100000", delta: "1e-8", "target-epsilon": "1", epsilon: "0.1", axis: "rounds",
};
const state = { ...BEGIN };
const typed = (name) => state[name] ?? (name === "profile" ? PROFILE : parameter[name].example);
const SCHEMES = { everyone: "All clients participate", sampled: "A fresh sample each round", "check-in": "Clients check in at random" };
const isSolving = () => !["epsilon", "delta"].includes(state.find);
const shown = () => {
  const row = randomizer[state.randomizer];
  const scheme = ["clients"].concat(state.scheme === "sampled" ? ["sampled"] : state.scheme === "check-in" ? ["check-in", "drop-out"] : []);
  const target = isSolving() ? ["target-epsilon", "delta"] : [state.find === "epsilon" ? "delta" : "epsilon"];
  return { scheme, randomizer: row.parameters, question: ["rounds"], target };
};
// Values of the question by name, as they are typed.
const given = () => {
  const parts = shown();
  const names = [...parts.scheme, ...parts.randomizer, ...parts.question, ...parts.target].filter((name) => name !== state.find);
  const values = Object.fromEntries(names.map((name) => [name, typed(name)]));
  if (values["drop-out"] !== undefined && !(state["drop-out"] > 0)) delete values["drop-out"];
  values.randomizer = state.randomizer;
  if (state.adjacency && state.adjacency !== tables.adjacencies[0].word) values.adjacency = state.adjacency;
  if (state.standing && state.standing !== tables.standings[0].word) values.standing = state.standing;
  return values;
};
const request = () => isSolving()
  ? { ask: "solve", given: given(), solve: state.find }
  : { ask: "answer", given: given(), quantity: state.find };

// ---- The link: everything that differs from how the page begins, after '#'. -------------------
const link = () => {
  const pairs = new URLSearchParams();
  const asked = given();
  for (const name of ["find", "scheme", "axis"]) if (state[name] !== BEGIN[name]) pairs.set(name, state[name]);
  for (const [name, value] of Object.entries(asked)) if (value !== BEGIN[name]) pairs.set(name, value);
  return pairs.toString();
};
const follow = () => {
  for (const name of Object.keys(state)) delete state[name];
  Object.assign(state, BEGIN);
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (name in BEGIN || name in parameter) state[name] = value;
  }
  if (!randomizer[state.randomizer]) state.randomizer = BEGIN.randomizer;
  if (!SCHEMES[state.scheme]) state.scheme = BEGIN.scheme;
  if (!FINDS().some(([name]) => name === state.find)) state.find = BEGIN.find;
};
let written = null;
const remember = () => {
  written = link();
  const place = location.href.split("#")[0] + (written ? `#${written}` : "");
  try { history.replaceState(null, "", place); } catch { location.hash = written; }
};
addEventListener("hashchange", () => {
  if (location.hash.slice(1) === written) return;
  follow(); form(); changed();
});

// ---- The form. --------------------------------------------------------------------------------
const FINDS = () => {
  const row = randomizer[state.randomizer];
  const belongs = (name) => name === "clients" || name === "rounds" || row.parameters.includes(name) || state.scheme === name;
  return [["epsilon", "ε, at a given δ"], ["delta", "δ, at a given ε"]].concat(tables.solvable
    .filter(({ name }) => belongs(name))
    .map(({ name, largest }) => [name, `the ${largest ? "largest" : "smallest"} ${parameter[name].label} for a target ε`]));
};
const STEPS = 400;
const slide = (name, value) => {
  const [low, high] = RANGES[name];
  return Math.round(STEPS * Math.log(Math.min(Math.max(value, low), high) / low) / Math.log(high / low));
};
const slid = (name, at) => {
  const [low, high] = RANGES[name];
  const value = low * (high / low) ** (at / STEPS);
  // Two digits at most: what a slider says should read well.
  const short = Number(value.toPrecision(value / 10 ** Math.floor(Math.log10(value)) < 2 ? 3 : 2));
  return String(parameter[name].kind === "count" ? Math.max(Math.round(short), 1) : Math.min(short, high));
};
// Digits as people read them: only for counts, and the accounting reads "1_000_000" and "1e6" too.
const number = (text) => Number(String(text).replaceAll("_", "").replaceAll(",", ""));
const spoken = (name, text) => {
  const value = number(text);
  const { unit, kind } = parameter[name];
  return `${kind === "count" && Number.isFinite(value) ? value.toLocaleString("en") : text}${unit ? ` ${unit}` : ""}`;
};
const choice = (name, label, options, help) => {
  const select = make("select", { id: name });
  for (const [value, words] of options) select.append(make("option", { value, textContent: words, selected: state[name] === value }));
  select.addEventListener("change", () => { state[name] = select.value; form(name); changed(); });
  const field = make("div", { className: "field" }, make("label", { htmlFor: name, textContent: label }), select);
  if (help) { field.append(make("p", { className: "help", id: `${name}-help`, textContent: help })); select.setAttribute("aria-describedby", `${name}-help`); }
  return field;
};
const field = (name) => {
  const { label, help, range, unit, kind } = parameter[name];
  const about = make("p", { className: "help", id: `${name}-help`, textContent: `${help}.` });
  const heading = make("label", { htmlFor: name, textContent: unit ? `${label}, in ${unit}` : label });
  if (kind === "points") {
    const area = make("textarea", { id: name, rows: 5, value: typed(name), spellcheck: false });
    area.addEventListener("input", () => { state[name] = area.value; changed(); });
    area.setAttribute("aria-describedby", about.id);
    return make("div", { className: "field" }, heading, area, about);
  }
  const optional = name === "drop-out";
  const text = make("input", { type: "text", id: name, inputMode: "decimal", title: `${range}`, value: state[name] ?? (optional ? "0" : typed(name)) });
  text.setAttribute("aria-describedby", about.id);
  const range_ = make("input", { type: "range", id: `${name}-slider`, min: 0, max: STEPS, step: 1, value: slide(name, number(text.value) || 0) });
  range_.setAttribute("aria-label", `${label}, slider`);
  const speak = () => range_.setAttribute("aria-valuetext", spoken(name, text.value));
  speak();
  range_.addEventListener("input", () => { text.value = state[name] = slid(name, Number(range_.value)); speak(); changed(); });
  text.addEventListener("input", () => {
    state[name] = text.value.trim();
    const value = number(text.value);
    if (value > 0) range_.value = slide(name, value);
    speak(); changed();
  });
  return make("div", { className: "field" }, heading, make("div", { className: "row" }, range_, text), about);
};
function form(focus) {
  const finds = FINDS();
  if (!finds.some(([name]) => name === state.find)) state.find = "epsilon";
  const parts = shown();
  const fields = (names) => names.filter((name) => name !== state.find).map(field);
  element("form").replaceChildren(
    choice("find", "Find", finds),
    ...fields(parts.target),
    choice("scheme", "Who participates", Object.entries(SCHEMES)),
    ...fields(parts.scheme),
    choice("randomizer", "Randomizer", tables.randomizers.map(({ name }) => [name, name]), `${randomizer[state.randomizer].sentence}.`),
    ...fields(parts.randomizer),
    ...fields(parts.question),
    choice("adjacency", "Adjacency", tables.adjacencies.map(({ word }) => [word, word])),
    choice("standing", "Weakest status that may answer", tables.standings.map(({ word }) => [word, word])),
  );
  element("form").onsubmit = (event) => event.preventDefault();
  axes();
  if (focus) element(focus)?.focus();
}

// ---- The answer. ------------------------------------------------------------------------------
// `asked` is the question of the form as text; an answer is final only if it is the answer to that.
let asked = null;
let last = null;
function changed() {
  const wanted = request();
  asked = JSON.stringify(wanted);
  remember();
  element("result").setAttribute("aria-busy", "true");
  element("copy").disabled = true;
  say("Computing…");
  curves.forget();
  curve.asked = null;
  answers.ask(wanted, (reply) => {
    const text = JSON.stringify(wanted);
    if (text === asked) show(reply, wanted);
    // While a slider moves, the answer to where it was a moment ago: dimmed, and it says so.
    else if (!reply.refused) figures(reply, "Computing… These numbers answer earlier settings:");
  });
}
const say = (words) => { const line = element("answer").querySelector(".state"); if (line) line.textContent = words; };
const figure = (name, value, remark) => make("div", {}, make("dt", { textContent: name }),
  make("dd", { className: "value", textContent: value }), make("dd", { className: "remark", textContent: remark }));
const dashed = (value) => value === "inf" ? "∞" : value;
function figures(reply, words) {
  const list = make("dl", { className: "figures" });
  if (reply.solved) {
    const { name, value } = reply.solved;
    const largest = tables.solvable.find((row) => row.name === name).largest;
    list.append(figure(`${parameter[name].label} at ${largest ? "most" : "least"}`, spoken(name, value), "solved for"));
  }
  list.append(figure(`${reply.symbol} at most`, dashed(reply.upper), `${reply.standing}, at ${reply.at}: ${reply.method.id}`));
  list.append(reply.lower === null
    ? figure(`${reply.symbol} at least`, "–", "no lower bound is known")
    : figure(`${reply.symbol} at least`, reply.lower, "no analysis can go below it"));
  element("answer").replaceChildren(list, make("p", { className: "state", textContent: words }));
  element("details").replaceChildren(make("p", { textContent: `${reply.asked}.` }));
}
function show(reply, wanted) {
  last = reply;
  element("result").setAttribute("aria-busy", "false");
  element("result").dataset.answers = JSON.stringify(wanted);
  const refused = reply.refused !== undefined;
  element("message").hidden = !refused;
  element("message").textContent = refused ? `${reply.refused}.` : "";
  if (refused) {
    element("answer").replaceChildren(make("p", { className: "state", textContent: "No answer." }));
    for (const id of ["details", "error", "every", "toggles"]) element(id).replaceChildren();
    clear();
  } else {
    figures(reply, "");
    element("details").append(
      ...(reply.claim ? [make("p", { textContent: `${reply.claim}. ${reply.solved.beyond}.` })] : []),
      ...reply.warnings.map((text) => make("p", { className: "warning", textContent: `${text}.` })),
      make("p", { id: "collusion", textContent: `${reply.collusion}.` }),
      make("p", { className: "faint", textContent: `Assumes ${reply.assumptions.join(", ")}.` }),
      make("p", { className: "faint", textContent: `${reply.method.name}: ${reply.method.citation}.` }),
    );
    error(reply.error);
    every(reply.each);
    toggles(reply.each);
    draw();
  }
  again();
}
function error(panel) {
  if (panel.reason) { element("error").replaceChildren(make("p", { textContent: panel.reason })); return; }
  const list = make("dl", { className: "figures" });
  const unit = panel.unit ? ` ${panel.unit}` : "";
  list.append(figure("standard error, one round", dashed(panel.one_round) + unit, `${spoken("clients", panel.reports)} reports`));
  if (panel.one_round !== panel.all_rounds) {
    list.append(figure("standard error, all rounds", dashed(panel.all_rounds) + unit, "if every round estimates the same"));
  }
  element("error").replaceChildren(make("p", { textContent: `Standard error of ${panel.what}${panel.unit ? ", in units of the clipping norm C" : ""}.` }),
    list, make("p", { className: "faint", textContent: `${panel.note} ${panel.sampling}`.trim() }));
}
const table = (heads, rows) => {
  const head = make("tr", {}, ...heads.map((words) => make("th", { scope: "col", textContent: words })));
  const cell = (text, i) => make(i ? "td" : "th", { textContent: text, ...(i === 1 ? { className: "number" } : {}), ...(i ? {} : { scope: "row" }) });
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell)))));
};
function every(each) {
  const sign = (bound) => bound.side === "upper" ? "≤" : "≥";
  element("every").replaceChildren(table(["bound", "value", "status", "source"],
    each.map((bound) => [bound.name, `${sign(bound)} ${dashed(bound.shown)}`, bound.standing, [bound.citation, bound.note].filter(Boolean).join(". ")])));
}

// ---- Ask again. -------------------------------------------------------------------------------
let kind = "command";
function again() {
  const forms = {
    command: last.command ?? "",
    python: last.python ? `import shuffledp\n\nprint(${last.python})` : "",
    json: last.answer ? JSON.stringify(last.answer, null, 2) : "",
    link: location.href,
  };
  element("again").textContent = forms[kind] || "No question.";
  element("copy").disabled = !forms[kind];
  element("copied").textContent = "";
}
for (const button of document.querySelectorAll("[data-form]")) {
  button.addEventListener("click", () => {
    kind = button.dataset.form;
    for (const other of document.querySelectorAll("[data-form]")) other.setAttribute("aria-pressed", String(other === button));
    if (last) again();
  });
}
element("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(element("again").textContent);
    element("copied").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(element("again"));
    element("copied").textContent = "Selected: copy it with your keyboard.";
  }
});

// ---- Curves. ----------------------------------------------------------------------------------
// Okabe and Ito's colours, which most people can tell apart.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f"];
const POINTS = 25;
const curve = { asked: null, chosen: new Map(), xs: [], values: [], chart: null };
function axes() {
  const row = randomizer[state.randomizer];
  const names = ["rounds", "clients", ...(state.scheme === "everyone" ? [] : [state.scheme]), ...row.parameters.filter((name) => RANGES[name] && name !== "dimension")];
  const options = names.map((name) => [name, `ε against ${parameter[name].label}`]).concat([["epsilon", "δ against ε"]]);
  if (!options.some(([name]) => name === state.axis)) state.axis = "rounds";
  element("axis").replaceChildren(...options.map(([value, words]) => make("option", { value, textContent: words, selected: value === state.axis })));
}
element("axis").addEventListener("change", () => { state.axis = element("axis").value; remember(); if (last && !last.refused) draw(); again(); });
// A bound keeps its colour; those that are drawn first have the colours that differ most.
const colours = new Map();
const colour = (id) => { if (!colours.has(id)) colours.set(id, COLOURS[colours.size % COLOURS.length]); return colours.get(id); };
// At first: the answer, the lower bound, and upper bounds that are within a factor of 20 of the answer.
function toggles(each) {
  const best = Number(last.answer.epsilon ?? last.answer.delta);
  const isNear = (bound) => bound.id === last.method.id || bound.id === last.answer.lower_method
    || (bound.side === "upper" && bound.standing === "rigorous" && Number(bound.value) <= 20 * best);
  colour(last.method.id);
  each.filter(isNear).forEach((bound) => colour(bound.id));
  element("toggles").replaceChildren(...each.map((bound) => {
    if (!curve.chosen.has(bound.id)) curve.chosen.set(bound.id, null);
    const box = make("input", { type: "checkbox", checked: curve.chosen.get(bound.id) ?? isNear(bound), value: bound.id });
    box.addEventListener("change", () => { curve.chosen.set(bound.id, box.checked); draw(); });
    const line = make("i");
    line.style.borderColor = colour(bound.id);
    line.style.borderTopStyle = bound.side === "lower" ? "dashed" : bound.standing === "rigorous" ? "solid" : "dotted";
    return make("label", {}, box, line, `${bound.id} (${bound.standing})`);
  }));
}
const visible = () => [...element("toggles").querySelectorAll("input:checked")].map((box) => box.value);
// Values of the question at the solution, where one was solved for.
function settled() {
  const values = given();
  if (last.solved) values[last.solved.name] = last.solved.value;
  delete values["target-epsilon"];
  if (state.find === "delta") { delete values.epsilon; values.delta = typed("delta"); }
  return values;
}
function grid(values) {
  const name = state.axis;
  const present = name !== "epsilon" ? number(values[name])
    : state.find === "delta" ? number(typed("epsilon")) : Number(last.answer.epsilon);
  let [low, high] = RANGES[name];
  if (name === "epsilon") [low, high] = present > 0 && Number.isFinite(present) ? [present / 5, present * 2] : [0.01, 10];
  else if (name === "rounds") [low, high] = [1, Math.max(100, present * 10)];
  else if (name === "clients") [low, high] = [Math.max(present / 100, number(values.sampled) || 2), present * 100];
  else if (name === "sampled") [low, high] = [Math.max(1, present / 100), Math.min(number(values.clients), present * 100)];
  else if (name === "check-in") [low, high] = [present / 100, Math.min(1, present * 100)];
  else if (name === "share") [low, high] = [present / 10, Math.min(0.5, present * 10)];
  else [low, high] = [present / 10, present * 4];
  const isCount = name !== "epsilon" && parameter[name].kind === "count";
  const at = (i) => { const x = low * (high / low) ** (i / (POINTS - 1)); return isCount ? Math.round(x) : Number(x.toPrecision(6)); };
  return [...new Set(Array.from({ length: POINTS }, (_, i) => at(i)))].filter((x) => x > 0 && Number.isFinite(x));
}
function clear() { curve.chart?.destroy(); curve.chart = null; element("plot").replaceChildren(); element("progress").textContent = ""; curve.asked = null; curves.forget(); }
function draw() {
  const methods = visible();
  const values = settled();
  const name = state.axis;
  const quantity = name === "epsilon" ? "delta" : "epsilon";
  if (quantity === "delta") delete values.delta;
  const key = JSON.stringify([values, name, methods, state.find]);
  if (curve.asked === key) { plot(); return; }
  curve.asked = key;
  curve.quantity = quantity;
  curve.methods = methods;
  curve.xs = grid(values);
  curve.values = curve.xs.map(() => null);
  // First every eighth point, then those between: the shape is there early.
  const order = [8, 4, 2, 1].flatMap((step, i, steps) => curve.xs.map((_, j) => j).filter((j) => j % step === 0 && (i === 0 || j % steps[i - 1] !== 0)));
  plot();
  let done = 0;
  const step = () => {
    if (curve.asked !== key) return;
    const i = order[done];
    if (i === undefined || !methods.length) { element("progress").textContent = ""; plot(); numbers(); return; }
    element("progress").textContent = `computing point ${done + 1} of ${order.length}`;
    const point = { ...values, [name]: String(curve.xs[i]) };
    curves.ask({ ask: "point", given: point, quantity, methods }, (reply) => {
      if (curve.asked !== key) return;
      curve.values[i] = reply.values ?? {};
      done += 1;
      if ([4, 7, 13].includes(done)) plot();
      step();
    });
  };
  step();
}
const short = (x) => x === null || x === undefined ? "" : x >= 1e4 || x < 1e-3 ? x.toExponential(x.toPrecision(1) == x ? 0 : 1).replace("e+", "e").replace(".0e", "e") : String(Number(x.toPrecision(3)));
function plot() {
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink").trim(), rule = style.getPropertyValue("--grid").trim();
  const known = curve.xs.map((x, i) => [x, curve.values[i]]).filter(([, values]) => values);
  const data = [known.map(([x]) => x), ...curve.methods.map((id) => known.map(([, values]) => {
    const value = Number(values[id]);
    return value > 0 && Number.isFinite(value) ? value : null;
  }))];
  curve.chart?.destroy();
  curve.chart = null;
  const box = element("plot");
  box.replaceChildren();
  const x = parameter[state.axis].label, y = curve.quantity === "epsilon" ? "ε" : "δ";
  if (!known.length || !data.slice(1).some((line) => line.some((value) => value !== null))) return;
  const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule }, font: "13px system-ui, sans-serif", labelFont: "14px system-ui, sans-serif" };
  const ticks = (_, splits) => splits.map((value) => value === null ? "" : Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9 || splits.length < 8 ? short(value) : "");
  curve.chart = new uPlot({
    width: box.clientWidth, height: Math.min(380, Math.max(280, innerHeight * 0.45)),
    scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
    axes: [{ ...axis, label: x, values: ticks }, { ...axis, label: y, size: 64, values: ticks }],
    series: [{ label: x, value: (_, value) => short(value) }, ...curve.methods.map((id) => ({
      label: id, stroke: colour(id), width: id === last.method.id ? 3 : 1.75, spanGaps: false, points: { show: false },
      dash: method[id].kind === "lower" ? [8, 5] : method[id].standing === "rigorous" ? undefined : [2, 4],
      value: (_, value) => short(value),
    }))],
    legend: { show: false }, cursor: { drag: { x: false, y: false } },
  }, data, box);
  const canvas = box.querySelector("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${y} against ${x}, ${curve.methods.length} bounds. The table below has the numbers.`);
}
function numbers() {
  const rows = curve.xs.map((x, i) => [short(x), ...curve.methods.map((id) => { const value = curve.values[i]?.[id]; return value === undefined ? "–" : value === "inf" ? "∞" : short(value); })]);
  const words = make("p", { className: "faint", textContent: "Read off the curve, to the nearest digits; a bound that you publish is the one under Answer." });
  element("numbers").querySelector(".wide").replaceChildren(words, table([parameter[state.axis].label, ...curve.methods], rows));
}
let resized;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(() => curve.chart && plot(), 100); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => curve.chart && plot());

follow();
form();
changed();
})();
