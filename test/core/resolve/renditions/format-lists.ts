import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Format, tracksOf } from '../yt-dlp/tracks-of.ts';

/** The formats of an item as yt-dlp lists them, worst first, without URLs. */
export interface FormatList {
  readonly name: string;
  /** The default selection of yt-dlp (`bv*+ba/b`). */
  readonly picked: string;
  /** The expected orders, best first. A pair is written `video+audio`. */
  readonly videoOrder: string;
  readonly audioOrder: string;
  /** Why the best differs from yt-dlp's pick; absent where it does not. */
  readonly differs?: string;
  readonly formats: readonly Format[];
  readonly duration?: number;
}

interface StoredList extends Pick<FormatList, 'formats' | 'duration' | 'differs'> {
  readonly yt_dlp_picks: string;
  readonly video_order?: string;
  readonly audio_order?: string;
}

/**
 * `sites`: lists of real sites; `extractors`: lists that yt-dlp 2026.10.26 creates from its test manifests, and of
 * formats as its extractors describe them.
 */
const readLists = (name: 'sites' | 'extractors'): FormatList[] =>
  Object.entries<StoredList>(
    JSON.parse(readFileSync(join(import.meta.dirname, 'format-lists', `${name}.json`), 'utf8')),
  ).map(([name, { yt_dlp_picks: picked, video_order: videoOrder = '', audio_order: audioOrder = '', ...list }]) => {
    return { name, picked, videoOrder, audioOrder, ...list };
  });

export const formatLists: readonly FormatList[] = [...readLists('sites'), ...readLists('extractors')];

const ORIGIN = 'https://cdn.example/';

/** Adds the URLs that the lists leave out. */
const withUrls = (format: Format): Format => {
  const id = String(format.format_id);
  const protocol = String(format.protocol);
  return {
    url: ORIGIN + id,
    ...(protocol.startsWith('m3u8') && { manifest_url: `${ORIGIN}master.m3u8` }),
    ...(protocol === 'http_dash_segments' && { fragments: [{ path: id, duration: 2 }] }),
    ...format,
  };
};

/** A list as an item of yt-dlp. */
export const itemOf = ({ formats, duration }: Pick<FormatList, 'formats' | 'duration'>) => ({
  formats: formats.map(withUrls),
  duration,
});

export const candidatesOf = (list: Pick<FormatList, 'formats' | 'duration'>) => tracksOf(itemOf(list), 0);
