/** The right to use one of a few places, until it is given back. */
export interface Permit {
  /** Aborted when the place is wanted by others who have fewer: give it back, and ask again. */
  readonly revoked: AbortSignal;
  release(): void;
}

export interface FairSemaphore {
  /** Waits for a place. @throws the signal's reason once it is aborted */
  acquire(party: string, signal: AbortSignal): Promise<Permit>;
}

export interface FairSemaphoreOptions {
  readonly permits: number;
  /** Milliseconds that others wait before a place is taken from a party that has more than half of them. */
  readonly revokeAfterMs: number;
}

interface Held {
  readonly party: string;
  readonly revoke: AbortController;
}

/**
 * Hands out places, each party in its turn. One alone may have all of them; while others wait it gets no more than half
 * (at least one), and what it has beyond is taken back: the youngest, of which the least is lost.
 */
export function createFairSemaphore({ permits: places, revokeAfterMs: patience }: FairSemaphoreOptions): FairSemaphore {
  const share = Math.max(1, Math.floor(places / 2));
  /** Who waits, by party; the party whose turn is next comes first. */
  const waiting = new Map<string, ((turn: Permit) => void)[]>();
  /** Oldest first. */
  const held = new Set<Held>();
  const holdings = (party: string) => [...held].filter((one) => one.party === party && !one.revoke.signal.aborted);
  const hasLess = (party: string) => holdings(party).length < share;

  const seat = (party: string): Permit => {
    const one: Held = { party, revoke: new AbortController() };
    held.add(one);
    return {
      revoked: one.revoke.signal,
      release: () => {
        held.delete(one);
        seatNext();
      },
    };
  };

  const seatNext = () => {
    while (held.size < places) {
      const round = [...waiting];
      const [party, queue] = round.find(([name]) => hasLess(name)) ?? round[0] ?? [];
      const next = queue?.shift();
      if (party === undefined || !queue || !next) return;
      // To the end of the round, if there is more of it.
      waiting.delete(party);
      if (queue.length > 0) waiting.set(party, queue);
      next(seat(party));
    }
  };

  const takeBack = (forParty: string) => {
    if (!hasLess(forParty)) return;
    const greedy = [...held].find(({ party }) => holdings(party).length > share);
    const youngest = greedy && holdings(greedy.party).at(-1);
    youngest?.revoke.abort(new Error('Others wait'));
  };

  const leave = (party: string, seated: (turn: Permit) => void) => {
    const queue = waiting.get(party)?.filter((other) => other !== seated) ?? [];
    if (queue.length > 0) waiting.set(party, queue);
    else waiting.delete(party);
  };

  return {
    acquire(party, signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const timer = setTimeout(takeBack, patience, party);
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
        };
        const seated = (turn: Permit) => {
          end();
          resolve(turn);
        };
        const onAbort = () => {
          end();
          leave(party, seated);
          reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiting.set(party, [...(waiting.get(party) ?? []), seated]);
        seatNext();
      });
    },
  };
}
