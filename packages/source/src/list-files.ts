import { createGuardedFetch } from '@reelay/guarded-fetch';
import { type DashSegment, packDashSegments } from '@reelay/seekable-media/dash';
import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import { type FragmentSource, join, type VirtualFile } from '@reelay/seekable-media/reading';
import { createByteStore } from './byte-store.ts';
import { createRequests, type RequestsOptions } from './requests.ts';
import { DASH, HLS, type ListKind } from './segmented/load-timeline.ts';
import { createSegmentFiles } from './segmented/segment-files.ts';
import type { SourceTrack } from './track.ts';
import type { Log } from './upstream-request.ts';

export interface ListFileOptions extends Partial<RequestsOptions> {
  /** Request headers that the source requires. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes of memory for segments. @default 256 MiB */
  readonly memoryBytes?: number;
  /** Ends reading the list; the bytes of the file are read beyond it. @default it is read to the end */
  readonly signal?: AbortSignal;
}

/** A complete list of segments as one MP4, which may also be joined with other sources. */
export type ListFile = VirtualFile & FragmentSource;

const MEMORY_BYTES = 256 * 1024 * 1024;

/**
 * One MP4 of all segments of an HLS playlist, or of the best variant of a master playlist. Audio that has a playlist of its own is not in
 * it: `join` adds it. A small request for each segment tells its size and its times.
 * @throws UnsupportedMp4 for a list that cannot be read, is live, or makes no file: its cause says why
 */
export const fromHls = (url: string | URL, options: ListFileOptions = {}): Promise<ListFile> =>
  openList({ kind: HLS, url: String(url) }, options);

/**
 * The same of the segments of a DASH representation, the initialization segment first: expanding the manifest is up to whoever has chosen the
 * representation.
 * @throws as `fromHls`
 */
export const fromDash = (segments: readonly DashSegment[], options: ListFileOptions = {}): Promise<ListFile> =>
  openList({ kind: DASH, url: segments[0]?.url ?? '', fragments: packDashSegments(segments) }, options);

async function openList(
  { kind, url, fragments }: Pick<SourceTrack, 'url' | 'fragments'> & { readonly kind: ListKind },
  { headers = {}, memoryBytes = MEMORY_BYTES, signal, ...options }: ListFileOptions,
): Promise<ListFile> {
  const { egress = createGuardedFetch({}), log } = options;
  let cause: unknown;
  const info: Log['info'] = (message, fields) => {
    cause = fields?.error ?? fields?.reason;
    log?.info(message, fields);
  };
  const prepare = createRequests({ ...options, egress, log: { info, warn: (...args) => log?.warn(...args) } });
  const files = createSegmentFiles({ memoryBytes, store: createByteStore(memoryBytes) });
  const request = { ...prepare({ url, fragments, headers, cookies: [] }, { signal }), kind };
  const found = await files.find(request, { isNeeded: true });
  if (!found) throw new UnsupportedMp4('The list of segments makes no file', { cause });
  const { fragments: list } = await files.open(request, found);
  if (!list) throw new TypeError('A file without a list');
  return { ...(await join([list], options)), ...list };
}
