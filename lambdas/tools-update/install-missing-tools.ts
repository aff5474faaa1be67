import { releaseInUse } from './plan.ts';
import { type UpdateOutcome, type UpdateToolsDependencies, updateTools } from './update-tools.ts';

/**
 * Updates the tools only while no release is in use, as after a deployment whose first fetch failed: until then the
 * instance is in maintenance. Cheap otherwise, so that it can run every few minutes.
 * @throws Error when no release can be installed
 */
export async function installMissingTools(
  dependencies: UpdateToolsDependencies,
  signal: AbortSignal,
): Promise<UpdateOutcome> {
  const { layers, archive, asset, metrics } = dependencies;
  const [versions, pointer] = await Promise.all([layers.versions(), archive.pointer()]);
  const inUse = releaseInUse(pointer, versions, asset);
  if (inUse) return { outcome: 'current', version: inUse.version };
  metrics.missing();
  return updateTools(dependencies, signal);
}
