import { type OperationId, operations } from '../../core/api/index.ts';

/** By path up to the first parameter, in lower case. */
const PREFIXES = operations.map(({ operationId, path }) => ({
  operationId,
  prefix: (path.split('{', 1)[0] ?? path).toLowerCase(),
  isExact: !path.includes('{'),
}));

/** The operation of a request path, or `page` for everything else: a label with few values. */
export function operationOf(url: string): OperationId | 'page' {
  const path = (url.split('?', 1)[0] ?? '').toLowerCase();
  const found = PREFIXES.find(({ prefix, isExact }) => (isExact ? path === prefix : path.startsWith(prefix)));
  return found?.operationId ?? 'page';
}
