import { getOperation, operations, type StreamOperationId } from '../../core/api/index.ts';

/** Longest key in characters that a route matches; issued keys have 33. A longer one is an unknown path. */
export const MAX_KEY_LENGTH = 64;

const streamOperations = operations.filter(({ servedBy }) => servedBy === 'stream-service');
const streamPaths = streamOperations.map(({ path, methods }) => {
  const pattern = path.replace(/\{\w+\}/, `[^/]{1,${MAX_KEY_LENGTH}}`);
  return { pattern: new RegExp(`^${pattern}$`, 'i'), methods: methods.join(', ') };
});

/** The path of an operation in Fastify's syntax: `/api/Stream/Media/:key`. */
export const routePath = (operationId: StreamOperationId): string =>
  getOperation(operationId).path.replace(/\{(\w+)\}/g, ':$1');

/** The methods of a stream path besides OPTIONS, such as `GET, HEAD`; undefined for any other path. */
export const methodsOfPath = (path: string): string | undefined =>
  streamPaths.find(({ pattern }) => pattern.test(path))?.methods;
