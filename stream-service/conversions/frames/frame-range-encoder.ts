import type { Source } from '../../source/index.ts';
import type { AudioStart, AudioStarts } from './audio-start.ts';
import type { BlockCache } from './block-cache.ts';
import type { EncoderOptions } from './encoder-options.ts';
import type { FrameEncoding } from './frame-encoding.ts';
import type { FrameRange } from './layout.ts';
import { seekSegmented } from './seek-segmented.ts';
import { encodeFrameRange } from './segment-encoder.ts';
import { planFrameRange, withTimestampsFromZero } from './segment-plan.ts';

export interface FrameRangeEncoderOptions {
  readonly source: Source;
  /** Identifies the content of the source and the FFmpeg build. */
  readonly entity: string;
  readonly encoding: FrameEncoding;
  readonly encoder: EncoderOptions;
  readonly cache: BlockCache;
  readonly starts: AudioStarts;
}

/** Encodes frame ranges of one stream. The audio start that they all need is read once, with the first range. */
export function openFrameRangeEncoder(options: FrameRangeEncoderOptions) {
  const { source, entity, encoding, encoder, cache, starts } = options;
  let opened: { readonly source: Source; readonly start: Promise<AudioStart> } | undefined;

  const open = (signal: AbortSignal) => {
    const cached = source.needsRemux ? source : cache.wrap(source, signal);
    const start = starts.find(entity, cached, encoder, signal);
    start.catch(() => undefined); // Every range awaits it below.
    return { source: cached, start };
  };

  return async function* encode(range: FrameRange, signal: AbortSignal): AsyncGenerator<Buffer> {
    opened ??= open(signal);
    const start = await opened.start;
    const { readFromSeconds, filters, ...output } = planFrameRange(range, encoding);

    if (!opened.source.needsRemux) {
      // Without `-noaccurate_seek` FFmpeg would drop the run-up before the filters see it.
      const seek = readFromSeconds > 0 ? ['-noaccurate_seek', '-ss', readFromSeconds.toFixed(3)] : [];
      const inputArgs = [...seek, '-copyts'];
      yield* encodeFrameRange(
        { ...output, encoding, source: opened.source, inputArgs, filters: filters(start) },
        encoder,
        signal,
      );
      return;
    }

    const run = await seekSegmented(opened.source, readFromSeconds, start, encoder, signal);
    try {
      const firstSample = -Math.round(run.offsetSeconds * start.sampleRate);
      const fromRun = withTimestampsFromZero(filters({ ...start, firstSample }));
      yield* encodeFrameRange(
        { ...output, encoding, source: run.source, inputArgs: [], filters: fromRun },
        encoder,
        signal,
      );
    } finally {
      run.close();
    }
  };
}
