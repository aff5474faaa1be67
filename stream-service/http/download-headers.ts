import { contentDisposition } from './file-name.ts';
import type { FoundRendition } from './find-rendition.ts';

/**
 * The headers every stream of a rendition has. What nobody can ask for again in parts, or what is only now, is not worth
 * a cache's place; the rest is the same for an hour.
 */
export function downloadHeaders(
  { resource: { title, author, isLive }, rendition: { urlType } }: FoundRendition,
  fileExtension: string,
): Record<string, string> {
  return {
    'content-disposition': contentDisposition({ title, author }, fileExtension),
    'cache-control': isLive || urlType === 'Combined' ? 'no-store' : 'public, max-age=3600',
  };
}
