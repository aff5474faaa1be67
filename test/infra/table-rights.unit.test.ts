import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createState } from '../../core/state/create-state.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import type { State } from '../../core/state/state.ts';
import { aResource } from '../core/state/resources.ts';
import { expectedItems } from './roles.ts';

/** Table permissions of each role in any profile; `stacks.test.ts` compares the templates with them. */
const RIGHTS = expectedItems('hobby');
const lease = { owner: 'one', expiresAt: 2e9, activity: 'Updating', startedAt: 1 };
const tools = { ytDlp: '1', ffmpeg: '1', verifiedBy: { ytDlp: 'signature', ffmpeg: 'system' }, installedAt: 1 };
const link = { type: 'Media', id: 'l', url: 'https://a.example/', resourceId: 'r', freshUntil: 2e9, expiresAt: 2e9 };
const list = { id: 'k'.repeat(33), url: link.url, title: null, author: null, entries: [], expiresAt: 2e8 };

/** Calls of the state interface that the code of each role makes. */
const CALLS: Readonly<Record<string, (state: State) => readonly Promise<unknown>[]>> = {
  ApiOthersRole: (state) => [
    ...[state.getTools(), state.getMaintenance(), state.countRequests(), state.getOriginSecrets()],
  ],
  ApiResolverRole: (state) => [
    ...[state.getTools(), state.getMaintenance(), state.addRequest(), state.getLink('l'), state.getResource('r')],
    ...[state.putLink(link as never), state.putResource(aResource(1)), state.touchResource(aResource(1))],
    ...[state.putArchivedList(list), state.getOriginSecrets()],
  ],
  MonitoringCostGuardFunctionRole: (state) => [
    ...[state.getCostGuard(), state.putCostGuard({}), state.countStreamBytes()],
  ],
  OriginSecretMakerRole: (state) => [state.rotateOriginSecret('one', 'secret')],
  ToolsLayerRole: (state) => ofUpdates(state),
  ToolUpdatesFunctionRole: (state) => ofUpdates(state),
  TaskTaskRole: (state) => [
    ...[state.getMaintenance(), state.getResource('r'), state.touchResource(aResource(1))],
    ...[state.putResource(aResource(1)), state.getArchivedList(list.id), state.touchArchivedList(list)],
    ...[state.addStreamBytes(1), state.getCostGuard()],
    ...[state.getAttachment('r', 'cover'), state.putAttachment('r', 'cover', Buffer.from('a'))],
  ],
  StreamsWakeRole: (state) => [state.getArchivedList(list.id), state.getResource('r')],
};
const ofUpdates = (state: State) => [
  ...[state.takeToolsUpdate(lease), state.endToolsUpdate('one'), state.takeMaintenance(lease)],
  ...[state.endMaintenance('one'), state.getTools(), state.putTools(tools)],
];

/** Requests to an empty table, as `GetItem resource#r`. */
async function asked(calls: (state: State) => readonly Promise<unknown>[]): Promise<string[]> {
  const found: string[] = [];
  const client = new DynamoDBClient({ region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 's' } });
  client.middlewareStack.add(
    (_, { commandName = '' }) =>
      async ({ input }) => {
        for (const [, key] of JSON.stringify(input).matchAll(/"pk":(?:\{"S":)?"([^"]+)"/g))
          found.push(`${commandName.replace('Command', '')} ${key}`);
        return { output: { $metadata: {} }, response: {} };
      },
    { step: 'initialize', priority: 'low' },
  );
  await Promise.allSettled(
    calls(createState({ storage: createDynamoDbStorage({ client, tableName: 'table' }), now: () => 1e12 })),
  );
  client.destroy();
  return found;
}

it.each(Object.keys(RIGHTS))('%s has the table permissions that its code needs', async (role) => {
  const found = await asked(CALLS[role] ?? (() => []));
  const isAllowed = (call: string) => {
    const [action = '', key = ''] = call.split(' ');
    return RIGHTS[role]?.[action]?.some((pattern) =>
      pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
    );
  };
  expect(found.length).toBeGreaterThan(0);
  expect(found.filter((call) => !isAllowed(call))).toEqual([]);
});
