import { runFfmpeg } from '../../ffmpeg/index.ts';
import type { Source } from '../../source/index.ts';
import type { EncoderOptions } from './encoder-options.ts';

/** Where the clock of an audio track stands at its first sample: not at 0 in MPEG-TS, in HLS, in a cut file. */
export interface AudioStart {
  /** Hz, as decoded (HE-AAC decodes to twice what its container says). */
  readonly sampleRate: number;
  /** Timestamp of the first decoded sample, counted in samples. */
  readonly firstSample: number;
}

/** The source holds no sound that FFmpeg can decode. */
export class NoAudio extends Error {
  override readonly name = 'NoAudio';
}

/** What is known of sources that were read before. */
export interface AudioStarts {
  /**
   * @param entity names what the source holds and the build that reads it
   * @throws NoAudio when nothing can be decoded, FfmpegFailed, or what made the source fail
   */
  find(entity: string, source: Source, encoder: EncoderOptions, signal: AbortSignal): Promise<AudioStart>;
}

/** Sources remembered: enough for every one that is played now. */
const REMEMBERED = 1000;

export function createAudioStarts(): AudioStarts {
  const known = new Map<string, AudioStart>();
  return {
    async find(entity, source, encoder, signal) {
      const start = known.get(entity) ?? (await findAudioStart(source, encoder, signal));
      known.delete(entity);
      known.set(entity, start);
      for (const [oldest] of known) {
        if (known.size <= REMEMBERED) break;
        known.delete(oldest);
      }
      return start;
    },
  };
}

/** Decodes the first audio frame of a source to learn its clock. */
export async function findAudioStart(
  source: Source,
  encoder: EncoderOptions,
  signal: AbortSignal,
): Promise<AudioStart> {
  const input = encoder.inputServer.serve(source, { wanted: 'sound' });
  try {
    const output = runFfmpeg({
      path: encoder.path,
      args: [
        ...[...input.args, '-copyts', '-i', input.url],
        ...['-map', '0:a:0', '-frames:a', '1', '-c:a', 'pcm_s16le', '-f', 'framecrc'],
      ],
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

/** Reads FFmpeg's framecrc text: a time base in a comment, then `stream, dts, pts, …` per frame. */
export function parseFrameCrc(text: string): AudioStart | undefined {
  const [, numerator, denominator] = /^#tb 0: (\d+)\/(\d+)$/m.exec(text) ?? [];
  const [, sampleRate] = /^#sample_rate 0: (\d+)$/m.exec(text) ?? [];
  const [, pts] = /^0, *-?\d+, *(-?\d+),/m.exec(text) ?? [];
  if (!numerator || !denominator || !sampleRate || !pts) return undefined;
  const seconds = (Number(pts) * Number(numerator)) / Number(denominator);
  return { sampleRate: Number(sampleRate), firstSample: Math.round(seconds * Number(sampleRate)) };
}
