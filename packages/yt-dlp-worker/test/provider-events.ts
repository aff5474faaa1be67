import { execFileSync } from 'node:child_process';
import fs, { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { createTools, type Ffmpeg, type ToolProvider, type ToolsOptions, type YtDlp } from '@reelay/yt-dlp-worker';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { withLock } from '../src/install/version-store.ts';

/** Publishes a version that is spoilt, and what the operator is told of it; or why that cannot happen. */
export type Flaw = readonly [spoil: (version: string) => unknown, reason: RegExp] | string;

/** What every provider is tried with, as far as it can happen to it. */
type CommonFlaw =
  | 'a bad hash'
  | 'a bad signature'
  | 'half of it'
  | 'nothing where it is said to be'
  | 'no answer'
  | 'a full disk';

/** A provider of yt-dlp, and the registry or the machine that it has its versions from. */
export interface ProviderWorld {
  readonly options: Partial<ToolsOptions>;
  readonly verifiedBy: string;
  /** It is used where it is, and has one version. */
  readonly isInPlace?: true;
  /** Each install takes seconds: what the store does whatever the provider, is tried with the others. */
  readonly isSlow?: true;
  /** Other processes have decided on its version: older ones are followed, too. */
  readonly isAuthoritative?: true;
  /** Makes a version that works the newest one. */
  publish(version: string): unknown;
  readonly flaws: Readonly<Record<CommonFlaw, Flaw>> & Readonly<Record<string, Flaw>>;
  /** How often a version was requested. */
  requests(): number;
}

const [OLDER, OLD, NEW] = ['2026.10.10', '2026.11.11', '2026.11.20'];
const { signal } = new AbortController();
const FFMPEG: ToolProvider<Ffmpeg> = {
  name: 'system',
  label: 'the test',
  fetch: async () => () => ({ version: '7.1', path: process.execPath, source: 'system', buildId: 'ab' }),
};

/** A provider whose next download finds the disk full. */
export function onFullDisk(provider: ToolProvider<YtDlp>) {
  let isFull = false;
  return {
    fill: () => {
      isFull = true;
    },
    provider: {
      ...provider,
      async fetch(folder, options) {
        if (isFull) await symlink('/dev/full', join(folder, 'archive.zip'));
        isFull = false;
        return provider.fetch(folder, options);
      },
    } satisfies ToolProvider<YtDlp>,
  };
}

/** What a process that is killed after any of its changes to a folder leaves there, as copies of it. */
async function killedAfterEachStep(folder: string, work: () => Promise<unknown>): Promise<string[]> {
  const copies: string[] = [];
  const root = await temporaryFolder();
  for (const name of ['mkdtemp', 'rename', 'writeFile', 'rm'] as const) {
    const change = fs[name] as (...args: unknown[]) => Promise<never>;
    vi.spyOn(fs, name).mockImplementation(async (...args: unknown[]) => {
      const done = await change(...args);
      if (!String(args[0]).startsWith(folder)) return done;
      copies.push(join(root, `${copies.length} ${name} ${basename(String(args.at(-1)))}`));
      execFileSync('cp', ['-a', folder, copies.at(-1) ?? '']);
      return done;
    });
  }
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  }
  return copies;
}

/** Has one provider of yt-dlp go through everything that may happen, with the real store and the real lock. */
export function testProvider(name: string, world: ProviderWorld): void {
  const prepare = async (others: Partial<ToolsOptions> = {}) => {
    const dir = join(await temporaryFolder(), 'tools');
    const broken = new Set<string>();
    const failures: string[] = [];
    const records: string[] = [];
    const open = (more: Partial<ToolsOptions> = {}) => {
      const tools = createTools({
        dir,
        channel: 'stable',
        download: () => Promise.reject(new Error('nothing else is downloaded')),
        onActivity: () => undefined,
        smokeTest: async ({ version }) => {
          if (broken.has(version)) throw new Error('it does not work');
          return undefined;
        },
        record: async ({ ytDlp, verifiedBy }) => void records.push(`${ytDlp} by ${verifiedBy.ytDlp}`),
        onFailure: (line) => failures.push(line),
        ...world.options,
        ...others,
        ...more,
        providers: { ytDlp: [], ...world.options.providers, ffmpeg: [FFMPEG] },
      });
      onTestFinished(tools.close);
      return tools;
    };
    /** The versions that are stored, one of them twice where it was not made current; nothing else may be left, and no lock. */
    const stored = async () => {
      const onWait = () => expect.fail('The lock is held');
      await withLock(join(dir, 'install.lock'), async () => undefined, { signal, onWait });
      const names = (await readdir(join(dir, 'yt-dlp')).catch(() => [])).sort();
      return [...new Set(names.filter((entry) => entry !== 'current').map((entry) => entry.replace(/\+2$/, '')))];
    };
    return { dir, open, stored, broken, failures, records };
  };
  const NOTHING_NEW = { ytDlp: false, ffmpeg: false };
  const flaws = Object.entries(world.flaws).flatMap(([flaw, how]) =>
    typeof how === 'string' ? [] : [[flaw, ...how] as const],
  );

  describe(name, () => {
    it('installs a version, which later starts find without a request', async () => {
      const { open, stored, records } = await prepare();
      await world.publish(NEW);
      await open().ensure();
      const before = world.requests();
      const next = open();
      await next.ensure();
      expect([next.ytDlp()?.version, world.requests() - before, await stored()]).toEqual([NEW, 0, [NEW]]);
      expect(records).toEqual(Array(2).fill(`${NEW} by ${world.verifiedBy}`));
    });

    it.each(flaws)(
      'does not take a version with %s, and installs or keeps one without',
      async (flaw, spoil, reason) => {
        const { open, stored, failures } = await prepare();
        await spoil(NEW);
        const tools = open();
        const before = world.requests();
        const refused = expect(tools.ensure()).rejects.toThrow(reason);
        if (flaw === 'no answer') {
          await expect.poll(world.requests).toBeGreaterThan(before);
          await tools.close();
          await refused;
          await world.publish(NEW);
          await open().ensure();
          return expect(await stored()).toEqual([NEW]);
        }
        await refused;
        expect(await stored()).toEqual([]);
        await world.publish(OLD);
        await tools.ensure();
        expect([tools.ytDlp()?.version, await stored()]).toEqual([OLD, [OLD]]);
        if (world.isInPlace) return;
        await spoil(NEW);
        expect(await tools.update()).toEqual(NOTHING_NEW);
        expect([tools.ytDlp()?.version, await stored(), failures]).toEqual([
          OLD,
          [OLD],
          [expect.stringMatching(/^.+$/)],
        ]);
        expect(failures[0]).toMatch(new RegExp(reason.source.replaceAll(/^\^|\$$/g, ''), reason.flags));
        await world.publish(NEW);
        expect(await tools.update()).toEqual({ ...NOTHING_NEW, ytDlp: true });
        expect(await stored()).toEqual([OLD, NEW]);
      },
    );

    it.runIf(!world.isSlow)('does not take a version that fails its smoke test', async () => {
      const { open, stored, broken, failures } = await prepare();
      broken.add(NEW);
      await world.publish(NEW);
      const tools = open();
      await expect(tools.ensure()).rejects.toThrow(/^yt-dlp cannot be installed: [^\n]*\(it does not work\)$/);
      expect(await stored()).toEqual([]);
      if (world.isInPlace) return;
      await world.publish(OLD);
      await tools.ensure();
      await world.publish(NEW);
      expect(await tools.update()).toEqual(NOTHING_NEW);
      expect([tools.ytDlp()?.version, await stored()]).toEqual([OLD, [OLD]]);
      expect(failures).toEqual([
        expect.stringMatching(/^Update of yt-dlp to 2026\.11\.20 failed, keeping 2026\.11\.11: it does not work$/),
      ]);
    });

    it('leaves nothing when it is closed during a smoke test', async () => {
      const { open, stored } = await prepare();
      await world.publish(NEW);
      const begun = Promise.withResolvers<void>();
      const smokeTest: ToolsOptions['smokeTest'] = (_, closed) =>
        new Promise((_resolve, reject) => {
          closed.addEventListener('abort', () => reject(closed.reason));
          begun.resolve();
        });
      const tools = open({ smokeTest });
      const ensured = expect(tools.ensure()).rejects.toThrow('abort');
      await begun.promise;
      await Promise.all([tools.close(), ensured]);
      await expect(tools.ensure()).rejects.toThrow('abort');
      await open().ensure();
      expect(await stored()).toEqual([NEW]);
    });

    it('installs once for two that start at once', async () => {
      const { open, stored } = await prepare();
      await world.publish(NEW);
      const [one, other] = [open(), open()];
      await Promise.all([one.ensure(), other.ensure(), one.ensure()]);
      expect([one.ytDlp(), await stored()]).toEqual([other.ytDlp(), [NEW]]);
    });

    it.runIf(!world.isSlow)('leaves a version that works wherever it is killed', async () => {
      const { dir, open, stored } = await prepare();
      const folder = join(dir, 'yt-dlp');
      await world.publish(OLD);
      if (!world.isInPlace) await open().ensure();
      await world.publish(NEW);
      const last = open();
      const copies = await killedAfterEachStep(folder, world.isInPlace ? last.ensure : last.update);
      expect(copies.length).toBeGreaterThan(4);
      const found: (string | undefined)[] = [];
      for (const copy of copies) {
        await rm(folder, { recursive: true });
        execFileSync('cp', ['-a', copy, folder]);
        const tools = open();
        await tools.ensure();
        found.push(tools.ytDlp()?.version);
        await tools.update();
        expect([tools.ytDlp()?.version, await stored()], copy).toEqual([NEW, world.isInPlace ? [NEW] : [OLD, NEW]]);
      }
      const first = world.isInPlace ? NEW : OLD;
      expect([found[0], found.at(-1), found.indexOf(NEW)]).toEqual([first, NEW, found.lastIndexOf(OLD) + 1]);
    });

    it.runIf(!world.isInPlace)(`${world.isAuthoritative ? 'follows' : 'ignores'} an older version`, async () => {
      const { open, stored } = await prepare();
      await world.publish(OLD);
      const tools = open();
      await tools.ensure();
      await world.publish(OLDER);
      const isFollowed = world.isAuthoritative === true;
      for (const ytDlp of [isFollowed, false]) expect(await tools.update()).toEqual({ ...NOTHING_NEW, ytDlp });
      expect(await stored()).toEqual(isFollowed ? [OLDER, OLD] : [OLD]);
    });

    it.runIf(!world.options.ytDlpPath)('gives way to a path that is set, until it is unset', async () => {
      const { dir, open, records } = await prepare();
      await world.publish(OLD);
      await open().ensure();
      const path = `${dir}-own`;
      await writeFile(path, '#!/bin/sh\necho "9.0 --js-runtimes --plugin-dirs"', { mode: 0o755 });
      const own = open({ ytDlpPath: path });
      await own.ensure();
      expect([own.ytDlp()?.command, await own.update()]).toEqual([[path], NOTHING_NEW]);
      const before = world.requests();
      const without = open();
      await without.ensure();
      expect([without.ytDlp()?.version, world.requests() - before]).toEqual([OLD, 0]);
      expect(records.at(-2)).toMatch(/by path$/);
      expect(await readFile(path, 'utf8')).toContain('9.0');
    });
  });
}
