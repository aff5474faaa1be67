import { audioFamily, videoFamily } from '@reelay/seekable-media/codecs';
import { type KeyedRendition, keyedRendition, type Track } from '../../core/state/index.ts';
import { isMp4File } from '../source/index.ts';

/** More are no help to a player, and each has headers to read. */
const MAX_RUNGS = 12;

/**
 * The rendition, and one of each other height that a player may change to: in the same codecs, with the same audio, and read as MP4
 * files. Its own first, then as GetResource lists them.
 */
export function ladderOf(found: KeyedRendition): readonly KeyedRendition[] {
  const kind = kindOf(found);
  const ladder = new Map([[found.rendition.height, found]]);
  for (const rendition of found.resource.renditions) {
    const each = keyedRendition(found.resource, rendition);
    const { height } = rendition;
    if (!each || height === undefined || ladder.has(height)) continue;
    if (each.tracks.every(isMp4File) && kindOf(each) === kind) ladder.set(height, each);
  }
  return [...ladder.values()].slice(0, MAX_RUNGS);
}

function kindOf({ rendition, tracks }: KeyedRendition): string {
  const { side, label, flaws, language, versions } = rendition;
  const [first, ...others] = tracks;
  const codecs = tracks.map(({ video, audio }) => [
    video && videoFamily(video.codec ?? 'avc1'),
    audio && audioFamily(audio.codec ?? 'aac'),
  ]);
  // Displays of SDR are not asked to show HDR.
  const kind = [side, label.includes('HDR'), flaws, language, versions, codecs, first.delivery];
  return JSON.stringify([...kind, others.map(({ formatId }: Track) => formatId)]);
}
