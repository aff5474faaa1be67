import { EgressRefused, UpstreamError } from '../../errors/index.ts';

/** The error of a failed connection or transfer: EgressRefused unchanged, any other error as an UpstreamError. */
export function toUpstreamError(error: unknown): EgressRefused | UpstreamError {
  if (error instanceof EgressRefused || error instanceof UpstreamError) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const reason = (code && REASONS[code]) ?? 'Upstream request failed';
  return new UpstreamError(reason, { cause: error });
}

/** Messages for error codes of undici and of the system. */
const REASONS: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'Upstream connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'Upstream response timed out',
  UND_ERR_BODY_TIMEOUT: 'Upstream body stalled',
  UND_ERR_HEADERS_OVERFLOW: 'Upstream response headers too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'Upstream body does not match its Content-Length',
  UND_ERR_SOCKET: 'Upstream closed the connection',
  ECONNREFUSED: 'Upstream refused the connection',
  ECONNRESET: 'Upstream reset the connection',
};
