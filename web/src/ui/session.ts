import { type Api, ApiFailure, type ResolvedLink, resolveWhenAvailable, type Waiting } from '../api/index.ts';
import type { History } from '../history.ts';
import { createSubject, createTtlCache, type Observable } from '../store.ts';

/** A link, or a page of the list that it leads to. */
interface ListPage {
  readonly link: string;
  readonly offset?: number;
}

/** State of the current link. */
export type Outcome =
  /** `text`: input from the address that is not a link. */
  | { readonly phase: 'idle'; readonly text?: string }
  | ({ readonly phase: 'resolving'; readonly waiting?: Waiting } & ListPage)
  | ({ readonly phase: 'resolved'; readonly resource: ResolvedLink } & ListPage)
  /** Several links at once, resolved one by one. */
  | { readonly phase: 'batch'; readonly links: readonly string[]; readonly resource: ResolvedLink }
  | ({ readonly phase: 'failed'; readonly failure: ApiFailure } & ListPage);

/** The link of an outcome. */
export const linkOf = (outcome: Outcome): string | undefined =>
  outcome.phase === 'idle' || outcome.phase === 'batch' ? undefined : outcome.link;

/** Resolves one link at a time: opening another aborts the previous one. */
export interface Session {
  readonly outcome: Observable<Outcome>;
  /** Resolves a link, with retries after temporary failures, and adds it to the history. */
  open(link: string, offset?: number): void;
  /** Opens several links as a list, resolved one by one. */
  openAll(links: readonly string[]): void;
  /** Restores a recent result; resolves the link when there is none. */
  reopen(link: string, offset?: number): void;
  /** @param text input that is not a link */
  close(text?: string): void;
}

interface SessionOptions {
  readonly api: Api;
  readonly history: History;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** Results restored on back navigation. */
const RECENT_RESOURCES = { maxEntries: 5, ttlMs: 120_000 };

/** A playlist is shown before its entries are resolved. */
const FIRST_ENTRY_WAIT_SECONDS = 0;

export function createSession({ api, history, now = () => performance.now() }: SessionOptions): Session {
  const outcome = createSubject<Outcome>({ phase: 'idle' });
  const recent = createTtlCache<ResolvedLink>({ ...RECENT_RESOURCES, now });
  let running = new AbortController();

  async function resolve(page: ListPage, { signal }: AbortController): Promise<void> {
    const { link, offset } = page;
    const tell = (next: Outcome) => {
      if (!signal.aborted) outcome.set(next);
    };
    try {
      const resource = await resolveWhenAvailable(api, link, {
        signal,
        offset,
        maxEntryWaitSeconds: FIRST_ENTRY_WAIT_SECONDS,
        onWaiting: (waiting) => tell({ phase: 'resolving', ...page, waiting }),
      });
      const isList = resource.type === 'PlayList';
      if (!signal.aborted) history.add({ link, ...summaryOf(resource) }, { isList });
      tell({ phase: 'resolved', ...page, resource });
    } catch (error) {
      tell({ phase: 'failed', ...page, failure: toFailure(error) });
    }
  }

  /** Aborts what is being resolved. */
  function restart(next: Outcome): AbortController {
    const left = outcome.get();
    if (left.phase === 'resolved') recent.put(nameOf(left), left.resource);
    running.abort();
    running = new AbortController();
    outcome.set(next);
    return running;
  }

  const open = (link: string, offset?: number) => {
    const page = { link, ...(offset && { offset }) };
    void resolve(page, restart({ phase: 'resolving', ...page }));
  };
  return {
    outcome,
    open,
    openAll: (links) => void restart(batchOf(links)),
    reopen(link, offset) {
      const page = { link, ...(offset && { offset }) };
      const resource = recent.get(nameOf(page));
      if (resource) restart({ phase: 'resolved', ...page, resource });
      else open(link, offset);
    },
    close: (text) => void restart({ phase: 'idle', text }),
  };
}

/** The same for one page alone: no link begins with a number. */
export const nameOf = ({ link, offset = 0 }: ListPage): string => `${offset} ${link}`;

/** Maps any error to a failure; an unknown one counts as `failed`. */
export const toFailure = (error: unknown): ApiFailure =>
  error instanceof ApiFailure ? error : new ApiFailure('failed', {}, { cause: error });

function summaryOf({ title, author, coverUrl, mediaItems }: ResolvedLink) {
  const first = mediaItems[0];
  return {
    title: title ?? first?.title ?? null,
    author: author ?? first?.author ?? null,
    coverUrl: coverUrl ?? first?.coverUrl ?? null,
  };
}

const NO_METADATA = { title: null, author: null, coverUrl: null };

/** Several links as the entries of a playlist, none resolved yet. */
const batchOf = (links: readonly string[]): Outcome => ({
  phase: 'batch',
  links,
  resource: {
    type: 'PlayList',
    ...NO_METADATA,
    mediaItems: links.map((link) => ({ requestedUrl: link, ...NO_METADATA })),
  },
});
