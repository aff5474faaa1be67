import { createCache } from '../../../../core/concurrency/index.ts';
import { runFfmpeg } from '../../../ffmpeg/index.ts';
import type { Source } from '../../../source/index.ts';
import type { EncoderOptions } from './frame-encoding.ts';

/** Timestamp of the first sample of an audio track: not 0 in MPEG-TS, in HLS, or in a trimmed file. */
export interface AudioStart {
  /** Hz, as decoded (HE-AAC decodes to twice what its container says). */
  readonly sampleRate: number;
  /** Timestamp of the first decoded sample, counted in samples. */
  readonly firstSample: number;
}

/** The source has no audio that FFmpeg can decode. */
export class NoAudio extends Error {
  override readonly name = 'NoAudio';
}

/** Audio starts of sources that were read before. */
export interface AudioStarts {
  /**
   * @param entity identifies the content of the source and the FFmpeg build
   * @throws NoAudio when nothing can be decoded, FfmpegFailed, or the error of the source
   */
  find(entity: string, source: Source, encoder: EncoderOptions, signal: AbortSignal): Promise<AudioStart>;
}

/** Cached sources: more than are played at a time. */
const MAX_CACHED = 1000;

export function createAudioStarts(): AudioStarts {
  const known = createCache<string, AudioStart>({ maxEntries: MAX_CACHED });
  return {
    async find(entity, source, encoder, signal) {
      const start = known.get(entity) ?? (await findAudioStart(source, encoder, signal));
      known.set(entity, start);
      return start;
    },
  };
}

/** Decodes the first audio frame of a source. @throws NoAudio, FfmpegFailed, or the error of the source */
export async function findAudioStart(
  source: Source,
  encoder: EncoderOptions,
  signal: AbortSignal,
): Promise<AudioStart> {
  const input = encoder.inputServer.serve(source, { selection: 'audio' });
  try {
    const output = runFfmpeg({
      path: encoder.path,
      args: [
        ...[...input.args, '-copyts', '-i', input.url],
        ...['-map', '0:a:0', '-frames:a', '1', '-c:a', 'pcm_s16le', '-f', 'framecrc'],
      ],
      inputs: [input],
      client: encoder.client,
      signal: AbortSignal.any([signal, input.failed]),
      onFailure: encoder.onFailure,
    });
    const start = parseFrameCrc(Buffer.concat(await output.toArray()).toString('latin1'));
    if (!start) throw new NoAudio('No audio could be decoded');
    return start;
  } finally {
    input.close();
  }
}

/** Parses the output of FFmpeg's framecrc muxer: a time base in a comment, then `stream, dts, pts, …` per frame. */
export function parseFrameCrc(text: string): AudioStart | undefined {
  const [, numerator, denominator] = /^#tb 0: (\d+)\/(\d+)$/m.exec(text) ?? [];
  const [, sampleRate] = /^#sample_rate 0: (\d+)$/m.exec(text) ?? [];
  const [, pts] = /^0, *-?\d+, *(-?\d+),/m.exec(text) ?? [];
  if (!numerator || !denominator || !sampleRate || !pts) return undefined;
  const seconds = (Number(pts) * Number(numerator)) / Number(denominator);
  return { sampleRate: Number(sampleRate), firstSample: Math.round(seconds * Number(sampleRate)) };
}
