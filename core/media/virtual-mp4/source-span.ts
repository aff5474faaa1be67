import type { Extent, Layout, SourceIndex } from './layout.ts';

/** Bytes of a file. Offsets, both included. */
export interface SourceSpan {
  readonly first: number;
  readonly last: number;
}

/** Splits a range of the output where its media begins: within each part, every source is read in its own order. */
export const splitAtMedia = ({ mediaStart }: Layout, { first, last }: SourceSpan): readonly SourceSpan[] =>
  [
    { first, last: Math.min(last, mediaStart - 1) },
    { first: Math.max(first, mediaStart), last },
  ].filter((part) => part.first <= part.last);

/**
 * The bytes of a source that a range of the output needs; undefined when it needs none. A fragment is needed from its
 * start, because its `moof` is patched.
 * @param range of the output, within one part
 */
export function sourceSpan(layout: Layout, source: SourceIndex, { first, last }: SourceSpan): SourceSpan | undefined {
  const [from, to] = [layout.extentAt(first).index, layout.extentAt(last).index];
  const begin = findExtent(layout, source, from, to);
  const end = findExtent(layout, source, to, from);
  if (!begin || !end) return undefined;
  const skipped = begin.kind === 'samples' ? Math.max(0, first - begin.start) : 0;
  return {
    first: begin.sourceOffset + skipped,
    last: end.sourceOffset + Math.min(end.bytes, last + 1 - end.start) - 1,
  };
}

/** The first extent of a source from one index towards another. */
function findExtent(layout: Layout, source: SourceIndex, from: number, to: number): Extent | undefined {
  const step = from <= to ? 1 : -1;
  for (let index = from; step > 0 ? index <= to : index >= to; index += step) {
    const extent = layout.extent(index);
    if (extent.kind !== 'own' && extent.source === source) return extent;
  }
  return undefined;
}
