import type { Log } from '../../core/log/index.ts';
import type { Resource, Track } from '../../core/state/index.ts';
import type { Ffmpeg } from '../../layers/tools/index.ts';
import type { FfmpegInputServer } from '../ffmpeg/index.ts';
import type { ClipTimes, Representation, RepresentationHead } from '../representation.ts';
import type { Admission, StreamObserver } from '../sessions/index.ts';
import type { Source } from '../source/index.ts';

/** Streams tracks in one output format; `core/conversions` describes the format. */
export interface Converter {
  /**
   * What is known of a conversion before its source is open.
   * @param ffmpeg absent while it is not installed
   * @param clip the part to convert; absent: the whole
   * @throws InvalidParameter when there is no such part
   */
  describe(resource: Resource, track: Track, ffmpeg: Ffmpeg | undefined, clip?: ClipTimes): RepresentationHead;
  /**
   * The conversion of an open track. Opening it runs nothing.
   * @throws InvalidParameter when there is no such part
   */
  open(resource: Resource, track: Track, source: Source, options: ConvertOptions): Representation;
}

export interface ConvertOptions {
  readonly ffmpeg: Ffmpeg;
  /** Whose share of encoders it uses. */
  readonly client: string;
  /** The part to convert; absent: the whole. */
  readonly clip?: ClipTimes;
}

export interface ConverterDependencies {
  readonly inputServer: FfmpegInputServer;
  readonly admission: Pick<Admission, 'acquireFfmpeg' | 'tryAcquireFfmpeg'>;
  readonly observer: Pick<StreamObserver, 'onFfmpegFailure'>;
  readonly log: Log;
}
