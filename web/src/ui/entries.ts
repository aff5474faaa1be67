import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiFailure } from '../lib/api.ts';
import type { MediaInformation, ResourceInformation } from '../lib/contract.ts';
import { resolveWhenAvailable } from '../lib/waiting.ts';
import { usePage } from './context.ts';
import { toFailure } from './session.ts';

/** An entry of a list: it may have missed the resolve of the whole, and is looked up by itself. */
export interface Entry {
  readonly item: MediaInformation;
  readonly isLooking?: boolean;
  readonly failure?: ApiFailure;
}

export interface Entries {
  readonly all: readonly Entry[];
  /** Looks one up unless its versions are known. @returns it with its versions; undefined when that failed */
  lookUp(index: number): Promise<MediaInformation | undefined>;
}

/** Whether there is anything to choose from. */
export const hasVersions = ({ video, audio }: MediaInformation): boolean => Boolean(video ?? audio);

export function useEntries({ mediaItems }: ResourceInformation): Entries {
  const { api } = usePage();
  const [all, setAll] = useState<readonly Entry[]>(() => (mediaItems ?? []).map((item) => ({ item })));
  const latest = useRef(all);
  latest.current = all;
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);

  const change = (index: number, entry: Entry) => setAll((before) => before.with(index, entry));

  const lookUp = async (index: number) => {
    const item = latest.current[index]?.item;
    if (!item || hasVersions(item)) return item;
    change(index, { item, isLooking: true });
    try {
      const { signal } = leaving.current;
      const { mediaItems: found } = await resolveWhenAvailable(api, item.requestedUrl ?? '', { signal });
      const complete = { ...item, ...found?.[0] };
      change(index, { item: complete });
      return complete;
    } catch (error) {
      if (!leaving.current.signal.aborted) change(index, { item, failure: toFailure(error) });
      return undefined;
    }
  };
  return { all, lookUp };
}
