import { UpstreamError } from '../errors.ts';
import { fetchBuffer } from '../memory.ts';
import { type ListRequest, openList } from './load-timeline.ts';
import { sectionTarget } from './segment-keys.ts';

/** Three hours in segments of four seconds. */
const MAX_SEGMENTS = 3_000;
/** A blank line ends the last cue of a segment. */
const SEPARATOR = Buffer.from('\n\n');

/**
 * Reads a complete list of segments of text, such as WebVTT (RFC 8216 §3.5): one after the other, with their headers, which say how
 * their times relate.
 * @throws UpstreamError, also when they are longer together; UrlExpired, and what `renew` of the track throws
 */
export async function readTextList(request: ListRequest, maxBytes: number): Promise<Buffer> {
  const list = await openList(request);
  const segments = list.timeline.segments.filter(({ isGap }) => !isGap);
  const isRead = list.timeline.isComplete && segments.length <= MAX_SEGMENTS;
  if (!isRead || segments.some(({ content }) => content.cipher)) throw new UpstreamError('No list of plain text');
  const failed = new AbortController();
  const signal = AbortSignal.any([request.signal, failed.signal]);
  const texts: Buffer[] = [];
  let next = 0;
  let left = maxBytes;
  const work = async () => {
    for (let index = next++; index < segments.length; index = next++) {
      const segment = segments[index] as (typeof segments)[number];
      const target = sectionTarget(list, segment, 'content');
      const { bytes } = await fetchBuffer({ ...request, target }, left, signal, segment.content.range);
      list.locator.addProgress();
      left -= bytes.length + SEPARATOR.length;
      if (left < 0) throw new UpstreamError('The text is too large');
      texts[index] = bytes;
    }
  };
  try {
    await Promise.all(Array.from({ length: request.limits.maxConnections }, work));
  } finally {
    failed.abort(new Error('The list has been read'));
  }
  return Buffer.concat(texts.flatMap((text) => [text, SEPARATOR]));
}
