import type { Socket } from 'node:net';
import { problems, renderJson } from '../layers/contract/index.ts';

const TOO_LARGE = { title: 'Request Header Fields Too Large', status: 431 };

/** Answers what is no HTTP request, where no framework has a reply to offer (`clientError` of a server). */
export function answerUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { title, status } = error.code === 'HPE_HEADER_OVERFLOW' ? TOO_LARGE : problems.badRequest().details;
  const { headers, body } = renderJson({ title, status }, undefined);
  const fields = { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${title}`, ...lines, '', body].join('\r\n'));
}
