import { createEgress, type Egress } from '../../../core/egress/create-egress.ts';
import { createResolver, type ResolverOptions } from '../../../core/resolve/create-resolver.ts';
import type { PageOfList, ResolveBounds } from '../../../core/resolve/index.ts';
import type { WorkerFailure, WorkerRequest } from '../../../packages/yt-dlp-worker/src/worker/worker-protocol.ts';
import { startOrigin } from '../../origin/server.ts';
import { afterFile } from '../../support/after-file.ts';
import { keepOpen } from '../../support/leftovers.ts';
import { fakeWorkers, fakeYtDlp } from './fake-workers.ts';
import { createMemoryState } from './memory-state.ts';

/** Info of yt-dlp for an item or a list. */
export type Info = Record<string, unknown>;

export const PAGE = 'https://media.example/watch';
export const status = (status: number) => ({ details: { status } });

export const origin = await keepOpen(startOrigin);

/** The egress of the file that runs. */
let egress: Egress | undefined;
function fileEgress(): Egress {
  if (egress) return egress;
  const created = createEgress({ allow: [origin.host] });
  afterFile(() => {
    egress = undefined;
    return created.close();
  });
  egress = created;
  return created;
}

/** An item with two formats. */
export const item = (id: string, more: Info = {}): Info => ({
  id,
  extractor_key: 'Site',
  title: `Title ${id}`,
  uploader: 'Author',
  duration: 6,
  formats: ['low', 'high'].map((format_id, index) => ({
    format_id,
    url: origin.url(`/files/clip.mp4?${format_id}`),
    protocol: 'https',
    ext: 'mp4',
    vcodec: 'avc1',
    acodec: 'mp4a.40.2',
    height: 180 * (index + 1),
    filesize: 100,
  })),
  ...more,
});
export const listed = (name: string, more: Info = {}): Info => ({
  _type: 'url',
  url: `https://media.example/${name}`,
  id: name,
  title: `Listed ${name}`,
  ...more,
});
export const list = (...entries: Info[]): Info => ({ _type: 'playlist', id: 'list', title: 'List', entries });

/** As yt-dlp lists them. */
const pageOf = (entries: unknown, { playlistLimit, playlistOffset = 0 }: Partial<WorkerRequest>): unknown =>
  Array.isArray(entries) && playlistLimit ? entries.slice(playlistOffset, playlistOffset + playlistLimit) : entries;

/** A resolver with fake workers, which return `answers` by URL, and a table in memory. */
export function createFixture(answers?: Record<string, Info | WorkerFailure>, options: Partial<ResolverOptions> = {}) {
  /** URLs that were extracted. */
  const extracted: string[] = [];
  const { workers, start, ...pending } = fakeWorkers(
    answers &&
      ((request) => {
        extracted.push(request.url);
        const answer = answers[request.url] ?? { kind: 'http', httpStatus: 404 };
        return 'entries' in answer ? { ...answer, entries: pageOf(answer.entries, request) } : answer;
      }),
  );
  const { links, resources, touched, state } = createMemoryState();
  const resolver = createResolver({
    tools: { ytDlp: () => fakeYtDlp() },
    egress: fileEgress(),
    state,
    start,
    ...options,
  });
  const resolve = (url = PAGE, more: Partial<ResolveBounds> & PageOfList = {}) =>
    resolver.resolve(url, { deadline: Date.now() + 60_000, ...more });
  const resource = async (url?: string) => {
    const resolved = await resolve(url);
    if (resolved.type !== 'Media') throw new Error('Not one item');
    return resolved.resource;
  };
  const items = async (url?: string) => {
    const resolved = await resolve(url);
    if (resolved.type !== 'PlayList') throw new Error('Not a list');
    return resolved.items.map(({ entry, resource }) => [entry.title, resource?.origin.entryId]);
  };
  return { extracted, items, links, resolve, resolver, resource, resources, touched, workers, ...pending };
}
