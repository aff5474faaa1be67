const RETRY_AFTER_THROTTLING_SECONDS = 5;
const RETRY_AFTER_CAPACITY_SECONDS = 30;

/** ECS cannot start or describe tasks now, and probably can later: throttling, capacity, or no response. */
export class HostUnavailable extends Error {
  override readonly name = 'HostUnavailable';
  /** True when ECS certainly did nothing; false when only its response may have been lost. */
  readonly refused: boolean;
  readonly retryAfterSeconds: number;

  constructor(reason: string, refused: boolean, options?: ErrorOptions) {
    super(reason, options);
    this.refused = refused;
    this.retryAfterSeconds = /capacity|limit/i.test(reason)
      ? RETRY_AFTER_CAPACITY_SECONDS
      : RETRY_AFTER_THROTTLING_SECONDS;
  }
}

/** Names and messages of ECS errors that pass: capacity and throttling. */
const TRANSIENT = /capacity|throttl|rate exceeded|limit/i;

/** Classifies an error of an ECS call: HostUnavailable when it is transient, else the error itself. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const description = `${error.name}: ${error.message}`;
  if (TRANSIENT.test(description)) return new HostUnavailable(description, true, { cause: error });
  // A server fault, or a connection without a response: the call may have taken effect.
  const { $fault, code, name } = error as Error & { readonly $fault?: string; readonly code?: string };
  const isUnanswered = $fault === 'server' || code !== undefined || name === 'TimeoutError';
  return isUnanswered ? new HostUnavailable(description, false, { cause: error }) : error;
}

/** The error for `failures` in a response of RunTask. */
export const asRefusal = (reasons: string): Error =>
  TRANSIENT.test(reasons) || reasons.startsWith('RESOURCE')
    ? new HostUnavailable(reasons, true)
    : new Error(`ECS started no task: ${reasons}`);
