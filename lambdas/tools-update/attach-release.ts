import { replaceLayer } from './plan.ts';
import type { Archive, FunctionLayers, Pointer, Step } from './types.ts';

export interface AttachDependencies {
  readonly resolver: FunctionLayers;
  readonly archive: Archive;
  /** The layer that is attached while there are no tools. */
  readonly placeholder?: string;
  readonly onStep: (step: Step) => void;
}

/**
 * Attaches a release to the resolver, then moves the pointer for stream tasks. When either fails, the former layers of
 * the resolver are restored, so that both use the same release.
 * @throws the first error, or AggregateError when restoring failed too
 */
export async function attachRelease(
  next: Pointer,
  { resolver, archive, placeholder, onStep }: AttachDependencies,
  signal: AbortSignal,
): Promise<void> {
  let before: readonly string[] | undefined;
  try {
    await resolver.change((layers) => {
      signal.throwIfAborted();
      before ??= layers;
      return replaceLayer(layers, next.layerVersionArn, placeholder);
    });
    onStep('attached');
    await archive.movePointer(next);
  } catch (error) {
    const layers = before;
    if (layers) await resolver.change(() => layers).catch((cause) => failBoth(error, cause));
    throw error;
  }
  onStep('pointed');
}

function failBoth(error: unknown, second: unknown): never {
  throw new AggregateError(
    [error, second],
    `${String(error)}, and the former layers were not restored: ${String(second)}`,
  );
}
