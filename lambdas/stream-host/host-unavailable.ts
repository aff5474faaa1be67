import { Problem } from '../../core/api/index.ts';

/** Seconds. */
const AFTER_THROTTLE = 5;
const AFTER_CAPACITY = 30;

/** ECS cannot do what it is asked for now, and may in a while. */
export class HostUnavailable extends Error {
  override readonly name = 'HostUnavailable';
  /** Whether ECS certainly did not do it. Otherwise it may have, and only its answer was lost. */
  readonly refused: boolean;
  readonly retryAfter: number;

  constructor(reason: string, refused: boolean, options?: ErrorOptions) {
    super(reason, options);
    this.refused = refused;
    this.retryAfter = /capacity|limit/i.test(reason) ? AFTER_CAPACITY : AFTER_THROTTLE;
  }

  toProblem(): Problem {
    const detail = 'AWS cannot start the stream host at the moment. Try again soon.';
    const headers = { 'retry-after': String(this.retryAfter) };
    return new Problem({ title: 'No Stream Host Available', status: 503, detail }, headers, { cause: this });
  }
}

/** What ECS says when it has no room or hears too much. */
const PASSING = /capacity|throttl|rate exceeded|limit/i;

/** An error of an ECS call: HostUnavailable when it will pass, else itself. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const said = `${error.name}: ${error.message}`;
  if (PASSING.test(said)) return new HostUnavailable(said, true, { cause: error });
  // A fault of the server, or a connection that gave no answer: nobody knows what was done.
  const { $fault, code, name } = error as Error & { readonly $fault?: string; readonly code?: string };
  const isUnanswered = $fault === 'server' || code !== undefined || name === 'TimeoutError';
  return isUnanswered ? new HostUnavailable(said, false, { cause: error }) : error;
}

/** Why no task was started, as RunTask lists failures. */
export const asRefusal = (reasons: string): Error =>
  PASSING.test(reasons) || reasons.startsWith('RESOURCE')
    ? new HostUnavailable(reasons, true)
    : new Error(`ECS started no task: ${reasons}`);
