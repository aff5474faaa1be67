import { useEffect } from 'preact/hooks';
import type { Api } from '../../api/index.ts';
import { ALL_LANGUAGES, type Choice } from '../../renditions/index.ts';
import { useObservable, usePage } from '../context.ts';
import { createRangeSupport } from './range-support.ts';

const book = createRangeSupport();

/** Whether the browser's own controls have a menu of the tracks of a file (Safari). */
const listsTracks = (): boolean => 'audioTracks' in HTMLMediaElement.prototype;

/** The stream for players, which show title and cover themselves. */
export const playbackUrl = (api: Api, { rendition, bitrateKbps, audio }: Choice): string =>
  api.streamUrl(rendition, { bitrateKbps, ...((audio !== ALL_LANGUAGES || listsTracks()) && { audio }) });

/** Whether to ask for range support: of a pair, and without an exact size, which suggests a generated stream. */
export const isRangeDoubtful = ({ isMuxed, sizeBytes, isSizeEstimate }: Choice): boolean =>
  isMuxed || isSizeEstimate || sizeBytes === undefined;

/**
 * The choice with `canSeek` once it is known.
 * @param isWanted whether to send the HEAD request, which costs the source a request
 */
export function useRanges<C extends Choice | undefined>(choice: C, isWanted: boolean): C {
  const { api } = usePage();
  const known = useObservable(book.known);
  const url = choice && playbackUrl(api, choice);
  const isOpen = choice !== undefined && choice.canSeek === undefined;
  useEffect(() => {
    if (url && isOpen && isWanted) void book.check(url);
  }, [url, isOpen, isWanted]);
  const canSeek = url === undefined ? undefined : known.get(url);
  return isOpen && canSeek !== undefined ? { ...choice, canSeek } : choice;
}
