import type { Mp3BitrateKbps } from '../../../core/conversions/index.ts';
import type { Log } from '../../../core/log/index.ts';
import type { RecordingText } from '../../../core/media/id3/index.ts';
import type { Resource, Track } from '../../../core/state/index.ts';
import type { Ffmpeg } from '../../../core/tools/index.ts';
import type { FfmpegInputServer } from '../../ffmpeg/index.ts';
import type { Admission, StreamObserver } from '../../sessions/index.ts';
import type { Source } from '../../source/index.ts';
import type { ClipTimes, Representation, RepresentationHead } from '../representation.ts';

/** Streams tracks in one output format; `core/conversions` describes the format. */
export interface Converter {
  /**
   * The facts of a conversion before its source is open.
   * @throws InvalidParameter when there is no such part
   */
  describe(resource: Resource, track: Track, options: DescribeOptions): RepresentationHead;
  /**
   * Called before the source is opened: a request that will be refused must not cost one to the source.
   * @throws CapacityExceeded, ClientLimitExceeded
   */
  requireRoom(client: string): void;
  /**
   * The conversion of an open track. Opening it runs nothing.
   * @throws InvalidParameter when there is no such part
   */
  open(resource: Resource, track: Track, source: Source, options: ConvertOptions): Representation;
}

/** What a client chooses of a conversion. */
export interface ConversionOptions {
  /** The part to convert; absent: the whole. */
  readonly clip?: ClipTimes;
  /** Of MP3; absent: the default. */
  readonly bitrateKbps?: Mp3BitrateKbps;
  /** Absent: the short tag of title and artist. */
  readonly fullTag?: FullTag;
}

/** A tag with all that is known of a recording. */
export interface FullTag {
  readonly text: RecordingText;
  /** JPEG; empty: none. Undefined: not known before the conversion is opened. */
  readonly cover: Buffer | undefined;
}

export interface DescribeOptions extends ConversionOptions {
  /** Absent while it is not installed. */
  readonly ffmpeg?: Ffmpeg;
}

export interface ConvertOptions extends ConversionOptions {
  readonly ffmpeg: Ffmpeg;
  /** Whose share of encoders it uses. */
  readonly client: string;
}

export interface ConverterDependencies {
  readonly inputServer: FfmpegInputServer;
  readonly admission: Pick<Admission, 'acquireFfmpeg' | 'tryAcquireFfmpeg'>;
  readonly observer: Pick<StreamObserver, 'onFfmpegFailure'>;
  readonly log: Log;
}
