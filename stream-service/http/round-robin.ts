import { createRateLimit } from '@reelay/concurrency';

interface RoundRobinOptions {
  /** Bytes that all members together move in one turn of the event loop. */
  readonly turnBytes: number;
  /** Bytes that one member, or one client beside others, moves in one turn. */
  readonly quantumBytes: number;
}

/**
 * Schedules the streams of this process within short turns of the event loop. Without it one turn would read everything
 * that every socket has, which takes seconds for a thousand streams, and one connection is accepted per turn.
 *
 * While several clients have bytes to move, each has a share of the turn, however many streams it has. The share becomes
 * smaller with the number of streams: one that opens twenty must not slow down one that has a single stream.
 */
export interface RoundRobin {
  readonly members: () => number;
  /** Adds a stream of a client. */
  join(client: string): Member;
  /**
   * Lets the streams of others move little while a short answer for a client is prepared: each of its steps waits for the
   * end of a turn, and the processes that prepare it for the processor.
   * @returns ends it; it ends by itself after a moment
   */
  giveWayTo(client: string): () => void;
}

interface Member {
  /** Charges bytes to the member. True: its share is used up, `wait` for the next turn. Never for the only member. */
  charge(bytes: number): boolean;
  /** Whether bytes may be moved in this turn: its own are not used up, nor are those of the client. */
  mayMove(): boolean;
  /** Calls back once, when the member may continue: clients in turn, the members of each first come, first served. */
  wait(next: () => void): void;
  /** Removes the member; its callback is dropped. */
  leave(): void;
}

/** By which the share of a client with as many streams or more is divided. */
const MAX_DIVISOR = 4;
/** Time after which a client that has moved nothing does not count as one beside others. */
const MOVERS_MS = 20;
/** Longer than most answers take, and short for a stream. */
const GIVE_WAY_MS = 250;
/** How often a client may slow down the streams of others, per second over time and at once. */
const GIVE_WAY_RATE = { perSecond: 1, burst: 20 };
/** Meanwhile turns are an eighth as long, and take a millisecond: 250 MB/s, for a third of a processor. */
const REDUCED_SHARE = 1 / 8;
const REDUCED_TURN_MS = 2;

interface Client {
  members: number;
  readonly waiting: Map<Member, () => void>;
  /** Bytes moved in the turn `spentIn`. */
  spent: number;
  spentIn: number;
}

export function createRoundRobin({ turnBytes, quantumBytes }: RoundRobinOptions): RoundRobin {
  const clients = new Map<string, Client>();
  /** Those with waiting members; the one whose turn is next comes first. */
  const round = new Set<Client>();
  /** Those that moved bytes of late, and before: a stream pauses for some turns whenever its client or source does. */
  let movers = new Set<Client>();
  let moversBefore = new Set<Client>();
  let moversSince = performance.now();
  /** Clients that the others give way to. */
  const preferred = new Set<{ readonly name: string }>();
  const preferences = createRateLimit(GIVE_WAY_RATE);
  let members = 0;
  let turn = 0;
  let turnSpent = 0;
  let isEndScheduled = false;

  const scheduleEnd = () => {
    if (isEndScheduled) return;
    isEndScheduled = true;
    if (isReduced()) setTimeout(endTurn, REDUCED_TURN_MS);
    else setImmediate(endTurn);
  };
  const endTurn = () => {
    isEndScheduled = false;
    turn += 1;
    turnSpent = 0;
    if (performance.now() - moversSince >= MOVERS_MS) forgetMovers();
    const called = new Set<Client>();
    for (let bytes = turnBytes * scale(); ; ) {
      const [client] = round;
      const [member, next] = client?.waiting.entries().next().value ?? [];
      if (!client || !member || !next || bytes < shareOf(client)) break;
      // Each member that is called moves a chunk at least, whatever the share of its client.
      if (called.has(client) && isBesideOthers(client)) break;
      called.add(client);
      remove(client, member);
      // A client with more waiting members moves to the end of the round.
      if (round.delete(client)) round.add(client);
      bytes -= shareOf(client);
      next();
    }
    if (round.size > 0) scheduleEnd();
  };

  const forgetMovers = () => {
    moversBefore = movers;
    movers = new Set();
    moversSince = performance.now();
  };
  const remove = (client: Client, member: Member) => {
    client.waiting.delete(member);
    if (client.waiting.size === 0) round.delete(client);
  };
  const isReduced = () =>
    preferred.size > 0 && [...preferred].some(({ name }) => clients.size > Number(clients.has(name)));
  const scale = () => (isReduced() ? REDUCED_SHARE : 1);
  const isTurnOver = () => (members > 1 || isReduced()) && turnSpent >= turnBytes * scale();
  const isBesideOthers = (client: Client) =>
    [round, movers, moversBefore].some((set) => set.size > Number(set.has(client)));
  const shareOf = (client: Client) =>
    (quantumBytes * scale()) / (isBesideOthers(client) ? Math.min(client.members, MAX_DIVISOR) : 1);
  const isShareUsedUp = (client: Client) =>
    client.spentIn === turn && client.spent >= shareOf(client) && isBesideOthers(client);

  return {
    members: () => members,
    giveWayTo(name) {
      if (preferences.take(name) > 0) return () => undefined;
      const one = { name };
      preferred.add(one);
      const end = () => {
        clearTimeout(timer);
        preferred.delete(one);
      };
      const timer = setTimeout(end, GIVE_WAY_MS).unref();
      return end;
    },
    join(name) {
      const client = clients.get(name) ?? { members: 0, waiting: new Map(), spent: 0, spentIn: turn };
      clients.set(name, client);
      client.members += 1;
      members += 1;
      let spentIn = turn;
      let spent = 0;
      const member: Member = {
        charge(bytes) {
          scheduleEnd();
          if (spentIn !== turn) spent = 0;
          if (client.spentIn !== turn) client.spent = 0;
          spentIn = turn;
          client.spentIn = turn;
          spent += bytes;
          client.spent += bytes;
          turnSpent += bytes;
          movers.add(client);
          return isTurnOver() || (round.size > 0 && spent >= quantumBytes * scale()) || isShareUsedUp(client);
        },
        mayMove: () => !isTurnOver() && !isShareUsedUp(client),
        wait(next) {
          client.waiting.set(member, next);
          round.add(client);
          scheduleEnd();
        },
        leave() {
          members -= 1;
          client.members -= 1;
          remove(client, member);
          if (client.members === 0) clients.delete(name);
        },
      };
      return member;
    },
  };
}
