import type { Source } from '../../source/index.ts';
import type { AudioStart, AudioStarts } from './audio-start.ts';
import type { BlockCache } from './block-cache.ts';
import type { EncoderOptions } from './encoder-options.ts';
import type { FrameRange } from './layout.ts';
import { seekSegmented } from './seek-segmented.ts';
import { encodeFrameRange } from './segment-encoder.ts';
import { fromItsStart, planPiece } from './segment-plan.ts';

export interface FrameRangeEncoderOptions {
  readonly source: Source;
  /** Names source and encoder build: what is learnt of one holds for the other. */
  readonly entity: string;
  readonly encoder: EncoderOptions;
  readonly cache: BlockCache;
  readonly starts: AudioStarts;
}

/** Encodes the pieces of one stream. What they all need of the source is read once, when the first is asked for. */
export function openFrameRangeEncoder({ source, entity, encoder, cache, starts }: FrameRangeEncoderOptions) {
  let opened: { readonly source: Source; readonly start: Promise<AudioStart> } | undefined;

  const open = (signal: AbortSignal) => {
    const cached = source.needsRemux ? source : cache.wrap(source, signal);
    const start = starts.find(entity, cached, encoder, signal);
    start.catch(() => undefined); // Each piece meets it below.
    return { source: cached, start };
  };

  return async function* encode(piece: FrameRange, signal: AbortSignal): AsyncGenerator<Buffer> {
    opened ??= open(signal);
    const start = await opened.start;
    const { readFromSeconds, filters, ...wanted } = planPiece(piece);

    if (!opened.source.needsRemux) {
      // Without `-noaccurate_seek` FFmpeg would cut off the run-up before our own filters see it.
      const seek = readFromSeconds > 0 ? ['-noaccurate_seek', '-ss', readFromSeconds.toFixed(3)] : [];
      const inputArgs = [...seek, '-copyts'];
      yield* encodeFrameRange(
        { ...wanted, source: opened.source, inputArgs, filters: filters(start) },
        encoder,
        signal,
      );
      return;
    }

    const run = await seekSegmented(opened.source, readFromSeconds, start, encoder, signal);
    try {
      const firstSample = -Math.round(run.offsetSeconds * start.sampleRate);
      const fromRun = fromItsStart(filters({ ...start, firstSample }));
      yield* encodeFrameRange({ ...wanted, source: run.source, inputArgs: [], filters: fromRun }, encoder, signal);
    } finally {
      run.close();
    }
  };
}
