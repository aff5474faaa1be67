import { mp4HoldsAudio, mp4HoldsVideo } from '../../core/media/codecs/index.ts';
import type { KeyedRendition, Track } from '../../core/state/index.ts';
import type { RepresentationHead, RepresentationOpener } from '../representation.ts';
import { needsRemux } from '../source/index.ts';
import { type FileDependencies, file } from './file.ts';
import { type RemuxDependencies, remux } from './remux.ts';

const MP4 = /^(?:mp4|m4a|m4v)$/;

/**
 * One track as Combined sends it: as MP4 from the beginning. A file whose codecs MP4 cannot hold is sent as it is.
 */
export function fromBeginning(
  found: KeyedRendition,
  dependencies: RemuxDependencies & FileDependencies,
): RepresentationOpener {
  const [track] = found.tracks;
  if (needsRemux(track) || (!MP4.test(track.container) && mp4Holds(track))) return remux(found, dependencies);
  return withoutRanges(file(found, dependencies));
}

const mp4Holds = ({ video, audio }: Track): boolean =>
  (!video || mp4HoldsVideo(video.codec)) && (!audio || mp4HoldsAudio(audio.codec));

/**
 * The same bytes without ranges.
 * @param rangedPath where they can be requested by range, if they have ranges
 */
export function withoutRanges(
  { describe, inspect, open }: RepresentationOpener,
  rangedPath?: string,
): RepresentationOpener {
  const bounded = <Head extends RepresentationHead>(head: Head): Head => ({
    ...head,
    etag: undefined,
    acceptRanges: 'none',
    contentLocation: head.acceptRanges === 'bytes' ? rangedPath : undefined,
  });
  return {
    describe: () => bounded(describe()),
    inspect: inspect && (async (session) => bounded(await inspect(session))),
    open: async (session) => bounded(await open(session, { first: 0 })),
  };
}
