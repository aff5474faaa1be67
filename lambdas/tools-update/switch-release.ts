import { randomUUID } from 'node:crypto';
import type { Pointer } from './archive.ts';
import type { ToolsUpdate } from './create-tools-update.ts';
import { describeFault, getAgeInHours, hasOtherVersion, replaceLayer } from './plan.ts';

/**
 * Publishes a version of the resolver with the release, tests that version, moves the alias and the pointer for stream tasks,
 * and records the release. The instance is in maintenance only while they move, and not at all when the live version has the same
 * release or none. When moving fails, the alias is moved back, so that both use the same release.
 * @throws the first error, or AggregateError when moving back failed too
 */
export async function switchRelease(next: Pointer, parts: ToolsUpdate, signal: AbortSignal): Promise<void> {
  const { resolver, archive, canaryLinks, onStep, log } = parts;
  const former = await resolver.read();
  const version = await resolver.publish((layers) => replaceLayer(layers, next.layerVersionArn), signal);
  const isOther = hasOtherVersion(former.layers, next.layerVersionArn);
  // A deployment must not fail because a site does: links are tried where a release that works would be replaced.
  const verdict = await resolver.check(version, signal, isOther ? canaryLinks : []);
  // While the cost guard keeps the resolver closed, a deployment and its rollback must succeed; the canary function has tested the layer.
  if (!verdict) log.warn('Resolver concurrency is 0: new version not tested', { version });
  const reason = verdict && describeFault(verdict, next.version);
  if (reason !== undefined) throw new Error(`The resolver does not work with yt-dlp ${next.version}: ${reason}`);
  onStep('checked');
  signal.throwIfAborted();

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
  await (isOther ? withMaintenance(`Updating yt-dlp to ${next.version}`, parts, move) : move());
  await recordTools(next, parts);
}

/** What remains of it when the run is killed. */
const MAINTENANCE_SECONDS = 60;

async function withMaintenance(
  activity: string,
  { state, metrics, leaseSeconds = MAINTENANCE_SECONDS, onStep, log }: ToolsUpdate,
  work: () => Promise<void>,
): Promise<void> {
  const [owner, begun] = [randomUUID(), Date.now()];
  // Refused while the lease of a killed run lasts, which says the same.
  await state.takeMaintenance({ activity, owner, expiresAt: Math.floor(begun / 1000) + leaseSeconds });
  onStep('maintained');
  try {
    await work();
  } finally {
    metrics.maintained((Date.now() - begun) / 1000);
    // It ends by itself, and the result or the error of the work matters more.
    await state.endMaintenance(owner).catch((error) => log.warn('Failed to end the maintenance', { error }));
  }
  onStep('cleared');
}

/** Records the release in the table, unless it is there, and its age. */
export async function recordTools(
  { version, publishedAt, sites }: Pointer,
  { state, metrics, onStep }: ToolsUpdate,
): Promise<void> {
  metrics.age(getAgeInHours(version, Date.now()));
  if ((await state.getTools())?.ytDlp === version) return;
  await state.putTools({
    ytDlp: version,
    // Part of the image of the stream task, whose build verifies the hash that is pinned in the sources.
    ffmpeg: 'of the image',
    verifiedBy: { ytDlp: 'signature', ffmpeg: 'registry' },
    installedAt: publishedAt,
    ...(sites && { sites }),
  });
  onStep('recorded');
}

function throwBoth(error: unknown, second: unknown): never {
  throw new AggregateError(
    [error, second],
    `${String(error)}, and the former version was not restored: ${String(second)}`,
  );
}
