import { expect } from 'vitest';
import type { MediaInformation, MediaRendition } from '../../lambdas/api/resource-information.ts';
import type { Target } from './target.ts';

/** The one item of a link that is known to resolve. */
export async function itemOf(target: Target, link: string): Promise<MediaInformation> {
  const { resource, status } = await target.resolve(link);
  expect(status, `resolve of ${link}`).toBe(200);
  return resource.mediaItems[0] ?? expect.fail('No item');
}

/** The path a client asks for a rendition at. */
export const pathOf = ({ key, urlType, convertTo }: MediaRendition): string =>
  `/api/Stream/${urlType}/${key}${convertTo ? `?format=${convertTo}` : ''}`;

/** The first rendition of a side that answers a description, and where it streams. */
export async function renditionOf(
  target: Target,
  link: string,
  side: 'video' | 'audio' = 'video',
  matches: (rendition: MediaRendition) => boolean = () => true,
): Promise<MediaRendition & { readonly path: string }> {
  const item = await itemOf(target, link);
  const rendition = item[side]?.renditions.find(matches) ?? expect.fail(`No such ${side} of ${link}`);
  return { ...rendition, path: pathOf(rendition) };
}

/** The conversion to MP3 of a link. */
export const conversionOf = (target: Target, link: string) =>
  renditionOf(target, link, 'audio', ({ convertTo }) => convertTo === 'mp3');
