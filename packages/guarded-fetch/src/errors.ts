/** Why a source, or what reads it, failed. */
export type UpstreamReason =
  | 'site-error'
  | 'site-timeout'
  | 'site-changed'
  | 'rate-limited'
  | 'delayed'
  | 'service-failed';

interface ReasonOptions<Reason> extends ErrorOptions {
  readonly reason?: Reason | undefined;
  /** When another attempt may succeed, where the source says so. */
  readonly retryAfterSeconds?: number | undefined;
}

/** The guard refused the destination. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
  readonly reason: 'unknown-host' | 'private-address';

  /** @param options `private-address` for a literal alone: of a name, it would reveal which internal ones exist */
  constructor(message?: string, { reason = 'unknown-host', ...options }: ReasonOptions<EgressRefused['reason']> = {}) {
    super(message, options);
    this.reason = reason;
  }
}

/** An upstream request failed: refused, reset, timed out, stalled, TLS, too many redirects, or an invalid response. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly reason: UpstreamReason;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message?: string,
    { reason = 'site-error', retryAfterSeconds, ...options }: ReasonOptions<UpstreamReason> = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The message of what was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
