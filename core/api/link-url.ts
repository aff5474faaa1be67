import { ACCESS_PARAMETER } from '../http/index.ts';
import { operationsById } from './operations.ts';
import { writeSelection } from './query.ts';
import type { Selection } from './selection.ts';

export interface LinkUrlOptions {
  readonly link: string;
  /** Undefined: the URL is relative. */
  readonly baseUrl: string | undefined;
  readonly selection: Selection;
  /** What admits the URL to a private instance. */
  readonly access?: string | undefined;
}

/** A URL that resolves a link whenever it is used, so that it outlives keys. */
export function linkUrl(
  operationId: 'Get' | 'Feed',
  { link, baseUrl = '', selection, access }: LinkUrlOptions,
): string {
  const query = new URLSearchParams([['url', link], ...writeSelection(operationId, selection)]);
  if (access !== undefined) query.append(ACCESS_PARAMETER, access);
  return `${baseUrl}${operationsById[operationId].path}?${query}`;
}
