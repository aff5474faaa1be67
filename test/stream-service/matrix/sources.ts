import { packDashSegments } from '@reelay/seekable-media/dash';
import type { Track } from '../../../core/state/resource.ts';
import { fragmentedHls } from '../../origin/media.ts';
import type { ExpectOptions } from '../../support/expect-packets.ts';
import type { FolderSite } from '../folder-site.ts';

/*
 * The rows of the matrix: the same twenty seconds as each kind of source. Two files are encoded (`both.mp4`, `both.webm`), all others are
 * copied from them, so that their packets are what every kind is compared with.
 */

export const SECONDS = 20;
export const PICTURE = ['-f', 'lavfi', '-i', `testsrc2=s=160x90:r=25:d=${SECONDS}`];
export const tone = (hertz: number): readonly string[] => ['-f', 'lavfi', '-i', `sine=${hertz}:r=48000:d=${SECONDS}`];
/** One thread: the same bytes in every run. */
export const H264 = ['-c:v', 'libx264', '-threads', '1', '-preset', 'ultrafast', '-g', '50', '-bf', '2'];
export const VP9 = [
  ...['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-row-mt', '0', '-threads', '1'],
  ...['-b:v', '200k', '-g', '50'],
];
export const OPUS = ['-c:a', 'libopus', '-b:a', '64k', '-vbr', 'off'];
const FRONT = ['-movflags', '+faststart'];
const INDEXED = 'frag_keyframe+empty_moov+dash+global_sidx';
const CUES = ['-cues_to_front', '1'];
const VOD = ['-hls_playlist_type', 'vod'];

export const copyOf = (from: string, ...rest: readonly string[]): readonly string[] => [
  '-i',
  from,
  '-c',
  'copy',
  ...rest,
];
/** Arguments for a list of MPEG-TS in segments of four seconds: `NAME.m3u8` and `NAME0.ts`. */
export const transport = (name: string, ...more: readonly string[]): readonly string[] => [
  ...['-f', 'hls', '-hls_time', '4', '-hls_list_size', '0', ...VOD, ...more],
  ...['-hls_segment_filename', `${name}%d.ts`, `${name}.m3u8`],
];
/** The same of fragmented MP4. */
export const fragmented = (name: string, seconds = 4): readonly string[] => [...VOD, ...fragmentedHls(name, seconds)];
/** Arguments for a list of packed audio. */
export const packed = (
  name: string,
  [format, extension]: readonly [string, string],
  seconds = '4',
): readonly string[] => [
  ...['-f', 'segment', '-segment_format', format, '-segment_time', seconds],
  ...['-segment_list', `${name}.m3u8`, `${name}%d.${extension}`],
];

/** Frames of AC-3, of MP3 at a constant rate and of Opus without VBR have one size: files of two tones agree in all but their bytes. */
const SOUNDS = {
  aac: { args: ['-c:a', 'aac'], codec: 'mp4a.40.2', packed: ['adts', 'aac'] },
  ac3: { args: ['-c:a', 'ac3', '-b:a', '96k'], codec: 'ac-3', packed: ['ac3', 'ac3'] },
} as const;
export type Sound = keyof typeof SOUNDS;

const COVER = ['-f', 'lavfi', '-i', 'testsrc=s=64x64', '-frames:v', '1', 'cover.jpg'];
/** The files of all rows, with a tone. */
export const recipesOf = (hertz: number, sound: Sound): readonly (readonly string[])[] => [
  [...PICTURE, ...tone(hertz), ...H264, ...SOUNDS[sound].args, ...FRONT, 'both.mp4'],
  [...PICTURE, ...tone(hertz), ...VP9, ...OPUS, ...CUES, 'both.webm'],
  [...tone(hertz), '-c:a', 'libmp3lame', '-b:a', '128k', '-write_xing', '0', '-id3v2_version', '0', 'mp3.mp3'],
  COVER,
  copyOf('both.mp4', '-map', '0:v', ...FRONT, 'video.mp4'),
  copyOf('both.mp4', '-map', '0:a', ...FRONT, 'audio.mp4'),
  copyOf('both.mp4', '-map', '0:v', '-movflags', INDEXED, 'indexed-video.mp4'),
  // The header of AC-3 is in its first frame.
  copyOf(
    'both.mp4',
    ...['-map', '0:a', '-frag_duration', '4000000', '-movflags', `${INDEXED}+delay_moov`, 'indexed-audio.mp4'],
  ),
  copyOf('both.webm', '-map', '0:v', ...CUES, 'video.webm'),
  copyOf('both.webm', '-map', '0:a', ...CUES, 'audio.webm'),
  copyOf('both.mp4', ...transport('ts')),
  copyOf('both.mp4', '-map', '0:a', ...transport('ts-audio')),
  copyOf('both.mp4', ...fragmented('both-')),
  copyOf('both.mp4', '-map', '0:v', ...fragmented('video-')),
  copyOf('both.mp4', '-map', '0:a', ...fragmented('audio-', 6)),
  copyOf('both.mp4', '-map', '0:a', ...packed('packed', SOUNDS[sound].packed)),
  copyOf('mp3.mp3', '-segment_format_options', 'write_xing=0:id3v2_version=0', ...packed('packed-mp3', ['mp3', 'mp3'])),
  // What FFmpeg makes of lists whose packets are written in another way.
  ...['ts', 'packed'].map((name) => copyOf(`${name}.m3u8`, '-map', '0', `${name}.copy.mp4`)),
];

/** A kind of source. URLs are names of files. */
export interface Source {
  /** The video, with its sound or beside it. */
  readonly video?: Partial<Track>;
  readonly sound?: Partial<Track>;
  /** The sound alone, by the same kind of source: that of the other tone is the German one. */
  readonly alone: Partial<Track>;
  /** Files whose packets it has: of both sides, or of the video and of the audio. */
  readonly same: readonly [string, string?];
  readonly codecs: readonly string[];
  /** When the first picture of the whole is shown, seconds, which is time 0 of parts. @default 0 */
  readonly firstPicture?: number;
  readonly isLive?: boolean;
  /** How its packets are compared. */
  readonly compared?: ExpectOptions;
  /** Serves what is made of files. @param place the folder, as a prefix of paths */
  readonly prepare?: (site: FolderSite, place: string) => void;
}

export const file = (url: string, more: Partial<Track> = {}): Partial<Track> => ({
  url,
  container: url.split('.').at(-1) ?? '',
  ...more,
});
export const list = (name: string): Partial<Track> => ({ delivery: 'hls', url: `${name}.m3u8` });
const opus = { audio: { codec: 'opus' } };
const vp9 = { video: { codec: 'vp9' } };
const mp3 = { audio: { codec: 'mp3' } };

/** Some segments of a list of fragmented MP4, as DASH. @param urlOf of the initialization section, and by numbers from 0 */
const dash = (count: number, seconds: number, urlOf: (index?: number) => string): Partial<Track> => {
  const media = Array.from({ length: count }, (_, index) => ({ url: urlOf(index), seconds }));
  return { delivery: 'dash', url: 'dash.mpd', fragments: packDashSegments([{ url: urlOf(), seconds: 0 }, ...media]) };
};
const dashOf = (name: string, count: number, seconds: number) =>
  dash(count, seconds, (index) => (index === undefined ? `${name}.mp4` : `${name}${index}.m4s`));

/** Of the files of `recipesOf`. */
export function sourcesOf(sound: Sound) {
  const audio = { audio: { codec: SOUNDS[sound].codec } };
  const both = { same: ['both.mp4'], codecs: ['h264', sound] } as const;
  const heard = file('audio.mp4', audio);
  const indexed = file('indexed-audio.mp4', audio);
  const webm = { alone: file('audio.webm', opus), codecs: ['vp9', 'opus'] } as const;
  const ts = { ...both, alone: list('ts-audio'), same: ['ts.copy.mp4'] } as const;
  // The video of these lists begins with its first picture, which is decoded before it is shown.
  const lists = { ...both, same: ['video-.m3u8', 'audio-.m3u8'], firstPicture: 0.08 } as const;
  return {
    file: { ...both, video: file('both.mp4', audio), alone: heard },
    'MP3 file': { sound: file('mp3.mp3', mp3), alone: file('mp3.mp3', mp3), same: ['mp3.mp3'], codecs: ['mp3'] },
    pair: { ...both, video: file('video.mp4'), sound: heard, alone: heard },
    'fragmented pair': {
      ...both,
      video: file('indexed-video.mp4'),
      sound: indexed,
      alone: indexed,
      same: ['indexed-video.mp4', 'indexed-audio.mp4'],
    },
    'HLS of TS': { ...ts, video: list('ts') },
    'HLS of TS by ranges': { ...ts, video: list('ranges'), prepare: (site, place) => site.listRanges('ts', { place }) },
    'HLS of TS with keys': { ...ts, video: list('secret'), prepare: (site, place) => site.encryptList('ts', place) },
    'HLS of MP4': { ...both, video: list('both-'), alone: list('audio-') },
    'two lists of MP4': { ...lists, video: list('video-'), sound: list('audio-'), alone: list('audio-') },
    DASH: { ...lists, video: dashOf('video-', 5, 4), sound: dashOf('audio-', 4, 6), alone: dashOf('audio-', 4, 6) },
    'packed audio': { sound: list('packed'), alone: list('packed'), same: ['packed.copy.mp4'], codecs: [sound] },
    'packed MP3': {
      sound: { ...list('packed-mp3'), ...mp3 },
      alone: { ...list('packed-mp3'), ...mp3 },
      same: ['mp3.mp3'],
      codecs: ['mp3'],
    },
    'WebM pair': {
      ...webm,
      video: file('video.webm', vp9),
      sound: file('audio.webm', opus),
      same: ['video.webm', 'audio.webm'],
    },
    'WebM file': { ...webm, video: file('both.webm', { ...vp9, ...opus }), same: ['both.webm'] },
    'live window': {
      ...ts,
      video: list('live'),
      isLive: true,
      prepare: ({ read, texts }, place) => {
        const ended = read(`${place}ts.m3u8`).toString();
        texts.set(`${place}live.m3u8`, Buffer.from(ended.replace(/#EXT-X-(ENDLIST|PLAYLIST-TYPE).*\n/g, '')));
      },
    },
  } satisfies Readonly<Record<string, Source>>;
}
export type SourceName = keyof ReturnType<typeof sourcesOf>;

/** Other encodings and arrangements: the rows whose columns are `whole`, `other processes` and `clip`. */
const SOUND_CODECS = {
  mp3: ['-c:a', 'libmp3lame', '-ar', '44100'],
  ac3: ['-c:a', 'ac3'],
  eac3: ['-c:a', 'eac3'],
} as const;
export const HEVC = [
  '-c:v',
  'libx265',
  '-preset',
  'ultrafast',
  '-x265-params',
  'log-level=none:keyint=50',
  '-tag:v',
  'hvc1',
];
const OPEN = [...H264, '-x264-params', 'open-gop=1:slices=4'];
export const AAC = ['-c:a', 'aac'];
/** Time stamps of MPEG-TS begin again after 95,443.7 s. */
const BEFORE_WRAP = ['-output_ts_offset', '95435'];
const copied = (name: string) => `${name}.copy.mp4`;
const LISTS_OF_TS = {
  ...Object.fromEntries(
    Object.entries(SOUND_CODECS).map(([name, args]) => [name, ['-i', 'both.mp4', '-c:v', 'copy', ...args]]),
  ),
  hevc: [...PICTURE, ...tone(400), ...HEVC, ...AAC],
  open: [...PICTURE, ...tone(400), ...OPEN, ...AAC],
  wrap: ['-i', 'both.mp4', '-c', 'copy', ...BEFORE_WRAP],
  mute: ['-i', 'both.mp4', '-c', 'copy', '-map', '0:v'],
  layer3: [...tone(400), ...SOUND_CODECS.mp3],
};

export const VARIANTS: readonly (readonly string[])[] = [
  [...PICTURE, ...tone(400), ...H264, ...AAC, ...FRONT, 'both.mp4'],
  COVER,
  [...PICTURE, ...VP9, 'tail.webm'],
  [...tone(400), ...OPUS, ...CUES, 'audio.webm'],
  copyOf('both.mp4', '-map', '0:v', ...FRONT, 'video.mp4'),
  copyOf('both.mp4', '-map', '0:a', ...FRONT, 'audio.m4a'),
  copyOf('both.mp4', '-map', '0:a', ...transport('sound')),
  copyOf('both.mp4', ...fragmented('fmp4')),
  [...PICTURE, ...tone(400), ...H264, '-g', '25', ...AAC, ...fragmented('many', 1)],
  [...PICTURE, ...tone(400), ...OPEN, ...AAC, ...fragmented('open-')],
  [
    ...['-i', 'both.mp4', '-c', 'copy', '-f', 'dash', '-seg_duration', '4', '-adaptation_sets'],
    ...['id=0,streams=v id=1,streams=a', '-init_seg_name', 'dash$RepresentationID$.mp4'],
    ...['-media_seg_name', 'dash$RepresentationID$-$Number$.m4s', '-frag_type', 'duration', '-frag_duration', '1'],
    'dash.mpd',
  ],
  ...Object.entries(LISTS_OF_TS).map(([name, args]) => [...args, ...transport(name)]),
  ...[...Object.keys(LISTS_OF_TS), 'sound'].map((name) => copyOf(`${name}.m3u8`, '-map', '0', copied(name))),
];

export function variantsOf() {
  const alone = list('sound');
  const ts = (name: string, codecs: readonly string[]) =>
    ({ video: list(name), alone, same: [copied(name)], codecs }) as const;
  // Of audio alone, FFmpeg makes up the times in the first PES packet.
  const heard = (name: string, codec: string) =>
    ({ sound: list(name), alone, same: [copied(name)], codecs: [codec], compared: { timedFrom: 20 } }) as const;
  const fmp4 = (name: string, same = name) =>
    ({ video: list(name), alone, same: [`${same}.m3u8`], codecs: ['h264', 'aac'] }) as const;
  const dashSide = (side: number, count: number) =>
    dash(count, 4, (index) => (index === undefined ? `dash${side}.mp4` : `dash${side}-${index + 1}.m4s`));
  return {
    'MP3 in TS': ts('mp3', ['h264', 'mp3']),
    'AC-3 in TS': ts('ac3', ['h264', 'ac3']),
    'E-AC-3 in TS': ts('eac3', ['h264', 'eac3']),
    'HEVC in TS': { ...ts('hevc', ['hevc', 'aac']), compared: { isHevc: true } },
    'open groups in TS': ts('open', ['h264', 'aac']),
    'times of TS that begin again': ts('wrap', ['h264', 'aac']),
    'TS without sound': { ...ts('mute', ['h264']), video: { ...list('mute'), audio: null } },
    'TS of AAC': heard('sound', 'aac'),
    'TS of MP3': heard('layer3', 'mp3'),
    'open groups in MP4': fmp4('open-'),
    'HLS of MP4 with keys': { ...fmp4('secret', 'fmp4'), prepare: (site, place) => site.encryptList('fmp4', place) },
    'HLS of MP4 by ranges': { ...fmp4('ranges', 'many'), prepare: (site, place) => site.listRanges('many', { place }) },
    'DASH of several fragments in a segment': {
      video: dashSide(0, 5),
      sound: dashSide(1, 6),
      alone,
      same: ['both.mp4'],
      codecs: ['h264', 'aac'],
    },
    'WebM with cues at its end, and M4A': {
      video: file('tail.webm', vp9),
      sound: file('audio.m4a'),
      alone,
      same: ['tail.webm', 'audio.m4a'],
      codecs: ['vp9', 'aac'],
    },
    'MP4 and WebM': {
      video: file('video.mp4'),
      sound: file('audio.webm', opus),
      alone,
      same: ['video.mp4', 'audio.webm'],
      codecs: ['h264', 'opus'],
      // FFmpeg rounds the priming of Opus.
      compared: { isApart: true },
      firstPicture: 0.08,
    },
  } satisfies Readonly<Record<string, Source>>;
}
