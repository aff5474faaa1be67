import type { Settings } from '../../core/config/index.ts';
import { type Egress, openLoopbackProxy } from '../../core/egress/index.ts';
import { smokeTestYtDlp, type ToolsOptions } from '../../core/tools/index.ts';

/** The options of `createTools` that the service and `npm run update-tools` have in common: they share the folder. */
export const toolsOptions = (settings: Settings, egress: Pick<Egress, 'nextIdentity' | 'request'>) =>
  ({
    dir: settings.toolsDir,
    channel: settings.toolsChannel,
    ytDlpPath: settings.ytDlpPath,
    ffmpegPath: settings.ffmpegPath,
    // Through the outgoing proxies, like a resolve: there may be no direct way out.
    download: (url, options) => egress.request(url, { ...options, identity: egress.nextIdentity() }),
    smokeTest: (candidate, signal, onUnsolvedChallenge) =>
      smokeTestYtDlp(candidate, { openProxy: openLoopbackProxy, signal, onUnsolvedChallenge }),
  }) satisfies Partial<ToolsOptions>;
