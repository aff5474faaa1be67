import { abortable } from '../../core/concurrency/index.ts';
import { readWaitPreference } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { ResolvedPlaylist } from '../../core/resolve/index.ts';
import type { State } from '../../core/state/index.ts';
import { createHandler, type Handler, headerOf, signKeyFor } from '../middleware/index.ts';
import { createResolveRequest, type ResolveOptions } from './resolve-request.ts';
import { toResourceInformation } from './resource-information.ts';

/** Delay that a response accepts for being counted. */
const COUNT_TIMEOUT_MS = 2_000;

/** GET /api/Fetch/GetResource: metadata and renditions of a link. */
export const createGetResource = (options: ResolveOptions): Handler => {
  const resolveRequest = createResolveRequest(options);
  return createHandler(options, async (event, context) => {
    const waitSeconds = readWaitPreference(headerOf(event, 'prefer'));
    const { resolved, sent } = await resolveRequest(event, context, { maxEntryWaitSeconds: waitSeconds });
    await countRequest(options.state, options.log);
    const json = toResourceInformation(resolved, sent, signKeyFor(event));
    if (resolved.type !== 'PlayList') return { json };
    const applied = waitSeconds !== undefined && { 'preference-applied': `wait=${waitSeconds}` };
    return { json, headers: { 'x-playlist': describePlaylist(resolved), ...applied } };
  });
};

/**
 * What the response cannot say, as a dictionary (RFC 9651): `listed` entries, `total` at the source if known, `cut` at the
 * limit, and the one-based places of `unavailable` entries.
 */
function describePlaylist({ items, totalEntries, isCut, unavailable = [] }: ResolvedPlaylist): string {
  const members = [
    `listed=${items.length}`,
    totalEntries !== undefined && `total=${totalEntries}`,
    isCut && 'cut',
    unavailable.length > 0 && `unavailable=(${unavailable.join(' ')})`,
  ];
  return members.filter(Boolean).join(', ');
}

/** A counter that fails or hangs does not fail the response. */
async function countRequest(state: Pick<State, 'addRequest'>, log: Log): Promise<void> {
  await abortable(state.addRequest(), AbortSignal.timeout(COUNT_TIMEOUT_MS)).catch((error) =>
    log.warn('Failed to count request', { error }),
  );
}
