import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/log.ts';
import { createInstaller } from '../../../layers/tools/install/installer.ts';
import type { InstalledVersion, VersionStore } from '../../../layers/tools/install/version-store.ts';
import type { YtDlp } from '../../../layers/tools/tools.ts';

const placed = (version: string): InstalledVersion<YtDlp> => ({
  ...{ tool: { version, command: ['/yt-dlp'], source: 'release' }, installedAt: 1, folder: version },
});

/** An installer before a shelf whose current tool is changed by others. */
function beside(allows = true) {
  const shelf = { now: undefined as InstalledVersion<YtDlp> | undefined };
  const nothing = () => undefined;
  const installer = createInstaller<YtDlp>({
    name: 'yt-dlp',
    store: { current: async () => shelf.now } as VersionStore<YtDlp>,
    providers: [],
    isAllowed: () => allows,
    check: async () => undefined,
    ...{ onActivity: nothing, onFailure: nothing, log: silentLog },
  });
  return { shelf, installer, version: () => installer.get()?.tool.version };
}

describe('following the shelf', () => {
  it('takes up what is current there, and says so once', async () => {
    const { shelf, installer, version } = beside();
    expect(await installer.reloadIfChanged()).toBe(false);
    shelf.now = placed('1.0');
    expect([await installer.reloadIfChanged(), await installer.reloadIfChanged()]).toEqual([true, false]);
    shelf.now = placed('2.0');
    expect([await installer.reloadIfChanged(), version()]).toEqual([true, '2.0']);
  });

  it('keeps what it has while nothing can be read there', async () => {
    const { shelf, installer, version } = beside();
    shelf.now = placed('1.0');
    await installer.reloadIfChanged();
    shelf.now = undefined;
    expect([await installer.reloadIfChanged(), version()]).toEqual([false, '1.0']);
    expect([await installer.reload(), version()]).toEqual([true, undefined]);
  });

  it('takes up nothing that the settings do not allow', async () => {
    const { shelf, installer, version } = beside(false);
    shelf.now = placed('1.0');
    expect([await installer.reloadIfChanged(), version()]).toEqual([false, undefined]);
  });
});
