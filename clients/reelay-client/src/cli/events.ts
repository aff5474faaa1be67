import type { Download, DownloadProgress } from '../files/index.ts';
import type { SyncedEntry } from '../folder/index.ts';
import { type MediaRendition, ReelayError, type ResourceInformation } from '../index.ts';
import { UsageError } from './options.ts';

type Place = Pick<SyncedEntry, 'number' | 'count' | 'title'>;
type Described = Pick<MediaRendition, 'label' | 'fileExtension' | 'mimeType' | 'fileSizeBytes'>;

/** What `--json` prints, one line each. Every field is there; null: not known, or not of this. Later versions may add fields and events. */
export type ProgramEvent =
  | {
      readonly event: 'resolved';
      readonly link: string;
      readonly type: ResourceInformation['type'];
      readonly title: string | null;
      readonly author: string | null;
      /** How many entries a list has; 1 of an item. */
      readonly entries: number;
      /** What is fetched of an item; null also of a conversion that the instance does not list. */
      readonly rendition: Described | null;
      /** The stream of an item, or of an archive. */
      readonly url: string | null;
    }
  | {
      /** At most once a second. */
      readonly event: 'progress';
      readonly link: string;
      readonly file: string;
      readonly receivedBytes: number;
      readonly totalBytes: number | null;
      readonly estimatedBytes: number | null;
    }
  | {
      /** A file is complete. */
      readonly event: 'file';
      readonly link: string;
      readonly entry: Place | null;
      readonly file: string;
      readonly bytes: number;
      /** The part of `bytes` that was there before. */
      readonly resumedBytes: number;
    }
  | {
      readonly event: 'failure';
      readonly link: string;
      readonly entry: Place | null;
      /** Of `/problems/CODE`, or of `ReelayError`; `usage` and `failed` for what is neither. */
      readonly code: string;
      readonly message: string;
      readonly status: number | null;
      /** Whether the same command may succeed later. */
      readonly isTemporary: boolean;
      /** The program tries again by itself; null: it does not. */
      readonly retryInSeconds: number | null;
    };

/** @param url of the stream; absent of a list */
export function resolvedEvent(
  link: string,
  { type, title, author, mediaItems }: ResourceInformation,
  url?: string,
): ProgramEvent {
  const rendition = url === undefined ? undefined : renditionAt(url, mediaItems);
  const described = rendition && {
    label: rendition.label,
    fileExtension: rendition.fileExtension,
    mimeType: rendition.mimeType,
    fileSizeBytes: rendition.fileSizeBytes,
  };
  return {
    event: 'resolved',
    link,
    type,
    title,
    author,
    entries: mediaItems.length,
    rendition: described ?? null,
    url: url ?? null,
  };
}

/** The rendition of which a URL is the stream. */
export function renditionAt(url: string, items: ResourceInformation['mediaItems']): MediaRendition | undefined {
  const { pathname, searchParams } = new URL(url);
  const key = decodeURIComponent(pathname.split('/').at(-1) ?? '');
  const all = items.flatMap(({ video, audio }) => [...(video?.renditions ?? []), ...(audio?.renditions ?? [])]);
  // On a private instance the key is followed by its signature, which differs in each response.
  const isOf = (rendition: MediaRendition) => rendition.key.split('.')[0] === key.split('.')[0];
  return all.find((rendition) => isOf(rendition) && rendition.convertTo === searchParams.get('format'));
}

const INTERVAL_MS = 1_000;

export function createProgressEvents(
  link: string,
  emit: (event: ProgramEvent) => void,
  now: () => number = performance.now.bind(performance),
): (progress: DownloadProgress) => void {
  let emittedAtMs = Number.NEGATIVE_INFINITY;
  return ({ file, receivedBytes, totalBytes = null, estimatedBytes = null }) => {
    if (receivedBytes !== totalBytes && now() - emittedAtMs < INTERVAL_MS) return;
    emittedAtMs = now();
    emit({ event: 'progress', link, file, receivedBytes, totalBytes, estimatedBytes });
  };
}

interface FailureContext {
  readonly link: string;
  readonly message: string;
  readonly entry?: SyncedEntry | undefined;
  readonly retryInSeconds?: number | undefined;
}

export function failureEvent(error: unknown, { link, message, entry, retryInSeconds }: FailureContext): ProgramEvent {
  const { code, status = null, isTemporary = false } = error instanceof ReelayError ? error : { code: undefined };
  return {
    event: 'failure',
    link,
    entry: entry ? placeOf(entry) : null,
    code: code ?? (error instanceof UsageError ? 'usage' : 'failed'),
    message,
    status,
    isTemporary,
    retryInSeconds: retryInSeconds ?? null,
  };
}

/** What a run on the folder of a list has done about an entry; absent of what was there. */
export function entryEvent(link: string, synced: SyncedEntry, messageOf: (error: Error) => string) {
  const { outcome } = synced;
  if (!outcome) return undefined;
  if ('download' in outcome) return fileEvent(link, outcome.download, synced);
  const failure = 'failure' in outcome ? outcome.failure : outcome.unavailable;
  return failureEvent(failure, { link, message: messageOf(failure), entry: synced });
}

export const fileEvent = (link: string, download: Download, entry?: SyncedEntry): ProgramEvent => ({
  event: 'file',
  link,
  entry: entry ? placeOf(entry) : null,
  ...download,
});

const placeOf = ({ number, count, title }: SyncedEntry): Place => ({ number, count, title });
