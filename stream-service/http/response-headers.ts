import type { StreamOperationId } from '../../core/api/index.ts';
import type { KeyedRendition } from '../../core/state/index.ts';
import type { RepresentationHead } from '../representation.ts';
import { contentDisposition } from './file-name.ts';

/**
 * The headers of a whole representation, for GET and HEAD alike. What is unknown is left out. Live and Combined streams
 * have no ranges to resume with, so caches must not keep them; the rest may be kept for an hour.
 */
export function responseHeaders(
  operationId: StreamOperationId,
  { resource: { title, author, isLive } }: KeyedRendition,
  { size, mimeType, fileExtension, etag, acceptRanges, estimatedBytes, contentLocation }: RepresentationHead,
): Record<string, string> {
  return {
    'content-type': mimeType,
    'content-disposition': contentDisposition({ title, author }, fileExtension),
    'cache-control': isLive || operationId === 'Combined' ? 'no-store' : 'public, max-age=3600',
    ...(acceptRanges && { 'accept-ranges': acceptRanges }),
    ...(size !== undefined && { 'content-length': String(size) }),
    ...(etag && { etag }),
    ...(contentLocation && { 'content-location': contentLocation }),
    ...(estimatedBytes && { 'estimated-content-length': String(estimatedBytes) }),
  };
}
