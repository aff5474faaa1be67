import type { Source } from '../source/source.ts';
import type { AudioStart, AudioStarts } from './audio-start.ts';
import type { BlockCache } from './block-cache.ts';
import type { Piece } from './layout.ts';
import { type EncoderOptions, encodePiece } from './segment-encoder.ts';

export interface PiecesOptions {
  readonly source: Source;
  /** Names source and encoder build: what is learnt of one holds for the other. */
  readonly entity: string;
  readonly encoder: EncoderOptions;
  readonly cache: BlockCache;
  readonly starts: AudioStarts;
}

/** Encodes the pieces of one stream. What they all need of the source is read once, when the first is asked for. */
export function openPieces({ source, entity, encoder, cache, starts }: PiecesOptions) {
  let opened: { readonly source: Source; readonly start: Promise<AudioStart> } | undefined;

  const open = (signal: AbortSignal) => {
    const cached = source.kind === 'file' ? cache.wrap(source, signal) : source;
    const start = starts.find(entity, cached, encoder, signal);
    start.catch(() => undefined); // Each piece meets it below.
    return { source: cached, start };
  };

  return async function* encode(piece: Piece, signal: AbortSignal): AsyncGenerator<Buffer> {
    opened ??= open(signal);
    yield* encodePiece(opened.source, piece, await opened.start, encoder, signal);
  };
}
