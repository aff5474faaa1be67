import type { Log } from '../../core/log/index.ts';
import type { Resource, Track } from '../../core/state/index.ts';
import type { Ffmpeg } from '../../layers/tools/index.ts';
import type { FfmpegInputServer } from '../ffmpeg/index.ts';
import type { Representation, RepresentationHead } from '../representation.ts';
import type { Admission, StreamObserver } from '../sessions/index.ts';
import type { Source } from '../source/index.ts';

/** Streams tracks in one output format; `core/conversions` describes the format. */
export interface Converter {
  /**
   * What is known of a conversion before its source is open.
   * @param ffmpeg absent while it is not installed
   */
  describe(resource: Resource, track: Track, ffmpeg: Ffmpeg | undefined): RepresentationHead;
  /**
   * The conversion of an open track. Opening it runs nothing.
   * @param client whose share of encoders it uses
   */
  open(resource: Resource, track: Track, source: Source, ffmpeg: Ffmpeg, client: string): Representation;
}

export interface ConverterDependencies {
  readonly inputServer: FfmpegInputServer;
  readonly admission: Pick<Admission, 'acquireFfmpeg' | 'tryAcquireFfmpeg'>;
  readonly observer: Pick<StreamObserver, 'onFfmpegFailure'>;
  readonly log: Log;
}
