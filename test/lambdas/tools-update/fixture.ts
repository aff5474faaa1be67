import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import type { State } from '../../../core/state/state.ts';
import type { Pointer } from '../../../lambdas/tools-update/archive.ts';
import { createToolsUpdate, type Step } from '../../../lambdas/tools-update/create-tools-update.ts';
import { provideTools, rollBack, updateTools } from '../../../lambdas/tools-update/update-tools.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { openTemporaryState } from '../../support/temporary-state.ts';
import { type Account, createAccount, OTHER_LAYERS, useAccount } from './account.ts';

export const ASSET = 'yt-dlp_linux.zip';
const LINK = 'https://site.example/watch';
const signal = new AbortController().signal;

/** The tools update over an account in memory, a new one for each test. */
export interface ToolsFixture {
  account: Account;
  state: State;
  /** Of the functions, as the stack sets it. */
  environment: Record<string, string>;
  /** The newest release; undefined: releases cannot be found. */
  newest: string | undefined;
  /** Why the newest release is not fetched: it cannot be verified. */
  untrusted: string | undefined;
  /** How many releases were fetched. */
  fetched: number;
  /** Names of the recorded metrics: `failed`, `missing`, `maintained`, `age`. */
  readonly figures: string[];
  readonly steps: Step[];
  parts(): ReturnType<typeof createToolsUpdate>;
  update(): ReturnType<typeof updateTools>;
  deploy(patience?: number): Promise<void>;
  rollBack(): ReturnType<typeof rollBack>;
  /** Canary links resolve with these versions only, from now on. */
  linksResolveWith(...versions: string[]): void;
  pointer(): Pointer | undefined;
  /** Versions of yt-dlp of the live resolver, and of the tasks. */
  live(): readonly [resolver: string | undefined, tasks: string | undefined];
  /** Asserts that everything agrees on a release; undefined: on none. */
  expectInPlace(version: string | undefined, cell?: string): Promise<void>;
  /** Leases of killed runs end. */
  pass(seconds: number): void;
}

export function useToolsFixture(): ToolsFixture {
  const fixture = {} as ToolsFixture;
  useAccount(() => fixture.account);
  beforeAll(() => {
    const ACCOUNT = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' };
    for (const [name, value] of Object.entries(ACCOUNT)) vi.stubEnv(name, value);
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterAll(() => void vi.useRealTimers());
  beforeEach(async () => {
    fixture.state = closeAfterwards(await openTemporaryState()).state;
    resetFixture(fixture);
  });
  return fixture;
}

/** Another account, within one test too, once the leases in its table have ended. */
export function resetFixture(fixture: ToolsFixture): void {
  const { state } = fixture;
  vi.setSystemTime(Date.now() + 601_000);
  const figures: string[] = [];
  const steps: Step[] = [];
  const hasRelease = () => {
    if (fixture.newest === undefined) throw new Error('The release pages are unreachable');
    return fixture.newest;
  };
  const releases = {
    findNewest: () => fixture.account.act('findNewest', hasRelease),
    fetch: (tag: string, asset: string, path: string) =>
      fixture.account.act('fetch', async () => {
        if (fixture.untrusted) throw new Error(fixture.untrusted);
        fixture.fetched += 1;
        const body = `${tag} ${asset}`;
        await writeFile(path, body);
        return { sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length };
      }),
  };
  const counted = new Proxy(state, {
    get:
      (of, name: keyof State) =>
      (...args: never[]) =>
        fixture.account.act(name, () => (of[name] as (...all: never[]) => unknown)(...args)),
  });
  const environment: Record<string, string> = {
    TABLE_NAME: 'table',
    TOOLS_BUCKET: 'bucket',
    LAYER_NAME: 'tools',
    STAGE: 'test',
    CANARY_FUNCTION: 'canary',
    RESOLVER_FUNCTION: 'resolver',
    TOOLS_CHANNEL: 'stable',
    ARCHITECTURE: 'x86_64',
  };
  const create = () => ({
    ...createToolsUpdate(environment, {
      metrics: {
        updateFailed: () => figures.push('failed'),
        missing: () => figures.push('missing'),
        maintained: () => figures.push('maintained'),
        age: () => figures.push('age'),
      },
      log: silentLog,
      releases: releases as never,
      onStep: (step) => steps.push(step),
      pollIntervalSeconds: 0,
    }),
    state: counted,
  });
  /** One set of clients for each environment, as one function has them. */
  const known = new Map<string, ReturnType<typeof create>>();
  const parts = () => {
    const name = JSON.stringify(environment);
    const found = known.get(name) ?? create();
    known.set(name, found);
    return found;
  };
  Object.assign(fixture, {
    account: createAccount(),
    state,
    environment,
    newest: undefined,
    untrusted: undefined,
    fetched: 0,
    figures,
    steps,
    parts,
    update: () => updateTools(parts(), signal),
    deploy: (patience = 0) => provideTools(parts(), signal, patience),
    rollBack: () => rollBack(parts(), signal),
    linksResolveWith(...versions) {
      environment.CANARY_LINKS = LINK;
      fixture.account.failsLinks = (version) => !versions.includes(version);
    },
    pointer: () => {
      const { body } = fixture.account.objects['current.json'] ?? {};
      return body === undefined ? undefined : JSON.parse(body);
    },
    live() {
      const { versions, live } = fixture.account.functions.resolver;
      const attached = versions[Number(live) - 1];
      const layer = fixture.account.layers.find(({ LayerVersionArn }) => attached?.includes(LayerVersionArn));
      return [layer?.Description.split(' ')[1], fixture.pointer()?.version] as const;
    },
    async expectInPlace(version, cell) {
      const { ytDlp: tools, sites } = (await state.getTools()) ?? {};
      expect(sites?.names, cell).toEqual(version && [version]);
      const maintenance = await state.getMaintenance();
      expect([...fixture.live(), tools, maintenance], cell).toEqual([version, version, version, undefined]);
      const { versions, live } = fixture.account.functions.resolver;
      const own = fixture.pointer()?.layerVersionArn;
      expect(versions[Number(live) - 1], cell).toEqual([...OTHER_LAYERS, ...(own ? [own] : [])]);
    },
    pass: (seconds) => void vi.setSystemTime(Date.now() + seconds * 1000),
  } satisfies ToolsFixture);
}
