import { wavHeader } from '@reelay/seekable-media/wav';
import { WAV_FORMAT } from '../../../core/conversions/index.ts';
import type { EncodedFormat } from './encoded-format.ts';
import { clipLayout, type FrameEncoding, layoutBytes } from './frames/index.ts';

const SAMPLE_BYTES = (WAV_FORMAT.channels * WAV_FORMAT.bitsPerSample) / 8;
/** As in MP3: clips of both have the same times. */
const FRAME_SAMPLES = 1152;
const FRAME_BYTES = FRAME_SAMPLES * SAMPLE_BYTES;

/** PCM. Segments of 24 s, 4.6 MB: decoding starts with the segment, and takes a hundredth of that time. */
const ENCODING: FrameEncoding = {
  sampleRate: WAV_FORMAT.sampleRate,
  frameSamples: FRAME_SAMPLES,
  frameBytes: FRAME_BYTES,
  delaySamples: 0,
  segmentFrames: 1000,
  unitFrames: 100,
  warmUpFrames: 0,
  lookAheadFrames: 0,
  outputArgs: ['-c:a', 'pcm_s16le', '-flush_packets', '0', '-f', 's16le'],
};

/** Its header has the size: there is no WAV of a source that has to be read from its beginning. */
export const wav: EncodedFormat = {
  layOut({ durationSeconds }, _, { clip }) {
    const samples = Math.round((durationSeconds ?? 0) * WAV_FORMAT.sampleRate);
    const dataBytes = samples * SAMPLE_BYTES;
    if (samples === 0 || !Number.isSafeInteger(2 * dataBytes)) return undefined;
    const frames = Math.ceil(dataBytes / FRAME_BYTES);
    const lastFrameBytes = dataBytes - (frames - 1) * FRAME_BYTES;
    const part = clipLayout({ tagBytes: 0, encoding: ENCODING, frames, lastFrameBytes }, clip);
    const header = wavHeader(layoutBytes(part), WAV_FORMAT);
    return { layout: { ...part, tagBytes: header.length }, tag: header };
  },
};
