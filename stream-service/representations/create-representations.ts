import { getOperation } from '../../core/api/index.ts';
import type { ConversionName, Mp3BitrateKbps } from '../../core/conversions/index.ts';
import { InvalidParameter } from '../../core/errors/index.ts';
import { withSpan } from '../../core/log/index.ts';
import { isMp4Container, mp4HoldsAudio, mp4HoldsVideo } from '../../core/media/codecs/index.ts';
import type { SubtitleFormat } from '../../core/media/subtitles/index.ts';
import type { KeyedRendition, KeyedSubtitle, Track } from '../../core/state/index.ts';
import type { Converters } from '../conversions/index.ts';
import type { ClipTimes, RepresentationHead, RepresentationOpener } from '../representation.ts';
import type { StreamObserver } from '../sessions/index.ts';
import { needsRemux } from '../source/index.ts';
import { type ClippedDependencies, clipped } from './clipped.ts';
import { type ConvertedDependencies, converted } from './converted.ts';
import { copiedAudio } from './copied-audio.ts';
import { cover } from './cover.ts';
import { file } from './file.ts';
import { type HlsDependencies, type HlsFile, hls } from './hls.ts';
import { remux } from './remux.ts';
import { refuseText, type SeekablePairDependencies, seekablePair } from './seekable-pair.ts';
import { subtitle } from './subtitle.ts';
import { type ExtrasDependencies, type NamedExtras, withExtras } from './with-extras.ts';

export interface RepresentationsDependencies
  extends ConvertedDependencies,
    SeekablePairDependencies,
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
  /** The part to send; absent: the whole. */
  readonly clip?: ClipTimes;
  /** Language of the subtitles to embed in a pair. */
  readonly subtitles?: string;
}

export function createRepresentations(dependencies: RepresentationsDependencies): Representations {
  const { observer } = dependencies;
  /** Opens a conversion in a span, and reports it. Its encoders are spans of their own. */
  const conversion = (format: ConversionName, opener: RepresentationOpener): RepresentationOpener => ({
    ...opener,
    async open(session, range) {
      const describe = () => ({ attributes: { 'reelay.format': format } });
      const opened = await withSpan('open conversion', describe, () => opener.open(session, range));
      observer?.onConversion?.(format);
      return opened;
    },
  });

  return {
    media(found, { format, ...options } = {}) {
      const { clip, subtitles, ...rest } = options;
      const [track] = found.tracks;
      const sound = found.tracks.find(({ audio }) => audio);
      const isConverted = format !== undefined && sound !== undefined;
      if (subtitles !== undefined) requirePairAlone(found, { isConverted, clip });
      /** With what is wanted, where the output is a layout, which has room for it. */
      const extended = (create: (extras: NamedExtras) => RepresentationOpener) =>
        withExtras(found, { hasTags: rest.hasTags && !found.resource.isLive, subtitles }, dependencies, create);
      if (isConverted) {
        const audible = { ...found, tracks: [sound] } as const;
        if (format === 'm4a')
          return conversion(
            format,
            extended((extras) => copiedAudio(audible, { clip, extras }, dependencies)),
          );
        // WAV has no room for tags: no cover is fetched for it.
        const hasTags = rest.hasTags && format === 'mp3';
        return conversion(
          format,
          converted(audible, dependencies.converters[format], dependencies, { ...rest, clip, hasTags }),
        );
      }
      if (clip) return extended((extras) => clipped(found, { clip, extras }, dependencies));
      if (isPair(found)) return extended((extras) => seekablePair(found, dependencies, extras));
      return needsRemux(track) ? remux(found, dependencies) : file(found, dependencies);
    },
    hls: (found, file) => hls(found, file, dependencies),
    subtitle: (found, format) => subtitle(found, format, dependencies.openSource),
    cover: (found) => cover(found, dependencies.covers),
    combined(found, { subtitles } = {}) {
      if (subtitles !== undefined) requirePairAlone(found, {});
      if (isPair(found)) {
        const create = (extras: NamedExtras) => seekablePair(found, dependencies, extras);
        return withoutRanges(withExtras(found, { subtitles }, dependencies, create), mediaPath(found, subtitles));
      }
      const [track] = found.tracks;
      // A file whose codecs MP4 cannot hold is sent as it is.
      const isSentAsIs = !needsRemux(track) && (isMp4Container(track.container) || !mp4Holds(track));
      return isSentAsIs ? withoutRanges(file(found, dependencies)) : remux(found, dependencies);
    },
  };
}

const isPair = ({ rendition }: KeyedRendition): boolean => rendition.urlType === 'Combined';

/** Where the same bytes can be requested by range. */
const mediaPath = ({ key }: KeyedRendition, subtitles: string | undefined): string =>
  getOperation('Media').path.replace('{key}', key) + (subtitles === undefined ? '' : `?subtitles=${subtitles}`);

/** @throws InvalidParameter, UnsupportedRendition where no subtitles can be embedded */
function requirePairAlone(
  found: KeyedRendition,
  { isConverted, clip }: { readonly isConverted?: boolean; readonly clip?: ClipTimes },
): void {
  if (isConverted) throw new InvalidParameter('subtitles cannot be combined with format.');
  if (clip) throw new InvalidParameter('subtitles cannot be combined with start or end.');
  if (!isPair(found)) refuseText();
}

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
