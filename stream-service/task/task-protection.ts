import type { Log } from '../../core/log/index.ts';
import type { StreamObserver } from '../sessions/index.ts';

export interface TaskProtectionOptions {
  /** `ECS_AGENT_URI`. */
  readonly agentUri: string;
  /** How long protection outlasts the last stream: players request range by range. @default 30,000 */
  readonly releaseDelayMs?: number;
  readonly log: Log;
}

/** Keeps ECS from stopping this task for scale-in or a deployment while streams run, for an hour at most. */
export interface TaskProtection extends Pick<StreamObserver, 'onStreamStart'> {
  /** Stops calling the agent. Protection that is on expires by itself. */
  close(): Promise<void>;
}

/** Short, so that a task that crashes or hangs does not delay a deployment. */
const EXPIRY_MINUTES = 5;
const RENEW_INTERVAL_MS = 2 * 60_000;
const RELEASE_DELAY_MS = 30_000;
/**
 * How long protection stays on, and then off, while streams run without a break: otherwise a deployment, for which
 * CloudFormation waits three hours, might never finish. A task that is stopped meanwhile still drains.
 */
const MAX_PROTECTED_MS = 60 * 60_000;
const PAUSE_MS = 10 * 60_000;
const CALL_TIMEOUT_MS = 5_000;

/** Failures are logged and retried with the next renewal; they never affect a stream. */
export function createTaskProtection(options: TaskProtectionOptions): TaskProtection {
  const { agentUri, releaseDelayMs = RELEASE_DELAY_MS, log } = options;
  const closing = new AbortController();
  let runningStreams = 0;
  let isOn = false;
  let renewal: NodeJS.Timeout | undefined;
  let release: NodeJS.Timeout | undefined;
  /** Until the maximum is reached, or until the pause after it ends. */
  let phase: NodeJS.Timeout | undefined;
  let isPausing = false;
  let calls = Promise.resolve();

  const put = async (state: Readonly<Record<string, unknown>>) => {
    try {
      const response = await fetch(`${agentUri}/task-protection/v1/state`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(state),
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
      });
      const result = (await response.json()) as { error?: unknown; failure?: unknown };
      // The agent responds 200 with `failure` when ECS rejects the change.
      if (!response.ok || result.error || result.failure) throw new Error(JSON.stringify(result).slice(0, 300));
    } catch (error) {
      if (!closing.signal.aborted) log.warn('Changing task protection failed', { ...state, error });
    }
  };
  /** Sequential: the state requested last is the one that stays. */
  const request = (state: Readonly<Record<string, unknown>>) => {
    calls = calls.then(() => (closing.signal.aborted ? undefined : put(state)));
  };
  const renew = () => request({ ProtectionEnabled: true, ExpiresInMinutes: EXPIRY_MINUTES });

  const turnOn = () => {
    clearTimeout(release);
    if (isOn || isPausing || closing.signal.aborted) return;
    isOn = true;
    renew();
    renewal = setInterval(renew, RENEW_INTERVAL_MS).unref();
    phase = setTimeout(pause, MAX_PROTECTED_MS).unref();
  };
  const turnOff = () => {
    if (!isOn) return;
    isOn = false;
    clearInterval(renewal);
    clearTimeout(phase);
    request({ ProtectionEnabled: false });
  };
  const pause = () => {
    turnOff();
    isPausing = true;
    phase = setTimeout(() => {
      isPausing = false;
      if (runningStreams > 0) turnOn();
    }, PAUSE_MS).unref();
  };

  return {
    onStreamStart() {
      runningStreams += 1;
      turnOn();
      return () => {
        runningStreams -= 1;
        if (runningStreams === 0 && !closing.signal.aborted) release = setTimeout(turnOff, releaseDelayMs).unref();
      };
    },
    async close() {
      closing.abort();
      clearInterval(renewal);
      clearTimeout(release);
      clearTimeout(phase);
      await calls;
    },
  };
}
