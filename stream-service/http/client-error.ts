import type { Socket } from 'node:net';
import { Problem, problems } from '../../core/api/index.ts';
import { renderJson } from '../../core/http/index.ts';

/**
 * Bytes of a request's head that a server of ours reads: a link of 4,096 characters, each encoded as nine, has its
 * answer, and one that is too long its 400.
 */
export const MAX_HEADER_BYTES = 64 * 1024;

/** What Node's parser says, and the bytes it could not read. */
interface ParseError extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
}

const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/;

/** Answers what is no HTTP request, where no framework has a reply to offer (`clientError` of a server). */
export function respondToClientError(error: ParseError, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { details, headers: more } = problemOf(error);
  const { headers, body } = renderJson(details, undefined);
  const fields = { ...headers, ...more, 'content-length': Buffer.byteLength(body), connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${details.status} ${details.title}`, ...lines, '', body].join('\r\n'));
}

function problemOf({ code, rawPacket }: ParseError): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem({ title: 'Request Header Fields Too Large', status: 431 });
  // A method that the parser has never heard of, so that no path has it.
  const isRequest = Buffer.isBuffer(rawPacket) && REQUEST_LINE.test(rawPacket.toString('latin1'));
  if (code === 'HPE_INVALID_METHOD' && isRequest) return problems.methodNotAllowed('GET, HEAD, OPTIONS');
  return problems.badRequest();
}
