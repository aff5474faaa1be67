import type { Log } from '../../core/log/index.ts';
import type { StreamObserver } from '../sessions/index.ts';

interface IdleTimerOptions {
  /** Minutes without a stream; 0: never idle. */
  readonly idleMinutes: number;
  /** Called again after as many minutes when it fails. */
  readonly onIdle: () => Promise<void>;
  readonly log: Log;
}

/** Reports when no stream has run for a while. Refused requests do not keep a task running. */
interface IdleTimer extends Pick<StreamObserver, 'onStreamStart'> {
  close(): void;
}

export function createIdleTimer({ idleMinutes, onIdle, log }: IdleTimerOptions): IdleTimer {
  let timer: NodeJS.Timeout | undefined;
  let runningStreams = 0;
  let isDone = idleMinutes === 0;

  const startTimer = () => {
    if (isDone) return;
    clearTimeout(timer);
    timer = setTimeout(
      () =>
        onIdle().then(
          () => {
            isDone = true;
          },
          (error) => {
            log.error('The idle task could not end', { error });
            if (runningStreams === 0) startTimer();
          },
        ),
      idleMinutes * 60_000,
    );
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
