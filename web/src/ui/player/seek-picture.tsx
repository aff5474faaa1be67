import { useEffect, useState } from 'preact/hooks';
import type { Api } from '../../api/index.ts';
import { createTtlCache } from '../../lib/index.ts';
import { usePage } from '../context.ts';

interface Picture {
  readonly startSeconds: number;
  readonly sheet: string;
  /** Pixels on the sheet. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const recent = createTtlCache<Promise<readonly Picture[]>>({ maxEntries: 5, ttlMs: 600_000 });
const CUE = /^(\d+):(\d\d):([\d.]+) --> .*\n(\S+)#xywh=(\d+),(\d+),(\d+),(\d+)$/gm;

/** The pictures of an item; none where it has none, or they cannot be read: they are an extra. */
function picturesOf(api: Api, key: string): Promise<readonly Picture[]> {
  const address = api.storyboardUrl(key);
  const known = recent.get(address);
  if (known) return known;
  const load = async () => {
    const response = await fetch(address);
    const cues = response.ok ? [...(await response.text()).matchAll(CUE)] : [];
    return cues.map(([, hours, minutes, seconds, sheet = '', ...place]): Picture => {
      const [x = 0, y = 0, width = 0, height = 0] = place.map(Number);
      const startSeconds = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
      return { startSeconds, sheet: new URL(sheet, response.url).href, x, y, width, height };
    });
  };
  const loading = load().catch(() => []);
  recent.put(address, loading);
  return loading;
}

export interface SeekPictureProps {
  /** Null or undefined: the item has no pictures. */
  readonly storyboardKey: string | null | undefined;
  /** Undefined: none is shown, and none are loaded. */
  readonly seconds: number | undefined;
  readonly maxSeconds: number;
}

/** The picture at a position, above it. */
export const SeekPicture = ({ storyboardKey, seconds, maxSeconds }: SeekPictureProps) => {
  const { api } = usePage();
  const [pictures, setPictures] = useState<readonly Picture[]>([]);
  const isWanted = seconds !== undefined;
  useEffect(() => {
    let isCurrent = true;
    setPictures([]);
    if (storyboardKey && isWanted) picturesOf(api, storyboardKey).then((found) => isCurrent && setPictures(found));
    return () => {
      isCurrent = false;
    };
  }, [api, storyboardKey, isWanted]);
  const picture = isWanted && pictures.findLast(({ startSeconds }) => startSeconds <= seconds);
  if (!picture) return null;
  return (
    <span
      class="seek-picture"
      style={{
        '--at': `${(100 * seconds) / maxSeconds}%`,
        width: `${picture.width}px`,
        height: `${picture.height}px`,
        backgroundImage: `url("${picture.sheet}")`,
        backgroundPosition: `${-picture.x}px ${-picture.y}px`,
      }}
    />
  );
};
