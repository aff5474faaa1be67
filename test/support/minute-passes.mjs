import { readFileSync } from 'node:fs';

// Preloaded into a process: SIGUSR2 fires every timer of one minute at once, later ones included, and the clock is ahead by the
// milliseconds in a file.
const MINUTE = 60_000;
const { setTimeout, clearTimeout } = globalThis;
const waiting = new Map();
let passed = false;

globalThis.setTimeout = (act, delay, ...args) => {
  if (delay !== MINUTE) return setTimeout(act, delay, ...args);
  const timer = setTimeout(act, passed ? 0 : MINUTE, ...args);
  if (!passed) waiting.set(timer, () => act(...args));
  return timer;
};
globalThis.clearTimeout = (timer) => {
  waiting.delete(timer);
  clearTimeout(timer);
};
const { CLOCK_OFFSET_FILE } = process.env;
if (CLOCK_OFFSET_FILE) {
  const { now } = Date;
  Date.now = () => now() + Number(readFileSync(CLOCK_OFFSET_FILE, 'utf8'));
}
process.on('SIGUSR2', () => {
  passed = true;
  for (const [timer, act] of waiting) {
    globalThis.clearTimeout(timer);
    act();
  }
});
