import type { StreamObserver } from '../sessions/index.ts';

export interface IdleTimerOptions {
  /** Minutes without a stream; 0: never idle. */
  readonly idleMinutes: number;
  /** Called once. */
  readonly onIdle: () => void;
}

/** Reports when no stream has run for a while. Refused requests do not keep a task running. */
export interface IdleTimer extends Pick<StreamObserver, 'onStreamStart'> {
  close(): void;
}

export function createIdleTimer({ idleMinutes, onIdle }: IdleTimerOptions): IdleTimer {
  let timer: NodeJS.Timeout | undefined;
  let runningStreams = 0;
  let isDone = idleMinutes === 0;

  const startTimer = () => {
    if (isDone) return;
    timer = setTimeout(() => {
      isDone = true;
      onIdle();
    }, idleMinutes * 60_000);
  };
  startTimer();

  return {
    onStreamStart() {
      runningStreams += 1;
      clearTimeout(timer);
      return () => {
        runningStreams -= 1;
        if (runningStreams === 0) startTimer();
      };
    },
    close() {
      isDone = true;
      clearTimeout(timer);
    },
  };
}
