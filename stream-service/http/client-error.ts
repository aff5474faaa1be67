import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createProblem, type Problem, problems } from '../../core/api/index.ts';
import { renderJson } from '../../core/http/index.ts';

/**
 * Limit of a request's header section in bytes: a link of 4,096 characters, each percent-encoded as nine, fits, and a
 * longer one is answered with 400.
 */
export const MAX_HEADER_BYTES = 64 * 1024;

/** Error of Node's HTTP parser, with the bytes that it could not parse. */
interface ParseError extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
}

/** The property that Node's own handler reads. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse };

const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/;

/** Answers input that Node cannot parse as HTTP (`clientError` of a server), where Fastify has no reply. */
export function respondToClientError(error: ParseError, socket: HttpSocket): void {
  // What is written into a response that is being sent would be a part of it.
  if (!socket.writable || socket._httpMessage?.headersSent || error.code === 'ECONNRESET') {
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
  if (code === 'HPE_HEADER_OVERFLOW') return createProblem('headers-too-large');
  // A method unknown to Node's parser, which no path supports.
  const isRequest = Buffer.isBuffer(rawPacket) && REQUEST_LINE.test(rawPacket.toString('latin1'));
  if (code === 'HPE_INVALID_METHOD' && isRequest) return problems.methodNotAllowed('GET, HEAD, OPTIONS');
  return problems.badRequest();
}
