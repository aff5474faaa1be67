export interface RoundRobinOptions {
  /** Bytes that all together move in one turn of the event loop. */
  readonly turnBytes: number;
  /** Bytes that one moves at a time while others wait. */
  readonly quantumBytes: number;
}

/**
 * Who moves bytes in this process, one after the other within short turns of the event loop. Without it each turn takes
 * all that every socket has, seconds for a thousand of them, and in each turn one connection is accepted.
 */
export interface RoundRobin {
  readonly members: () => number;
  join(): Member;
}

export interface Member {
  /** Notes bytes moved. True: enough for now, `wait` for the next turn. Never for the only one. */
  spend(bytes: number): boolean;
  /** True when nothing more should begin to move in this turn. */
  isTurnOver(): boolean;
  /** Calls back, once, when it has its turn: first come, first served. */
  wait(next: () => void): void;
  /** Is not called back any more. */
  leave(): void;
}

export function createRoundRobin({ turnBytes, quantumBytes }: RoundRobinOptions): RoundRobin {
  const waiting = new Map<Member, () => void>();
  let members = 0;
  let turn = 0;
  let turnSpent = 0;
  let isEndScheduled = false;

  const scheduleEnd = () => {
    if (isEndScheduled) return;
    isEndScheduled = true;
    setImmediate(endTurn);
  };
  const endTurn = () => {
    isEndScheduled = false;
    turn += 1;
    turnSpent = 0;
    let places = Math.max(turnBytes / quantumBytes, 1);
    for (const [member, next] of waiting) {
      if (places <= 0) break;
      places -= 1;
      waiting.delete(member);
      next();
    }
    if (waiting.size > 0) scheduleEnd();
  };
  const isTurnOver = () => members > 1 && turnSpent >= turnBytes;

  return {
    members: () => members,
    join() {
      let spentIn = turn;
      let spent = 0;
      members += 1;
      const member: Member = {
        spend(bytes) {
          scheduleEnd();
          if (spentIn !== turn) spent = 0;
          spentIn = turn;
          spent += bytes;
          turnSpent += bytes;
          return isTurnOver() || (waiting.size > 0 && spent >= quantumBytes);
        },
        isTurnOver,
        wait(next) {
          waiting.set(member, next);
          scheduleEnd();
        },
        leave() {
          members -= 1;
          waiting.delete(member);
        },
      };
      return member;
    },
  };
}
