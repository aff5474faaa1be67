import { useEffect, useState } from 'preact/hooks';
import type { Api } from '../api/index.ts';
import { ALL_LANGUAGES, type Choice } from '../renditions/index.ts';
import { usePage } from './context.ts';

/** Whether the browser's own controls have a menu of the tracks of a file (Safari). */
const listsTracks = (): boolean => 'audioTracks' in HTMLMediaElement.prototype;

/** URL for the player, without name, tags and parts. */
export const playbackUrl = (api: Api, { rendition, bitrateKbps, audio }: Choice): string =>
  api.streamUrl(rendition, { bitrateKbps, ...((audio !== ALL_LANGUAGES || listsTracks()) && { audio }) });

/** Whether range support is uncertain: for a pair, and for a generated stream, which has no exact size. */
const isRangeDoubtful = ({ isMuxed, sizeBytes, isSizeEstimate }: Choice): boolean =>
  isMuxed || isSizeEstimate || sizeBytes === undefined;

const TIMEOUT_MS = 15_000;

/** Whether a stream has ranges, and so can be sought and resumed (RFC 9110 §14.3): only a response to HEAD says so. */
export async function hasRanges(url: string): Promise<boolean | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const { ok, headers } = await fetch(url, { method: 'HEAD', cache: 'no-store', signal });
  const said = ok ? headers.get('accept-ranges') : null;
  return said === null ? undefined : /(^|,)\s*bytes\s*(,|$)/i.test(said);
}

/** Pauses after responses without ranges: the instance may determine the size of the stream meanwhile. */
const AGAIN_MS = [10_000, 20_000, 30_000];

/**
 * Asks whether a stream has ranges, and again for a minute while it has none.
 * @param tell called after each request
 * @param againMs pauses before it is asked again
 * @returns stops it
 */
export function followRanges(
  url: string,
  tell: (canSeek: boolean | undefined) => void,
  againMs: readonly number[] = AGAIN_MS,
): () => void {
  let isEnded = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = async ([nextMs, ...laterMs]: readonly number[]) => {
    // Playback and download report their own failures.
    const canSeek = await hasRanges(url).catch(() => undefined);
    if (isEnded) return;
    tell(canSeek);
    if (canSeek === false && nextMs !== undefined) timer = setTimeout(ask, nextMs, laterMs);
  };
  void ask(againMs);
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

/**
 * The choice with `canSeek` once it is known.
 * @param isWanted whether to request it in any case, which costs the source a request; otherwise only where it is doubtful
 */
export function useRanges<C extends Choice | undefined>(choice: C, isWanted = false): C {
  const { api } = usePage();
  const isAsked = choice && choice.canSeek !== true && (isWanted || isRangeDoubtful(choice));
  const url = isAsked && playbackUrl(api, choice);
  const [canSeek, setCanSeek] = useState<boolean>();
  useEffect(() => {
    setCanSeek(undefined);
    return url ? followRanges(url, setCanSeek) : undefined;
  }, [url]);
  return choice && canSeek !== undefined ? { ...choice, canSeek } : choice;
}
