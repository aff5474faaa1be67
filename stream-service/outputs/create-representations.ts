import { getOperation } from '../../core/api/index.ts';
import type { ConversionName, ListPlace, Mp3BitrateKbps } from '../../core/conversions/index.ts';
import { withSpan } from '../../core/log/index.ts';
import { mp4HoldsAudio, mp4HoldsVideo } from '../../core/media/codecs/index.ts';
import type { SubtitleFormat } from '../../core/media/subtitles/index.ts';
import type { KeyedRendition, KeyedSubtitle, Track } from '../../core/state/index.ts';
import type { StreamObserver } from '../sessions/index.ts';
import { isMp4File, needsRemux } from '../source/index.ts';
import { file } from './copy/index.ts';
import { type ConvertedDependencies, type Converters, converted } from './encode/index.ts';
import { type ExtrasDependencies, type NamedExtras, requireTextTarget, withExtras } from './extras.ts';
import { cover, subtitle } from './in-memory.ts';
import {
  type ClippedDependencies,
  clipped,
  copiedAudio,
  extendedFile,
  type HlsDependencies,
  type HlsFile,
  hls,
  type PairDependencies,
  seekablePair,
} from './layout/index.ts';
import { remuxPlan } from './mux/index.ts';
import { remux } from './remux/index.ts';
import type { ClipTimes, RepresentationHead, RepresentationOpener } from './representation.ts';

export interface RepresentationsDependencies
  extends ConvertedDependencies,
    PairDependencies,
    ClippedDependencies,
    ExtrasDependencies,
    HlsDependencies {
  readonly converters: Converters;
  readonly observer?: Pick<StreamObserver, 'onConversion'>;
}

/** Chooses what the Stream endpoints send for a rendition: every key works on both. */
export interface Representations {
  /** @throws InvalidParameter when it cannot be clipped, or has no such subtitles; UnsupportedRendition */
  media(found: KeyedRendition, options?: MediaOptions): RepresentationOpener;
  /** As MP4 from the beginning, without ranges. */
  combined(found: KeyedRendition, options?: Pick<MediaOptions, 'subtitles'>): RepresentationOpener;
  /** @throws NotFound for a file that no presentation has, UnsupportedRendition when the rendition has none */
  hls(found: KeyedRendition, file: HlsFile): RepresentationOpener;
  subtitle(found: KeyedSubtitle, format: SubtitleFormat): RepresentationOpener;
  cover(found: KeyedRendition): RepresentationOpener;
}

export interface MediaOptions {
  /** No effect on a rendition without audio. */
  readonly format?: ConversionName;
  /** Of MP3; absent: the default. */
  readonly bitrateKbps?: Mp3BitrateKbps;
  /** With a full tag, where the output has room for one. */
  readonly hasTags?: boolean;
  /** The list that it is sent as a part of, for the tags. */
  readonly listPlace?: ListPlace;
  /** The part to send; absent: the whole. */
  readonly clip?: ClipTimes;
  /** Language of the subtitles to embed in MP4. */
  readonly subtitles?: string;
}

export function createRepresentations(dependencies: RepresentationsDependencies): Representations {
  const { observer } = dependencies;
  /** Opens a conversion in a span, and reports it. Its encoders are spans of their own. */
  const conversion = (format: ConversionName, opener: RepresentationOpener): RepresentationOpener => ({
    ...opener,
    async open(session, range) {
      const describe = () => ({ attributes: { 'reelay.format': format } });
      const opened = await withSpan('open conversion', () => opener.open(session, range), describe);
      observer?.onConversion?.(format);
      return opened;
    },
  });

  return {
    media(found, { format, ...options } = {}) {
      const { clip, subtitles, ...rest } = options;
      const [track] = found.tracks;
      const audioTrack = found.tracks.find(({ audio }) => audio);
      const isConverted = format !== undefined && audioTrack !== undefined;
      const isMp4 = isPair(found) || (needsRemux(track) ? isMuxedToMp4(track) : isMp4File(track));
      if (subtitles !== undefined) requireTextTarget(found, { isMp4, isConverted });
      const hasTags = rest.hasTags && (isMp4 || isConverted) && !found.resource.isLive;
      /** With what is wanted, in MP4, which has room for it. */
      const extended = (create: (extras: NamedExtras) => RepresentationOpener) =>
        withExtras(found, { hasTags, listPlace: rest.listPlace, subtitles }, dependencies, create);
      if (isConverted) {
        const audible = { ...found, tracks: [audioTrack] } as const;
        if (format === 'm4a')
          return conversion(
            format,
            extended((extras) => copiedAudio(audible, { clip, extras }, dependencies)),
          );
        // WAV has no room for tags: no cover is fetched for it.
        const wanted = { ...rest, clip, hasTags: rest.hasTags && format === 'mp3' };
        return conversion(format, converted(audible, dependencies.converters[format], dependencies, wanted));
      }
      if (clip) return extended((extras) => clipped(found, { clip, extras }, dependencies));
      if (isPair(found)) return extended((extras) => seekablePair(found, dependencies, extras));
      if (needsRemux(track)) return extended((extras) => remux(found, dependencies, extras));
      if (subtitles === undefined) return file(found, dependencies);
      return extended((extras) => extendedFile(found, dependencies, extras));
    },
    hls: (found, file) => hls(found, file, dependencies),
    subtitle: (found, format) => subtitle(found, format, dependencies.openSource),
    cover: (found) => cover(found, dependencies.covers),
    combined(found, { subtitles } = {}) {
      const [track] = found.tracks;
      // A file whose codecs MP4 cannot hold is sent as it is.
      const isSentAsIs = !isPair(found) && !needsRemux(track) && (isMp4File(track) || !mp4Holds(track));
      const isMp4 = isPair(found) || (isSentAsIs ? isMp4File(track) : isMuxedToMp4(track));
      if (subtitles !== undefined) requireTextTarget(found, { isMp4 });
      const extended = (create: (extras: NamedExtras) => RepresentationOpener) =>
        withExtras(found, { subtitles }, dependencies, create);
      if (isPair(found)) {
        const pair = extended((extras) => seekablePair(found, dependencies, extras));
        return withoutRanges(pair, mediaPath(found, subtitles));
      }
      if (!isSentAsIs) return extended((extras) => remux(found, dependencies, extras));
      if (subtitles === undefined) return withoutRanges(file(found, dependencies));
      const whole = extended((extras) => extendedFile(found, dependencies, extras));
      return withoutRanges(whole, mediaPath(found, subtitles));
    },
  };
}

const isPair = ({ rendition }: KeyedRendition): boolean => rendition.urlType === 'Combined';

const MEDIA_PATH = getOperation('Media').path;

/** Where the same bytes can be requested by range. */
const mediaPath = ({ key }: KeyedRendition, subtitles: string | undefined): string =>
  MEDIA_PATH.replace('{key}', key) + (subtitles === undefined ? '' : `?subtitles=${subtitles}`);

const isMuxedToMp4 = (track: Track): boolean => remuxPlan(track).container === 'mp4';

const mp4Holds = ({ video, audio }: Track): boolean =>
  (!video || mp4HoldsVideo(video.codec)) && (!audio || mp4HoldsAudio(audio.codec));

/** The same bytes without ranges. @param rangedPath where they can be requested by range, if they have ranges */
function withoutRanges({ describe, inspect, open }: RepresentationOpener, rangedPath?: string): RepresentationOpener {
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
