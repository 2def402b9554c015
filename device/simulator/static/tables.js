// Keeps the pictures of the tables live, and turns mouse, fingers and keys into buttons held down and let go.

const stream = document.body.dataset.stream;
const lost = document.getElementById("lost");
const device = document.querySelector(".device");
const power = document.getElementById("power");
const path = device === null ? "" : `/tables/${device.dataset.number}`;
const language = document.documentElement.lang;

const LOST_AFTER_MS = 9_000; // a sign of life comes every 3 s
const RETRY_MS = 1_000;
const HOLD_AGAIN_MS = 1_000; // the table lets a button go that nobody says to hold
// No finger is quicker, and the table takes less for a bounce.
const SHORTEST_PRESS_MS = 60;
const SHORTEST_GAP_MS = 60;

let source = null;
let heardAt = performance.now();
let inStepAt = new Date();
let nextTry = 0;

// ---- the live pictures

function show(news) {
  const seat = document.querySelector(`.seat[data-table="${news.table}"]`);
  if (seat === null) return;
  const screen = seat.querySelector(".screen");
  screen.src = news.picture;
  screen.alt = news.words;
  const said = seat.querySelector(".said");
  if (said.textContent !== news.said) said.textContent = news.said;
  if (seat !== device) return;
  device.classList.toggle("off", !news.on);
  power.setAttribute("aria-checked", String(news.on));
  for (const button of buttons) {
    const name = button.dataset.button;
    button.classList.toggle("down", news.down.includes(name) || holds.get(name).size > 0);
  }
}

function connect() {
  source?.close();
  heardAt = performance.now();
  source = new EventSource(stream);
  source.addEventListener("table", (event) => {
    heard();
    show(JSON.parse(event.data));
  });
  source.addEventListener("beat", heard);
  source.addEventListener("error", lose);
}

function heard() {
  heardAt = performance.now();
  inStepAt = new Date();
  lost.hidden = true;
}

function lose() {
  letAllGo();
  source?.close();
  source = null;
  nextTry = performance.now() + RETRY_MS;
  if (!lost.hidden) return;
  const time = inStepAt.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  lost.textContent = lost.dataset.text.replace("{time}", time);
  lost.hidden = false;
}

setInterval(() => {
  if (document.hidden) return;
  const now = performance.now();
  if (source !== null && now - heardAt > LOST_AFTER_MS) lose();
  if (source === null && now >= nextTry) connect();
}, 500);

// A hidden page gives its connection back: browsers have few for each server.
function seenOrHidden() {
  if (document.hidden) {
    letAllGo();
    source?.close();
    source = null;
  } else if (source === null) connect();
}

// ---- buttons: held as long as any of mouse, finger or key holds them

const buttons = device === null ? [] : [...device.querySelectorAll("[data-button]")];
const holds = new Map(buttons.map((button) => [button.dataset.button, new Set()]));
const movedAt = new Map(); // when a button was last told to go down or up
let queue = Promise.resolve(); // one request after the other: down and up must not overtake each other
let waiting = 0;

function pause(ms) {
  return ms > 0 ? new Promise((done) => setTimeout(done, ms)) : undefined;
}

function move(name, down) {
  const least = down ? SHORTEST_GAP_MS : SHORTEST_PRESS_MS;
  queue = queue
    .then(() => pause(least - (performance.now() - (movedAt.get(name) ?? -Infinity))))
    .then(() => movedAt.set(name, performance.now()));
  post(`${path}/pins/${name}`, { down });
}

function post(address, body) {
  waiting += 1;
  queue = queue
    .then(() => fetch(address, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), keepalive: true }))
    .then((answer) => {
      if (!answer.ok) throw new Error(String(answer.status));
    })
    .catch(lose)
    .finally(() => {
      waiting -= 1;
    });
}

function press(name, by) {
  const holders = holds.get(name);
  if (holders.has(by)) return;
  holders.add(by);
  if (holders.size > 1) return;
  mark(name, true);
  move(name, true);
}

function letGo(name, by) {
  const holders = holds.get(name);
  if (!holders.delete(by) || holders.size > 0) return;
  mark(name, false);
  move(name, false);
}

function letAllGo() {
  for (const [name, holders] of holds) for (const by of [...holders]) letGo(name, by);
}

function mark(name, down) {
  device.querySelector(`[data-button="${name}"]`).classList.toggle("down", down);
}

for (const button of buttons) {
  const name = button.dataset.button;
  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    button.setPointerCapture(event.pointerId);
    press(name, event.pointerId);
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
    button.addEventListener(end, (event) => letGo(name, event.pointerId));
  }
  button.addEventListener("contextmenu", (event) => event.preventDefault());
}

function buttonOf(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return undefined;
  const named = buttons.find((button) => button.dataset.key === event.key || event.code === `Numpad${button.dataset.key}`);
  if (named !== undefined) return named;
  return event.key === " " || event.key === "Enter" ? buttons.find((button) => button === document.activeElement) : undefined;
}

document.addEventListener("keydown", (event) => {
  const button = buttonOf(event);
  if (button === undefined) return;
  event.preventDefault();
  if (!event.repeat) press(button.dataset.button, event.code);
});

document.addEventListener("keyup", (event) => {
  for (const name of holds.keys()) letGo(name, event.code);
});

let saidAt = Date.now();
setInterval(() => {
  const slept = Date.now() - saidAt > 3 * HOLD_AGAIN_MS; // the table has let go, and must not be pressed anew
  saidAt = Date.now();
  if (slept) letAllGo();
  if (waiting > 0) return;
  for (const [name, holders] of holds) if (holders.size > 0) post(`${path}/pins/${name}`, { down: true });
}, HOLD_AGAIN_MS);

power?.addEventListener("click", () => {
  post(`${path}/power`, { on: power.getAttribute("aria-checked") !== "true" });
});

addEventListener("blur", letAllGo);
addEventListener("pagehide", () => {
  letAllGo();
  source?.close();
  source = null;
});
addEventListener("pageshow", seenOrHidden);
document.addEventListener("visibilitychange", seenOrHidden);
seenOrHidden();
