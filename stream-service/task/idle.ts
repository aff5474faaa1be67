import type { StreamObserver } from '../sessions/index.ts';

export interface IdleOptions {
  /** Without a stream; 0: it never ends. */
  readonly minutes: number;
  /** Called once. */
  readonly onIdle: () => void;
}

/** Tells when no stream has run for a while. What is refused or not there is no stream: it does not keep a task awake. */
export interface Idle extends Pick<StreamObserver, 'onStreamStart'> {
  close(): void;
}

export function createIdle({ minutes, onIdle }: IdleOptions): Idle {
  let timer: NodeJS.Timeout | undefined;
  let running = 0;
  let isOver = minutes === 0;

  const wait = () => {
    if (isOver) return;
    timer = setTimeout(() => {
      isOver = true;
      onIdle();
    }, minutes * 60_000);
  };
  wait();

  return {
    onStreamStart() {
      running += 1;
      clearTimeout(timer);
      return () => {
        running -= 1;
        if (running === 0) wait();
      };
    },
    close() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
