import { createCache } from '@reelay/concurrency';
import type { FileSource } from '@reelay/source';
import type { Name } from '@reelay/source/names';
import { FfmpegFailed, type FfmpegInputServer, runFfmpeg } from '../../../ffmpeg/index.ts';

export interface EncoderOptions {
  /** FFmpeg. */
  readonly path: string;
  readonly inputServer: FfmpegInputServer;
  readonly client?: string;
  readonly onFailure: (stderr: string) => void;
}

/** Where an audio track begins, by its timestamps: not at 0 in MPEG-TS, in HLS, or in a trimmed file. */
export interface AudioStart {
  /** Hz, as decoded (HE-AAC decodes to twice what its container says). */
  readonly sampleRate: number;
  /** Timestamp of the first decoded sample, counted in samples. */
  readonly firstSample: number;
  /** Timestamp of the start of the time line, counted in samples: before the first sample where sound begins later. */
  readonly originSample: number;
}

/** Where sound begins later than this, its timestamps count from elsewhere: it was cut out of something longer. */
const MAX_LATE_SECONDS = 10;
/** FFmpeg fills no shorter gap before the first sample. */
const MIN_LATE_SECONDS = 0.001;
/** That of MPEG-TS, whose timestamps do not count from 0. */
const TRANSPORT_TIME_BASE = '1/90000';

/** Audio starts of sources that were read before. */
export interface AudioStarts {
  /**
   * @param entity of the content of the source, and the FFmpeg build
   * @throws FfmpegFailed when nothing can be decoded, or the error of the source
   */
  find(entity: Name, source: FileSource, encoder: EncoderOptions, signal: AbortSignal): Promise<AudioStart>;
}

/** Cached sources: more than are played at a time. */
const MAX_CACHED = 1000;

export function createAudioStarts(): AudioStarts {
  const known = createCache<Name, AudioStart>({ maxEntries: MAX_CACHED });
  return {
    async find(entity, source, encoder, signal) {
      const start = known.get(entity) ?? (await findAudioStart(source, encoder, signal));
      known.set(entity, start);
      return start;
    },
  };
}

/** Decodes the first audio frame of a source, beside a copy of the packets up to it. @throws FfmpegFailed, or the error of the source */
async function findAudioStart(source: FileSource, encoder: EncoderOptions, signal: AbortSignal): Promise<AudioStart> {
  const input = encoder.inputServer.serve(source);
  try {
    const output = runFfmpeg({
      path: encoder.path,
      args: [
        ...[...input.args, '-copyts', '-i', input.url],
        ...['-map', '0:a:0', '-map', '0:a:0', '-frames:a:0', '1'],
        ...['-c:a:0', 'pcm_s16le', '-c:a:1', 'copy', '-f', 'framecrc'],
      ],
      inputs: [input],
      client: encoder.client,
      signal: AbortSignal.any([signal, input.failed]),
      onFailure: encoder.onFailure,
    });
    // Times of lists of segments count from 0.
    const start = parseFrameCrc(
      Buffer.concat(await output.toArray()).toString('latin1'),
      source.fragments !== undefined,
    );
    if (!start) throw new FfmpegFailed('No audio could be decoded');
    return start;
  } finally {
    input.close();
  }
}

/**
 * Parses the output of FFmpeg's framecrc muxer for the first frame and the first packet: a time base in a comment, then
 * `stream, dts, pts, …` for each. A packet before 0 or at 0 is what the decoder needs before the first sample.
 * @param isFromZero its timestamps count from 0, whatever they are
 */
export function parseFrameCrc(text: string, isFromZero = false): AudioStart | undefined {
  const [, rate] = /^#sample_rate 0: (\d+)$/m.exec(text) ?? [];
  const sampleRate = Number(rate);
  const [first, packet] = [parseStream(text, 0), parseStream(text, 1)];
  if (!sampleRate || !first) return undefined;
  const firstSample = Math.round(first.seconds * sampleRate);
  const isFromOrigin =
    isFromZero ||
    (packet && packet.timeBase !== TRANSPORT_TIME_BASE && packet.seconds > 0 && packet.seconds <= MAX_LATE_SECONDS);
  return { sampleRate, firstSample, originSample: isFromOrigin && first.seconds > MIN_LATE_SECONDS ? 0 : firstSample };
}

function parseStream(text: string, stream: number) {
  const [, timeBase] = new RegExp(`^#tb ${stream}: (\\d+/\\d+)$`, 'm').exec(text) ?? [];
  const [, pts] = new RegExp(`^${stream}, *-?\\d+, *(-?\\d+),`, 'm').exec(text) ?? [];
  if (!timeBase || !pts) return undefined;
  const [numerator, denominator] = timeBase.split('/').map(Number) as [number, number];
  return { timeBase, seconds: (Number(pts) * numerator) / denominator };
}
