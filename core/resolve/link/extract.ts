import type { Egress } from '../../egress/index.ts';
import { NotDeliverable, NotFound, UpstreamError } from '../../errors/index.ts';
import type { AskRequest, Extraction, Forks } from '../yt-dlp/index.ts';

/** The part of the egress that chooses outgoing addresses. */
export type OutgoingAddresses = Pick<Egress, 'nextIdentity' | 'otherIdentity' | 'reportBlocked' | 'reportServed'>;

/** One link for yt-dlp, by whichever outgoing address its site serves. */
interface ExtractRequest extends Omit<AskRequest, 'identity'> {
  /** The outgoing identity to begin with. @default the next in turn */
  readonly preferred?: string;
}

/** Extracts the metadata and formats of a link. */
export type Extract = (request: ExtractRequest) => Promise<Extraction>;

/** What a failure says of the outgoing address, the least telling first. */
const BLOCKS = ['refused', 'region', 'rate-limited', 'bot-check'] as const;
type Block = (typeof BLOCKS)[number];

/** A site means the address by these. By the others it may mean the link, so that few further addresses are tried. */
const OF_ADDRESSES: readonly Block[] = ['rate-limited', 'bot-check'];
/** Addresses for one link at most: each takes a turn of yt-dlp, at the cost of the client. Later links try the others. */
const MAX_ADDRESSES = 8;
const MAX_ADDRESSES_AFTER_REFUSALS = 3;
/** Less time than this is no further attempt. */
const MIN_ATTEMPT_MS = 1_000;

/**
 * Extracts links by one outgoing address after the other while the site blocks them, within the deadline of the request.
 * What several addresses failed with becomes one failure: what the site says of the link itself, else the most telling block.
 */
export const createExtract =
  (forks: Pick<Forks, 'ask'>, egress: OutgoingAddresses): Extract =>
  async ({ preferred, ...request }) => {
    const { url, deadline, signal } = request;
    const tried = new Set<string>();
    const refused: string[] = [];
    let found: { readonly block: Block; readonly error: unknown } | undefined;
    let next: string | undefined = egress.nextIdentity(url, preferred);

    while (next !== undefined) {
      const identity = next;
      tried.add(identity);
      try {
        const extraction = await forks.ask({ ...request, identity });
        egress.reportServed(url, identity);
        // The link is served: the refusals were of the addresses.
        for (const other of refused) egress.reportBlocked(url, other);
        return extraction;
      } catch (error) {
        const block = blockOf(error);
        const isOfLink = !block && (error instanceof NotFound || error instanceof NotDeliverable);
        if (signal.aborted || isOfLink || (!block && !found)) throw error;
        if (block && OF_ADDRESSES.includes(block)) egress.reportBlocked(url, identity, retryAfterOf(error));
        else if (block === 'refused') refused.push(identity);
        if (block && (!found || BLOCKS.indexOf(block) >= BLOCKS.indexOf(found.block))) found = { block, error };
      }
      const isOfAddress = found !== undefined && OF_ADDRESSES.includes(found.block);
      const isLast =
        tried.size >= (isOfAddress ? MAX_ADDRESSES : MAX_ADDRESSES_AFTER_REFUSALS) ||
        deadline - Date.now() < MIN_ATTEMPT_MS;
      next = isLast ? undefined : egress.otherIdentity(url, tried);
    }
    throw found?.error;
  };

function blockOf(error: unknown): Block | undefined {
  const reason = error instanceof NotDeliverable || error instanceof UpstreamError ? error.reason : undefined;
  return BLOCKS.find((block) => block === reason);
}

const retryAfterOf = (error: unknown): number | undefined =>
  error instanceof UpstreamError ? error.retryAfterSeconds : undefined;
