import { describe, expect, it } from 'vitest';
import { createInstaller } from '../src/install/installer.ts';
import type { InstalledVersion, VersionStore } from '../src/install/version-store.ts';
import { silentLog, type YtDlp } from '../src/tools.ts';

const installed = (version: string): InstalledVersion<YtDlp> => ({
  tool: { version, command: ['/yt-dlp'], source: 'release' },
  installedAt: 1,
  folder: version,
});

const KEPT = { isKept: true };

/** An installer whose version store is changed by another process. */
function createFixture(isAllowed = true) {
  const store = { now: undefined as InstalledVersion<YtDlp> | undefined };
  const nothing = () => undefined;
  const installer = createInstaller<YtDlp>({
    name: 'yt-dlp',
    store: { current: async () => store.now } as VersionStore<YtDlp>,
    providers: [],
    isAllowed: () => isAllowed,
    smokeTest: async () => undefined,
    onActivity: nothing,
    onFailure: nothing,
    onNotice: nothing,
    log: silentLog,
    signal: new AbortController().signal,
  });
  return { store, installer, version: () => installer.current()?.tool.version };
}

describe('reload that keeps the version in use', () => {
  it('loads the current version of the store, and returns true once', async () => {
    const { store, installer, version } = createFixture();
    expect(await installer.reload(KEPT)).toBe(false);
    store.now = installed('1.0');
    expect([await installer.reload(KEPT), await installer.reload(KEPT)]).toEqual([true, false]);
    store.now = installed('2.0');
    expect([await installer.reload(KEPT), version()]).toEqual([true, '2.0']);
  });

  it('keeps its version while the store has none', async () => {
    const { store, installer, version } = createFixture();
    store.now = installed('1.0');
    await installer.reload(KEPT);
    store.now = undefined;
    expect([await installer.reload(KEPT), version()]).toEqual([false, '1.0']);
    expect([await installer.reload(), version()]).toEqual([true, undefined]);
  });

  it('ignores a version that the settings do not allow', async () => {
    const { store, installer, version } = createFixture(false);
    store.now = installed('1.0');
    expect([await installer.reload(KEPT), version()]).toEqual([false, undefined]);
  });
});
