import { siteOf } from '../../core/egress/index.ts';
import { type Finding, findingsOn } from '../../core/findings/index.ts';
import type { createPacedRequests } from '../../test/contract/paced-requests.ts';
import type { ReceivedResponse } from '../../test/support/request.ts';

/** A link of which the beginning of the first rendition was read. */
interface StreamedLink {
  readonly site: string;
  readonly seconds: number;
  /** Why it was not streamed, such as `415 bot-check`. */
  readonly failure?: string;
}

interface Rendition {
  readonly key: string;
  readonly urlType: 'Media' | 'Combined';
}

/** Bytes of a stream that are read. */
const SAMPLE_BYTES = 64 * 1024;

/** Resolves each link and reads the beginning of its first rendition, one after another. */
export async function streamLinks(
  request: ReturnType<typeof createPacedRequests>,
  links: readonly string[],
): Promise<StreamedLink[]> {
  const streamed: StreamedLink[] = [];
  for (const link of links) {
    const startedAt = performance.now();
    const failure = await streamStart(request, link).catch((error: Error) => error.message.split('\n', 1)[0]);
    const seconds = (performance.now() - startedAt) / 1_000;
    streamed.push({ site: siteOf(link), seconds, ...(failure !== undefined && { failure }) });
  }
  return streamed;
}

/** @returns why the link was not streamed */
async function streamStart(request: ReturnType<typeof createPacedRequests>, link: string): Promise<string | undefined> {
  const resolved = await request(`/api/Fetch/GetResource?url=${encodeURIComponent(link)}`);
  if (resolved.status !== 200) return describeFailure(resolved);
  const items: readonly Record<'video' | 'audio', { readonly renditions?: readonly Rendition[] } | undefined>[] =
    JSON.parse(resolved.body.toString()).mediaItems ?? [];
  const [first] = items.flatMap(({ video, audio }) => [...(video?.renditions ?? []), ...(audio?.renditions ?? [])]);
  if (!first) return 'no renditions';
  const stream = await request(`/api/Stream/${first.urlType}/${first.key}`, {
    headers: { range: `bytes=0-${SAMPLE_BYTES - 1}` },
    maxBytes: SAMPLE_BYTES,
  });
  if (stream.status !== 200 && stream.status !== 206) return describeFailure(stream);
  return stream.body.length > 0 ? undefined : 'an empty stream';
}

/** Such as `415 bot-check`. */
function describeFailure({ status, body }: ReceivedResponse): string {
  // A proxy in front of the instance answers with a page.
  const [, name = ''] = /"(?:type|title)": ?"(?:[^"]*\/)?([^"/]+)"/.exec(body.toString()) ?? [];
  return `${status} ${name}`.trimEnd();
}

/** A finding for each site: how many of its links were streamed, the median of their seconds, and why others were not. */
export const findingsOf = (links: readonly StreamedLink[]): Finding[] =>
  Array.from(
    Map.groupBy(links, ({ site }) => site),
    ([site, all]) => {
      const seconds = all.flatMap((link) => (link.failure === undefined ? [link.seconds] : [])).sort((a, b) => a - b);
      const median = seconds[Math.floor(seconds.length / 2)];
      const reasons = Map.groupBy(
        all.flatMap(({ failure }) => failure ?? []),
        (failure) => failure,
      );
      const failures = Array.from(reasons, ([reason, { length }]) => (length > 1 ? `${reason} (${length})` : reason));
      const streamed = `${seconds.length} of ${all.length} streamed${median === undefined ? '' : `, in ${median.toFixed(1)} s`}`;
      const { ok, problem } = findingsOn(site);
      return failures.length === 0 ? ok(streamed) : problem(`${streamed}; not: ${failures.join(', ')}`);
    },
  );
