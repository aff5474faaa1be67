import { createTtlCache } from '../../lib/index.ts';
import { loadPictures, type Picture, pictureStyle } from '../../media/index.ts';
import { usePage } from '../context.ts';
import { useLoaded } from '../controls/index.ts';

const recent = createTtlCache<Promise<readonly Picture[]>>({ maxEntries: 5, ttlMs: 600_000 });

function picturesAt(address: string): Promise<readonly Picture[]> {
  const loading = recent.get(address) ?? loadPictures(address);
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
  const isWanted = seconds !== undefined;
  const pictures = useLoaded(
    () => (storyboardKey && isWanted ? picturesAt(api.storyboardUrl(storyboardKey)) : undefined),
    [api, storyboardKey, isWanted],
  );
  const style = isWanted && pictures && pictureStyle(pictures, seconds, maxSeconds);
  return style ? <span class="seek-picture" style={style} /> : null;
};
