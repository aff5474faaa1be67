import type { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { releaseBuffer } from '../../core/egress/guard/index.ts';

/** Bytes of one body collected per write: one large write wakes the client once. */
const MAX_CORKED_BYTES = 512 * 1024;
/** The same over all bodies: with a thousand of them, chunks are written as they arrive. */
const MAX_TOTAL_CORKED_BYTES = 16 * 1024 * 1024;

/** All bodies of this process: about 10 ms per turn of the event loop, and per body what a socket delivers in one turn. */
const ALL_BODIES = createRoundRobin({ turnBytes: 2 * 1024 * 1024, quantumBytes: 1024 * 1024 });

/**
 * Sends a body after the head has been written. The response ends with the body, and is destroyed when the body fails;
 * the body is destroyed when the client disconnects.
 *
 * This function owns the chunks, and releases their memory as soon as the system has taken them: the garbage collector
 * would keep the chunks of slow clients for longer, about 100 MB for a thousand of them.
 */
export function sendBody(body: Readable, response: ServerResponse, bodies: RoundRobin = ALL_BODIES): void {
  const member = bodies.join();
  let corkedBytes = 0;
  /** For the round robin, whether or not the client accepts bytes. */
  let isWaiting = false;
  const flush = () => {
    if (corkedBytes === 0) return;
    corkedBytes = 0;
    // Uncorked, Node would pass each chunk and each line of the chunked coding to the system by itself.
    const { socket } = response;
    socket?.cork();
    response.uncork();
    socket?.uncork();
    if (response.writableLength > 0) body.pause();
  };
  const waitForTurn = () => {
    isWaiting = true;
    body.pause();
    member.wait(() => {
      isWaiting = false;
      if (response.writableLength === 0) body.resume();
    });
  };
  const onWritten = () => {
    if (isWaiting || !body.isPaused() || response.writableLength > 0) return;
    if (member.isTurnOver()) waitForTurn();
    else body.resume();
  };

  body.on('data', (chunk: Buffer) => {
    if (corkedBytes === 0) {
      response.cork();
      // Further chunks that are available now are read before this runs.
      setImmediate(flush);
    }
    corkedBytes += chunk.length;
    response.write(chunk, () => {
      releaseBuffer(chunk);
      onWritten();
    });
    if (corkedBytes >= Math.min(MAX_CORKED_BYTES, MAX_TOTAL_CORKED_BYTES / bodies.members())) flush();
    if (member.charge(chunk.length)) waitForTurn();
  });
  finished(body, { writable: false }, (error) => {
    member.leave();
    flush();
    if (error) response.destroy();
    else response.end();
  });
  finished(response, () => body.destroy());
}

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
