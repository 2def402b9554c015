// Keeps a page in step with the hub: one event stream, full snapshots, clocks run on in between.
// Nothing here makes HTML: what the hub sends is already escaped, words come from data attributes.

const page = document.body.dataset;
const live = document.getElementById("live");
const status = document.getElementById("status");
const step = document.getElementById("step");
const search = document.getElementById("search");
const language = document.documentElement.lang;
const zone = document.documentElement.dataset.zone; // of the venue; empty where only the hub's machine knows it

const LOST_AFTER_MS = Number(page.lostAfterMs);
const SPEED = Number(page.speed);
const ASK_EVERY_MS = Number(page.askEveryMs);
const LONGEST_WAIT_MS = 15_000;

let source = null; // the open event stream
let heardAt = performance.now(); // last sign of life on it, or when it was opened
let aliveAt = heardAt; // last sign of life on any stream
let watchedAt = Date.now(); // by the clock that goes on while the machine sleeps
let inStepAt = new Date(); // last time this page was known to show what the hub has
let snapshotAt = performance.now(); // when the clocks on the page were taken over …
let agedMs = Number(page.agedMs); // … and how old they were then
let failures = 0;
let nextTry = 0;
let askedAt = 0;
let asking = false;

// ---- words

function timeOfDay(date, seconds) {
  const parts = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  if (zone) parts.timeZone = zone; // the venue's, wherever this browser is
  return date.toLocaleTimeString(language, seconds ? { ...parts, second: "2-digit" } : parts);
}

function tell(kind) {
  const words = status.dataset[kind]
    .replace("{time}", timeOfDay(inStepAt, false))
    .replace("{seconds}", String(ASK_EVERY_MS / 1000));
  if (status.textContent !== words) status.textContent = words;
  document.body.dataset.link = kind;
}

function inStep() {
  inStepAt = new Date();
  step.textContent = step.dataset.text.replace("{time}", timeOfDay(inStepAt, true));
}

// ---- snapshots

function show(message) {
  const end = message.indexOf("\n");
  const about = JSON.parse(message.slice(0, end));
  if (about.version !== page.version) {
    location.reload(); // the hub was renewed: so are its pages
    return;
  }
  const open = [...live.querySelectorAll("details[open]")].map((details) => details.dataset.key);
  const focused = document.activeElement?.closest?.("#live details")?.dataset.key;
  live.innerHTML = message.slice(end + 1);
  for (const details of live.querySelectorAll("details")) {
    details.open = open.includes(details.dataset.key);
    if (details.dataset.key === focused) details.querySelector("summary").focus({ preventScroll: true });
  }
  page.revision = about.revision;
  snapshotAt = performance.now();
  agedMs = about.aged_ms;
  runClocks();
  filter();
  inStep();
}

// ---- the stream

function connect() {
  source?.close();
  heardAt = performance.now();
  nextTry = 0;
  source = new EventSource(page.stream);
  source.addEventListener("snapshot", (event) => {
    heard();
    show(event.data);
  });
  source.addEventListener("beat", () => {
    heard();
    inStep();
  });
  source.addEventListener("error", lose);
}

function heard() {
  heardAt = aliveAt = performance.now();
  failures = 0;
  tell("live");
}

function lose() {
  release();
  failures += 1;
  if (failures === 1 || document.body.dataset.link !== "asking") tell("lost");
  const wait = Math.min(LONGEST_WAIT_MS, 500 * 2 ** failures);
  nextTry = performance.now() + wait * (0.5 + Math.random() / 2);
}

function release() {
  source?.close();
  source = null;
}

// A stream that does not get through (a proxy holds it back, no place left) must not leave the page standing still.
async function ask() {
  asking = true;
  askedAt = performance.now();
  try {
    const answer = await fetch(`${page.stream}&once`, { signal: AbortSignal.timeout(8000), cache: "no-store" });
    if (answer.status === 403) location.reload(); // logged out: the page says so
    if (!answer.ok) throw new Error(String(answer.status));
    const message = await answer.text();
    if (failures > 0) {
      show(message);
      tell("asking");
    }
  } catch {
    if (failures > 0) tell("lost");
  } finally {
    asking = false;
  }
}

function watch() {
  if (document.hidden) return;
  const now = performance.now();
  const slept = Date.now() - watchedAt > LOST_AFTER_MS;
  watchedAt = Date.now();
  if (slept) connect();
  if (source !== null && now - heardAt > LOST_AFTER_MS) lose();
  if (source === null && now >= nextTry) connect();
  const dumb = failures > 1 || (failures > 0 && now - aliveAt > LOST_AFTER_MS);
  if (dumb && !asking && now - askedAt > ASK_EVERY_MS) ask();
}

// A hidden page gives its connection back (browsers have few for each server) and catches up when seen again.
function seenOrHidden() {
  watchedAt = Date.now();
  if (document.hidden) {
    release();
    status.textContent = "";
    delete document.body.dataset.link;
  } else if (source === null) connect();
}

// ---- clocks

function reading(shownMs, direction) {
  const seconds = Math.max(0, direction === "down" ? Math.ceil(shownMs / 1000) : Math.floor(shownMs / 1000));
  const two = (number) => String(number).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

function runClocks() {
  const sinceMs = performance.now() - snapshotAt + agedMs;
  for (const clock of live.querySelectorAll("time[data-shown-ms]")) {
    const { shownMs, ageMs, direction } = clock.dataset;
    const gone = (Number(ageMs) + sinceMs) * SPEED;
    const text = reading(Number(shownMs) + (direction === "down" ? -gone : gone), direction);
    if (clock.textContent !== text) clock.textContent = text;
  }
}

// ---- search

function plain(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

function filter() {
  if (search === null) return;
  const sought = plain(document.getElementById("sought").value);
  let found = 0;
  for (const board of live.querySelectorAll(".board")) {
    let here = 0;
    for (const row of board.querySelectorAll("tr[data-key]")) {
      const fits = plain(row.querySelector(".name").textContent).includes(sought);
      row.hidden = !fits;
      here += fits ? 1 : 0;
    }
    board.hidden = sought !== "" && here === 0;
    found += here;
  }
  const output = document.getElementById("found");
  output.textContent = sought !== "" && found === 0 ? output.dataset.none : "";
}

if (search !== null) {
  search.hidden = false;
  search.addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("input", filter);
}

document.addEventListener("visibilitychange", seenOrHidden);
addEventListener("pagehide", release);
addEventListener("pageshow", seenOrHidden);
addEventListener("online", () => {
  nextTry = 0;
});
setInterval(watch, 500);
setInterval(runClocks, 200);
runClocks();
inStep();
seenOrHidden();
