/** What is to be done when this process ends, the last first. */
const ends = new Set<() => void>();
let isWatched = false;

/**
 * Does something when this process ends, by an error or a signal too: synchronous work alone.
 * @returns takes it back
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
  // By themselves signals end a process without its `exit`. 128 and the number of the signal is what shells report.
  for (const [signal, number] of [
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const)
    process.once(signal, () => process.exit(128 + number));
}
