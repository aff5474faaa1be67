import { EgressRefused, UpstreamError } from '../../errors/index.ts';

/** What a failed connection or transfer amounts to: the guard's refusal as it is, all else an UpstreamError. */
export function toUpstreamError(error: unknown): EgressRefused | UpstreamError {
  if (error instanceof EgressRefused || error instanceof UpstreamError) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const reason = (code && REASONS[code]) ?? 'The upstream could not be spoken to';
  return new UpstreamError(reason, { cause: error });
}

/** Codes of undici and of the system, in words for a log. */
const REASONS: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'The upstream did not accept the connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'The upstream did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'The upstream stopped sending',
  UND_ERR_HEADERS_OVERFLOW: 'The upstream sent too many headers',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The upstream sent another length than it had said',
  UND_ERR_SOCKET: 'The upstream closed the connection',
  ECONNREFUSED: 'The upstream refused the connection',
  ECONNRESET: 'The upstream reset the connection',
};
