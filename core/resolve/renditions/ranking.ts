import { audioFamily } from '../../media/codecs/index.ts';
import type { Track } from '../../state/index.ts';

/** One reason to prefer a candidate over another. A list of them is applied in order: the first that differs decides. */
export interface Criterion<Subject> {
  /** As in the documentation: what comes first. */
  readonly name: string;
  readonly reason: string;
  /** Negative when `a` comes first, 0 when the criterion does not tell them apart. */
  readonly compare: (a: Subject, b: Subject) => number;
}

/** Prefers the higher value. */
export const higher =
  <Subject>(figure: (subject: Subject) => number) =>
  (a: Subject, b: Subject): number =>
    figure(b) - figure(a);

/** Prefers the lower value. */
export const lower =
  <Subject>(figure: (subject: Subject) => number) =>
  (a: Subject, b: Subject): number =>
    figure(a) - figure(b);

/** Prefers those to which it applies. */
export const firstIf = <Subject>(applies: (subject: Subject) => boolean) =>
  higher<Subject>((subject) => Number(applies(subject)));

/** Prefers those to which it does not apply. */
export const lastIf = <Subject>(applies: (subject: Subject) => boolean) =>
  lower<Subject>((subject) => Number(applies(subject)));

type Criteria<Subject> = readonly Pick<Criterion<Subject>, 'compare'>[];

/** Best first. Those that no criterion tells apart keep their order. */
export const rank = <Subject>(subjects: readonly Subject[], criteria: Criteria<Subject>): Subject[] =>
  subjects.toSorted((a, b) => order(a, b, criteria));

/** The first that `rank` would give; undefined without any. */
export const best = <Subject>(subjects: readonly Subject[], criteria: Criteria<Subject>): Subject | undefined =>
  subjects.reduce<Subject | undefined>(
    (first, each) => (first === undefined || order(each, first, criteria) < 0 ? each : first),
    undefined,
  );

function order<Subject>(a: Subject, b: Subject, criteria: Criteria<Subject>): number {
  for (const { compare } of criteria) {
    const difference = compare(a, b);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * The figure that names a resolution (`1080p`): the shorter side in pixels, so that vertical video compares with
 * horizontal.
 */
export function shorterSide({ video }: Pick<Track, 'video'>): number | undefined {
  if (!video?.height) return undefined;
  return Math.min(video.height, video.width ?? video.height);
}

/** kbit/s of the audio alone; of a track without separate figures, of the whole track. */
export const audioBitrate = (track: Track): number | undefined => track.audio?.bitrate ?? track.bitrate;

const family = (track: Track) => (track.audio?.codec ? audioFamily(track.audio.codec) : undefined);

export const isOpus = (track: Track): boolean => family(track) === 'opus';

/** Audio of an unknown codec in MP4 is nearly always AAC. */
export const isAac = (track: Track): boolean =>
  family(track) === 'aac' || (!track.audio?.codec && /^(?:mp4|m4a|aac)$/.test(track.container));
