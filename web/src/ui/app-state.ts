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

export type OutcomeEvent =
  | { readonly type: 'opened'; readonly link: string }
  | { readonly type: 'batch'; readonly links: readonly string[] }
  | { readonly type: 'waits'; readonly waiting: Waiting }
  | { readonly type: 'found'; readonly resource: ResolvedLink }
  | { readonly type: 'failed'; readonly failure: ApiFailure }
  | { readonly type: 'closed'; readonly text?: string };

/** Reducer. Events for a link that is no longer being resolved are ignored. */
export function reduce(outcome: Outcome, event: OutcomeEvent): Outcome {
  if (event.type === 'opened') return { phase: 'resolving', link: event.link };
  if (event.type === 'closed') return { phase: 'idle', text: event.text };
  if (event.type === 'batch') return { phase: 'batch', links: event.links, resource: batchOf(event.links) };
  if (outcome.phase !== 'resolving') return outcome;
  const { link } = outcome;
  switch (event.type) {
    case 'waits':
      return { phase: 'resolving', link, waiting: event.waiting };
    case 'found':
      return { phase: 'resolved', link, resource: event.resource };
    case 'failed':
      return { phase: 'failed', link, failure: event.failure };
  }
}

/** The link of an outcome. */
export const linkOf = (outcome: Outcome): string | undefined =>
  outcome.phase === 'idle' || outcome.phase === 'batch' ? undefined : outcome.link;

/** Links as the entries of a playlist, none resolved yet. */
const batchOf = (links: readonly string[]): ResolvedLink => ({
  type: 'PlayList',
  mediaItems: links.map((link) => ({ requestedUrl: link, title: null, author: null, coverUrl: null })),
});
