import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StateUnavailable } from '../../../core/errors/index.ts';
import { createState } from '../../../core/state/create-state.ts';
import { createDynamoDbStorage } from '../../../core/state/dynamodb/index.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { createLocalTableClient } from '../../support/dynamodb.ts';
import { listen } from '../../support/listen.ts';
import { aResource } from './resources.ts';

/** A server in place of the table, with a handler for each connection. */
async function tableThat(onConnection: (socket: Socket) => void) {
  const server = createServer((socket) => onConnection(socket.on('error', () => undefined)));
  const client = createLocalTableClient(closeAfterwards(await listen(server)).url);
  onTestFinished(() => client.destroy());
  return { state: createState({ storage: createDynamoDbStorage({ client, tableName: 'state' }) }) };
}

describe.each([
  ['never answers', () => undefined],
  ['hangs up', (socket: Socket) => socket.destroy()],
  ['speaks another protocol', (socket: Socket) => socket.end('220 ready\r\n')],
])('createState with a table that %s', (_what, onConnection) => {
  it('rejects every call with StateUnavailable within its time limit', async () => {
    const { state } = await tableThat(onConnection);
    const calls = [
      state.getResource('x'),
      state.putResource(aResource(1)),
      state.addRequest(),
      state.countRequests(),
      state.getTools(),
      state.getMaintenance(),
      state.takeMaintenance({ activity: 'x', owner: 'x', expiresAt: 1 }),
    ];
    const outcomes = await Promise.allSettled(calls);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: expect.any(StateUnavailable) });
  });
});

it('queues calls to a table that answers one at a time', async () => {
  let running = 0;
  let most = 0;
  const queue: (() => void)[] = [];
  const server = createHttpServer((request, response) => {
    request.resume();
    running += 1;
    most = Math.max(most, running);
    queue.push(() => {
      running -= 1;
      response.end('{}');
    });
  });
  const answering = setInterval(() => queue.shift()?.(), 1);
  const client = createLocalTableClient(closeAfterwards(await listen(server)).url);
  onTestFinished(() => {
    clearInterval(answering);
    client.destroy();
  });
  const state = createState({ storage: createDynamoDbStorage({ client, tableName: 'state' }) });
  const rush = await Promise.allSettled(Array.from({ length: 200 }, (_, index) => state.getResource(`r${index}`)));
  expect(rush.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect(most).toBeLessThanOrEqual(16);
});

it('rejects with StateUnavailable when the table does not exist', async () => {
  const { state } = await tableThat((socket) => {
    const body = JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException' });
    socket.end(`HTTP/1.1 400 Bad Request\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
  });
  await expect(state.getTools()).rejects.toThrow(StateUnavailable);
});
