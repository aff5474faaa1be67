import { randomUUID } from 'node:crypto';
import type { HostEvent } from '../../../core/http/host-event.ts';
import { fieldsWithoutSecrets } from '../../../core/log/index.ts';
import { createState } from '../../../core/state/create-state.ts';
import { createDynamoDbStorage } from '../../../core/state/dynamodb/index.ts';
import type { State } from '../../../core/state/state.ts';
import { createAwsCall } from '../../../lambdas/aws-call.ts';
import { type Result, routeEvent } from '../../../lambdas/http-handler.ts';
import { createHostService, createHostStore } from '../../../lambdas/stream-host/host.ts';
import { createOnHostEvent, createPublicName, HOST_KEY } from '../../../lambdas/stream-host/register.ts';
import { createWakeOnStream } from '../../../lambdas/stream-host/wake.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { ensureTable, startDynamoDb } from '../../support/dynamodb.ts';
import { type ScriptedAws, startScriptedAws } from '../../support/scripted-aws.ts';
import { eventOf } from '../fakes.ts';

/** The function of the on-demand stream host over a real table and scripted AWS, until the test or file ends. */
export interface OnDemandFixture {
  readonly aws: ScriptedAws;
  readonly state: State;
  readonly table: { readonly endpoint: string; readonly name: string };
  readonly logged: string[];
  /** Epoch milliseconds; `pass` advances it. */
  readonly now: () => number;
  pass(seconds: number): void;
  wake(path: string, options?: Parameters<typeof eventOf>[1]): Promise<Result>;
  send(event: HostEvent): Promise<unknown>;
  /** The next event of this kind that a task sends, once it has been handled. */
  nextEvent(kind: HostEvent['kind']): Promise<HostEvent>;
}

export const CORS_ORIGIN = 'https://page.example';

export async function startOnDemandFixture(): Promise<OnDemandFixture> {
  // Only `pass` advances the clock, so that results do not depend on the speed of the machine.
  let time = Date.now();
  const now = () => time;
  const table = closeAfterwards(await startDynamoDb());
  const aws = closeAfterwards(await startScriptedAws());
  const tableName = `on-demand-${randomUUID()}`;
  await ensureTable(table.client, tableName);
  const state = createState({ storage: createDynamoDbStorage({ client: table.client, tableName }), now });
  const logged: string[] = [];
  const note = (message: string, fields: Record<string, unknown> = {}) =>
    void logged.push(`${message} ${JSON.stringify(fieldsWithoutSecrets(fields))}`);
  const log = { info: note, warn: note, error: note };

  const service = createHostService({ ecs: aws.ecs, cluster: 'stream', service: 'on-demand' });
  const handle = routeEvent({
    http: createWakeOnStream({ state, service, origins: [CORS_ORIGIN], log }),
    direct: createOnHostEvent({
      service,
      store: createHostStore({ client: aws.keyValueStore, storeArn: aws.storeArn, key: HOST_KEY }),
      publicName: createPublicName({
        call: createAwsCall(aws.ecs.config, aws.endpoint),
        region: 'us-east-1',
        securityGroup: 'sg-1',
      }),
      log,
      now,
    }),
  });
  const send = (event: HostEvent) => handle(event, {} as never);
  const waiting = new Set<(event: HostEvent) => void>();
  aws.invoked = async (event: HostEvent) => {
    const answer = await send(event);
    for (const tell of waiting) tell(event);
    return answer;
  };

  return {
    aws,
    state,
    table: { endpoint: table.endpoint, name: tableName },
    logged,
    now,
    pass: (seconds) => {
      time += seconds * 1000;
    },
    wake: async (path, options) => (await handle(eventOf(path, options), {} as never)) as Result,
    send,
    nextEvent: (kind) =>
      new Promise((resolve) => {
        const tell = (event: HostEvent) => {
          if (event.kind !== kind) return;
          waiting.delete(tell);
          resolve(event);
        };
        waiting.add(tell);
      }),
  };
}
