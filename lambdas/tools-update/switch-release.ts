import { randomUUID } from 'node:crypto';
import { describeMismatch, replaceLayer } from './plan.ts';
import type { Pointer, UpdateToolsDependencies } from './types.ts';
import { LEASE_SECONDS, withLease } from './with-lease.ts';

/**
 * Publishes a version of the resolver with the release, tests that version, then moves the alias and the pointer for
 * stream tasks. The instance is in maintenance only for the last step, and not at all when the live version has the same
 * release or there is none. When the last step fails, the alias is moved back, so that both use the same release.
 * @throws the first error, or AggregateError when moving back failed too
 */
export async function switchRelease(next: Pointer, parts: UpdateToolsDependencies, signal: AbortSignal): Promise<void> {
  const { resolver, archive, canaryLinks = [], onStep, log } = parts;
  const former = await resolver.read();
  const version = await resolver.publish((layers) => replaceLayer(layers, next.layerVersionArn), signal);
  const isOther = former.version !== undefined && !former.layers.includes(next.layerVersionArn);
  // A deployment must not fail because a site does: links are tried where a release that works would be replaced.
  const verdict = await resolver.check(version, signal, isOther ? canaryLinks : []);
  // The canary function has tried the layer. A deployment while the cost guard keeps the resolver closed must not fail, nor must the
  // rollback of one.
  if (!verdict) log.warn('No execution of the resolver may start: its new version is not tried', { version });
  const reason = !verdict ? undefined : verdict.ok ? describeMismatch(verdict.version, next.version) : verdict.reason;
  if (reason !== undefined) throw new Error(`The resolver does not work with yt-dlp ${next.version}: ${reason}`);
  onStep('checked');

  const move = async () => {
    try {
      await resolver.switchTo(version);
      onStep('attached');
      await archive.movePointer(next);
    } catch (error) {
      if (former.version) await resolver.switchTo(former.version).catch((cause) => throwBoth(error, cause));
      throw error;
    }
    onStep('pointed');
  };
  if (!isOther) return move();
  await withMaintenance(parts, { version: next.version, signal }, move);
  onStep('cleared');
}

/** Makes the code of this deployment live without tools: the resolver answers that the instance is in maintenance. */
export async function switchWithoutTools({ resolver }: UpdateToolsDependencies, signal: AbortSignal): Promise<void> {
  await resolver.switchTo(await resolver.publish((layers) => layers, signal));
}

function withMaintenance(
  { state, metrics, leaseSeconds = LEASE_SECONDS, onStep, log }: UpdateToolsDependencies,
  { version, signal }: { readonly version: string; readonly signal: AbortSignal },
  work: () => Promise<void>,
): Promise<void> {
  const [owner, activity, begun] = [randomUUID(), `Updating yt-dlp to ${version}`, Date.now()];
  const lease = {
    take: (expiresAt: number) => {
      // Recorded at each renewal, so that a long maintenance shows while it lasts.
      metrics.maintained((Date.now() - begun) / 1000);
      return state.takeMaintenance({ activity, owner, expiresAt });
    },
    end: () => state.endMaintenance(owner),
    ttlSeconds: leaseSeconds,
    // Only a killed run can still hold it.
    maxWaitMs: 2 * leaseSeconds * 1000,
  };
  return withLease({ ...lease, signal, log }, (held) => {
    onStep('maintained');
    held.throwIfAborted();
    return work();
  });
}

function throwBoth(error: unknown, second: unknown): never {
  throw new AggregateError(
    [error, second],
    `${String(error)}, and the former version was not restored: ${String(second)}`,
  );
}
