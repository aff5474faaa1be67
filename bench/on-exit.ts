/** Callbacks for the end of this process, called in reverse order. */
const ends = new Set<() => void>();
let isWatched = false;

/**
 * Registers synchronous work for the end of this process, also by an error or a signal.
 * @returns unregisters it
 */
export function onExit(end: () => void): () => void {
  if (!isWatched) watch();
  isWatched = true;
  ends.add(end);
  return () => void ends.delete(end);
}

function watch(): void {
  process.once('exit', () => {
    for (const end of [...ends].reverse()) end();
  });
  // By default a signal ends the process without `exit` event. Shells report 128 plus the signal's number.
  for (const [signal, number] of [
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const)
    process.once(signal, () => process.exit(128 + number));
}
