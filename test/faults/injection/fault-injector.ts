/** What happens at an effect. */
export type Failure =
  /** The effect fails. */
  | 'fails'
  /** This effect and every further one fails. */
  | 'fails from then on'
  /** The client disconnects. */
  | 'client leaves'
  /** Every child process is killed. */
  | 'processes die';

interface Injection {
  /** The number of the effect, from 1. */
  readonly at: number;
  readonly failure: Failure;
  /** The only effects that count. @default all */
  readonly only?: RegExp;
  /** Disconnects the client. */
  readonly leave: () => void;
  /** Kills every child process. */
  readonly kill: () => Promise<void>;
}

/**
 * Counts the effects of what runs, such as connections, reads and calls of the table, and makes one of them fail. Each
 * effect is numbered in the order in which it happens.
 */
export interface FaultInjector {
  /** Counts an effect. @returns whether it has to fail now */
  effect(name: string): boolean;
  /** Counts effects from 0 and injects a failure. */
  arm(injection: Injection): void;
  /** @returns the name of the effect at which the failure was injected; undefined when there were fewer effects */
  disarm(): string | undefined;
  /** Effects since the last `arm`. */
  effects(): number;
}

export function createFaultInjector(): FaultInjector {
  let injection: Injection | undefined;
  let count = 0;
  let hit: string | undefined;
  return {
    effect(name) {
      if (!injection || injection.only?.test(name) === false) return false;
      count += 1;
      if (count < injection.at || (count > injection.at && injection.failure !== 'fails from then on')) return false;
      hit ??= name;
      if (injection.failure === 'client leaves') injection.leave();
      else if (injection.failure === 'processes die') void injection.kill();
      else return true;
      return false;
    },
    arm(next) {
      injection = next;
      count = 0;
      hit = undefined;
    },
    disarm() {
      injection = undefined;
      return hit;
    },
    effects: () => count,
  };
}
