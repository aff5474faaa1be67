import { randomUUID } from 'node:crypto';
import { fieldsWithoutSecrets } from '../../../core/log/log.ts';
import { createState } from '../../../core/state/create-state.ts';
import { createDynamoDbStorage } from '../../../core/state/dynamodb/dynamodb-storage.ts';
import type { State } from '../../../core/state/state.ts';
import type { Result } from '../../../lambdas/middleware/create-handler.ts';
import { routeEvent } from '../../../lambdas/middleware/dispatch.ts';
import { createHostStore } from '../../../lambdas/stream-host/host-store.ts';
import { createPublicNames, createRegister, type RegisterEvent } from '../../../lambdas/stream-host/register.ts';
import { HOST_KEY } from '../../../lambdas/stream-host/registration.ts';
import { createStartHost, createStreamTasks } from '../../../lambdas/stream-host/stream-tasks.ts';
import { createWakeOnEvent, WAKE_AHEAD } from '../../../lambdas/stream-host/wake-ahead.ts';
import { createWakeHost } from '../../../lambdas/stream-host/wake-host.ts';
import { createWakeOnStream } from '../../../lambdas/stream-host/wake-on-stream.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { ensureTable, startDynamoDb } from '../../support/dynamodb.ts';
import { type ScriptedAws, startScriptedAws } from '../../support/scripted-aws.ts';
import { eventOf } from '../fakes.ts';

/** The functions of the on-demand stream host over a real table and scripted AWS, until the test or file ends. */
export interface OnDemandFixture {
  readonly aws: ScriptedAws;
  readonly state: State;
  readonly table: { readonly endpoint: string; readonly name: string };
  readonly logged: string[];
  /** Epoch milliseconds; `pass` advances it. */
  readonly now: () => number;
  pass(seconds: number): void;
  wake(path: string, options?: Parameters<typeof eventOf>[1]): Promise<Result>;
  wakeAhead(): Promise<unknown>;
  register(event?: RegisterEvent): Promise<{ readonly change: string }>;
  /** Replaces both functions by ones with the next revision of the task definition. */
  deploy(): void;
  /** Moves the register function to a new execution environment without memory. */
  restartRegister(): void;
}

export const CORS_ORIGIN = 'https://page.example';
const CLUSTER = 'stream';
const FAMILY = 'stream-family';
const revision = (number: number) => `${FAMILY}:${number}`;

export async function startOnDemandFixture(): Promise<OnDemandFixture> {
  // Only `pass` advances the clock, so that results do not depend on the speed of the machine.
  let time = Date.now();
  const now = () => time;
  const table = closeAfterwards(await startDynamoDb());
  const aws = closeAfterwards(await startScriptedAws(now));
  const tableName = `on-demand-${randomUUID()}`;
  await ensureTable(table.client, tableName);
  const state = createState({ storage: createDynamoDbStorage({ client: table.client, tableName }), now });
  const logged: string[] = [];
  const note = (message: string, fields: Record<string, unknown> = {}) =>
    void logged.push(`${message} ${JSON.stringify(fieldsWithoutSecrets(fields))}`);
  const log = { info: note, warn: note, error: note };

  const ofCluster = { ecs: aws.ecs, cluster: CLUSTER };
  let deployed = 1;
  const createWakeHere = () => {
    const wakeHost = createWakeHost({
      state,
      tasks: createStreamTasks(ofCluster),
      startHost: createStartHost({
        ...ofCluster,
        taskDefinition: revision(deployed),
        containerName: 'stream',
        subnets: ['subnet-1', 'subnet-2'],
        securityGroup: 'sg-1',
      }),
      definition: revision(deployed),
      log,
      now,
    });
    return routeEvent({
      http: createWakeOnStream({ state, wakeHost, origins: [CORS_ORIGIN], log }),
      direct: createWakeOnEvent({ wakeHost, log }),
    });
  };
  let wake = createWakeHere();
  const wakeAhead = () => wake(WAKE_AHEAD, {} as never);
  const createRegisterHere = () =>
    createRegister({
      tasks: createStreamTasks({ ...ofCluster, family: FAMILY }),
      publicNames: createPublicNames(aws.ec2),
      store: createHostStore({ client: aws.keyValueStore, storeArn: aws.storeArn, key: HOST_KEY }),
      definition: revision(deployed),
      wakeAhead,
      log,
      now,
    });
  let register = createRegisterHere();

  return {
    aws,
    state,
    table: { endpoint: table.endpoint, name: tableName },
    logged,
    now,
    pass: (seconds) => {
      time += seconds * 1000;
    },
    wake: async (path, options) => (await wake(eventOf(path, options), {} as never)) as Result,
    wakeAhead,
    register: (event = {}) => register(event),
    deploy() {
      deployed += 1;
      wake = createWakeHere();
      register = createRegisterHere();
    },
    restartRegister: () => {
      register = createRegisterHere();
    },
  };
}
