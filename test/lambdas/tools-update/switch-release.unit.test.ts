import { expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import type { Pointer } from '../../../lambdas/tools-update/archive.ts';
import type { ToolsUpdate } from '../../../lambdas/tools-update/create-tools-update.ts';
import { switchRelease } from '../../../lambdas/tools-update/switch-release.ts';

const LINKS = ['https://site.example/watch'];
const next = { version: '2026.11.20', layerVersionArn: 'arn:layer:2' } as Pointer;

/** Switches from a live version, and returns the links that the new version was asked for. */
async function linksAsked(live: Awaited<ReturnType<ToolsUpdate['resolver']['read']>>) {
  const asked: (readonly string[])[] = [];
  const parts: Partial<ToolsUpdate> = {
    resolver: {
      read: async () => live,
      publish: async () => '2',
      check: async (_version, _signal, links) => {
        asked.push(links);
        return { ok: true, version: next.version };
      },
      switchTo: async () => undefined,
      provision: async () => undefined,
    },
    archive: { movePointer: async () => undefined } as unknown as ToolsUpdate['archive'],
    state: {
      takeMaintenance: async () => true,
      endMaintenance: async () => undefined,
      getTools: async () => undefined,
      putTools: async () => undefined,
    } as unknown as ToolsUpdate['state'],
    metrics: { maintained: () => undefined, age: () => undefined } as unknown as ToolsUpdate['metrics'],
    canaryLinks: LINKS,
    onStep: () => undefined,
    log: silentLog,
  };
  await switchRelease(next, parts as ToolsUpdate, new AbortController().signal);
  return asked;
}

it.each([
  ['another release would be replaced', { version: '1', layers: ['arn:layer:1'] }, [LINKS]],
  ['a deployment keeps the release', { version: '1', layers: ['arn:layer:2'] }, [[]]],
  ['the live version has no release', { version: '1', layers: ['arn:plugins:1'] }, [[]]],
  ['nothing is live', { version: undefined, layers: [] }, [[]]],
])(
  'switchRelease requires the canary links to resolve only when a release is replaced: %s',
  async (_, live, expected) => expect(await linksAsked(live)).toEqual(expected),
);
