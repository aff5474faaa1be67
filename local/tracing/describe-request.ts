import type { IncomingMessage } from 'node:http';
import { getOperation } from '../../core/api/index.ts';
import { operationOf } from '../metrics/index.ts';

const METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH']);
const MAX_CHARS = 200;

/**
 * Name and attributes of the span of a request, by the semantic conventions for HTTP. The path of an operation is its
 * template: that of a stream contains a key, and the query of others a link.
 */
export function describeRequest({ method = '', url = '', headers, httpVersion }: IncomingMessage) {
  const knownMethod = METHODS.has(method) ? method : '_OTHER';
  const operation = operationOf(url);
  const route = operation === 'page' ? undefined : getOperation(operation).path;
  const path = route ?? (url.split('?', 1)[0] ?? '').slice(0, MAX_CHARS);
  const userAgent = headers['user-agent']?.slice(0, MAX_CHARS);
  return {
    name: `${knownMethod === '_OTHER' ? 'HTTP' : knownMethod}${route ? ` ${route}` : ''}`,
    attributes: {
      'http.request.method': knownMethod,
      'url.scheme': 'http',
      'url.path': path,
      'network.protocol.version': httpVersion,
      ...(route && { 'http.route': route }),
      ...(userAgent && { 'user_agent.original': userAgent }),
    },
  };
}
