import { expect, it } from 'vitest';
import { createInstaller } from '../src/install/installer.ts';
import type { InstalledVersion, VersionStore } from '../src/install/version-store.ts';
import { silentLog, type YtDlp } from '../src/tools.ts';

const tool: YtDlp = { version: '1.0', command: ['/yt-dlp'], source: 'release' };
const installed: InstalledVersion<YtDlp> = { tool, installedAt: 1, folder: '1.0' };

it.each([
  ['keeps its version while the store has none', true, [true, false, false, '1.0', true, undefined]],
  ['ignores a version that the settings do not allow', false, [false, false, false, undefined, false, undefined]],
])('reload %s', async (_, isAllowed, expected) => {
  const stored: (InstalledVersion<YtDlp> | undefined)[] = [installed, installed, undefined, undefined];
  const nothing = () => undefined;
  const { reload, current } = createInstaller<YtDlp>({
    name: 'yt-dlp',
    store: { current: async () => stored.shift() } as VersionStore<YtDlp>,
    providers: [],
    isAllowed: () => isAllowed,
    onActivity: nothing,
    onFailure: nothing,
    onNotice: nothing,
    log: silentLog,
    signal: new AbortController().signal,
  });
  const found: unknown[] = [];
  for (const isKept of [true, true, true]) found.push(await reload({ isKept }));
  found.push(current()?.tool.version, await reload(), current()?.tool.version);
  expect(found).toEqual(expected);
});
