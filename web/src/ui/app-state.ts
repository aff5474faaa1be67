import type { ApiFailure, ResolvedLink, Waiting } from '../api/index.ts';

/** State of the current link. */
export type Outcome =
  /** `text`: input from the address that is not a link. */
  | { readonly phase: 'idle'; readonly text?: string }
  | { readonly phase: 'resolving'; readonly link: string; readonly waiting?: Waiting }
  | { readonly phase: 'resolved'; readonly link: string; readonly resource: ResolvedLink }
  /** Several links at once, resolved one by one. */
  | { readonly phase: 'batch'; readonly links: readonly string[]; readonly resource: ResolvedLink }
  | { readonly phase: 'failed'; readonly link: string; readonly failure: ApiFailure };

/** The link of an outcome. */
export const linkOf = (outcome: Outcome): string | undefined =>
  outcome.phase === 'idle' || outcome.phase === 'batch' ? undefined : outcome.link;

/** Several links as the entries of a playlist, none resolved yet. */
export const batchOf = (links: readonly string[]): Outcome => ({
  phase: 'batch',
  links,
  resource: {
    type: 'PlayList',
    mediaItems: links.map((link) => ({ requestedUrl: link, title: null, author: null, coverUrl: null })),
  },
});
