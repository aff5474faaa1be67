import { ACCESS_PARAMETER } from '../http/index.ts';
import { getOperation } from './operations.ts';
import { type EntryEncoding, encodingQuery } from './resolve-parameters.ts';
import { toQuery } from './stream-parameters.ts';

export interface LinkUrlOptions extends EntryEncoding {
  readonly link: string;
  /** Undefined: the URL is relative. */
  readonly baseUrl: string | undefined;
  readonly format?: string | undefined;
  /** What admits the URL to a private instance. */
  readonly access?: string | undefined;
}

/** A URL that resolves a link whenever it is used, so that it outlives keys. */
export function linkUrl(
  operationId: 'Get' | 'Feed',
  { link, baseUrl = '', format, access, ...encoding }: LinkUrlOptions,
): string {
  const query = toQuery({ url: link, format, ...encodingQuery(encoding), [ACCESS_PARAMETER]: access });
  return `${baseUrl}${getOperation(operationId).path}?${query}`;
}
