/** Callbacks for the end of this process, called in reverse order. */
const ends = new Set<() => void>();

/** By default these end the process without `exit` event. Shells report 128 plus the signal's number. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

const onSignal = (_signal: string, number: number): never => process.exit(128 + number);
function callEnds(): void {
  for (const end of [...ends].reverse()) end();
}

/**
 * Registers synchronous work for the end of this process, also by an error or a signal.
 * @returns unregisters it
 */
export function onExit(end: () => void): () => void {
  if (ends.size === 0) watch('on');
  ends.add(end);
  return () => {
    if (ends.delete(end) && ends.size === 0) watch('off');
  };
}

/** Listens while there is work, no longer: a process that has stopped all of its children ends by signals as any other. */
function watch(change: 'on' | 'off'): void {
  process[change]('exit', callEnds);
  for (const signal of Object.keys(SIGNALS)) process[change](signal, onSignal);
}
