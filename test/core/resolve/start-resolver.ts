import { createEgress } from '../../../core/egress/create-egress.ts';
import { createResolver, type ResolverOptions } from '../../../core/resolve/create-resolver.ts';
import type { Resource } from '../../../core/state/resource.ts';
import type { YtDlp } from '../../../packages/yt-dlp-worker/src/tools.ts';
import { type OriginOptions, startOrigin } from '../../origin/server.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { installedTools } from '../../support/installed-tools.ts';
import { createMemoryState } from './memory-state.ts';

interface StartOptions
  extends OriginOptions,
    Pick<
      ResolverOptions,
      'pluginDirs' | 'ytDlpPlugins' | 'ytDlpExtractorArgs' | 'impersonate' | 'onYtDlpMode' | 'log'
    > {
  /** The yt-dlp to use instead. */
  readonly adapt?: (ytDlp: YtDlp) => YtDlp;
}

/** Starts a resolver with the real yt-dlp and egress, a table in memory, and a media origin that it may reach. */
export async function startResolver({ mounts, adapt = (ytDlp) => ytDlp, ...options }: StartOptions = {}) {
  const ytDlp = adapt((await installedTools()).ytDlp);
  const origin = closeAfterwards(await startOrigin({ mounts }));
  const egress = closeAfterwards(createEgress({ allow: [origin.host] }));
  const { state, resources } = createMemoryState();
  const resolver = closeAfterwards(createResolver({ tools: { ytDlp: () => ytDlp }, egress, state, ...options }));
  const resolve = (path: string, seconds = 150) =>
    resolver.resolve(origin.url(path), { deadline: Date.now() + seconds * 1000 });
  const single = async (path: string): Promise<Resource> => {
    const resolved = await resolve(path);
    if (resolved.type !== 'Media') throw new Error('Not one item');
    return resolved.resource;
  };
  return { origin, resolver, resources, resolve, single };
}
