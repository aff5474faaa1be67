import { expect, vi } from 'vitest';
import type { MediaInformation, MediaRendition } from '../../clients/reelay-client/src/api-types.ts';
import type { ReceivedResponse } from '../support/request.ts';
import type { Target } from './target.ts';

/** Resolves a link to its single item. */
export async function itemOf(target: Target, link: string): Promise<MediaInformation> {
  const { resource, status } = await target.resolve(link);
  expect(status, `resolve of ${link}`).toBe(200);
  const [item, ...more] = resource.mediaItems;
  expect(more).toEqual([]);
  return item ?? expect.fail('No item');
}

/** The path of a rendition's stream. */
export const pathOf = ({ key, urlType, convertTo }: MediaRendition): string =>
  `/api/Stream/${urlType}/${key}${convertTo ? `?format=${convertTo}` : ''}`;

/** The first matching rendition with its stream path. */
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

/** The MP3 conversion of a link with its stream path. */
export const conversionOf = (target: Target, link: string) =>
  renditionOf(target, link, 'audio', ({ convertTo }) => convertTo === 'mp3');

/**
 * The same with its size. On a busy machine the file may not be read in time: then it is resolved again half a minute
 * later.
 */
export const sizedConversionOf = (target: Target, link: string) =>
  vi.waitFor(
    async () => {
      const conversion = await conversionOf(target, link);
      expect(conversion.fileSizeBytes, `size of the conversion of ${link}`).not.toBeNull();
      return conversion;
    },
    { timeout: 150_000, interval: 5_000 },
  );

/** Expects HEAD to have the headers of GET, whatever its range. @returns the answer to GET */
export async function expectHeadOf(target: Target, path: string): Promise<ReceivedResponse> {
  const whole = await target.get(path);
  const head = await target.get(path, { method: 'HEAD', headers: { range: 'bytes=0-9' } });
  const { date: _, ...headers } = whole.headers;
  expect([head.status, head.body.length]).toEqual([whole.status, 0]);
  expect(head.headers).toMatchObject(headers);
  return whole;
}
