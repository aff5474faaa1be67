import type { ToolsUpdate } from './create-tools-update.ts';
import { findInUse } from './plan.ts';
import { switchRelease } from './switch-release.ts';
import { MAX_WAIT_MS } from './tools-layer.ts';
import { withUpdateLease } from './update-lease.ts';
import { readReleases } from './update-tools.ts';

/** After this an alarm on failed resolves has other causes than the switch, most likely the sites. */
const MAX_SWITCH_AGE_SECONDS = 3_600;

export type RollBackOutcome = { readonly outcome: 'rolled back' | 'kept'; readonly version?: string };

/**
 * Returns to the previous release when canary links of the operator fail with the one in use, which was switched to within the
 * last hour; later updates exclude it. Without canary links it is kept: clients choose the links that have failed, and
 * these must not decide. A pinned release is kept too.
 * @throws Error when the previous release does not work either: the one in use stays
 */
export function rollBack(parts: ToolsUpdate, signal: AbortSignal): Promise<RollBackOutcome> {
  const { asset, pinned, resolver, canaryLinks, log } = parts;
  return withUpdateLease(parts, { signal, maxWaitMs: MAX_WAIT_MS }, async () => {
    const { versions, inUse } = await readReleases(parts);
    const now = Math.floor(Date.now() / 1000);
    const isRecent = inUse !== undefined && now - inUse.publishedAt < MAX_SWITCH_AGE_SECONDS;
    const previous = findInUse(inUse?.previous, versions, asset);
    if (!isRecent || !previous || pinned === inUse.version) return { outcome: 'kept', version: inUse?.version };
    const { version, refused = [] } = inUse;
    const { version: live } = await resolver.read();
    const tried = live && canaryLinks.length > 0 ? await resolver.check(live, signal, canaryLinks) : undefined;
    if (tried?.ok !== false) {
      log.warn('Resolves fail, but no canary link does: yt-dlp stays', { version });
      return { outcome: 'kept', version };
    }
    await switchRelease({ ...previous, publishedAt: now, refused: [...refused, version] }, parts, signal);
    log.warn('Rolled back yt-dlp', { from: version, to: previous.version });
    return { outcome: 'rolled back', version: previous.version };
  });
}
