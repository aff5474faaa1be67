import { beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/log.ts';
import type { ToolsInPlace } from '../../../core/tools/tools.ts';
import type { Releases } from '../../../core/tools/yt-dlp/releases.ts';
import type { LayerVersion, Pointer, UpdateToolsDependencies } from '../../../lambdas/tools-update/types.ts';
import { updateTools } from '../../../lambdas/tools-update/update-tools.ts';

const ASSET = 'yt-dlp_linux.zip';
const LINKS = ['https://site.example/watch'];
const [STABLE, NIGHTLY] = ['2026.11.01', '2026.11.02.233000'];

/** Newest release of each channel; an error when its pages do not respond. */
let newest: { stable: string | Error; nightly: string | Error };
/** Releases that do not resolve the canary links. */
let failing: Set<string>;
let canaryLinks: readonly string[];
let failures: number;
let pointer: Pointer | undefined;
let recorded: ToolsInPlace | undefined;
let layers: LayerVersion[];
let live: { version: string | undefined; layers: readonly string[] };
let published: { layers: readonly string[] }[];

beforeEach(() => {
  newest = { stable: STABLE, nightly: NIGHTLY };
  failing = new Set();
  canaryLinks = LINKS;
  failures = 0;
  pointer = undefined;
  recorded = undefined;
  layers = [];
  live = { version: undefined, layers: [] };
  published = [];
});

const releasesOf = (channel: 'stable' | 'nightly'): Releases => ({
  async findNewest() {
    const version = newest[channel];
    if (version instanceof Error) throw version;
    return version;
  },
  fetch: async (tag) => ({ sha256: tag.replaceAll('.', '').padEnd(64, '0'), bytes: 1 }),
});
const versionOf = (arn: string | undefined) =>
  layers.find((layer) => layer.arn === arn)?.description.split(' ')[1] ?? '';

/** An account in memory. */
const account = (): UpdateToolsDependencies => ({
  releases: releasesOf('stable'),
  nightly: releasesOf('nightly'),
  canaryLinks,
  asset: ASSET,
  scratchDir: '/tmp',
  leaseSeconds: 60,
  onStep: () => undefined,
  log: silentLog,
  layers: {
    versions: async () => [...layers],
    async publish({ description }) {
      const number = (layers[0]?.number ?? 0) + 1;
      const layer = { number, arn: `arn:layer:${number}`, description };
      layers.unshift(layer);
      return layer;
    },
    async remove(number) {
      layers = layers.filter((layer) => layer.number !== number);
    },
  },
  archive: {
    pointer: async () => pointer,
    async movePointer(next) {
      pointer = next;
    },
    deployed: async () => [],
    recordDeployed: async () => undefined,
    sizeOf: async () => 1,
    put: async () => undefined,
    keys: async () => [],
    remove: async () => undefined,
  },
  canary: { try: async (arn) => ({ ok: true, version: versionOf(arn) }) },
  resolver: {
    read: async () => live,
    async publish(to) {
      published.push({ layers: to([]) });
      return String(published.length - 1);
    },
    async check(number, _, links) {
      const version = versionOf(published[Number(number)]?.layers[0]);
      return links.length > 0 && failing.has(version)
        ? { ok: false, reason: 'a canary link of site.example does not resolve' }
        : { ok: true, version };
    },
    async switchTo(version) {
      live = { version, layers: published[Number(version)]?.layers ?? [] };
    },
    provision: async () => undefined,
  },
  state: {
    takeToolsUpdate: async () => true,
    endToolsUpdate: async () => undefined,
    takeMaintenance: async () => true,
    endMaintenance: async () => undefined,
    getSiteOutcomes: async () => ({}),
    getTools: async () => recorded,
    async putTools(tools) {
      recorded = tools;
    },
  },
  metrics: {
    age: () => undefined,
    updated: () => undefined,
    missing: () => undefined,
    maintained: () => undefined,
    updateFailed: () => {
      failures += 1;
    },
  } as unknown as UpdateToolsDependencies['metrics'],
});
const update = () => updateTools(account(), new AbortController().signal);
const inUse = () => [pointer?.version, versionOf(live.layers[0])];

describe('updateTools with stable and nightly', () => {
  it('installs the stable release and keeps it while it resolves the canary links', async () => {
    expect(await update()).toEqual({ outcome: 'updated', version: STABLE });
    expect(await update()).toEqual({ outcome: 'current', version: STABLE });
    expect(inUse()).toEqual([STABLE, STABLE]);
    expect(layers).toHaveLength(1);
  });

  it('switches to nightly while stable fails them, updates it, and returns to stable', async () => {
    await update();
    failing.add(STABLE);
    expect(await update()).toEqual({ outcome: 'updated', version: NIGHTLY });
    expect(await update()).toEqual({ outcome: 'current', version: NIGHTLY });
    newest.nightly = '2026.11.03.233000';
    expect(await update()).toEqual({ outcome: 'updated', version: newest.nightly });
    expect(inUse()).toEqual([newest.nightly, newest.nightly]);
    failing.clear();
    expect(await update()).toEqual({ outcome: 'updated', version: STABLE });
    expect(await update()).toEqual({ outcome: 'current', version: STABLE });
    expect(inUse()).toEqual([STABLE, STABLE]);
    expect(failures).toBe(0);
  });

  it('replaces a nightly release by the stable one that follows it', async () => {
    await update();
    failing.add(STABLE);
    await update();
    newest.stable = '2026.11.10';
    expect(await update()).toEqual({ outcome: 'updated', version: '2026.11.10' });
  });

  it.each<[string, () => unknown]>([
    ['fails them too', () => failing.add(NIGHTLY)],
    ['cannot be found', () => (newest.nightly = new Error('unreachable'))],
    ['is older', () => (newest.nightly = '2026.10.31.233000')],
  ])('keeps the stable release when nightly %s', async (_, change) => {
    await update();
    failing.add(STABLE);
    change();
    expect(await update()).toEqual({ outcome: 'current', version: STABLE });
    expect(inUse()).toEqual([STABLE, STABLE]);
  });

  it('keeps the release in use and records a failure when only a newer stable release fails the links', async () => {
    await update();
    newest.stable = '2026.11.10';
    failing.add('2026.11.10');
    await expect(update()).rejects.toThrow(/canary link/);
    expect([inUse(), failures]).toEqual([[STABLE, STABLE], 1]);
  });

  it('never switches to nightly without canary links, and returns from it when they are removed', async () => {
    await update();
    failing.add(STABLE);
    await update();
    canaryLinks = [];
    expect(await update()).toEqual({ outcome: 'updated', version: STABLE });
    expect(await update()).toEqual({ outcome: 'current', version: STABLE });
  });
});
