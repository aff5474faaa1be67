export interface RoundRobinOptions {
  /** Bytes that all members together move in one turn of the event loop. */
  readonly turnBytes: number;
  /** Bytes that one member moves at a time while others wait. */
  readonly quantumBytes: number;
}

/**
 * Schedules the streams of this process within short turns of the event loop. Without it one turn would read everything
 * that every socket has, which takes seconds for a thousand streams, and one connection is accepted per turn.
 */
export interface RoundRobin {
  readonly members: () => number;
  join(): Member;
}

export interface Member {
  /** Charges bytes to the member. True: its share is used up, `wait` for the next turn. Never for the only member. */
  charge(bytes: number): boolean;
  /** Whether the bytes of this turn are used up. */
  isTurnOver(): boolean;
  /** Calls back once, when the member may continue: first come, first served. */
  wait(next: () => void): void;
  /** Removes the member; its callback is dropped. */
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
    let slots = Math.max(turnBytes / quantumBytes, 1);
    for (const [member, next] of waiting) {
      if (slots <= 0) break;
      slots -= 1;
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
        charge(bytes) {
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
