import { speaksAgainstRelease } from '../../core/state/index.ts';
import { findInUse } from './plan.ts';
import { switchRelease } from './switch-release.ts';
import type { UpdateToolsDependencies } from './types.ts';
import { readReleases, recordTools, withUpdateLease } from './update-tools.ts';

/** After this an alarm on failed resolves has other causes than the switch, most likely the sites. */
const MAX_SWITCH_AGE_SECONDS = 3_600;
/** How long to wait for an update in progress. */
const MAX_WAIT_MS = 2 * 60_000;
/** How long a release is left out that nothing but the links of clients speaks against. */
const SUSPENSION_SECONDS = 24 * 3_600;

export type RollBackOutcome = { readonly outcome: 'rolled back' | 'kept'; readonly version?: string };

/**
 * Returns to the previous release when the one in use was switched to within the last hour. A pinned release is kept, and one
 * with which the canary links resolve: clients choose the links that have failed, and a few that always fail must not
 * decide. Where canary links fail, later updates exclude the release. Without any, sites decide that have resolved before, and the
 * release is excluded for a day.
 * @throws Error when the previous release does not work either: the one in use stays
 */
export function rollBack(parts: UpdateToolsDependencies, signal: AbortSignal): Promise<RollBackOutcome> {
  const { asset, pinned, resolver, canaryLinks = [], state, log } = parts;
  return withUpdateLease(parts, { signal, maxWaitMs: MAX_WAIT_MS }, async (held) => {
    const { versions, inUse } = await readReleases(parts);
    const now = Math.floor(Date.now() / 1000);
    const isRecent = inUse !== undefined && now - inUse.publishedAt < MAX_SWITCH_AGE_SECONDS;
    const previous = findInUse(inUse?.previous, versions, asset);
    if (!isRecent || !previous || pinned === inUse.version) return { outcome: 'kept', version: inUse?.version };
    const { version, refused = [] } = inUse;
    const { version: live } = await resolver.read();
    if (live !== undefined && canaryLinks.length > 0 && (await resolver.check(live, held, canaryLinks)).ok) {
      log.warn('Resolves fail, and canary links do not: yt-dlp stays', { version });
      return { outcome: 'kept', version };
    }
    if (canaryLinks.length === 0 && !speaksAgainstRelease(await state.getSiteOutcomes(), now)) {
      log.warn('Resolves fail, of too few of the sites that have resolved before: yt-dlp stays', { version });
      return { outcome: 'kept', version };
    }
    const exclusion =
      canaryLinks.length > 0
        ? { refused: [...refused, version] }
        : { refused, suspended: { version, until: now + SUSPENSION_SECONDS } };
    await switchRelease({ ...previous, publishedAt: now, ...exclusion }, parts, held);
    await recordTools(previous, parts);
    log.warn('Rolled back yt-dlp', { from: inUse.version, to: previous.version });
    return { outcome: 'rolled back', version: previous.version };
  });
}
