import { box, fullBox, u32 } from '@reelay/seekable-media/isobmff';
import { fragmentedMovie, movie } from '../../packages/seekable-media/test/seeds.ts';

/** Below the largest `moov` that is read, 32 MB. */
const MOOV_BYTES = 31_000_000;
const FILE_TYPE = box('ftyp', Buffer.from('isom\0\0\x02\0isom', 'latin1'));
const EMPTY_BOX = box('free');
const emptyBoxes = (bytes: number) => Buffer.alloc(bytes, EMPTY_BOX);

/** A file whose `moov` has further content behind what a valid one has. */
const file = (extra: Buffer, kind: 'vide' | 'soun' = 'vide') => {
  const media = Buffer.alloc(4000);
  return Buffer.concat([FILE_TYPE, box('moov', movie(kind).subarray(8), extra), box('mdat', media)]);
};
const tracks = (count: number) => Buffer.concat(Array<Buffer>(count).fill(movie('vide').subarray(8)));
const cues = (count: number) =>
  `WEBVTT\n\n${Array.from({ length: count }, (_, n) => `00:00:00.000 --> 01:00:00.000\ncue ${n}\n`).join('\n')}`;

/** Files whose parsing takes long for their size, by name. */
export const HOSTILE_FILES: Readonly<Record<string, () => Buffer>> = {
  'boxes.mp4': () => file(emptyBoxes(MOOV_BYTES)),
  'tracks.mp4': () => file(tracks(20_000)),
  'entries.mp4': () => file(box('trak', box('mdia', box('minf', box('stbl', stsd()))))),
  'fragments.mp4': () =>
    Buffer.concat([FILE_TYPE, fragmentedMovie('vide'), box('moof', emptyBoxes(MOOV_BYTES / 2)), box('mdat')]),
  'sound.m4a': () => file(emptyBoxes(8), 'soun'),
  'brackets.json3': () => Buffer.from('['.repeat(4_000_000)),
  'cues.vtt': () => Buffer.from(cues(40_000)),
};

const stsd = () => fullBox('stsd', 0, 0, u32(MOOV_BYTES / 8 - 1), emptyBoxes(MOOV_BYTES - 8));

/** The item of a site that has one of the files: a pair with sound, and subtitles. */
export function describeHostileItem(name: string, base: string): object {
  const track = (path: string) => ({
    url: `${base}/hostile-files/${path}`,
    protocol: 'http',
    ext: path.split('.').pop(),
  });
  const isSubtitle = /\.(vtt|json3)$/.test(name);
  const video = isSubtitle ? 'boxes.mp4' : name;
  return {
    info: {
      id: name,
      title: name,
      duration: 4,
      formats: [
        { ...track(video), format_id: 'v', vcodec: 'avc1.42c00d', acodec: 'none', height: 180 },
        { ...track('sound.m4a'), format_id: 'a', vcodec: 'none', acodec: 'mp4a.40.2' },
      ],
      ...(isSubtitle && { subtitles: { en: [track(name)] } }),
    },
  };
}
