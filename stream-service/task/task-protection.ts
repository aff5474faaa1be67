import type { Log } from '../../core/log/index.ts';
import type { StreamObserver } from '../sessions/index.ts';

export interface TaskProtectionOptions {
  /** `ECS_AGENT_URI`. */
  readonly agentUri: string;
  /** Milliseconds that it stays after the last stream: a player asks range by range. @default 30 s */
  readonly linger?: number;
  readonly log: Log;
}

/** Keeps ECS from ending this task by scaling in or by deploying while streams run, but not for ever. */
export interface TaskProtection extends Pick<StreamObserver, 'onStreamStart'> {
  /** Nothing is asked of the agent any more. The last lease runs out by itself. */
  close(): Promise<void>;
}

/** Minutes: short, so that a task that dies or hangs does not hold up a deployment. */
const LEASE_MINUTES = 5;
const RENEW_EVERY = 2 * 60_000;
const LINGER = 30_000;
/**
 * Milliseconds that it is kept up at a stretch, and then left off: where streams never cease, no deployment would come to
 * its end, which CloudFormation awaits for three hours. A task that is ended all the same drains as long as ECS lets it.
 */
const LONGEST = 60 * 60_000;
const PAUSE = 10 * 60_000;
/** Milliseconds for one call. */
const CALL_TIMEOUT = 5_000;

/** A failure is logged and tried again with the next renewal: it costs protection, never a stream. */
export function createTaskProtection(options: TaskProtectionOptions): TaskProtection {
  const { agentUri, linger = LINGER, log } = options;
  const closing = new AbortController();
  let running = 0;
  let isOn = false;
  let renewal: NodeJS.Timeout | undefined;
  let lingering: NodeJS.Timeout | undefined;
  /** Until the stretch ends, or the pause after it. */
  let turn: NodeJS.Timeout | undefined;
  let isPausing = false;
  let calls = Promise.resolve();

  const put = async (state: Readonly<Record<string, unknown>>) => {
    try {
      const response = await fetch(`${agentUri}/task-protection/v1/state`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(state),
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(CALL_TIMEOUT)]),
      });
      const answer = (await response.json()) as { error?: unknown; failure?: unknown };
      // ECS says 200 to what it could not do for the task, too.
      if (!response.ok || answer.error || answer.failure) throw new Error(JSON.stringify(answer).slice(0, 300));
    } catch (error) {
      if (!closing.signal.aborted) log.warn('Task protection could not be changed', { ...state, error });
    }
  };
  /** In turn: what was asked last is what holds. */
  const ask = (state: Readonly<Record<string, unknown>>) => {
    calls = calls.then(() => (closing.signal.aborted ? undefined : put(state)));
  };
  const renew = () => ask({ ProtectionEnabled: true, ExpiresInMinutes: LEASE_MINUTES });

  const turnOn = () => {
    clearTimeout(lingering);
    if (isOn || isPausing || closing.signal.aborted) return;
    isOn = true;
    renew();
    renewal = setInterval(renew, RENEW_EVERY).unref();
    turn = setTimeout(pause, LONGEST).unref();
  };
  const turnOff = () => {
    if (!isOn) return;
    isOn = false;
    clearInterval(renewal);
    clearTimeout(turn);
    ask({ ProtectionEnabled: false });
  };
  const pause = () => {
    turnOff();
    isPausing = true;
    turn = setTimeout(() => {
      isPausing = false;
      if (running > 0) turnOn();
    }, PAUSE).unref();
  };

  return {
    onStreamStart() {
      running += 1;
      turnOn();
      return () => {
        running -= 1;
        if (running === 0 && !closing.signal.aborted) lingering = setTimeout(turnOff, linger).unref();
      };
    },
    async close() {
      closing.abort();
      clearInterval(renewal);
      clearTimeout(lingering);
      clearTimeout(turn);
      await calls;
    },
  };
}
