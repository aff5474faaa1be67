import { conversionNames, conversions } from '../../conversions/index.ts';
import type { TagText } from '../../media/id3/index.ts';
import type { PromisedConversions } from '../../state/index.ts';

/** Adds to the offered conversions the sizes that follow from duration and tag, for their streams to deliver exactly. */
export const promiseConversions = (
  offered: PromisedConversions,
  durationSeconds: number | undefined,
  tag: TagText,
): PromisedConversions =>
  Object.fromEntries(
    conversionNames.flatMap((name) => {
      const promised = offered[name];
      const sizeBytes = durationSeconds ? conversions[name].sizeBytes(durationSeconds, tag) : undefined;
      return promised ? [[name, { renditionId: promised.renditionId, ...(sizeBytes && { sizeBytes }) }]] : [];
    }),
  );
