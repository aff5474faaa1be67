import type { StreamOperationId } from '../../core/api/index.ts';
import type { SignKey } from '../../core/http/index.ts';
import type { Resource } from '../../core/state/index.ts';
import { contentDisposition } from '../file-name.ts';
import type { RepresentationHead } from '../representation.ts';

/**
 * For an hour and no longer: by default CloudFront serves what has expired for as long as its origin fails, also when its
 * resource is gone since (RFC 5861 §4, RFC 9111 §5.2.2.2).
 */
export const CACHEABLE = 'public, max-age=3600, must-revalidate, stale-if-error=0';

/** Metadata that names a response. */
export interface Named {
  readonly resource: Pick<Resource, 'title' | 'author' | 'isLive'>;
}

/**
 * The headers of a whole representation, for GET and HEAD alike. What is unknown is left out. What has an
 * exact length may be kept for an hour, by ranges; caches must not keep the rest, which has no ranges to resume with, nor
 * Combined and ZIP archives, which ignore them.
 */
export function responseHeaders(
  operationId: StreamOperationId,
  { resource: { title, author, isLive } }: Named,
  {
    size,
    mimeType,
    fileExtension,
    etag,
    acceptRanges,
    estimatedBytes,
    contentLocation,
    clip,
    isInline,
  }: RepresentationHead,
  signKey: SignKey = (key) => key,
): Record<string, string> {
  const isRanged = operationId !== 'Combined' && (operationId !== 'Archive' || acceptRanges === 'bytes');
  const isCacheable = !isLive && size !== undefined && isRanged;
  return {
    'content-type': mimeType,
    ...(!isInline && { 'content-disposition': contentDisposition({ title, author, clip }, fileExtension) }),
    'cache-control': isCacheable ? CACHEABLE : 'no-store',
    ...(acceptRanges && { 'accept-ranges': acceptRanges }),
    ...(size !== undefined && { 'content-length': String(size) }),
    ...(etag && { etag }),
    ...(contentLocation && { 'content-location': withSignedKey(contentLocation, signKey) }),
    ...(estimatedBytes && { 'estimated-content-length': String(estimatedBytes) }),
  };
}

/** A path that ends in a key, which is signed where the instance is private. */
const withSignedKey = (path: string, signKey: SignKey): string => path.replace(/[^/]+$/, signKey);
